//! Tests of histories: of linearizable ones after each answer, of others at the end.
//!
//! If a history is linearizable, so is all of its beginnings; a cyclic search that never comes to an end still finds a
//! violation. Sequential consistency has no such property: a beginning may lack an operation that explains an answer.

use super::ActorMachine;
use super::finish::key_of_panic;
use crate::current_step::SETUP;
use crate::describe;
use crate::engine::Engine;
use crate::history::{HistoryLog, Violation};
use whippet_model::{FindingKind, Name, Problem};

/// Salt that distinguishes problems of histories from others.
const HISTORY: u64 = 0x4155;

impl ActorMachine {
    /// Returns the problem of the first history that the answers of the newest step, `at`, make impossible.
    pub(super) fn check_histories(&self, at: usize) -> Option<Problem> {
        let mut engine = self.engine.borrow_mut();
        for k in 0..engine.histories.logs.len() {
            let log = &engine.histories.logs[k];
            let answers = log.ends_of(at as u32).any(|end| end.returned);
            if !log.is_linearizable() || log.violated.is_some() || !answers {
                continue;
            }
            if let Some(problem) = problem_of(&engine, k) {
                engine.histories.logs[k].violated = Some(at as u32);
                return Some(problem);
            }
        }
        None
    }

    /// Appends the problems of histories that are tested at the end.
    pub(super) fn check_ended_histories(&self, engine: &Engine, out: &mut Vec<Problem>) {
        let ended = (0..engine.histories.logs.len()).filter(|&k| !engine.histories.logs[k].is_linearizable());
        out.extend(ended.filter_map(|k| problem_of(engine, k)));
    }
}

/// Returns the problem of a history that is not allowed.
fn problem_of(engine: &Engine, k: usize) -> Option<Problem> {
    let log: &HistoryLog = &engine.histories.logs[k];
    let violation = log.judge(|actor| engine.actors[actor as usize].name, || describe::labels(engine))?;
    let mut steps: Vec<usize> = log.ends.iter().filter(|end| end.step != SETUP).map(|end| end.step as usize).collect();
    steps.dedup();
    let key = Name::ROOT.mixed(HISTORY).child(k as u32);
    let (file, line) = (log.site.file(), log.site.line());
    Some(match violation {
        Violation::Inconsistent(text) => {
            Problem::new(FindingKind::Assertion, text, key).with_place(format!("{file}:{line}")).with_steps(steps)
        }
        Violation::Panicked(panic) => {
            let key = key_of_panic(&panic).mixed(key.0);
            let message = format!("the specification of a history panicked: {}", panic.message);
            Problem::new(FindingKind::Panic, message, key).with_place(panic.place).with_steps(steps)
        }
    })
}
