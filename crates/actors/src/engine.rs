//! The engine: the state on which running actors act. It holds the mail, the actors' metadata and the current step.
//!
//! Handlers reach the engine through their [`crate::Cx`]. All lists grow and shrink at the end: messages are numbered
//! in the order they were sent, actors in the order they were created, and undoing steps truncates the lists. The
//! states of the actors are kept in their cells instead, so that a handler can use the engine while its own state is
//! borrowed.

use crate::Message;
use crate::address::Raw;
use crate::cell::Cell;
use crate::lock::HeldLocks;
use crate::mail::{Content, Mail, PENDING, Sent};
use crate::now::{Now, SET_UP};
use crate::pace::Pace;
use crate::promise::Failure;
use crate::shared::Variables;
use crate::words::type_label;
use rustc_hash::FxHashMap;
use std::any::{TypeId, type_name};
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::Name;

/// A reference to the engine, shared by the machine and the actors.
pub(crate) type EngineRef = Rc<RefCell<Engine>>;

/// The metadata of an actor: everything except its state.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) name: Name,
    /// The kind of actor, as shown in counterexamples.
    pub(crate) kind: Rc<str>,
    /// The step that created the actor.
    pub(crate) by: u32,
    /// A hash of everything the actor has received.
    pub(crate) history: u64,
    /// The number of steps the actor has taken.
    pub(crate) steps: u32,
    /// `true` for locks, tasks and other built-in objects, which need not stop.
    pub(crate) service: bool,
}

/// Properties shared by all actors of one type.
#[derive(Clone)]
pub(crate) struct TypeOfActors {
    pub(crate) kind: Rc<str>,
    pub(crate) pace: Rc<Pace>,
}

/// The engine; see the module documentation.
pub(crate) struct Engine {
    pub(crate) mail: Mail,
    pub(crate) about: Vec<About>,
    by_name: FxHashMap<Name, u32>,
    types: FxHashMap<TypeId, TypeOfActors>,
    /// Cells of actors created in the current step.
    pub(crate) newborn: Vec<Box<dyn Cell>>,
    /// The number of bytes left for memoizing steps.
    pub(crate) remember: usize,
    pub(crate) shared: Variables,
    pub(crate) held: HeldLocks,
    /// Tasks whose body panicked: the actor, the step and the failure.
    pub(crate) failed: Vec<(u32, u32, Failure)>,
    pub(crate) now: Now,
}

/// Salt that distinguishes names of actors from names of messages with the same number.
const ACTOR: u64 = 0xAC70;

impl Engine {
    pub(crate) fn new() -> Engine {
        Engine {
            mail: Mail::default(),
            about: Vec::new(),
            by_name: FxHashMap::default(),
            types: FxHashMap::default(),
            newborn: Vec::new(),
            remember: 0,
            shared: Variables::default(),
            held: HeldLocks::default(),
            failed: Vec::new(),
            now: Now::new(),
        }
    }

    pub(crate) fn type_of<A: 'static>(&mut self) -> TypeOfActors {
        let known = self.types.entry(TypeId::of::<A>());
        let new = || TypeOfActors { kind: type_label(type_name::<A>()).into(), pace: Rc::default() };
        known.or_insert_with(new).clone()
    }

    /// Returns the number of the actor at this address.
    fn slot(&self, raw: Raw) -> u32 {
        match self.about.get(raw.slot as usize) {
            Some(about) if about.name == raw.name => raw.slot,
            _ => *self.by_name.get(&raw.name).expect("an address belongs to the system that made it"),
        }
    }

    pub(crate) fn slot_of(&self, name: Name) -> Option<u32> {
        self.by_name.get(&name).copied()
    }

    // ---- operations of handlers ------------------------------------------------------------------

    pub(crate) fn send<M: Message>(&mut self, to: Raw, message: M, site: &'static Location<'static>) -> Name {
        let name = self.now.next_name();
        if !self.now.muted {
            if let Some(record) = &mut self.now.record {
                let message = message.clone();
                record.push(Rc::new(move |engine| {
                    engine.send(to, message.clone(), site);
                }));
            }
            let to = self.slot(to);
            let content = self.mail.keep_message(to, message);
            self.post(name, to, content, site);
        }
        name
    }

    pub(crate) fn reply<T: Message>(&mut self, call: Name, to: Raw, value: T, site: &'static Location<'static>) {
        let name = self.now.next_name();
        if !self.now.muted {
            if let Some(record) = &mut self.now.record {
                let value = value.clone();
                record.push(Rc::new(move |engine| engine.reply(call, to, value.clone(), site)));
            }
            let to = self.slot(to);
            let content = self.mail.keep_reply(call, Rc::new(value));
            self.post(name, to, content, site);
        }
    }

    #[inline(always)]
    fn post(&mut self, name: Name, to: u32, content: Content, site: &'static Location<'static>) {
        let (from, by) = (self.now.actor, self.now.step);
        if self.shared.keeps_pasts() {
            self.shared.pasts.sent(from, self.mail.len() as usize, by);
        }
        let origin = Name(self.now.history).child(self.now.effects).0;
        self.mail.post(Sent { name, to, from, by, delivered: PENDING, content, origin, open: false, site });
    }

    /// Registers a new actor and returns its address; `cell` creates the cell that runs it.
    pub(crate) fn create<M: 'static>(&mut self, kind: Rc<str>, cell: impl FnOnce(Raw) -> Box<dyn Cell>) -> Raw {
        let name = self.now.next_name().mixed(ACTOR);
        if self.now.muted {
            let slot = self.slot_of(name).expect("what is run again creates what it created before");
            return Raw { name, slot };
        }
        // A creation cannot be replayed from a record, so the step is not memoized.
        self.now.record = None;
        let slot = self.about.len() as u32;
        self.by_name.insert(name, slot);
        let history = Name(self.now.history).mixed(name.0).0;
        self.about.push(About { name, kind, by: self.now.step, history, steps: 0, service: false });
        self.mail.add_mailbox::<M>();
        if self.shared.keeps_pasts() {
            self.shared.pasts.created(self.now.actor, slot, self.now.step);
        }
        let raw = Raw { name, slot };
        self.newborn.push(cell(raw));
        raw
    }

    /// Marks an actor as a lock, a task or another built-in object.
    pub(crate) fn serves(&mut self, raw: Raw) {
        if let Some(about) = self.about.get_mut(raw.slot as usize) {
            about.service = true;
        }
    }

    /// Returns the next message for the actor that awaits one, or `None` if the actor has to wait.
    pub(crate) fn receive(&mut self) -> Option<u32> {
        let (what, branch) = self.now.feed.pop_front()?;
        self.now.begin(self.mail[what].name, branch);
        self.now.muted = !self.now.feed.is_empty();
        Some(what)
    }

    /// Records that the body of a task panicked.
    pub(crate) fn task_failed(&mut self, actor: u32, failure: Failure) {
        if self.now.muted {
            return;
        }
        if let Some(record) = &mut self.now.record {
            let failure = failure.clone();
            record.push(Rc::new(move |engine| engine.task_failed(actor, failure.clone())));
        }
        self.failed.push((actor, self.now.step, failure));
    }

    // ---- operations of the machine -----------------------------------------------------------------

    /// Removes a message from the pending ones and records its delivery in `step`. Returns `true` if every message
    /// pending for its receiver was deliverable.
    #[inline]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> bool {
        let all_open = self.mail.deliver(what, step);
        if self.shared.keeps_pasts() {
            self.shared.pasts.delivered(self.mail[what].to, what as usize, step);
        }
        all_open
    }

    /// Marks everything that has happened so far as part of the setup, which is not explored.
    pub(crate) fn settle(&mut self) {
        self.mail.settle();
        for about in &mut self.about {
            about.by = SET_UP;
            about.steps = 0;
        }
        self.shared.settle();
    }

    /// Removes all actors from number `mark` on.
    pub(crate) fn uncreate(&mut self, mark: u32) {
        while self.about.len() > mark as usize {
            let about = self.about.pop().expect("the loop checked");
            self.by_name.remove(&about.name);
            self.mail.remove_mailbox();
        }
    }

    /// Undoes the effects that steps from `depth` on had on tasks and shared variables.
    #[inline]
    pub(crate) fn rewind_sync(&mut self, depth: u32) {
        if self.shared.keeps_pasts() {
            self.shared.rewind(depth);
        }
        while self.failed.last().is_some_and(|&(_, step, _)| step != SET_UP && step >= depth) {
            self.failed.pop();
        }
    }
}
