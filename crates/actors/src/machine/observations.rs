//! Observations, which are no errors: the results of executions, and states that have to be reachable.
//!
//! A result is a function of final states, so it depends on a trace only, and needs no dependence between steps. A state
//! that has to be reachable is looked for after each step, like an `always` check.
//!
//! Both are reported as outcomes ([`Problem::declaration`]). An execution reports a reached state once.

use super::finish::key_of_panic;
use super::{ActorMachine, ActorStep};
use crate::address::with_labels;
use crate::checks::Check;
use crate::engine::Engine;
use whippet_model::{FindingKind, Name, Problem};

/// Salts that distinguish declarations of results, and of states that have to be reachable.
const OUTCOME: u64 = 0x0C0E;
const SOMETIMES: u64 = 0x50E7;

/// A state that some execution has to reach.
pub(super) struct Sometimes {
    pub(super) check: Check<bool>,
    /// `true` if it holds from the beginning.
    holds_at_start: bool,
}

impl ActorMachine {
    /// Adds a result of executions.
    pub(crate) fn add_outcome(&mut self, outcome: Check<String>) {
        self.outcomes.push(outcome);
    }

    /// Adds a state that some execution has to reach.
    pub(crate) fn add_sometimes(&mut self, check: Check<bool>) {
        self.sometimes.push(Sometimes { check, holds_at_start: false });
    }

    /// Declares that each result has the same value in all executions.
    pub(crate) fn set_deterministic(&mut self) {
        self.profile.deterministic = true;
    }

    /// Appends the results of the execution, which has ended.
    pub(super) fn find_outcomes(&self, engine: &Engine, labels: &[String], out: &mut Vec<Problem>) {
        if self.outcomes.is_empty() {
            return;
        }
        let names: Vec<String> = engine.actors.iter().map(|info| info.name.to_string()).collect();
        for (k, outcome) in self.outcomes.iter().enumerate() {
            let declaration = Name::ROOT.mixed(OUTCOME).child(k as u32);
            // Labels count actors in the order of their creation, which differs between equivalent executions.
            let compared = with_labels(names.clone(), || outcome.run(&self.cells));
            let shown = with_labels(labels.to_vec(), || outcome.run(&self.cells));
            let steps = outcome.slots.iter().flat_map(|&slot| self.steps_of(slot)).collect();
            let problem = match (compared, shown) {
                (Ok(compared), Ok(shown)) => {
                    let key = compared.bytes().fold(declaration, |key, byte| key.mixed(u64::from(byte)));
                    Problem::outcome(shown, declaration, key).with_place(outcome.place())
                }
                (Err(panic), _) | (_, Err(panic)) => {
                    let key = key_of_panic(&panic).mixed(declaration.0);
                    Problem::new(FindingKind::Panic, format!("`outcome` panicked: {}", panic.message), key)
                        .with_place(panic.place)
                }
            };
            out.push(problem.with_steps(steps));
        }
    }

    /// Returns the first state that has to be reachable and that the newest step, `at`, of this actor reached.
    pub(super) fn reached(&self, actor: u32, at: usize) -> Option<Problem> {
        let observed = self.sometimes_of.get(actor as usize)?;
        observed.iter().find_map(|&k| {
            let Sometimes { check, holds_at_start } = &self.sometimes[k as usize];
            let declaration = declaration_of_sometimes(k);
            let is_known = |record: &ActorStep| record.problem().is_some_and(|p| p.declaration == Some(declaration));
            let known = *holds_at_start || self.problems > 0 && self.records.iter().any(is_known);
            if known || !check.is_changed(&self.cells, actor) {
                return None;
            }
            match check.run(&self.cells) {
                Ok(true) => {
                    let reached = Problem::outcome("reached", declaration, declaration).with_place(check.place());
                    Some(reached.with_steps(check.slots.iter().flat_map(|&slot| self.steps_of(slot)).collect()))
                }
                Ok(false) => None,
                Err(panic) => {
                    let key = key_of_panic(&panic).mixed(declaration.0);
                    let message = format!("`sometimes` panicked: {}", panic.message);
                    Some(Problem::new(FindingKind::Panic, message, key).with_place(panic.place).with_steps(vec![at]))
                }
            }
        })
    }

    /// Declares the states that have to be reachable, unless they hold from the beginning.
    pub(super) fn expect_reachable(&mut self) {
        for (k, Sometimes { check, holds_at_start }) in self.sometimes.iter_mut().enumerate() {
            *holds_at_start = matches!(check.run(&self.cells), Ok(true));
            if *holds_at_start {
                continue;
            }
            let message = "`sometimes` never holds: no execution reaches such a state";
            let missing = Problem::new(FindingKind::Unreached, message, declaration_of_sometimes(k as u32));
            self.profile.expected.push(missing.with_place(check.place()));
        }
    }
}

fn declaration_of_sometimes(k: u32) -> Name {
    Name::ROOT.mixed(SOMETIMES).child(k)
}
