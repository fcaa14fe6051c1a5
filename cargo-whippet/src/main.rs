//! `cargo whippet test`: explores every `#[tokio::test]` and `#[whippet::test]` of a crate in all orders.
//!
//! The stages of a run: [`sources`] writes the sources of the shim to disk; [`project`] opens the user's workspace
//! through an [`overlay`] of it, with its own [`lock`] file; [`build`] builds the tests against the shim; [`tests`] runs
//! each test in its own [`process`] and reports the results: findings are replayed first ([`confirm`]), and a process that
//! ends without an answer is explained ([`crash`]); [`memory`] lists the crates that share memory which the
//! shim does not see, and [`hook`] makes copies of these crates in which the shim sees it. [`reports`] writes JSON, JUnit
//! and annotations for GitHub; [`one_test`] has the commands for a single test.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the command")]

/// Prints a line, to standard error if standard output is for a report. An error is ignored: the output may be closed or the disk full, and the run goes
/// on, because findings are also written to files.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write;
        let _ = if $crate::reports::is_stdout_taken() {
            writeln!(std::io::stderr().lock(), $($part)*)
        } else {
            let mut out = std::io::stdout().lock();
            writeln!(out, $($part)*).and_then(|()| out.flush())
        };
    }};
}

mod again;
mod arguments;
mod build;
mod confirm;
mod crash;
mod graph;
mod hook;
mod idle;
mod lock;
mod manifest;
mod memory;
mod one_test;
mod overlay;
mod paths;
mod process;
mod program;
mod project;
mod replay;
mod reports;
mod running;
mod settings;
mod sources;
mod tests;
mod watch;

use arguments::Command;
use std::process::ExitCode;
use whippet_report::Exit;

fn main() -> ExitCode {
    watch::listen();
    // Cargo passes the name of the subcommand as the first argument.
    let given = std::env::args().enumerate().filter(|(k, text)| *k > 0 && !(*k == 1 && text == "whippet"));
    let result = arguments::parse(given.map(|(_, text)| text).collect()).and_then(|command| match command {
        Command::Test(arguments) => tests::run(&arguments).map(Exit::code),
        Command::Replay(arguments) => replay::run(&arguments).map(Exit::code),
        Command::Compare(arguments) => one_test::compare(&arguments).map(Exit::code),
        Command::Unfold(arguments) => one_test::unfold(&arguments).map(Exit::code),
        Command::Serve(arguments) => one_test::serve(&arguments).map(Exit::code),
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
