//! A machine under the watchdog: the only place of this crate that runs user code.
//!
//! The machine itself is private. Everything that may run user code borrows it mutably, and goes through a method of
//! [`Guarded`] that tells the [watchdog](super::watchdog::Watchdog) what the worker is doing. Searches see the machine
//! only by shared reference, so no search can forget the watchdog.

use super::control::Worker;
use super::explore::ExecutionObserver;
use super::watchdog::Doing;
use std::sync::Arc;
use whippet_model::{
    ActorState, Choice, Clocks, Deliveries, Executed, Extension, Machine, MachineConfig, MachineError, Pending,
    Problem, Program, StateComparison, StepDescription, Touch,
};

/// A machine whose user code runs under the watchdog.
pub(crate) struct Guarded<M> {
    // Fields are dropped in this order: the machine, whose user values may have destructors, between the two others.
    _before_drop: BeginsDrop,
    machine: M,
    worker: EndsDrop,
}

/// Tells the watchdog that the machine is about to be dropped.
struct BeginsDrop(Arc<Worker>);

impl Drop for BeginsDrop {
    fn drop(&mut self) {
        self.0.watchdog.begin_drop();
    }
}

/// The worker. Tells the watchdog that the machine has been dropped.
struct EndsDrop(Arc<Worker>);

impl Drop for EndsDrop {
    fn drop(&mut self) {
        self.0.watchdog.leave();
    }
}

impl<M: Machine> Guarded<M> {
    /// Creates a machine of `program`, on behalf of `worker`.
    pub(crate) fn new<P: Program<Machine = M> + ?Sized>(
        program: &P,
        config: &MachineConfig,
        worker: Arc<Worker>,
    ) -> Result<Guarded<M>, MachineError> {
        let machine = worker.watchdog.during(Doing::SettingUp, 0, || program.machine(config))?;
        Ok(Guarded { _before_drop: BeginsDrop(worker.clone()), machine, worker: EndsDrop(worker) })
    }

    /// Returns the machine for everything that does not run user code.
    #[inline]
    pub(crate) fn machine(&self) -> &M {
        &self.machine
    }

    pub(crate) fn worker(&self) -> &Worker {
        &self.worker.0
    }

    #[inline]
    fn watched<T>(&mut self, doing: Doing, work: impl FnOnce(&mut M) -> T) -> T {
        let Guarded { machine, worker, .. } = self;
        worker.0.watchdog.during(doing, machine.depth(), || work(machine))
    }

    #[inline]
    pub(crate) fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.watched(Doing::Asking, |machine| machine.enabled(out))
    }

    #[inline]
    pub(crate) fn enabled_of_lowest(
        &mut self,
        ranks: &[u32],
        most: usize,
        out: &mut Vec<Choice>,
    ) -> Result<usize, MachineError> {
        self.watched(Doing::Asking, |machine| deliveries(machine).enabled_of_lowest(ranks, most, out))
    }

    /// Returns the number of enabled choices, if the machine can count them without listing them.
    pub(crate) fn enabled_count(&mut self) -> Result<Option<usize>, MachineError> {
        self.watched(Doing::Asking, |machine| machine.enabled_choices().map(|choices| choices.count()).transpose())
    }

    /// Returns the enabled choice at a position, if the machine can count them.
    pub(crate) fn nth_enabled(&mut self, k: usize) -> Result<Choice, MachineError> {
        let known = "the search asked for this capability";
        self.watched(Doing::Asking, |machine| machine.enabled_choices().expect(known).nth(k))
    }

    /// Appends the enabled choices of one pending operation.
    pub(crate) fn enabled_of(&mut self, what: Pending, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.watched(Doing::Asking, |machine| match machine.enabled_choices() {
            Some(choices) => choices.of(what, out),
            None => {
                let from = out.len();
                machine.enabled(out)?;
                let mut k = 0;
                out.retain(|choice| {
                    k += 1;
                    k <= from || choice.what == what
                });
                Ok(())
            }
        })
    }

    pub(crate) fn enabled_after(
        &mut self,
        last: Pending,
        most: usize,
        out: &mut Vec<Choice>,
    ) -> Result<(), MachineError> {
        self.watched(Doing::Asking, |machine| deliveries(machine).enabled_after(last, most, out))
    }

    #[inline]
    pub(crate) fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.watched(Doing::Asking, |machine| deliveries(machine).accepted_at(what, at))
    }

    #[inline(always)]
    pub(crate) fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        self.worker.0.watchdog.begin(&self.machine, choice);
        let executed = self.machine.execute(choice);
        self.worker.0.watchdog.leave();
        executed
    }

    /// Undoes steps. Destructors of user values may run.
    #[inline]
    pub(crate) fn rewind(&mut self, depth: usize) {
        self.watched(Doing::Rewinding, |machine| machine.rewind(depth));
    }

    /// Appends the events that the newest step enables, and returns `true`, if the machine knows them beforehand.
    pub(crate) fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<bool, MachineError> {
        self.watched(Doing::Asking, |machine| match machine.known_extensions() {
            Some(known) => known.extensions(clocks, out).map(|()| true),
            None => Ok(false),
        })
    }

    /// Returns `true` if the machine knows the objects that blocked operations wait for.
    pub(crate) fn knows_blockers(&mut self) -> bool {
        self.machine.blockers().is_some()
    }

    pub(crate) fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        self.watched(Doing::Asking, |machine| {
            machine.blockers().expect("the search asked for this capability").blocked_on(what, out);
        });
    }

    pub(crate) fn fingerprint(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        self.watched(Doing::Comparing, |machine| match machine.fingerprint() {
            Some(fingerprint) => fingerprint.of_configuration(comparison),
            None => Err(MachineError::Unsupported(
                "the states of this program cannot be compared: choose another reduction than `stateful`".into(),
            )),
        })
    }

    /// Returns `true` if the machine recognizes deliveries that change nothing.
    pub(crate) fn knows_idle_deliveries(&mut self) -> bool {
        self.machine.idle_deliveries().is_some()
    }

    /// Calls [`IdleDeliveries::delivery_key`](whippet_model::IdleDeliveries::delivery_key).
    pub(crate) fn delivery_key(&mut self, what: Pending) -> Result<Option<u64>, MachineError> {
        self.watched(Doing::Comparing, |machine| machine.idle_deliveries().map_or(Ok(None), |it| it.delivery_key(what)))
    }

    /// Calls [`IdleDeliveries::is_idle`](whippet_model::IdleDeliveries::is_idle).
    pub(crate) fn is_idle(&mut self) -> Result<bool, MachineError> {
        self.watched(Doing::Comparing, |machine| machine.idle_deliveries().map_or(Ok(false), |it| it.is_idle()))
    }

    /// Notifies the machine and the observer of the end of an execution.
    #[inline]
    pub(crate) fn completed(&mut self, observer: Option<(&dyn ExecutionObserver, u64)>) {
        self.watched(Doing::Ending, |machine| {
            if let Some(completion) = machine.completion() {
                completion.completed();
            }
            if let Some((observer, refinements)) = observer {
                observer.completed(machine, refinements);
            }
        });
    }

    pub(crate) fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.watched(Doing::Ending, |machine| machine.final_problems(out))
    }

    pub(crate) fn describe(&mut self, at: usize) -> StepDescription {
        self.watched(Doing::Describing, |machine| machine.describe(at))
    }

    /// Returns the label of the actor of a pending operation, and the operation in words, if the machine knows them.
    pub(crate) fn pending_text(&mut self, what: Pending) -> Option<(String, String)> {
        self.watched(Doing::Describing, |machine| machine.states().and_then(|states| states.of_pending(what)))
    }

    /// Returns the states of the actors, if the machine knows them.
    pub(crate) fn states(&mut self) -> Vec<ActorState> {
        let mut states = Vec::new();
        self.watched(Doing::Describing, |machine| {
            if let Some(known) = machine.states() {
                known.of_actors(&mut states);
            }
        });
        states
    }

    /// Returns the newest delivery, for machines with dependence per actor. Runs no user code.
    #[inline(always)]
    pub(crate) fn newest_delivery(&mut self) -> whippet_model::Delivered {
        let at = self.machine.depth() - 1;
        deliveries(&mut self.machine).delivered(at)
    }
}

#[inline(always)]
fn deliveries<M: Machine>(machine: &mut M) -> &mut dyn Deliveries {
    machine.deliveries().expect("machines with dependence per actor have the capability `Deliveries`")
}
