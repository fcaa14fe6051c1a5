//! `whippet unfold`: prints all events of a program and their relations as a graph.

use crate::args::Unfold;
use crate::failure::{Answer, Failure};
use crate::output::say;
use crate::target::Target;
use whippet_model::Limits;
use whippet_report::Exit;
use whippet_search::Options;

pub(crate) fn unfold(command: &Unfold) -> Answer {
    let target = Target::find(&command.which)?;
    let limits = Limits { executions: Some(command.limit_executions), ..Limits::default() };
    let unfolded = target.program.unfold(&Options { limits, ..Options::default() }).map_err(Failure::misuse)?;
    say(&if command.json { unfolded.to_json() } else { unfolded.to_dot() })?;
    Ok(Exit::Holds)
}
