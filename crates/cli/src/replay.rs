//! `whippet replay`: executes a schedule again and describes its steps.

use crate::args::Replay;
use crate::chosen::ChosenProgram;
use crate::error::{CommandError, CommandResult};
use crate::explore::{check_files, quoted, write, write_trace_file};
use crate::output::{print, print_json};
use serde_json::json;
use std::io::Read;
use std::path::Path;
use whippet_model::Problem;
use whippet_report::{Exit, TraceFile, counterexample, html, schedule_in};
use whippet_search::Replayed;

pub(crate) fn replay(command: &Replay) -> CommandResult {
    check_files(command.html.as_deref(), command.trace.as_deref())?;
    let file = command.file.display();
    let text = read(&command.file).map_err(|why| CommandError::usage(format_args!("cannot read {file}: {why}")))?;
    let schedule =
        schedule_in(&text, command.finding).map_err(|why| CommandError::usage(format_args!("{file}: {why}")))?;
    let target = ChosenProgram::of_schedule(&schedule)?;
    let replayed =
        target.program.replay(&schedule).map_err(|why| CommandError::usage(format_args!("{file}: {why}")))?;
    if command.html.is_some() || command.trace.is_some() {
        let decides = target.program.explain(&schedule);
        let files = TraceFile::of_replay(&schedule, &replayed.events, &replayed.problems);
        let named = |trace: TraceFile| match command.file == Path::new("-") {
            true => trace,
            false => trace.with_replay(format!("whippet replay {}", quoted([&*command.file.to_string_lossy()]))),
        };
        let files = files.into_iter().map(|trace| named(trace.with_decides(decides.as_ref())));
        let files: Vec<TraceFile> = files.collect();
        if let Some(page) = &command.html {
            write(page, &html(&format!("Whippet: {}", target.name), "", &files))?;
        }
        if let Some(file) = &command.trace {
            write_trace_file(file, &files[0])?;
        }
    }
    if command.json {
        print_json(&json!({
            "format": "whippet replay",
            "version": 1,
            "subject": target.name,
            "parameters": target.parameters.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "delivery": target.delivery,
            "story": replayed.trace,
            "problems": replayed.problems.iter().map(problem).collect::<Vec<_>>(),
        }))?;
    } else {
        print(&render(&target, &replayed))?;
    }
    let wrong = replayed.problems.iter().any(|problem| !problem.warning);
    Ok(if wrong { Exit::Found } else { Exit::Holds })
}

fn read(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
}

fn problem(problem: &Problem) -> serde_json::Value {
    json!({ "kind": problem.kind, "message": problem.message, "place": problem.place, "warning": problem.warning })
}

fn render(target: &ChosenProgram, replayed: &Replayed) -> String {
    let mut text = format!("{}\n{}", target.title(), counterexample(&replayed.trace));
    for problem in &replayed.problems {
        let place = problem.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        let warning = if problem.warning && problem.declaration.is_none() { " (warning)" } else { "" };
        text += &format!("{}: {}{place}{warning}\n", problem.kind, problem.message);
    }
    if replayed.problems.is_empty() {
        text += "No problem in this execution.\n";
    }
    text
}
