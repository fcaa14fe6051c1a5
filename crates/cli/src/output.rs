//! All output to standard output and standard error. No other module writes to them.

use crate::error::CommandError;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Writes the result, in colour if standard output is a terminal. A closed pipe is not a failure.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    let mut stream = anstream::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes one JSON value.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print(&(text + "\n"))
}

/// Writes a remark to standard error.
pub(crate) fn print_note(text: impl Display) {
    // Ignored: if standard error is closed, the failure cannot be reported anywhere.
    let _ = writeln!(anstream::stderr().lock(), "whippet: {text}");
}
