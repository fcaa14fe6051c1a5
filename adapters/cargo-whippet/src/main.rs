//! `cargo whippet test`: explores every `#[tokio::test]` of a crate, unchanged, in all orders.
//!
//! The way of a run: [`sources`] lays out the stand-in; [`project`] builds the user's tests against it, in a shadow of
//! the workspace with a lock file of its own; [`tests`] runs them one by one and says what came out; [`memory`]
//! names the crates that share memory which the stand-in does not see.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the command")]

mod arguments;
mod memory;
mod project;
mod sources;
mod tests;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes the subcommand's own name.
    let given = std::env::args().enumerate().filter(|(k, text)| !(*k == 1 && text == "whippet"));
    let mut given: Vec<String> = given.map(|(_, text)| text).collect();
    let filter =
        given.iter().position(|text| text == "--").map_or_else(Vec::new, |at| given.split_off(at).split_off(1));
    let Arguments { mut command } = Arguments::parse_from(given);
    if let Command::Test(arguments) = &mut command {
        arguments.filter = filter;
    }
    let result = match command {
        Command::Test(arguments) => tests::run(&arguments),
        Command::Replay(arguments) => tests::replay(&arguments),
    };
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(whippet_report::Exit::NoVerdict.code())
        }
    }
}
