//! The setup, before exploration begins: actors are created, and messages may be delivered in one fixed order. These
//! steps can neither be undone nor reordered.

use super::{ActorMachine, ActorStep};
use crate::cell::StepError;
use crate::checks::Check;
use crate::environment::Environment;
use crate::messages::SendKind;
use crate::shared::TOO_LATE;
use whippet_model::{
    ActorNo, Branches, ConflictRule, Dependence, FindingKind, Machine, MachineConfig, MachineError, Name, Problem,
};

impl ActorMachine {
    /// Adds a check that runs after each step of an actor that it inspects.
    pub(crate) fn always(&mut self, check: Check) {
        self.always.push(check);
    }

    /// Returns the `always` checks of several actors: where each is declared, and the number of its actors.
    pub(crate) fn wide_checks(&self) -> Vec<(String, usize)> {
        let wide = self.always.iter().filter(|check| check.slots.len() > 1);
        wide.map(|check| (check.place(), check.slots.len())).collect()
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
            // Timers fire later.
            let fires = |what: u32| self.engine.borrow().messages[what].kind == SendKind::Timer;
            let Some(&choice) = choices.iter().find(|choice| !fires(choice.what.0)) else { break };
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
            // Another branch of a step may touch other fields.
            self.profile.branches = Branches::Discovered { same_footprint: false };
            let shared = &mut self.engine.borrow_mut().shared;
            shared.closed = shared.is_empty().then_some(TOO_LATE);
        }
        self.start_faults(config.commuting_last)?;
        self.post_first_crashes();
        let (histories, footprints) = {
            let histories = &self.engine.borrow().histories;
            (!histories.is_empty(), histories.need_footprints())
        };
        if footprints {
            self.profile.dependence = Dependence::Footprints;
            // Another branch of a step may record nothing.
            self.profile.branches = Branches::Discovered { same_footprint: false };
        }
        self.start_temporal();
        let checks = !self.always.is_empty() || !self.sometimes.is_empty() || !self.temporal.is_empty() || histories;
        self.plain = !checks && self.profile.dependence == Dependence::PerActor;
        if self.profile.deterministic && self.outcomes.is_empty() {
            let what = "`deterministic` compares the results of executions: declare one with `System::outcome`";
            return Err(MachineError::Misuse(what.to_owned()));
        }
        self.expect_reachable();
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
        let always: Vec<&[u32]> = self.always.iter().map(|check| &check.slots[..]).collect();
        let sometimes: Vec<&[u32]> = self.sometimes.iter().map(|one| &one.check.slots[..]).collect();
        let temporal = self.temporal.iter().map(|one| &one.check.slots);
        let several = temporal.map(Vec::len).chain(always.iter().chain(&sometimes).map(|slots| slots.len()));
        if several.max() > Some(1) {
            self.profile.dependence = Dependence::Footprints;
            // Another branch of a step may leave a check as it is.
            self.profile.branches = Branches::Discovered { same_footprint: false };
        }
        (self.checks_of, self.sometimes_of) = (by_actor(&always), by_actor(&sometimes));
    }
}

/// Returns, for each actor, the numbers of the checks that inspect it.
fn by_actor(checks: &[&[u32]]) -> Vec<Vec<u32>> {
    let mut of: Vec<Vec<u32>> = Vec::new();
    for (k, slots) in checks.iter().enumerate() {
        for &slot in *slots {
            if of.len() <= slot as usize {
                of.resize(slot as usize + 1, Vec::new());
            }
            of[slot as usize].push(k as u32);
        }
    }
    of
}
