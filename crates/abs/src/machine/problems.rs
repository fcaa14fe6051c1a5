//! Problems of a failed step and of a finished execution.

use super::frame::Status;
use super::{AbsMachine, TaskResult};
use crate::code::{LIBRARY, known};
use crate::eval::{Limit, MAX_NESTING, MAX_RANDOM, Thrown};
use whippet_model::{Branch, FindingKind, Name, Problem, WaitFor};

impl AbsMachine {
    /// Returns the problem of a task that ends with an exception, or `None` if its future is kept: the exception is
    /// then thrown again by `get`. A failed assertion or an exceeded limit is a problem in any case.
    pub(super) fn problem_of(&self, task: u32, thrown: &Thrown) -> Option<Problem> {
        let entry = &self.tasks[task as usize];
        let code = &self.code;
        let method = code.method_name(entry.method);
        let (kind, message, place) = match thrown {
            Thrown::Exception(crate::value::Value::Atom(known::ASSERTION_FAILED), place) => {
                (FindingKind::Assertion, format!("does not hold: {}", self.line(*place)), *place)
            }
            Thrown::Exception(..) if entry.future_kept => return None,
            Thrown::Exception(exception, place) => {
                let message = format!("uncaught {}: {}", self.value_text(exception), self.line(*place));
                (FindingKind::Panic, message, *place)
            }
            Thrown::Limit(limit, place) => (FindingKind::Limit, self.limit_text(*limit, method), *place),
        };
        let key = Name(u64::from(place)).mixed(kind as u64).mixed(u64::from(entry.method));
        Some(Problem::new(kind, message, key).with_place(self.place(place)))
    }

    fn limit_text(&self, limit: Limit, method: &str) -> String {
        match limit {
            Limit::Statements => {
                format!("`{method}` did not end within {} statements", self.statements)
            }
            Limit::Depth => format!("more than {MAX_NESTING} nested calls in `{method}`"),
            Limit::Random => format!(
                "not supported: `random` in `{method}` with an argument below 1 or above {MAX_RANDOM}, or more than {} times in one step",
                Branch::DIGITS
            ),
            Limit::Size => format!("a number or string in `{method}` exceeds a million bits or characters"),
        }
    }

    pub(super) fn place(&self, place: u32) -> Option<String> {
        (place != LIBRARY).then(|| self.code.source.place(place))
    }

    /// Returns the source line of a place, without surrounding whitespace.
    fn line(&self, place: u32) -> String {
        if place == LIBRARY { String::new() } else { self.code.source.line_text(place).to_string() }
    }

    /// Reports the problems of a finished execution: exceptions that were never observed, and tasks that are still
    /// waiting.
    pub(super) fn end_problems(&self, out: &mut Vec<Problem>) {
        for entry in &self.tasks {
            let Some((TaskResult::Failed(exception, place), step)) = &entry.result else { continue };
            if entry.observed {
                continue;
            }
            let message = format!(
                "uncaught {}, and its future was never read: {}",
                self.value_text(exception),
                self.line(*place)
            );
            let key = Name(u64::from(*place)).mixed(FindingKind::Panic as u64).mixed(u64::from(entry.method));
            let steps = vec![*step as usize];
            out.push(Problem::new(FindingKind::Panic, message, key).with_place(self.place(*place)).with_steps(steps));
        }
        self.deadlock(out);
    }

    /// Reports a deadlock if tasks are left and none of them is enabled. It is only a warning if none of them waits
    /// for a future: the program may be correct, such as a server that waits for more requests.
    fn deadlock(&self, out: &mut Vec<Problem>) {
        let stuck: Vec<u32> = self.live.iter().copied().filter(|&task| !self.is_enabled(task)).collect();
        if stuck.is_empty() || stuck.len() < self.live.len() {
            return;
        }
        let on_future = |&task: &u32| match &self.state_of(task).status {
            Status::Waiting(wait) => !wait.futures.is_empty(),
            Status::Blocked(..) => true,
            Status::Ready | Status::Asleep(_) | Status::Done => false,
        };
        let warning = !stuck.iter().any(on_future);
        let mut lines: Vec<(u32, u32, String)> = stuck.iter().map(|&task| self.stuck_text(task)).collect();
        lines.sort();
        let mix = |key: Name, place: u32, method: u32| key.mixed(u64::from(place) << 32 | u64::from(method));
        let key =
            lines.iter().fold(Name(FindingKind::Deadlock as u64), |key, &(place, method, _)| mix(key, place, method));
        let head = if warning { "the program ends while tasks still wait" } else { "no task can continue" };
        let texts: Vec<String> = lines.into_iter().map(|(.., text)| text).collect();
        let first = stuck.iter().copied().find(|task| on_future(task)).unwrap_or(stuck[0]);
        let steps = stuck.iter().map(|&task| self.state_of(task).last).filter(|&step| step != super::NONE);
        out.push(
            Problem::new(FindingKind::Deadlock, format!("{head}: {}", texts.join("; ")), key)
                .with_place(self.place(self.where_it_waits(first)))
                .with_steps(steps.map(|step| step as usize).collect())
                .with_warning(warning)
                .with_waits(stuck.iter().map(|&task| self.wait_for(task)).collect()),
        );
    }

    fn where_it_waits(&self, task: u32) -> u32 {
        let entry = &self.tasks[task as usize];
        let Some(frame) = entry.state.frames.last() else { return entry.place };
        let waits = matches!(entry.state.status, Status::Waiting(_) | Status::Asleep(_));
        let at = if waits { frame.at as usize } else { (frame.at as usize).saturating_sub(1) };
        self.code.methods[frame.method as usize].places[at]
    }

    /// Returns the place where a task waits and its method, which are equal in equivalent executions, and a text that says
    /// where it waits and for what.
    /// Returns the wait of a task as data: its object waits for the objects of the tasks that it awaits.
    fn wait_for(&self, task: u32) -> WaitFor {
        let entry = &self.tasks[task as usize];
        let actor = self.object_text(entry.object);
        let text = self.stuck_text(task).2[actor.len() + 1..].to_string();
        let awaited: Vec<u32> = match &entry.state.status {
            Status::Blocked(future, _) => vec![*future],
            Status::Waiting(wait) => wait.futures.to_vec(),
            Status::Ready | Status::Asleep(_) | Status::Done => Vec::new(),
        };
        let on = awaited.iter().map(|&future| self.object_text(self.tasks[future as usize].object)).collect();
        WaitFor { actor, text, on }
    }

    /// Describes the wait of a task. The text begins with its object.
    fn stuck_text(&self, task: u32) -> (u32, u32, String) {
        let entry = &self.tasks[task as usize];
        let place = self.where_it_waits(task);
        let who = format!("{} in `{}`", self.object_text(entry.object), self.code.method_name(entry.method));
        let at = self.place(place).unwrap_or_default();
        let future_text = |future: u32| {
            let future = &self.tasks[future as usize];
            format!("`{}` of {}", self.code.method_name(future.method), self.object_text(future.object))
        };
        let text = match &entry.state.status {
            Status::Blocked(future, _) => format!("{who} is blocked at {at} until {} ends", future_text(*future)),
            Status::Waiting(wait) if !wait.futures.is_empty() => {
                let futures: Vec<String> = wait.futures.iter().map(|&future| future_text(future)).collect();
                format!("{who} waits at {at} until {} ends", futures.join(" and "))
            }
            Status::Waiting(_) => format!("{who} waits at {at}: {}", self.line(place).trim_end_matches(';')),
            Status::Asleep(timer) => format!("{who} sleeps at {at} until {}", timer.latest),
            Status::Ready | Status::Done => format!("{who} cannot start because its group is blocked"),
        };
        (place, entry.method, text)
    }
}
