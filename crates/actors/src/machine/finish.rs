//! The end of a step: starts the actors it created, runs the affected checks, and records its footprint.
//!
//! Most steps need none of this, and [`finish`](ActorMachine::finish) returns at once.

use super::{ActorMachine, StepExtras};
use crate::address::with_labels;
use crate::cell::StepError;
use crate::delivery::Delivery;
use crate::describe;
use crate::panics::CaughtPanic;
use whippet_model::{Branch, Dependence, Executed, FindingKind, MachineError, Name, Problem, Touch};

/// Salt that distinguishes the fields of an actor from actors.
const FIELD: u64 = 0xF1E1;
/// Salt that distinguishes the object of a check from actors.
const CHECK: u64 = 0xC4EC;
/// Salt that distinguishes the object of a state that has to be reachable.
const REACHED: u64 = 0x4EAC;

impl ActorMachine {
    /// Finishes the newest step, which `actor` took with this result.
    #[inline]
    pub(super) fn finish(
        &mut self,
        actor: u32,
        branch: Branch,
        result: Result<(), StepError>,
    ) -> Result<Executed, MachineError> {
        let plain = {
            let engine = self.engine.borrow();
            engine.new_cells.is_empty() && engine.current.arities.is_empty()
        };
        if plain && self.plain && result.is_ok() {
            Ok(Executed::ONLY_BRANCH)
        } else {
            self.finish_slow_path(actor, branch, result)
        }
    }

    /// The slow path of [`finish`](ActorMachine::finish), for steps with anything to record.
    #[inline(never)]
    fn finish_slow_path(
        &mut self,
        actor: u32,
        branch: Branch,
        result: Result<(), StepError>,
    ) -> Result<Executed, MachineError> {
        // Even if the step panicked, the actors it had created before exist.
        let created = self.start_new_cells();
        let result = result.and(created);
        let arities = self.engine.borrow().current.arities.clone();
        let at = self.records.len() - 1;
        let problem = match result {
            Ok(()) => {
                let temporal = self.follow_temporal(actor, at);
                let problem = self.check(actor, at).or_else(|| self.check_histories(at));
                problem.or(temporal).or_else(|| self.reached(actor, at))
            }
            Err(StepError::Panic(panic)) => Some(panicked(panic, at)),
            Err(StepError::Error(error)) => {
                self.error = Some(self.in_this_step(error, actor, at));
                None
            }
        };
        let next_branch = branch.next(&arities);
        self.problems += usize::from(problem.is_some());
        if problem.is_some() || !arities.is_empty() {
            self.records[at].extras = Some(Box::new(StepExtras { arities, problem }));
        }
        if self.profile.dependence == Dependence::Footprints {
            self.touch(actor);
        }
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(Executed { next_branch }),
        }
    }

    /// Adds the actor and its message to the description of a misuse.
    #[cold]
    fn in_this_step(&self, error: MachineError, actor: u32, at: usize) -> MachineError {
        let MachineError::Misuse(why) = error else { return error };
        let engine = self.engine.borrow();
        let labels = describe::labels(&engine);
        let sent = &engine.messages[self.records[at].choice.what.0];
        let text = with_labels(labels.clone(), || {
            self.cells[actor as usize].show_message(&engine, self.records[at].choice.what.0)
        });
        let (file, line) = (sent.site.file(), sent.site.line());
        MachineError::Misuse(format!(
            "{why} (in step {}, in which {} receives {text}, sent {file}:{line})",
            at + 1,
            labels[actor as usize]
        ))
    }

    /// Starts the actors that were created, and recursively those that they create at their beginning.
    pub(super) fn start_new_cells(&mut self) -> Result<(), StepError> {
        loop {
            let new_cells = std::mem::take(&mut self.engine.borrow_mut().new_cells);
            if new_cells.is_empty() {
                return Ok(());
            }
            let from = self.cells.len();
            self.bodies |= new_cells.iter().any(|cell| cell.is_body());
            self.cells.extend(new_cells);
            for k in from..self.cells.len() {
                self.cells[k].begin()?;
            }
        }
    }

    /// Records the footprint of a step of an actor.
    fn touch(&mut self, actor: u32) {
        let (name, shared) = {
            let engine = self.engine.borrow();
            (engine.actors[actor as usize].name, !engine.shared.is_empty())
        };
        match self.cells[actor as usize].fields() {
            // With ordered delivery, delivering one message can enable others, whatever fields it touches. Accesses to
            // shared variables are ordered by the actor as a whole.
            Some(fields) if self.fields && self.delivery == Delivery::Unordered && !shared => {
                self.touches.push(Touch::read(name));
                self.touches.extend(fields.iter().map(|&(place, write)| {
                    let field = name.mixed(FIELD).mixed(place as u64);
                    if write { Touch::write(field) } else { Touch::read(field) }
                }));
            }
            _ => self.touches.push(Touch::write(name)),
        }
        self.engine.borrow().histories.touch(self.records.len() as u32 - 1, &mut self.touches);
        let temporal: Vec<Name> = self.touch_temporal(actor).collect();
        self.touches.extend(temporal.into_iter().map(Touch::write));
        let cells = &self.cells;
        let is_seen = |slots: &[u32], is_changed: &dyn Fn() -> bool| slots.len() > 1 && is_changed();
        for &k in self.checks_of.get(actor as usize).into_iter().flatten() {
            let check = &self.always[k as usize];
            if is_seen(&check.slots, &|| check.is_changed(cells, actor)) {
                self.touches.push(Touch::write(Name::ROOT.mixed(CHECK).child(k)));
            }
        }
        for &k in self.sometimes_of.get(actor as usize).into_iter().flatten() {
            let check = &self.sometimes[k as usize].check;
            if is_seen(&check.slots, &|| check.is_changed(cells, actor)) {
                self.touches.push(Touch::write(Name::ROOT.mixed(REACHED).child(k)));
            }
        }
    }

    /// Returns the problem of the first check that fails after step `at` of this actor.
    #[inline]
    fn check(&self, actor: u32, at: usize) -> Option<Problem> {
        let checks = self.checks_of.get(actor as usize)?;
        let seen = checks.iter().filter(|&&k| self.always[k as usize].is_changed(&self.cells, actor));
        seen.into_iter().find_map(|&k| self.run_check(k as usize, vec![at]))
    }

    /// Runs one of the `always` checks and returns its problem if it fails.
    pub(super) fn run_check(&self, k: usize, steps: Vec<usize>) -> Option<Problem> {
        let panic = self.always[k].run(&self.cells).err()?;
        Some(
            Problem::new(
                FindingKind::Assertion,
                format!("always: {}", panic.message),
                key_of_panic(&panic).mixed(CHECK + k as u64),
            )
            .with_place(panic.place)
            .with_steps(steps),
        )
    }
}

fn panicked(panic: CaughtPanic, at: usize) -> Problem {
    let kind = if panic.is_assertion() { FindingKind::Assertion } else { FindingKind::Panic };
    let key = key_of_panic(&panic);
    Problem::new(kind, panic.message, key).with_place(panic.place).with_steps(vec![at])
}

/// Returns the key of a panic: panics at the same location have the same key.
pub(super) fn key_of_panic(panic: &CaughtPanic) -> Name {
    let text = panic.place.as_ref().unwrap_or(&panic.message);
    text.bytes().fold(Name::ROOT.mixed(FindingKind::Panic as u64), |key, byte| key.mixed(u64::from(byte)))
}
