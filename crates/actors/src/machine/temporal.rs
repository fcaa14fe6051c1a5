//! Properties of whole executions: states that each execution must reach, and states that last once they are reached.
//!
//! Such a property is decided at the end of an execution, which is fair because nothing more can happen. Whether the state was
//! reached is part of the configuration: a search that compares configurations goes on from both.
//!
//! Like for an `always` check of several actors, steps that change what the property sees depend on each other: different
//! orders lead through different states.

use super::ActorMachine;
use super::finish::key_of_panic;
use crate::checks::Check;
use crate::current_step::SETUP;
use crate::panics::CaughtPanic;
use whippet_model::{FindingKind, Name, Problem};

/// Salt that distinguishes these properties from other objects.
const TEMPORAL: u64 = 0x7E4B;

/// The time at which a property must hold.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Temporal {
    /// In some state of each execution.
    Eventually,
    /// At the end, if it ever held.
    Stable,
}

/// A property of executions.
pub(super) struct TemporalCheck {
    pub(super) check: Check<bool>,
    kind: Temporal,
    /// The step that reached a state in which it holds.
    reached: Option<u32>,
}

impl ActorMachine {
    /// Adds a property of executions.
    pub(crate) fn add_temporal(&mut self, kind: Temporal, check: Check<bool>) {
        self.temporal.push(TemporalCheck { check, kind, reached: None });
    }

    /// Looks which properties hold from the beginning.
    pub(super) fn start_temporal(&mut self) {
        for one in &mut self.temporal {
            one.reached = matches!(one.check.run(&self.cells), Ok(true)).then_some(SETUP);
        }
    }

    /// Looks which properties hold after step `at`, which `actor` took. Returns the problem of one that panicked.
    pub(super) fn follow_temporal(&mut self, actor: u32, at: usize) -> Option<Problem> {
        let mut problem = None;
        for (k, one) in self.temporal.iter_mut().enumerate() {
            let concerned = one.reached.is_none() && one.check.slots.contains(&actor);
            if !concerned || !one.check.is_changed(&self.cells, actor) {
                continue;
            }
            match one.check.run(&self.cells) {
                Ok(true) => one.reached = Some(at as u32),
                Ok(false) => {}
                Err(panic) => problem = problem.or(Some(panicked(one.kind, k, panic).with_steps(vec![at]))),
            }
        }
        problem
    }

    /// Undoes what steps from `depth` on reached.
    pub(super) fn rewind_temporal(&mut self, depth: usize) {
        for one in &mut self.temporal {
            one.reached = one.reached.filter(|&step| step == SETUP || (step as usize) < depth);
        }
    }

    /// Appends the objects of the properties that the newest step, which `actor` took, may have changed.
    pub(super) fn touch_temporal(&self, actor: u32) -> impl Iterator<Item = Name> + '_ {
        let sees = move |one: &TemporalCheck| one.check.slots.len() > 1 && one.check.slots.contains(&actor);
        let changed = self.temporal.iter().enumerate();
        let changed = changed.filter(move |(_, one)| sees(one) && one.check.is_changed(&self.cells, actor));
        changed.map(|(k, _)| object(k))
    }

    /// Returns a number that tells which properties have held, for comparing configurations.
    pub(super) fn reached_temporal(&self) -> Option<Name> {
        let reached = self.temporal.iter().map(|one| u64::from(one.reached.is_some()));
        (!self.temporal.is_empty()).then(|| reached.fold(Name::ROOT.mixed(TEMPORAL), Name::mixed))
    }

    /// Appends the problems of the properties, at the end of an execution.
    pub(super) fn check_temporal(&self, out: &mut Vec<Problem>) {
        for (k, one) in self.temporal.iter().enumerate() {
            let message = match (one.kind, one.reached) {
                (Temporal::Eventually, None) => "`eventually` never holds in this execution",
                (Temporal::Stable, Some(_)) => match one.check.run(&self.cells) {
                    Ok(true) => continue,
                    Ok(false) => "`stable` held once, but not at the end",
                    Err(panic) => {
                        out.push(panicked(one.kind, k, panic));
                        continue;
                    }
                },
                _ => continue,
            };
            let steps = one.check.slots.iter().flat_map(|&slot| self.steps_of(slot));
            let problem = Problem::new(FindingKind::Assertion, message.to_owned(), object(k));
            out.push(problem.with_place(one.check.place()).with_steps(steps.chain(self.losses()).collect()));
        }
    }
}

fn object(k: usize) -> Name {
    Name::ROOT.mixed(TEMPORAL).child(k as u32)
}

fn panicked(kind: Temporal, k: usize, panic: CaughtPanic) -> Problem {
    let name = if kind == Temporal::Eventually { "eventually" } else { "stable" };
    let key = key_of_panic(&panic).mixed(object(k).0);
    Problem::new(FindingKind::Panic, format!("`{name}` panicked: {}", panic.message), key).with_place(panic.place)
}
