//! Descriptions of the problems of an execution.

use crate::execution::{Execution, NONE};
use crate::object::place_text;
use crate::task;
use crate::waiting::Wait;
use whippet_model::{FindingKind, Name, Problem, WaitFor};

/// Returns the problem for a panic of a task.
pub(crate) fn panic_problem(message: String, place: Option<String>, step: u32) -> Problem {
    let key = place.as_deref().unwrap_or(&message).bytes().fold(Name::ROOT, |name, b| name.mixed(u64::from(b)));
    let assertion = message.starts_with("assertion");
    let kind = if assertion { FindingKind::Assertion } else { FindingKind::Panic };
    // A panic before the first step happens in every execution.
    let steps = Some(step).filter(|&step| step != NONE).map(|step| step as usize).into_iter().collect();
    Problem { kind, message, place, key, steps, warning: false, waits: Vec::new() }
}

/// Reports messages that were sent and never received, one problem for each sending place.
pub(crate) fn untaken(x: &Execution, out: &mut Vec<Problem>) {
    for (k, sent) in x.untaken.iter().enumerate() {
        if x.untaken[..k].iter().any(|other| other.action.place == sent.action.place) {
            continue;
        }
        let text = place_text(sent.action.place);
        let key = text.bytes().fold(Name::ROOT.mixed(0x5E17), |name, byte| name.mixed(u64::from(byte)));
        let object = sent.action.object.map_or_else(String::new, |object| format!(" to {object}"));
        let message = format!("a message sent{object} is never taken");
        let steps = vec![sent.step as usize];
        out.push(Problem {
            kind: FindingKind::Undeliverable,
            message,
            place: Some(text),
            key,
            steps,
            warning: false,
            waits: Vec::new(),
        });
    }
}

/// Returns the problem for blocked tasks, with their waits and locations.
pub(crate) fn stuck(x: &Execution, tasks: &[&task::Task], kind: FindingKind, what: &str) -> Problem {
    let mut message = what.to_string();
    let mut key = Name::ROOT;
    let mut told = Vec::new();
    for task in tasks {
        let mut waits: Vec<&Wait> = task.live_waits().collect();
        waits.sort_by_key(|wait| wait.order);
        let words: Vec<String> =
            waits.iter().map(|wait| format!("{} ({})", wait.action, place_text(wait.action.place))).collect();
        let words = if words.is_empty() { "a wake that never comes".into() } else { words.join(", or ") };
        message += &format!("\n  {} waits: {words}", task.label);
        told.push(WaitFor { actor: task.label.to_string(), text: format!("waits: {words}"), on: Vec::new() });
        for wait in waits {
            key = key.mixed(u64::from(wait.action.place.line()));
        }
        key = key.mixed(u64::from(task.place.line()));
    }
    let steps = x.tasks.iter().flat_map(|task| &task.after).map(|&step| step as usize);
    let place = tasks.first().and_then(|task| task.live_waits().next()).map(|wait| place_text(wait.action.place));
    let mut steps: Vec<usize> = steps.collect();
    steps.sort_unstable();
    steps.dedup();
    Problem { kind, message, place, key, steps, warning: false, waits: told }
}
