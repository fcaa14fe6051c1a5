//! The machine of native actors. A step is the delivery of a message or reply; it runs up to the next receive, the next
//! awaited call or the end of the handler.
//!
//! A step has four parts:
//!
//! * the messages that can be delivered are computed in `enabled.rs`;
//! * the delivery itself is here and in the actor's [`ActorCell`];
//! * the end of the step is in `finish.rs`;
//! * the record kept of the step is in `record.rs`.
//!
//! Results and reachable states are in `observations.rs`, tests of histories in `histories.rs`. The setup before the first step is in `setup.rs`. Problems of an execution are found in `final_problems.rs` and `races.rs`,
//! and steps are described in `describe.rs`. Further queries of searches are answered in `fingerprint.rs` and
//! `knowledge.rs`.

mod crashes;
mod describe;
mod determinism;
mod enabled;
mod faults;
mod final_problems;
mod fingerprint;
mod finish;
mod histories;
mod idle;
mod knowledge;
mod observations;
mod races;
mod record;
mod setup;
mod states;
pub(crate) mod temporal;

use crate::cell::ActorCell;
use crate::checks::Check;
use crate::current_step::SETUP;
use crate::delivery::Delivery;
use crate::engine::EngineRef;
use crate::environment::Environment;
use crate::messages::{Acceptance, SentMessage};
use crate::panics;
use faults::{Circumstances, Faults, StepFault};
use fingerprint::{ConfigurationView, Fingerprints};
use knowledge::SampleKnowledge;
use observations::Sometimes;
use record::{ActorStep, StepExtras};
use std::fmt;
use std::ops::Range;
use temporal::TemporalCheck;
use whippet_model::{
    ActorNo, Blockers, Branch, Branches, Choice, Clocks, Delivered, Deliveries, Dependence, EnabledChoices, Executed,
    Explain, Fingerprint, Foresight, Machine, MachineError, Marks, Name, OrderHints, Pending, Problem, Profile,
    Pruning, Reversal, StateComparison, Step, StepDescription, Touch, capabilities,
};

/// A program of native actors in one configuration.
///
/// ```
/// use whippet::{ActorMachine, model::{Explain, Machine, Program}, prelude::*};
/// let program = Checker::new("one message").program(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///     sys.send(sink, 1);
/// });
/// let mut machine: ActorMachine = program.machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// assert!(machine.describe(0).action.starts_with("receives 1"));
/// machine.rewind(0);
/// assert_eq!(machine.depth(), 0);
/// ```
pub struct ActorMachine {
    engine: EngineRef,
    /// The cells, indexed by actor.
    cells: Vec<Box<dyn ActorCell>>,
    /// The steps so far.
    records: Vec<ActorStep>,
    delivery: Delivery,
    environment: Environment,
    /// The checks after steps, and the checks when no step is enabled.
    always: Vec<Check>,
    at_end: Vec<Check>,
    /// The results of executions, and the states that have to be reachable.
    outcomes: Vec<Check<String>>,
    sometimes: Vec<Sometimes>,
    /// The properties of whole executions.
    temporal: Vec<TemporalCheck>,
    /// The problem of an `always` check that fails in the initial configuration.
    at_start: Option<Problem>,
    /// For each actor, the checks to run after its steps.
    checks_of: Vec<Vec<u32>>,
    sometimes_of: Vec<Vec<u32>>,
    profile: Profile,
    /// `true` if steps need neither checks nor footprints.
    plain: bool,
    /// `true` if tracked fields determine which messages to one actor commute.
    fields: bool,
    /// The rule by which messages are left out, if any, and the knowledge from sample executions, if it was requested.
    marks: Option<Marks>,
    knowledge: Option<SampleKnowledge>,
    /// The footprints of all steps, concatenated. Not recorded if every step touches only its actor.
    touches: Vec<Touch>,
    fingerprints: Fingerprints,
    /// The faults that can happen, in programs that have any.
    faults: Option<Box<Faults>>,
    /// The number of steps with a problem.
    problems: usize,
    /// The reason why the machine cannot continue, if any.
    error: Option<MachineError>,
    /// The number of handler runs of actors that no longer exist.
    past_runs: u64,
    /// `true` if there ever was an actor with an async body.
    bodies: bool,
}

impl fmt::Debug for ActorMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorMachine").field("depth", &self.records.len()).finish_non_exhaustive()
    }
}

impl ActorMachine {
    pub(crate) fn new(engine: EngineRef, delivery: Delivery, environment: Environment) -> ActorMachine {
        panics::install_hook();
        engine.borrow_mut().shared.clocks.causal = delivery == Delivery::Causal;
        ActorMachine {
            engine,
            cells: Vec::new(),
            records: Vec::new(),
            delivery,
            environment,
            always: Vec::new(),
            at_end: Vec::new(),
            outcomes: Vec::new(),
            sometimes: Vec::new(),
            temporal: Vec::new(),
            at_start: None,
            checks_of: Vec::new(),
            sometimes_of: Vec::new(),
            profile: Profile::new(Dependence::PerActor, Branches::Discovered { same_footprint: true })
                .with_one_choice_per_thread(true),
            plain: false,
            fields: true,
            marks: None,
            knowledge: None,
            touches: Vec::new(),
            fingerprints: Fingerprints::default(),
            faults: None,
            problems: 0,
            error: None,
            past_runs: 0,
            bodies: false,
        }
    }

    /// Removes a message from the pending ones and begins its step. Returns the actor of the step.
    ///
    /// Inlined where it is called for every step: a call costs 3 % of a search.
    #[inline(always)]
    fn begin(&mut self, choice: Choice) -> u32 {
        let (what, step) = (choice.what.0, self.records.len() as u32);
        let engine = &mut *self.engine.borrow_mut();
        let acceptance = engine.deliver(what, step);
        let &SentMessage { name, to, origin, .. } = &engine.messages[what];
        let info = &mut engine.actors[to as usize];
        self.records.push(ActorStep {
            choice,
            actor: to,
            position: info.steps,
            sent: engine.messages.len(),
            actors: self.cells.len() as u32,
            touches: self.touches.len() as u32,
            history: info.history,
            acceptance,
            fault: StepFault::None,
            circumstances: Circumstances::default(),
            extras: None,
        });
        info.history = Name(info.history).mixed(origin ^ choice.branch.0.rotate_left(32)).0;
        info.steps += 1;
        engine.current.begin_step(step, to, info.history);
        engine.current.begin(name, choice.branch);
        to
    }

    fn list_enabled(&mut self) -> Result<Vec<Choice>, MachineError> {
        let mut enabled = Vec::new();
        self.enabled(&mut enabled)?;
        Ok(enabled)
    }

    /// Closes the mailbox of the actor of the newest step if it was open, and the actor does not accept everything any more.
    #[inline(always)]
    fn close_if_selective(&mut self, actor: u32) {
        let was_open = self.records.last().is_some_and(|record| record.acceptance == Acceptance::Open);
        if was_open && !self.cells[actor as usize].accepts_all() {
            self.engine.borrow_mut().messages.close(actor);
        }
    }

    /// Undoes the newest step. `ran` is `true` if it was a step of its actor.
    #[inline(always)]
    fn undo(&mut self, ran: bool) {
        let record = self.records.last().expect("there is a step to undo");
        self.problems -= usize::from(record.problem().is_some());
        self.touches.truncate(record.touches as usize);
        if ran {
            self.cells[record.actor as usize].undo();
        }
        while self.cells.len() > record.actors as usize {
            self.past_runs += self.cells.pop().map_or(0, |cell| cell.runs());
        }
        let engine = &mut *self.engine.borrow_mut();
        engine.messages.unsend(record.sent);
        if engine.actors.len() > record.actors as usize {
            engine.uncreate(record.actors);
        }
        engine.messages.undeliver(record.choice.what.0, record.acceptance);
        let info = &mut engine.actors[record.actor as usize];
        info.history = record.history;
        info.steps -= u32::from(ran);
        self.records.pop();
    }
}

impl Machine for ActorMachine {
    capabilities!(
        Deliveries,
        EnabledChoices,
        Blockers,
        Foresight,
        OrderHints,
        Pruning,
        Fingerprint,
        IdleDeliveries,
        States
    );

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    #[inline]
    fn depth(&self) -> usize {
        self.records.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        if self.faults.is_some() {
            self.refreshed()?;
            self.enabled_with_faults(out);
            return Ok(());
        }
        let engine = self.refreshed()?;
        out.extend(engine.messages.enabled().map(|what| Choice::first(Pending(what))));
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.faults.is_some() {
            return self.execute_with_faults(choice);
        }
        let actor = self.begin(choice);
        let result = self.cells[actor as usize].deliver(choice.what.0, choice.branch);
        self.close_if_selective(actor);
        self.finish(actor, choice.branch, result)
    }

    fn rewind(&mut self, depth: usize) {
        if self.faults.is_some() {
            self.undo_with_faults(depth);
        }
        while self.records.len() > depth {
            self.undo(true);
        }
        if !self.temporal.is_empty() {
            self.rewind_temporal(depth);
        }
        self.fingerprints.rewind(depth);
        self.engine.borrow_mut().rewind_sync(depth as u32);
        self.error = None;
    }

    #[inline]
    fn thread(&self, what: Pending) -> Name {
        self.engine.borrow().messages[what.0].name
    }

    #[inline]
    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.engine.borrow().messages[what.0].to)
    }

    #[inline]
    fn find(&self, thread: Name) -> Option<Pending> {
        let engine = self.engine.borrow();
        engine.messages.pending().find(|&p| engine.messages[p].name == thread).map(Pending)
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend(self.engine.borrow().messages.pending().map(Pending));
    }

    #[inline]
    fn step(&self, at: usize) -> Step {
        let record = &self.records[at];
        let thread = self.engine.borrow().messages[record.choice.what.0].name;
        let event = if record.choice.branch == Branch::FIRST && record.arities().is_empty() {
            thread
        } else {
            thread.going(record.choice.branch)
        };
        Step { choice: record.choice, thread, event, actor: ActorNo(record.actor) }
    }

    #[inline]
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        let record = &self.records[at];
        let by = self.engine.borrow().messages[record.choice.what.0].by;
        if by != SETUP {
            out.push(by as usize);
        }
    }

    #[inline]
    fn sent(&self, at: usize) -> Range<u32> {
        let to = self.records.get(at + 1).map_or_else(|| self.engine.borrow().messages.len(), |next| next.sent);
        self.records[at].sent..to
    }

    #[inline]
    fn touches(&self, at: usize) -> &[Touch] {
        let to = self.records.get(at + 1).map_or(self.touches.len(), |next| next.touches as usize);
        &self.touches[self.records[at].touches as usize..to]
    }

    #[inline]
    fn actors(&self) -> usize {
        self.cells.len()
    }
}

impl Explain for ActorMachine {
    #[inline]
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.records[at].problem().cloned()
    }

    fn data_races(&self, out: &mut Vec<Problem>) {
        self.find_races(out);
    }

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.find_final_problems(out);
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.describe_step(at)
    }

    fn handler_runs(&self) -> u64 {
        self.past_runs + self.cells.iter().map(|cell| cell.runs()).sum::<u64>()
    }
}

impl Deliveries for ActorMachine {
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.was_enabled(what.0, at)
    }

    #[inline]
    fn enabled_of_lowest(&mut self, ranks: &[u32], most: usize, out: &mut Vec<Choice>) -> Result<usize, MachineError> {
        let messages = &self.refreshed()?.messages;
        let Some(first) = messages.first_busy(|actor| ranks.get(actor as usize).copied().unwrap_or(0)) else {
            return Ok(0);
        };
        out.extend(messages.enabled_of(first).take(most).map(|what| Choice::first(Pending(what))));
        Ok((messages.enabled_count(first) as usize).saturating_sub(most))
    }

    fn enabled_after(&mut self, last: Pending, most: usize, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        let messages = &self.refreshed()?.messages;
        out.extend(messages.enabled_after(last.0).take(most).map(|what| Choice::first(Pending(what))));
        Ok(())
    }

    #[inline]
    fn delivered(&self, at: usize) -> Delivered {
        let record = &self.records[at];
        let engine = self.engine.borrow();
        let by = engine.messages[record.choice.what.0].by;
        let to = self.records.get(at + 1).map_or(engine.messages.len(), |next| next.sent);
        let by = if by == SETUP { None } else { Some(by as usize) };
        Delivered { choice: record.choice, actor: ActorNo(record.actor), by, sent: record.sent..to }
    }
}

impl EnabledChoices for ActorMachine {
    fn count(&mut self) -> Result<usize, MachineError> {
        if self.faults.is_some() {
            return Ok(self.list_enabled()?.len());
        }
        self.refreshed()?;
        Ok(self.engine.borrow_mut().messages.enabled_index().len())
    }

    fn nth(&mut self, k: usize) -> Result<Choice, MachineError> {
        if self.faults.is_some() {
            return Ok(self.list_enabled()?[k]);
        }
        self.refreshed()?;
        let what = self.engine.borrow_mut().messages.enabled_index().nth(k);
        Ok(Choice::first(Pending(what.expect("the position is that of an enabled message"))))
    }

    fn of(&mut self, what: Pending, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        if self.faults.is_some() {
            out.extend(self.list_enabled()?.into_iter().filter(|choice| choice.what == what));
        } else if self.refreshed()?.messages.is_enabled(what.0) {
            out.push(Choice::first(what));
        }
        Ok(())
    }
}

impl Blockers for ActorMachine {
    /// Appends the receiver as a whole: its state decides whether it accepts the message, and each of its steps may change
    /// that state.
    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        let engine = self.engine.borrow();
        out.push(Touch::write(engine.actors[engine.messages[what.0].to as usize].name));
    }
}

impl Foresight for ActorMachine {
    fn without(&self, _clocks: &Clocks, _earlier: usize, _later: usize) -> Reversal {
        Reversal::Unknown
    }

    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        self.after_a_loss(at, out);
    }

    fn early_alternatives(&self, at: usize, out: &mut Vec<usize>) {
        self.before_a_fault(at, out);
    }
}

impl OrderHints for ActorMachine {
    fn note(&self) -> Option<String> {
        self.knowledge.as_ref().map(|_| ActorMachine::source_of_levels())
    }

    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64> {
        self.level_of(actor.0)
    }
}

impl Pruning for ActorMachine {
    fn caveat(&self) -> Option<String> {
        self.missed_by_marks()
    }

    fn is_pruned(&self, what: Pending) -> bool {
        self.is_marked(what.0)
    }
}

impl Fingerprint for ActorMachine {
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        let engine = self.engine.borrow();
        let view = ConfigurationView {
            engine: &engine,
            cells: &self.cells,
            records: &self.records,
            delivery: self.delivery,
            bodies: self.bodies,
            faults: self.faults.as_deref(),
            reached: self.reached_temporal(),
        };
        self.fingerprints.of(view, comparison)
    }
}
