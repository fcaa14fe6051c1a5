//! `cargo whippet test`: explores every `#[tokio::test]` of a crate, unchanged, in all orders.
//!
//! The stages of a run: [`sources`] writes the sources of the shim to disk; [`project`] opens the user's workspace
//! through an [`overlay`] of it, with its own [`lock`] file; [`build`] builds the tests against the shim; [`tests`] runs
//! each test in its own [`process`] and reports the results; [`memory`] lists the crates that share memory which the
//! shim does not see, and [`hook`] makes copies of these crates in which the shim sees it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the command")]

mod arguments;
mod build;
mod graph;
mod hook;
mod lock;
mod manifest;
mod memory;
mod overlay;
mod paths;
mod process;
mod program;
mod project;
mod replay;
mod settings;
mod sources;
mod tests;
mod watch;

use arguments::Command;
use std::process::ExitCode;
use whippet_report::Exit;

fn main() -> ExitCode {
    // Cargo passes the name of the subcommand as the first argument.
    let given = std::env::args().enumerate().filter(|(k, text)| *k > 0 && !(*k == 1 && text == "whippet"));
    let result = arguments::parse(given.map(|(_, text)| text).collect()).and_then(|command| match command {
        Command::Test(arguments) => tests::run(&arguments).map(Exit::code),
        Command::Replay(arguments) => replay::run(&arguments).map(Exit::code),
        Command::Run(arguments) => program::run(&arguments),
    });
    match result {
        Ok(code) => ExitCode::from(code),
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(Exit::NoVerdict.code())
        }
    }
}
