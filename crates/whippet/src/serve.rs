//! Walks through a test in a browser, instead of searching it: `WHIPPET_SERVE=1 cargo test name`.

use crate::CheckError;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use whippet_actors::ActorProgram;
use whippet_explorer::Explorer;
use whippet_model::Program;
use whippet_protocol::SERVE;
use whippet_search::Options;

/// Serves the program on this port until the process is interrupted; 0 means any free port.
pub(crate) fn serve(program: ActorProgram, options: &Options, port: u16) -> Result<Infallible, CheckError> {
    let name = program.name();
    let server = Explorer::new(&name)
        .options(options.clone())
        .port(port)
        .serve(Arc::new(program))
        .map_err(|why| CheckError::Environment { why: format!("{SERVE}: {why}") })?;
    // Test runners capture what is printed, but not what is written to the stream itself. If the stream is closed,
    // there is no way to report it.
    let _ = writeln!(std::io::stderr(), "whippet: {name}: open {}\nPress Ctrl-C to end.", server.address());
    loop {
        std::thread::park();
    }
}
