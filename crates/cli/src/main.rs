//! The command `whippet`.
//!
//! Each subcommand has its own file. It returns an [`Exit`], or fails with a reason, which is printed to standard
//! error. An error found in a program is a result, never a failure.

mod args;
mod checkpoint;
mod chosen;
mod compare;
mod error;
mod explore;
mod list;
mod output;
mod progress;
mod replay;
mod reproduce;
mod resume;
mod runnable;
mod serve;
mod shape;
mod table;
mod unfold;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use error::CommandResult;
use std::process::ExitCode;
use whippet_report::Exit;

fn main() -> ExitCode {
    let exit = answer(&Cli::parse().command).unwrap_or_else(|failure| {
        output::print_note(failure);
        Exit::NoVerdict
    });
    ExitCode::from(exit.code())
}

fn answer(command: &Command) -> CommandResult {
    match command {
        Command::List(list) => list::list(list),
        Command::Explore(explore) => explore::explore(explore),
        Command::Resume(resume) => resume::resume(resume),
        Command::Serve(serve) => serve::serve(serve),
        Command::Replay(replay) => replay::replay(replay),
        Command::Unfold(unfold) => unfold::unfold(unfold),
        Command::Compare(compare) => compare::compare(compare),
        Command::Reproduce(reproduce) => reproduce::reproduce(reproduce),
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Cli::command(), "whippet", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Holds)
        }
    }
}
