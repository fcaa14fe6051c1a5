//! `whippet replay`: executes a schedule again and describes its steps.

use crate::args::Replay;
use crate::failure::{Answer, Failure};
use crate::output::{say, say_json};
use crate::target::Target;
use serde_json::json;
use std::io::Read;
use std::path::Path;
use whippet_model::Problem;
use whippet_report::{Exit, schedule_in, story};
use whippet_search::Replayed;

pub(crate) fn replay(command: &Replay) -> Answer {
    let file = command.file.display();
    let text = read(&command.file).map_err(|why| Failure::misuse(format_args!("cannot read {file}: {why}")))?;
    let schedule = schedule_in(&text, command.finding).map_err(|why| Failure::misuse(format_args!("{file}: {why}")))?;
    let target = Target::of_schedule(&schedule)?;
    let replayed = target.program.replay(&schedule).map_err(|why| Failure::misuse(format_args!("{file}: {why}")))?;
    if command.json {
        say_json(&json!({
            "format": "whippet replay",
            "version": 1,
            "subject": target.name,
            "parameters": target.parameters.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "delivery": target.delivery,
            "story": replayed.story,
            "problems": replayed.problems.iter().map(problem).collect::<Vec<_>>(),
        }))?;
    } else {
        say(&tell(&target, &replayed))?;
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

fn tell(target: &Target, replayed: &Replayed) -> String {
    let mut text = format!("{}\n{}", target.title(), story(&replayed.story));
    for problem in &replayed.problems {
        let place = problem.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        let warning = if problem.warning { " (a warning)" } else { "" };
        text += &format!("{}: {}{place}{warning}\n", problem.kind, problem.message);
    }
    if replayed.problems.is_empty() {
        text += "Nothing is wrong with this execution.\n";
    }
    text
}
