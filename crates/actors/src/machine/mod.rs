//! The machine of native actors: steps are deliveries, each up to the next receive, call or end of handler.
//!
//! A step has four parts, and each is in a file of its own: what can be delivered (`open.rs`), the delivery here and in the
//! actor's [`Cell`], the end of the step (`finish.rs`), and what is kept of it (`record.rs`). What comes before the
//! first step is in `set_up.rs`; what is wrong with an execution in `ending.rs` and `races.rs`; what is told of it in
//! `story.rs`; what searches ask besides in `fingerprint.rs` and `knowledge.rs`.

mod ending;
mod fingerprint;
mod finish;
mod knowledge;
mod open;
mod races;
mod record;
mod set_up;
mod story;

use crate::cell::Cell;
use crate::checks::Check;
use crate::delivery::Delivery;
use crate::engine::EngineRef;
use crate::environment::Environment;
use crate::mail::Sent;
use crate::now::SET_UP;
use crate::panics;
use fingerprint::{Fingerprints, Present};
use knowledge::Knowledge;
use record::{Rare, Record};
use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Delivered, Extension, Machine, MachineError, Marks, Name, Pending,
    Problem, Relation, Step, StepText, Touch,
};

/// A program of native actors in one configuration.
///
/// ```
/// use whippet::{ActorMachine, model::{Machine, Program}, prelude::*};
/// let program = Whippet::new("one message").program(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///     sys.send(sink, 1);
/// });
/// let mut machine: ActorMachine = program.machine().unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled);
/// machine.execute(enabled[0]).unwrap();
/// assert!(machine.describe(0).action.starts_with("receives 1"));
/// machine.rewind(0);
/// assert_eq!(machine.depth(), 0);
/// ```
pub struct ActorMachine {
    engine: EngineRef,
    /// By actor.
    cells: Vec<Box<dyn Cell>>,
    /// The steps so far.
    records: Vec<Record>,
    delivery: Delivery,
    environment: Environment,
    /// Checks after steps, and when nothing can happen any more.
    always: Vec<Check>,
    at_end: Vec<Check>,
    /// A check that did not even hold at the beginning.
    at_start: Option<Problem>,
    /// The checks to be made after a step of each actor.
    checks_of: Vec<Vec<u32>>,
    relation: Relation,
    /// Whether a step needs neither checks nor a footprint nor a clock.
    plain: bool,
    /// Whether tracked fields tell which messages to one actor commute.
    fields: bool,
    /// Which messages are left out, if any, and what is known of the program beforehand, if somebody asked.
    marks: Option<Marks>,
    knowledge: Option<Knowledge>,
    /// What the steps touched, where that is not just their actor.
    touches: Vec<Touch>,
    /// Happens-before, where the order of delivery depends on it.
    clocks: Option<Clocks>,
    fingerprints: Fingerprints,
    /// How many steps have a problem.
    problems: usize,
    /// Why the machine cannot go on.
    error: Option<MachineError>,
    /// Who sent to whom in the set-up.
    set_up_sends: Vec<(ActorNo, ActorNo)>,
    /// How many messages the set-up sent.
    settled: u32,
    /// Runs of actors that are gone.
    past_runs: u64,
    /// Whether there ever was an actor with an async body.
    bodies: bool,
}

impl ActorMachine {
    pub(crate) fn new(engine: EngineRef, delivery: Delivery, environment: Environment) -> ActorMachine {
        panics::install_hook();
        ActorMachine {
            engine,
            cells: Vec::new(),
            records: Vec::new(),
            delivery,
            environment,
            always: Vec::new(),
            at_end: Vec::new(),
            at_start: None,
            checks_of: Vec::new(),
            relation: Relation::SameActor,
            plain: false,
            fields: true,
            marks: None,
            knowledge: None,
            touches: Vec::new(),
            clocks: None,
            fingerprints: Fingerprints::default(),
            problems: 0,
            error: None,
            set_up_sends: Vec::new(),
            settled: 0,
            past_runs: 0,
            bodies: false,
        }
    }

    /// Takes a message from the pending ones and begins its step. The answer is whose step it is.
    #[inline]
    fn begin(&mut self, choice: Choice) -> u32 {
        let (what, step) = (choice.what.0, self.records.len() as u32);
        let engine = &mut *self.engine.borrow_mut();
        let all_open = engine.deliver(what, step);
        let &Sent { name, to, origin, .. } = &engine.mail[what];
        let about = &mut engine.about[to as usize];
        self.records.push(Record {
            choice,
            actor: to,
            position: about.steps,
            sent: engine.mail.len(),
            actors: self.cells.len() as u32,
            touches: self.touches.len() as u32,
            history: about.history,
            all_open,
            rare: None,
        });
        about.history = Name(about.history).mixed(origin ^ choice.branch.0.rotate_left(32)).0;
        about.steps += 1;
        engine.now.begin_step(step, to, about.history);
        engine.now.begin(name, choice.branch);
        to
    }
}

impl Machine for ActorMachine {
    #[inline]
    fn depth(&self) -> usize {
        self.records.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        let engine = self.refreshed();
        out.extend(engine.mail.open().map(|what| Choice::first(Pending(what))));
    }

    #[inline]
    fn enabled_of_first(&mut self, rank: impl Fn(ActorNo) -> u32, out: &mut Vec<Choice>) {
        let engine = self.refreshed();
        if let Some(first) = engine.mail.first_busy(|actor| rank(ActorNo(actor))) {
            out.extend(engine.mail.open_of(first).map(|what| Choice::first(Pending(what))));
        }
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let actor = self.begin(choice);
        let result = self.cells[actor as usize].deliver(choice.what.0, choice.branch);
        self.finish(actor, result)
    }

    fn rewind(&mut self, depth: usize) {
        while self.records.len() > depth {
            let record = self.records.last().expect("the loop checked");
            self.problems -= usize::from(record.problem().is_some());
            self.touches.truncate(record.touches as usize);
            self.cells[record.actor as usize].undo();
            while self.cells.len() > record.actors as usize {
                self.past_runs += self.cells.pop().map_or(0, |cell| cell.runs());
            }
            let engine = &mut *self.engine.borrow_mut();
            engine.mail.unsend(record.sent);
            if engine.about.len() > record.actors as usize {
                engine.uncreate(record.actors);
            }
            engine.mail.undeliver(record.choice.what.0, record.all_open);
            let about = &mut engine.about[record.actor as usize];
            about.history = record.history;
            about.steps -= 1;
            self.records.pop();
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.truncate(depth);
        }
        self.fingerprints.rewind(depth);
        self.engine.borrow_mut().rewind_sync(depth as u32);
        self.error = None;
    }

    #[inline]
    fn next_branch(&self) -> Option<Branch> {
        let newest = self.records.last()?;
        newest.choice.branch.next(&newest.rare.as_ref()?.arities)
    }

    #[inline]
    fn thread(&self, what: Pending) -> Name {
        self.engine.borrow().mail[what.0].name
    }

    #[inline]
    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.engine.borrow().mail[what.0].to)
    }

    #[inline]
    fn find(&self, thread: Name) -> Option<Pending> {
        let engine = self.engine.borrow();
        engine.mail.pending().find(|&p| engine.mail[p].name == thread).map(Pending)
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend(self.engine.borrow().mail.pending().map(Pending));
    }

    #[inline]
    fn relation(&self) -> Relation {
        self.relation
    }

    fn one_choice_each(&self) -> bool {
        true
    }

    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.was_open(what.0, at)
    }

    #[inline]
    fn step(&self, at: usize) -> Step {
        let record = &self.records[at];
        let thread = self.engine.borrow().mail[record.choice.what.0].name;
        let event = if record.arities().is_empty() { thread } else { thread.going(record.choice.branch) };
        Step { choice: record.choice, thread, event, actor: ActorNo(record.actor) }
    }

    #[inline]
    fn delivered(&self, at: usize) -> Delivered {
        let record = &self.records[at];
        let engine = self.engine.borrow();
        let by = engine.mail[record.choice.what.0].by;
        let to = self.records.get(at + 1).map_or(engine.mail.len(), |next| next.sent);
        let by = if by == SET_UP { None } else { Some(by as usize) };
        Delivered { choice: record.choice, actor: ActorNo(record.actor), by, sent: record.sent..to }
    }

    #[inline]
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        let record = &self.records[at];
        let by = self.engine.borrow().mail[record.choice.what.0].by;
        if by != SET_UP {
            out.push(by as usize);
        }
    }

    #[inline]
    fn sent(&self, at: usize) -> Range<u32> {
        let to = self.records.get(at + 1).map_or_else(|| self.engine.borrow().mail.len(), |next| next.sent);
        self.records[at].sent..to
    }

    #[inline]
    fn touches(&self, at: usize) -> &[Touch] {
        let to = self.records.get(at + 1).map_or(self.touches.len(), |next| next.touches as usize);
        &self.touches[self.records[at].touches as usize..to]
    }

    /// What a message touches shows when it is handled.
    fn extensions(&mut self, _: &Clocks, _: &mut Vec<Extension>) -> Result<bool, MachineError> {
        Ok(false)
    }

    /// Whether a message is accepted is up to its receiver, and to what the receiver has taken before.
    fn awaited(&mut self, what: Pending, out: &mut Vec<Touch>) {
        let engine = self.engine.borrow();
        out.push(Touch::write(engine.about[engine.mail[what.0].to as usize].name));
    }

    #[inline]
    fn actors(&self) -> usize {
        self.cells.len()
    }

    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        self.set_up_sends.clone()
    }

    fn learn(&mut self) -> Option<String> {
        self.find_out();
        Some(ActorMachine::source_of_levels())
    }

    fn level(&self, actor: ActorNo) -> Option<u64> {
        self.level_of(actor.0)
    }

    fn leaves_out(&self) -> Option<String> {
        self.missed_by_marks()
    }

    fn left_out(&self, what: Pending) -> bool {
        self.is_marked(what.0)
    }

    #[inline]
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.records[at].problem().cloned()
    }

    fn reduce(&mut self) {
        self.engine.borrow_mut().shared.by_past = true;
    }

    fn races(&self, out: &mut Vec<Problem>) {
        self.find_races(out);
    }

    fn ending(&mut self, out: &mut Vec<Problem>) {
        self.find_ending_problems(out);
    }

    fn describe(&mut self, at: usize) -> StepText {
        self.words_of_step(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        let engine = self.engine.borrow();
        self.fingerprints.of(
            Present { engine: &engine, cells: &self.cells, records: &self.records, bodies: self.bodies },
            comparison,
        )
    }

    fn limit_memory(&mut self, bytes: usize) {
        let mut engine = self.engine.borrow_mut();
        engine.remember = engine.remember.min(bytes);
    }

    fn handler_runs(&self) -> u64 {
        self.past_runs + self.cells.iter().map(|cell| cell.runs()).sum::<u64>()
    }
}
