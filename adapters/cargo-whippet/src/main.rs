//! `cargo whippet test`: explores every `#[tokio::test]` of a crate, unchanged, in all orders.
//!
//! The way of a run: [`sources`] lays out the stand-in; a [`project`] is opened, in a [`shadow`] of the workspace with a
//! [`lock`] file of its own; [`build`] builds its tests against the stand-in; [`tests`] runs them, each in a [`process`] of its own, and says what came
//! out; [`memory`] names the crates that share memory which the stand-in does not see, and [`hook`] makes copies
//! of them in which it is seen.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the command")]

mod arguments;
mod build;
mod graph;
mod hook;
mod lock;
mod memory;
mod paths;
mod process;
mod program;
mod project;
mod replay;
mod settings;
mod shadow;
mod sources;
mod tests;
mod watch;

use arguments::Command;
use std::process::ExitCode;
use whippet_report::Exit;

fn main() -> ExitCode {
    // Cargo passes the subcommand's own name.
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
