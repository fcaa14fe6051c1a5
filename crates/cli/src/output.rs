//! The only place that writes to standard output and standard error.

use crate::failure::Failure;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Writes the answer, coloured where somebody can see it. A reader that has gone away is no failure.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stream = anstream::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes one JSON value.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    say(&(text + "\n"))
}

/// Says something beside the answer, on standard error.
pub(crate) fn remark(text: impl Display) {
    // There is nobody left to tell when standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "whippet: {text}");
}
