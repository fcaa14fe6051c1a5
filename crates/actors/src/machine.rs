//! The machine of native actors: steps are deliveries, each up to the next receive, call or end of handler.

use crate::cell::{Cell, Status, Trouble};
use crate::checks::Check;
use crate::delivery::Delivery;
use crate::ending::Environment;
use crate::engine::{Engine, EngineRef};
use crate::fingerprint::{Fingerprints, Present};
use crate::knowledge::Knowledge;
use crate::mail::{Content, LONG_AGO, PENDING, Sent};
use crate::now::SET_UP;
use crate::panics::{self, Panic};
use smallvec::SmallVec;
use std::cell::Ref;
use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Delivered, Extension, Kind, Machine, MachineError, Marks, Name,
    Pending, Problem, Relation, Step, StepText, Touch,
};

/// What has to be known of a step to tell of it and to take it back.
pub(crate) struct Record {
    pub(crate) choice: Choice,
    pub(crate) actor: u32,
    /// The actor's position before the step.
    pub(crate) position: u32,
    /// How many messages and actors there were before.
    pub(crate) sent: u32,
    actors: u32,
    touches: u32,
    /// The actor's history before.
    history: u64,
    /// Whether all that was pending for the actor could have been delivered.
    all_open: bool,
    /// What few steps have.
    rare: Option<Box<Rare>>,
}

/// What few steps have.
#[derive(Default)]
struct Rare {
    /// How many values each `choose` of the step had.
    arities: SmallVec<[u32; Branch::DIGITS]>,
    problem: Option<Problem>,
}

impl Record {
    pub(crate) fn arities(&self) -> &[u32] {
        self.rare.as_ref().map_or(&[], |rare| &rare.arities)
    }

    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.rare.as_ref()?.problem.as_ref()
    }
}

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
    pub(crate) engine: EngineRef,
    pub(crate) cells: Vec<Box<dyn Cell>>,
    pub(crate) records: Vec<Record>,
    pub(crate) delivery: Delivery,
    pub(crate) environment: Environment,
    pub(crate) always: Vec<Check>,
    pub(crate) at_end: Vec<Check>,
    /// A check that did not even hold at the beginning.
    pub(crate) at_start: Option<Problem>,
    /// The checks to be made after a step of each actor.
    checks_of: Vec<Vec<u32>>,
    relation: Relation,
    /// Whether a step needs neither checks nor a footprint nor a clock.
    plain: bool,
    /// Whether tracked fields tell which messages to one actor commute.
    pub(crate) fields: bool,
    /// Which messages are left out, if any, and what is known of the program beforehand, if somebody asked.
    pub(crate) marks: Option<Marks>,
    pub(crate) knowledge: Option<Knowledge>,
    touches: Vec<Touch>,
    /// Happens-before, where the order of delivery depends on it.
    clocks: Option<Clocks>,
    fingerprints: Fingerprints,
    problems: usize,
    error: Option<MachineError>,
    set_up_sends: Vec<(ActorNo, ActorNo)>,
    /// How many messages the set-up sent.
    settled: u32,
    /// Runs of actors that are gone.
    past_runs: u64,
    /// Whether there ever was an actor with an async body.
    bodies: bool,
}

/// Tells the fields of an actor from actors.
const FIELD: u64 = 0xF1E1;
/// Tells the object of a check from actors.
const CHECK: u64 = 0xC4EC;

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

    // ---- the set-up --------------------------------------------------------------------------------

    /// Takes in the actors that were created outside of steps.
    pub(crate) fn adopt(&mut self) -> Result<(), MachineError> {
        match self.take_newborn() {
            Ok(()) => Ok(()),
            Err(Trouble::Error(error)) => Err(error),
            Err(Trouble::Panic(panic)) => Err(MachineError::Misuse(format!(
                "an actor panicked in the set-up, before its first message: {}{}",
                panic.message,
                panic.place.map(|place| format!(" at {place}")).unwrap_or_default()
            ))),
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
    pub(crate) fn forget_steps(&mut self) {
        self.engine.borrow_mut().settle();
        for cell in &mut self.cells {
            cell.settle();
        }
        self.records.clear();
        self.touches.clear();
        self.clocks = (self.delivery == Delivery::Causal).then(Clocks::new);
    }

    /// The set-up is over: exploration begins here.
    pub(crate) fn start(&mut self) {
        self.forget_steps();
        {
            let engine = self.engine.borrow();
            self.set_up_sends = engine.mail.all().iter().map(|s| (ActorNo(s.from), ActorNo(s.to))).collect();
        }
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
        if self.fields && self.cells.iter().any(|cell| cell.has_fields()) {
            self.relation = Relation::Footprints;
            let shared = &mut self.engine.borrow_mut().shared;
            shared.closed = shared.is_empty().then_some(crate::shared::TOO_LATE);
        }
        self.plain = self.always.is_empty() && self.relation == Relation::SameActor && self.clocks.is_none();
        self.at_start = (0..self.always.len()).find_map(|k| self.run_check(k, Vec::new()));
    }

    // ---- steps -------------------------------------------------------------------------------------

    fn take_newborn(&mut self) -> Result<(), Trouble> {
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

    /// After a step: new actors, footprint, checks.
    #[inline]
    fn finish(&mut self, actor: u32, result: Result<(), Trouble>) -> Result<(), MachineError> {
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
            Err(Trouble::Panic(panic)) => Some(self.panicked(panic, at)),
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

    #[inline]
    fn check(&self, actor: u32, at: usize) -> Option<Problem> {
        let checks = self.checks_of.get(actor as usize)?;
        checks.iter().find_map(|&k| self.run_check(k as usize, vec![at]))
    }

    fn run_check(&self, k: usize, steps: Vec<usize>) -> Option<Problem> {
        let panic = self.always[k].run(&self.cells).err()?;
        Some(Problem {
            kind: Kind::Assertion,
            message: format!("always: {}", panic.message),
            key: self.key_of_panic(&panic).mixed(CHECK + k as u64),
            place: panic.place,
            steps,
            warning: false,
        })
    }

    fn panicked(&self, panic: Panic, at: usize) -> Problem {
        let kind = if panic.is_assertion() { Kind::Assertion } else { Kind::Panic };
        let key = self.key_of_panic(&panic);
        Problem { kind, message: panic.message, place: panic.place, key, steps: vec![at], warning: false }
    }

    /// A panic is the same one wherever it comes from the same place.
    pub(crate) fn key_of_panic(&self, panic: &Panic) -> Name {
        let text = panic.place.as_ref().unwrap_or(&panic.message);
        text.bytes().fold(Name::ROOT.mixed(Kind::Panic as u64), |key, byte| key.mixed(u64::from(byte)))
    }

    // ---- what may be delivered -----------------------------------------------------------------------

    fn orderly(&self) -> Orderly<'_> {
        let clocks = self.clocks.as_ref();
        Orderly { delivery: self.delivery, clocks, records: &self.records, settled: self.settled }
    }

    /// The engine, after it was found out again what may be delivered to actors that something happened to.
    #[inline]
    fn refreshed(&mut self) -> Ref<'_, Engine> {
        let dirty = self.engine.borrow_mut().mail.next_dirty().is_some();
        if dirty {
            self.refresh();
        }
        self.engine.borrow()
    }

    #[inline(never)]
    fn refresh(&mut self) {
        let engine = &mut *self.engine.borrow_mut();
        let orderly = self.orderly();
        let result = panics::catch(|| {
            while let Some(actor) = engine.mail.next_dirty() {
                self.cells[actor as usize].reopen(actor, engine);
                if self.delivery != Delivery::Unordered {
                    hold_back(engine, actor, &orderly);
                }
                engine.mail.clean(actor);
            }
        });
        let panicked = result.err().map(|panic| refused_to_say(engine, panic));
        if self.error.is_none() {
            self.error = panicked;
        }
    }

    fn words_of_step(&self, at: usize) -> StepText {
        let engine = self.engine.borrow();
        let labels = crate::words::labels(&engine);
        crate::address::with_labels(labels.clone(), || crate::story::step(self, &engine, &labels, at))
    }
}

/// An actor panicked when it was asked what it accepts: it accepts nothing.
#[cold]
fn refused_to_say(engine: &mut Engine, panic: Panic) -> MachineError {
    let actor = engine.mail.next_dirty().expect("somebody was asked");
    engine.mail.reopen(actor, std::iter::repeat(false));
    MachineError::Misuse(format!(
        "deciding what an actor accepts must not panic, but it did: {} {}",
        panic.message,
        panic.place.unwrap_or_default()
    ))
}

/// Closes messages that must come after another one which could be delivered as well.
fn hold_back(engine: &mut Engine, actor: u32, orderly: &Orderly<'_>) {
    let pending = engine.mail.pending_of(actor);
    let open = |what: u32| engine.mail[what].open;
    // A message that is held back still holds back younger ones.
    let held = |k: usize, p: u32| pending[..k].iter().any(|&q| open(q) && orderly.precedes(engine, q, p));
    let can_be = |(k, &p): (usize, &u32)| open(p) && !held(k, p);
    let can_be: SmallVec<[bool; 16]> = pending.iter().enumerate().map(can_be).collect();
    engine.mail.reopen(actor, can_be);
}

impl Orderly<'_> {
    /// Whether `q` must be delivered before `p`, both to the same actor, if it can be.
    fn precedes(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.mail[q], &engine.mail[p]);
        let messages = matches!((older.content, newer.content), (Content::Message(_), Content::Message(_)));
        if q >= p || !messages {
            return false;
        }
        match self.delivery {
            Delivery::Unordered => false,
            Delivery::Fifo => older.from == newer.from,
            Delivery::Causal => self.sent_before(engine, q, p),
        }
    }

    /// Whether the sending of `q` happened before that of `p`: the sender did something later that the other
    /// sending depends on. What the same step sent before `q` does not count.
    fn sent_before(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.mail[q], &engine.mail[p]);
        if older.by == newer.by || q < self.settled {
            return true;
        }
        let (Some(clocks), true) = (self.clocks, newer.by != SET_UP) else { return false };
        let known = |step: usize| step <= newer.by as usize && clocks.before(step, newer.by as usize);
        let same_step = engine.mail.all()[q as usize..].iter().take_while(|sent| sent.by == older.by);
        let mut delivered = same_step.filter(|sent| sent.delivered < LONG_AGO).map(|sent| sent.delivered as usize);
        let next = || {
            let from = if older.by == SET_UP { self.records.len() } else { older.by as usize + 1 };
            (from..self.records.len()).find(|&step| self.records[step].actor == older.from)
        };
        delivered.any(known) || next().is_some_and(known)
    }
}

/// What decides on the order of delivery.
struct Orderly<'a> {
    delivery: Delivery,
    clocks: Option<&'a Clocks>,
    records: &'a [Record],
    /// How many messages were sent before the explored part began.
    settled: u32,
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
        let what = choice.what.0;
        let step = self.records.len() as u32;
        let actor = {
            let engine = &mut *self.engine.borrow_mut();
            let all_open = engine.deliver(what, step);
            let &Sent { name, to, origin, .. } = &engine.mail[what];
            let now = &mut engine.now;
            now.actor = to;
            now.step = step;
            now.stop = false;
            now.muted = false;
            engine.now.begin(name, choice.branch);
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
            engine.now.history = about.history;
            to
        };
        let result = self.cells[actor as usize].deliver(what, choice.branch);
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
        let engine = self.engine.borrow();
        let record = &self.records[at];
        let (cell, position) = (&self.cells[record.actor as usize], record.position as usize);
        debug_assert_eq!(engine.mail[what.0].to, record.actor, "asked of a step of the same actor");
        let accepts = |p: u32| panics::catch(|| cell.accepts(position, &engine, p)).unwrap_or(false);
        if !accepts(what.0) {
            return false;
        }
        self.delivery == Delivery::Unordered
            || !(0..what.0).any(|q| {
                let older = &engine.mail[q];
                let waiting =
                    older.delivered == PENDING || older.delivered != LONG_AGO && older.delivered as usize >= at;
                older.to == record.actor && waiting && self.orderly().precedes(&engine, q, what.0) && accepts(q)
            })
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

/// Whether an actor can still take messages.
pub(crate) fn ended(status: &Status) -> bool {
    matches!(status, Status::Stopped | Status::Failed)
}
