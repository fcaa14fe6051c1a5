//! The end of a step: the actors it created, the checks that it may have broken, and what it touched.
//!
//! Most steps of most programs have none of this, and [`finish`](ActorMachine::finish) is over at once.

use super::{ActorMachine, Rare};
use crate::cell::Trouble;
use crate::delivery::Delivery;
use crate::panics::Panic;
use whippet_model::{Kind, MachineError, Name, Problem, Relation, Touch};

/// Tells the fields of an actor from actors.
const FIELD: u64 = 0xF1E1;
/// Tells the object of a check from actors.
const CHECK: u64 = 0xC4EC;

impl ActorMachine {
    /// Ends the newest step, a step of `actor` that came to `result`.
    #[inline]
    pub(super) fn finish(&mut self, actor: u32, result: Result<(), Trouble>) -> Result<(), MachineError> {
        let plain = {
            let engine = self.engine.borrow();
            engine.newborn.is_empty() && engine.now.arities.is_empty()
        };
        if plain && self.plain && result.is_ok() { Ok(()) } else { self.finish_with_care(actor, result) }
    }

    /// The same for a step of which something is to be noted.
    #[inline(never)]
    fn finish_with_care(&mut self, actor: u32, result: Result<(), Trouble>) -> Result<(), MachineError> {
        // Also of a step that panicked: what it had created before is there.
        let created = self.take_newborn();
        let result = result.and(created);
        let arities = self.engine.borrow().now.arities.clone();
        let at = self.records.len() - 1;
        let problem = match result {
            Ok(()) => self.check(actor, at),
            Err(Trouble::Panic(panic)) => Some(panicked(panic, at)),
            Err(Trouble::Error(error)) => {
                self.error = Some(error);
                None
            }
        };
        self.problems += usize::from(problem.is_some());
        if problem.is_some() || !arities.is_empty() {
            self.records[at].rare = Some(Box::new(Rare { arities, problem }));
        }
        if self.relation == Relation::Footprints {
            self.touch(actor);
        }
        if let Some(mut clocks) = self.clocks.take() {
            clocks.push(self);
            self.clocks = Some(clocks);
        }
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Takes in the actors that were created, and those that they create as they begin.
    pub(super) fn take_newborn(&mut self) -> Result<(), Trouble> {
        loop {
            let newborn = std::mem::take(&mut self.engine.borrow_mut().newborn);
            if newborn.is_empty() {
                return Ok(());
            }
            let from = self.cells.len();
            self.bodies |= newborn.iter().any(|cell| cell.is_body());
            self.cells.extend(newborn);
            for k in from..self.cells.len() {
                self.cells[k].begin()?;
            }
        }
    }

    /// Notes what a step of an actor touched.
    fn touch(&mut self, actor: u32) {
        let (name, shared) = {
            let engine = self.engine.borrow();
            (engine.about[actor as usize].name, !engine.shared.is_empty())
        };
        match self.cells[actor as usize].fields() {
            // Where messages are kept in order, delivering one lets others through: that is no matter of fields.
            // Shared variables are ordered by actors as a whole.
            Some(fields) if self.fields && self.delivery == Delivery::Unordered && !shared => {
                self.touches.push(Touch::read(name));
                self.touches.extend(fields.iter().map(|&(place, write)| {
                    let field = name.mixed(FIELD).mixed(place as u64);
                    if write { Touch::write(field) } else { Touch::read(field) }
                }));
            }
            _ => self.touches.push(Touch::write(name)),
        }
        for &k in self.checks_of.get(actor as usize).into_iter().flatten() {
            if self.always[k as usize].slots.len() > 1 {
                self.touches.push(Touch::write(Name::ROOT.mixed(CHECK).child(k)));
            }
        }
    }

    /// The first check that step `at`, of this actor, broke.
    #[inline]
    fn check(&self, actor: u32, at: usize) -> Option<Problem> {
        let checks = self.checks_of.get(actor as usize)?;
        checks.iter().find_map(|&k| self.run_check(k as usize, vec![at]))
    }

    /// What one of the checks says now.
    pub(super) fn run_check(&self, k: usize, steps: Vec<usize>) -> Option<Problem> {
        let panic = self.always[k].run(&self.cells).err()?;
        Some(Problem {
            kind: Kind::Assertion,
            message: format!("always: {}", panic.message),
            key: key_of_panic(&panic).mixed(CHECK + k as u64),
            place: panic.place,
            steps,
            warning: false,
        })
    }
}

fn panicked(panic: Panic, at: usize) -> Problem {
    let kind = if panic.is_assertion() { Kind::Assertion } else { Kind::Panic };
    let key = key_of_panic(&panic);
    Problem { kind, message: panic.message, place: panic.place, key, steps: vec![at], warning: false }
}

/// A panic is the same one wherever it comes from the same place.
pub(super) fn key_of_panic(panic: &Panic) -> Name {
    let text = panic.place.as_ref().unwrap_or(&panic.message);
    text.bytes().fold(Name::ROOT.mixed(Kind::Panic as u64), |key, byte| key.mixed(u64::from(byte)))
}
