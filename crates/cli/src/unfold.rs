//! `whippet unfold`: prints all events of a program and their relations as a graph.

use crate::args::Unfold;
use crate::chosen::ChosenProgram;
use crate::error::{CommandError, CommandResult};
use crate::output::print;
use whippet_model::Limits;
use whippet_report::Exit;
use whippet_search::Options;

pub(crate) fn unfold(command: &Unfold) -> CommandResult {
    let target = ChosenProgram::find(&command.program)?;
    let limits = Limits::default().with_executions(Some(command.limit_executions));
    let unfolded = target.program.unfold(&Options::default().with_limits(limits)).map_err(CommandError::usage)?;
    print(&if command.json { unfolded.to_json() } else { unfolded.to_dot() })?;
    Ok(Exit::Holds)
}
