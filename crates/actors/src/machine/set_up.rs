//! What comes before the explored part: actors are taken in, their first messages may be delivered in one fixed order,
//! and then all this is past.

use super::{ActorMachine, Record};
use crate::cell::Trouble;
use crate::checks::Check;
use crate::delivery::Delivery;
use crate::environment::Environment;
use crate::shared::TOO_LATE;
use whippet_model::{ActorNo, Clocks, Machine, MachineError, Relation, Tasks};

impl ActorMachine {
    /// Makes a check after each step of an actor that it looks at.
    pub(crate) fn always(&mut self, check: Check) {
        self.always.push(check);
    }

    /// Makes a check when nothing can happen any more.
    pub(crate) fn at_end(&mut self, check: Check) {
        self.at_end.push(check);
    }

    pub(crate) fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    /// Takes in the actors that were created outside of steps.
    pub(crate) fn adopt(&mut self) -> Result<(), MachineError> {
        match self.take_newborn() {
            Ok(()) => Ok(()),
            Err(Trouble::Error(error)) => Err(error),
            Err(Trouble::Panic(panic)) => {
                Err(MachineError::Misuse(format!("an actor panicked in the set-up, before its first message: {panic}")))
            }
        }
    }

    /// Delivers what is pending in order of sending until the program is quiet, then regards all this as past.
    pub(crate) fn settle(&mut self, most: usize) -> Result<(), MachineError> {
        let mut choices = Vec::new();
        loop {
            choices.clear();
            self.enabled(&mut choices);
            let Some(&choice) = choices.first() else { break };
            if self.records.len() == most {
                return Err(MachineError::Misuse(format!("the set-up is not quiet after {most} messages")));
            }
            self.execute(choice)?;
            if let Some(problem) = self.records.last().and_then(Record::problem) {
                return Err(MachineError::Misuse(format!("the set-up fails: {}", problem.message)));
            }
        }
        self.forget_steps();
        self.settled = self.engine.borrow().mail.len();
        Ok(())
    }

    /// What has happened so far is not explored, nor taken back.
    fn forget_steps(&mut self) {
        self.engine.borrow_mut().settle();
        for cell in &mut self.cells {
            cell.settle();
        }
        self.records.clear();
        self.touches.clear();
        self.clocks = (self.delivery == Delivery::Causal).then(Clocks::new);
    }

    /// The set-up is over: exploration begins here. Messages are in conflict as `tasks` says, and so many bytes may be
    /// used to remember what steps did.
    pub(crate) fn start(&mut self, tasks: Tasks, remember: usize) {
        self.forget_steps();
        self.set_up_sends = self.sends_so_far();
        self.assign_checks();
        self.fields = tasks == Tasks::Fields;
        if self.fields && self.cells.iter().any(|cell| cell.has_fields()) {
            self.relation = Relation::Footprints;
            let shared = &mut self.engine.borrow_mut().shared;
            shared.closed = shared.is_empty().then_some(TOO_LATE);
        }
        self.plain = self.always.is_empty() && self.relation == Relation::SameActor && self.clocks.is_none();
        self.at_start = (0..self.always.len()).find_map(|k| self.run_check(k, Vec::new()));
        self.engine.borrow_mut().remember = remember;
        if let Tasks::Marks(marks) = tasks {
            self.marks = Some(marks);
            self.find_out();
        }
    }

    fn sends_so_far(&self) -> Vec<(ActorNo, ActorNo)> {
        let engine = self.engine.borrow();
        engine.mail.all().iter().map(|sent| (ActorNo(sent.from), ActorNo(sent.to))).collect()
    }

    /// Finds the checks to be made after a step of each actor. One that looks at several makes their steps dependent.
    fn assign_checks(&mut self) {
        for (k, check) in self.always.iter().enumerate() {
            for &slot in &check.slots {
                if self.checks_of.len() <= slot as usize {
                    self.checks_of.resize(slot as usize + 1, Vec::new());
                }
                self.checks_of[slot as usize].push(k as u32);
            }
            if check.slots.len() > 1 {
                self.relation = Relation::Footprints;
            }
        }
    }
}
