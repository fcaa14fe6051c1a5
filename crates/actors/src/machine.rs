//! The machine of native actors: steps are deliveries, each up to the next receive, call or end of handler.

use crate::cell::{Cell, Status, Trouble};
use crate::checks::Check;
use crate::delivery::Delivery;
use crate::ending::Environment;
use crate::engine::{Content, Engine, EngineRef, LONG_AGO, PENDING, SET_UP};
use crate::panics::{self, Panic};
use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Kind, Machine, MachineError, Name, Pending, Problem, Relation, Step,
    StepText, Touch,
};

/// What has to be known of a step to tell of it and to take it back.
pub(crate) struct Record {
    pub(crate) choice: Choice,
    pub(crate) actor: u32,
    /// The actor's position before the step.
    pub(crate) position: u32,
    /// How many messages and actors there were before.
    sent: u32,
    actors: u32,
    touches: u32,
    /// The actor's history before.
    history: u64,
    /// How many values each `choose` of the step had.
    pub(crate) arities: Option<Box<[u32]>>,
    pub(crate) problem: Option<Box<Problem>>,
}

/// A program of native actors in one configuration.
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
    touches: Vec<Touch>,
    /// Happens-before, where the order of delivery depends on it.
    clocks: Option<Clocks>,
    problems: usize,
    error: Option<MachineError>,
    set_up_sends: Vec<(ActorNo, ActorNo)>,
    /// How many messages the set-up sent.
    settled: u32,
    /// Runs of actors that are gone.
    past_runs: u64,
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
            touches: Vec::new(),
            clocks: None,
            problems: 0,
            error: None,
            set_up_sends: Vec::new(),
            settled: 0,
            past_runs: 0,
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
            if let Some(problem) = self.records.last().and_then(|record| record.problem.as_ref()) {
                return Err(MachineError::Misuse(format!("the set-up fails: {}", problem.message)));
            }
        }
        self.forget_steps();
        self.settled = self.engine.borrow().sent.len() as u32;
        Ok(())
    }

    /// What has happened so far is not explored, nor taken back.
    pub(crate) fn forget_steps(&mut self) {
        let mut engine = self.engine.borrow_mut();
        for sent in &mut engine.sent {
            sent.by = SET_UP;
            if sent.delivered != PENDING {
                sent.delivered = LONG_AGO;
            }
        }
        for about in &mut engine.about {
            about.by = SET_UP;
        }
        for cell in &mut self.cells {
            cell.settle();
        }
        self.records.clear();
        self.touches.clear();
        engine.shared.settle();
        self.clocks = (self.delivery == Delivery::Causal).then(Clocks::new);
    }

    /// The set-up is over: exploration begins here.
    pub(crate) fn start(&mut self) {
        self.forget_steps();
        {
            let engine = self.engine.borrow();
            self.set_up_sends = engine.sent.iter().map(|s| (ActorNo(s.from), ActorNo(s.to))).collect();
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
        if self.cells.iter().any(|cell| cell.has_fields()) {
            self.relation = Relation::Footprints;
        }
        let race = self.engine.borrow_mut().shared.take_race();
        self.at_start = race.or_else(|| (0..self.always.len()).find_map(|k| self.run_check(k, Vec::new())));
    }

    // ---- steps -------------------------------------------------------------------------------------

    fn take_newborn(&mut self) -> Result<(), Trouble> {
        loop {
            let newborn = std::mem::take(&mut self.engine.borrow_mut().newborn);
            if newborn.is_empty() {
                return Ok(());
            }
            let from = self.cells.len();
            self.cells.extend(newborn);
            for k in from..self.cells.len() {
                self.cells[k].begin()?;
            }
        }
    }

    /// After a step: new actors, footprint, checks.
    #[inline]
    fn finish(&mut self, mut record: Record, result: Result<(), Trouble>) -> Result<(), MachineError> {
        let created = {
            let mut engine = self.engine.borrow_mut();
            engine.mark_dirty(record.actor);
            !engine.newborn.is_empty()
        };
        let result = if created { result.and(self.take_newborn()) } else { result };
        {
            let arities = &self.engine.borrow().now.arities;
            if !arities.is_empty() {
                record.arities = Some(arities.to_vec().into());
            }
        }
        let at = self.records.len();
        let race = self.engine.borrow_mut().shared.take_race();
        let problem = match result {
            Ok(()) => race.or_else(|| self.check(record.actor, at)),
            Err(Trouble::Panic(panic)) => Some(self.panicked(panic, at)),
            Err(Trouble::Error(error)) => {
                self.error = Some(error.clone());
                None
            }
        };
        if let Some(problem) = problem {
            self.problems += 1;
            record.problem = Some(Box::new(problem));
        }
        if self.relation == Relation::Footprints {
            self.touch(record.actor);
        }
        self.records.push(record);
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
            Some(fields) if self.delivery == Delivery::Unordered && !shared => {
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

    /// Finds out again what may be delivered to actors that something happened to.
    fn refresh(&mut self, engine: &mut Engine) {
        let result = panics::catch(|| {
            for k in 0..engine.pending.len() {
                let p = engine.pending[k] as usize;
                let to = engine.sent[p].to as usize;
                if engine.mailboxes[to].dirty {
                    engine.sent[p].open = self.cells[to].accepts_now(engine, p as u32);
                }
            }
        });
        if let Err(panic) = result {
            let place = panic.place.unwrap_or_default();
            self.error.get_or_insert(MachineError::Misuse(format!(
                "deciding what an actor accepts must not panic, but it did: {} {place}",
                panic.message
            )));
        }
        while let Some(actor) = engine.dirty.pop() {
            engine.mailboxes[actor as usize].dirty = false;
            if self.delivery != Delivery::Unordered {
                hold_back(engine, actor, &self.orderly());
            }
        }
    }

    fn orderly(&self) -> Orderly<'_> {
        let clocks = self.clocks.as_ref();
        Orderly { delivery: self.delivery, clocks, records: &self.records, settled: self.settled }
    }

    fn words_of_step(&self, at: usize) -> StepText {
        let engine = self.engine.borrow();
        let labels = crate::words::labels(&engine);
        crate::address::with_labels(labels.clone(), || crate::story::step(self, &engine, &labels, at))
    }
}

/// Closes messages that must come after another one which could be delivered as well.
fn hold_back(engine: &mut Engine, actor: u32, orderly: &Orderly<'_>) {
    // From the newest on, so that a message that is held back still holds back younger ones.
    for k in (0..engine.pending.len()).rev() {
        let p = engine.pending[k];
        let sent = engine.sent[p as usize];
        if sent.to != actor || !sent.open {
            continue;
        }
        let held = engine.pending[..k].iter().any(|&q| {
            let older = &engine.sent[q as usize];
            older.to == actor && older.open && orderly.precedes(engine, q, p)
        });
        engine.sent[p as usize].open = !held;
    }
}

impl Orderly<'_> {
    /// Whether `q` must be delivered before `p`, both to the same actor, if it can be.
    fn precedes(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.sent[q as usize], &engine.sent[p as usize]);
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
        let (older, newer) = (&engine.sent[q as usize], &engine.sent[p as usize]);
        if older.by == newer.by || q < self.settled {
            return true;
        }
        let (Some(clocks), true) = (self.clocks, newer.by != SET_UP) else { return false };
        let known = |step: usize| step <= newer.by as usize && clocks.before(step, newer.by as usize);
        let same_step = engine.sent[q as usize..].iter().take_while(|sent| sent.by == older.by);
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
    fn depth(&self) -> usize {
        self.records.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        let engine = self.engine.clone();
        let engine = &mut *engine.borrow_mut();
        if !engine.dirty.is_empty() {
            self.refresh(engine);
        }
        for &p in &engine.pending {
            if engine.sent[p as usize].open {
                out.push(Choice::first(Pending(p)));
            }
        }
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let what = choice.what.0;
        let step = self.records.len() as u32;
        let record = {
            let engine = &mut *self.engine.borrow_mut();
            engine.deliver(what, step);
            let Some(&sent) = engine.sent.get(what as usize) else { unreachable!("it was delivered") };
            let now = &mut engine.now;
            now.actor = sent.to;
            now.step = step;
            now.stop = false;
            now.muted = false;
            engine.begin(sent.name, choice.branch);
            let about = &mut engine.about[sent.to as usize];
            let history = about.history;
            about.history = Name(history).mixed(sent.origin).mixed(choice.branch.0).0;
            engine.now.history = about.history;
            Record {
                choice,
                actor: sent.to,
                position: self.cells[sent.to as usize].position() as u32,
                sent: engine.sent.len() as u32,
                actors: engine.about.len() as u32,
                touches: self.touches.len() as u32,
                history,
                arities: None,
                problem: None,
            }
        };
        let result = self.cells[record.actor as usize].deliver(what, choice.branch);
        self.finish(record, result)
    }

    fn rewind(&mut self, depth: usize) {
        while self.records.len() > depth {
            let record = self.records.pop().expect("the loop checked");
            self.problems -= usize::from(record.problem.is_some());
            self.touches.truncate(record.touches as usize);
            self.cells[record.actor as usize].undo();
            while self.cells.len() > record.actors as usize {
                self.past_runs += self.cells.pop().map_or(0, |cell| cell.runs());
            }
            let engine = &mut *self.engine.borrow_mut();
            engine.unsend(record.sent);
            if engine.about.len() > record.actors as usize {
                engine.uncreate(record.actors);
            }
            engine.undeliver(record.choice.what.0);
            engine.about[record.actor as usize].history = record.history;
            engine.mark_dirty(record.actor);
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.truncate(depth);
        }
        self.engine.borrow_mut().rewind_sync(depth as u32);
        self.error = None;
    }

    fn next_branch(&self) -> Option<Branch> {
        let newest = self.records.last()?;
        newest.choice.branch.next(newest.arities.as_deref()?)
    }

    fn thread(&self, what: Pending) -> Name {
        self.engine.borrow().sent[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.engine.borrow().sent[what.0 as usize].to)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let engine = self.engine.borrow();
        engine.pending.iter().find(|&&p| engine.sent[p as usize].name == thread).map(|&p| Pending(p))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend(self.engine.borrow().pending.iter().map(|&p| Pending(p)));
    }

    fn relation(&self) -> Relation {
        self.relation
    }

    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let engine = self.engine.borrow();
        let record = &self.records[at];
        let (cell, position) = (&self.cells[record.actor as usize], record.position as usize);
        debug_assert_eq!(engine.sent[what.0 as usize].to, record.actor, "asked of a step of the same actor");
        let accepts = |p: u32| panics::catch(|| cell.accepts(position, &engine, p)).unwrap_or(false);
        if !accepts(what.0) {
            return false;
        }
        self.delivery == Delivery::Unordered
            || !(0..what.0).any(|q| {
                let older = &engine.sent[q as usize];
                let waiting =
                    older.delivered == PENDING || older.delivered != LONG_AGO && older.delivered as usize >= at;
                older.to == record.actor && waiting && self.orderly().precedes(&engine, q, what.0) && accepts(q)
            })
    }

    fn step(&self, at: usize) -> Step {
        let record = &self.records[at];
        let thread = self.engine.borrow().sent[record.choice.what.0 as usize].name;
        let event = if record.arities.is_none() { thread } else { thread.going(record.choice.branch) };
        Step { choice: record.choice, thread, event, actor: ActorNo(record.actor) }
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        let record = &self.records[at];
        let by = self.engine.borrow().sent[record.choice.what.0 as usize].by;
        if by != SET_UP {
            out.push(by as usize);
        }
    }

    fn sent(&self, at: usize) -> Range<u32> {
        let to = self.records.get(at + 1).map_or_else(|| self.engine.borrow().sent.len() as u32, |next| next.sent);
        self.records[at].sent..to
    }

    fn touches(&self, at: usize) -> &[Touch] {
        let to = self.records.get(at + 1).map_or(self.touches.len(), |next| next.touches as usize);
        &self.touches[self.records[at].touches as usize..to]
    }

    fn actors(&self) -> usize {
        self.cells.len()
    }

    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        self.set_up_sends.clone()
    }

    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.records[at].problem.as_deref().cloned()
    }

    fn ending(&mut self, out: &mut Vec<Problem>) {
        self.find_ending_problems(out);
    }

    fn describe(&mut self, at: usize) -> StepText {
        self.words_of_step(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        crate::fingerprint::fingerprint(&self.engine.borrow(), &self.cells, comparison)
    }

    fn handler_runs(&self) -> u64 {
        self.past_runs + self.cells.iter().map(|cell| cell.runs()).sum::<u64>()
    }
}

/// Whether an actor can still take messages.
pub(crate) fn ended(status: &Status) -> bool {
    matches!(status, Status::Stopped | Status::Failed)
}
