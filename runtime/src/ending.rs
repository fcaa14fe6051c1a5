//! The end of an execution: how it came about, and descriptions of its problems.

use crate::execution::{Execution, NONE};
use crate::object::{Action, place_text};
use crate::task;
use crate::waiting::{Wait, WaitTarget};
use whippet_model::{ActorState, EventKind, FindingKind, Name, Problem, WaitFor};

/// The state of an execution that ends, or has to.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// `true` if the test's body is done.
    pub(crate) main_done: bool,
    /// `true` if a task has panicked.
    pub(crate) panicked: bool,
    /// An operation that is not modelled.
    pub(crate) misuse: Option<String>,
    /// `true` if a branch of a select or join has acted although a branch that was polled before it was ready. No
    /// runtime does that; the execution is abandoned before user code observes it.
    pub(crate) impossible: bool,
}

/// Messages that were sent and not yet received.
#[derive(Debug)]
pub(crate) struct Untaken {
    /// `true` if they are reported.
    pub(crate) keeps: bool,
    pub(crate) sent: Vec<Sent>,
}

/// A message that was sent and not yet received.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) item: Name,
    pub(crate) action: Action,
    pub(crate) step: u32,
}

impl Untaken {
    pub(crate) fn new(keeps: bool) -> Untaken {
        Untaken { keeps, sent: Vec::new() }
    }
}

/// Returns the problem for a panic of a task.
pub(crate) fn panic_problem(message: String, place: Option<String>, step: u32) -> Problem {
    let key = place.as_deref().unwrap_or(&message).bytes().fold(Name::ROOT, |name, b| name.mixed(u64::from(b)));
    let assertion = message.starts_with("assertion");
    let kind = if assertion { FindingKind::Assertion } else { FindingKind::Panic };
    // A panic before the first step happens in every execution.
    let steps = Some(step).filter(|&step| step != NONE).map(|step| step as usize).into_iter().collect();
    Problem::new(kind, message, key).with_place(place).with_steps(steps)
}

/// Returns the problems for panics of tasks that no other task has observed. Their keys differ from those of panics of the test itself.
pub(crate) fn unseen_panics(x: &Execution) -> impl Iterator<Item = Problem> {
    let tasks = x.tasks.iter().skip(1).filter(|_| x.ending.panicked);
    tasks.filter_map(|task| {
        let (message, place, step) = task.unseen_panic()?;
        let mut problem = panic_problem(format!("{message} (in {})", task.label), place, step);
        problem.key = problem.key.mixed(UNSEEN);
        Some(problem)
    })
}

/// The salt of the keys of panics that no task observes.
const UNSEEN: u64 = 0x554e_5345_454e_0001;

/// Reports messages that were sent and never received, one problem for each sending place.
pub(crate) fn untaken(x: &Execution, out: &mut Vec<Problem>) {
    for (k, sent) in x.untaken.sent.iter().enumerate() {
        if x.untaken.sent[..k].iter().any(|other| other.action.place == sent.action.place) {
            continue;
        }
        let text = place_text(sent.action.place);
        let key = text.bytes().fold(Name::ROOT.mixed(0x5E17), |name, byte| name.mixed(u64::from(byte)));
        let object = sent.action.object.map_or_else(String::new, |object| format!(" to {object}"));
        let message = format!("a message sent{object} is never received");
        let steps = vec![sent.step as usize];
        out.push(Problem::new(FindingKind::Undeliverable, message, key).with_place(Some(text)).with_steps(steps));
    }
}

/// Describes one wait, and adds the labels of the tasks that would have to act first, if they are known.
fn wait_text(x: &Execution, wait: &Wait, blockers: &mut Vec<String>) -> String {
    let mut numbers = Vec::new();
    if let WaitTarget::Object(source, key) = &wait.on {
        source.blockers(*key, &mut numbers);
    }
    numbers.dedup();
    let tasks = numbers.into_iter().filter_map(|number| x.tasks.get(number as usize));
    let labels: Vec<String> = tasks.map(|task| task.label.to_string()).collect();
    let mut text = format!("{} ({})", wait.action.while_waiting(), place_text(wait.action.place));
    if wait.action.event_kind() == EventKind::Lock && !labels.is_empty() {
        text += &format!(", held by {}", labels.join(" and "));
    }
    blockers.extend(labels);
    text
}

/// Returns the problem for blocked tasks, with their waits and locations.
pub(crate) fn stuck(x: &Execution, tasks: &[&task::Task], kind: FindingKind, what: &str) -> Problem {
    let mut message = what.to_string();
    let mut key = Name::ROOT;
    let mut told = Vec::new();
    for task in tasks {
        let mut waits: Vec<&Wait> = task.live_waits().collect();
        waits.sort_by_key(|wait| wait.polled.order);
        let mut blockers = Vec::new();
        let words: Vec<String> = waits.iter().map(|wait| wait_text(x, wait, &mut blockers)).collect();
        let words = if words.is_empty() { "waiting for a wake that never comes".into() } else { words.join(", or ") };
        message += &format!("\n  {} is blocked {words}", task.label);
        told.push(WaitFor { actor: task.label.to_string(), text: format!("is blocked {words}"), on: blockers });
        for wait in waits {
            key = key.mixed(u64::from(wait.action.place.line()));
        }
        key = key.mixed(u64::from(task.place.line()));
    }
    let steps = x.tasks.iter().flat_map(|task| &task.past.after).map(|&step| step as usize);
    let place = tasks.first().and_then(|task| task.live_waits().next()).map(|wait| place_text(wait.action.place));
    let mut steps: Vec<usize> = steps.collect();
    steps.sort_unstable();
    steps.dedup();
    Problem::new(kind, message, key).with_place(place).with_steps(steps).with_waits(told)
}

/// Returns an error if one of these tasks waits for its waker, and a thread of the operating system may call it, because a task has
/// started one.
pub(crate) fn waits_for_a_thread(x: &Execution, waiting: &[&task::Task]) -> Option<String> {
    let task = waiting.iter().find(|task| task.live_waits().next().is_none())?;
    x.facts.system.may_have_threads().then(|| {
        format!(
            "{} ({}) waits for a wake, which may come from a thread of the operating system that a task has started. Whippet does \
             not see such threads; tasks take their place if the crate that starts them is hooked (--hook)",
            task.label,
            place_text(task.place)
        )
    })
}

/// Returns the state of every task: what it waits for, or that it has ended.
pub(crate) fn task_states(x: &Execution) -> Vec<ActorState> {
    let state = |task: &task::Task| {
        let mut waits: Vec<&Wait> = task.live_waits().collect();
        waits.sort_by_key(|wait| wait.polled.order);
        let words: Vec<String> = waits.iter().map(|wait| wait_text(x, wait, &mut Vec::new())).collect();
        let status = match task.state {
            task::State::Done => Some("has ended".to_owned()),
            _ if words.is_empty() => None,
            _ => Some(format!("is suspended {}", words.join(", or "))),
        };
        ActorState { actor: task.label.to_string(), status, ..ActorState::default() }
    };
    x.tasks.iter().map(|task| state(task)).collect()
}
