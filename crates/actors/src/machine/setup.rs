//! The setup, before exploration begins: actors are created, and messages may be delivered in one fixed order. These
//! steps can neither be undone nor reordered.

use super::{ActorMachine, ActorStep};
use crate::cell::StepError;
use crate::checks::Check;
use crate::environment::Environment;
use crate::shared::TOO_LATE;
use whippet_model::{
    ActorNo, ConflictRule, Dependence, FindingKind, Machine, MachineConfig, MachineError, Name, Problem,
};

impl ActorMachine {
    /// Adds a check that runs after each step of an actor that it inspects.
    pub(crate) fn always(&mut self, check: Check) {
        self.always.push(check);
    }

    /// Returns the `always` checks of several actors: where each is declared, and the number of its actors.
    pub(crate) fn wide_checks(&self) -> Vec<(String, usize)> {
        let wide = self.always.iter().filter(|check| check.slots.len() > 1);
        wide.map(|check| (format!("{}:{}", check.site.file(), check.site.line()), check.slots.len())).collect()
    }

    /// Adds a check that runs when no step is enabled.
    pub(crate) fn at_end(&mut self, check: Check) {
        self.at_end.push(check);
    }

    pub(crate) fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    /// Starts the actors that were created outside of steps.
    pub(crate) fn start_new_actors(&mut self) -> Result<(), MachineError> {
        match self.start_new_cells() {
            Ok(()) => Ok(()),
            Err(StepError::Error(error)) => Err(error),
            Err(StepError::Panic(panic)) => {
                Err(MachineError::Misuse(format!("an actor panicked during setup, before its first message: {panic}")))
            }
        }
    }

    /// Delivers pending messages in the order they were sent until none is deliverable, and makes these steps
    /// permanent. Fails if more than `most` messages are delivered.
    pub(crate) fn run_setup(&mut self, most: usize) -> Result<(), MachineError> {
        let mut choices = Vec::new();
        loop {
            choices.clear();
            self.enabled(&mut choices)?;
            let Some(&choice) = choices.first() else { break };
            if self.records.len() == most {
                return Err(MachineError::Misuse(format!(
                    "setup still running after {most} messages; `System::finish_setup` needs actors that stop sending"
                )));
            }
            self.execute(choice)?;
            if let Some(problem) = self.records.last().and_then(ActorStep::problem) {
                return Err(MachineError::Misuse(format!("setup failed: {}", problem.message)));
            }
        }
        self.forget_steps();
        Ok(())
    }

    /// Makes everything that has happened so far permanent: it is neither explored nor undone.
    fn forget_steps(&mut self) {
        self.engine.borrow_mut().commit();
        for cell in &mut self.cells {
            cell.commit();
        }
        self.records.clear();
        self.touches.clear();
    }

    /// Ends the setup: exploration begins here. Messages conflict by `rule`, and `memo_bytes` bytes may be used
    /// to memoize steps.
    pub(crate) fn start(
        &mut self,
        rule: ConflictRule,
        memo_bytes: usize,
        config: &MachineConfig,
    ) -> Result<(), MachineError> {
        self.forget_steps();
        self.profile.setup_sends = self.sends_so_far();
        self.assign_checks();
        self.fields = rule == ConflictRule::Fields;
        if self.fields && self.cells.iter().any(|cell| cell.has_fields()) {
            self.profile.dependence = Dependence::Footprints;
            let shared = &mut self.engine.borrow_mut().shared;
            shared.closed = shared.is_empty().then_some(TOO_LATE);
        }
        self.start_faults()?;
        self.plain = self.always.is_empty() && self.profile.dependence == Dependence::PerActor;
        self.at_start = (0..self.always.len()).find_map(|k| self.run_check(k, Vec::new()));
        self.engine.borrow_mut().memo_budget = memo_bytes;
        if let ConflictRule::Marks(marks) = rule {
            self.marks = Some(marks);
            self.sample_program();
        }
        if config.order_hints {
            self.sample_program();
        }
        self.engine.borrow_mut().shared.reads_from_past = config.isolate_races;
        Ok(())
    }

    /// Reports that the body of the test returned an error, as a problem of every execution.
    pub(crate) fn fail_at_start(&mut self, error: &str) {
        self.at_start = Some(Problem::new(
            FindingKind::Assertion,
            format!("the test returned an error: {error}"),
            Name::ROOT.mixed(FindingKind::Assertion as u64),
        ));
    }

    fn sends_so_far(&self) -> Vec<(ActorNo, ActorNo)> {
        let engine = self.engine.borrow();
        engine.messages.all().iter().map(|sent| (ActorNo(sent.from), ActorNo(sent.to))).collect()
    }

    /// Assigns each check to the actors it inspects. A check of several actors makes their steps dependent.
    fn assign_checks(&mut self) {
        for (k, check) in self.always.iter().enumerate() {
            for &slot in &check.slots {
                if self.checks_of.len() <= slot as usize {
                    self.checks_of.resize(slot as usize + 1, Vec::new());
                }
                self.checks_of[slot as usize].push(k as u32);
            }
            if check.slots.len() > 1 {
                self.profile.dependence = Dependence::Footprints;
            }
        }
    }
}
