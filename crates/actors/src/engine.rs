//! What actors act upon: the mail, who is there, and the step that is running.
//!
//! Handlers reach the engine through their [`crate::Cx`]. Everything grows at the end and is taken back
//! from the end: messages are numbered in order of sending, actors in order of creation, and going back
//! is cutting off. The states of actors are not here but in their cells, so that a handler can use the
//! engine while its own state is borrowed.

use crate::Message;
use crate::address::Raw;
use crate::cell::Cell;
use crate::future::Failure;
use crate::lock::HeldLocks;
use crate::mail::{Content, Mail, PENDING, Sent};
use crate::now::{Now, SET_UP};
use crate::pace::Pace;
use crate::shared::Variables;
use crate::words::type_label;
use rustc_hash::FxHashMap;
use std::any::{TypeId, type_name};
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::Name;

/// How actors and the machine share the engine.
pub(crate) type EngineRef = Rc<RefCell<Engine>>;

/// What is known of an actor besides its state.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) name: Name,
    /// The kind of actor, as it is called in stories.
    pub(crate) kind: Rc<str>,
    /// The step that created it.
    pub(crate) by: u32,
    /// A hash of everything it has received.
    pub(crate) history: u64,
    /// How many steps it has taken.
    pub(crate) steps: u32,
    /// It is a lock, a future or the like: it need not stop.
    pub(crate) service: bool,
}

/// What actors of one type have in common.
#[derive(Clone)]
pub(crate) struct TypeOfActors {
    pub(crate) kind: Rc<str>,
    pub(crate) pace: Rc<Pace>,
}

/// See the module.
pub(crate) struct Engine {
    pub(crate) mail: Mail,
    pub(crate) about: Vec<About>,
    by_name: FxHashMap<Name, u32>,
    types: FxHashMap<TypeId, TypeOfActors>,
    /// Cells of actors created in the running step.
    pub(crate) newborn: Vec<Box<dyn Cell>>,
    /// How many bytes are left for remembering what steps did.
    pub(crate) remember: usize,
    pub(crate) shared: Variables,
    pub(crate) held: HeldLocks,
    /// Futures whose body panicked, with the step.
    pub(crate) failed: Vec<(u32, u32, Failure)>,
    pub(crate) now: Now,
}

/// Tells names of actors from names of messages that have the same number.
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

    /// The number of the actor at this address.
    fn slot(&self, raw: Raw) -> u32 {
        match self.about.get(raw.slot as usize) {
            Some(about) if about.name == raw.name => raw.slot,
            _ => *self.by_name.get(&raw.name).expect("an address belongs to the system that made it"),
        }
    }

    pub(crate) fn slot_of(&self, name: Name) -> Option<u32> {
        self.by_name.get(&name).copied()
    }

    // ---- what handlers do ------------------------------------------------------------------------

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
        if !self.shared.is_empty() {
            self.shared.pasts.sent(from, self.mail.len() as usize, by);
        }
        let origin = Name(self.now.history).child(self.now.effects).0;
        self.mail.post(Sent { name, to, from, by, delivered: PENDING, content, origin, open: false, site });
    }

    /// Makes room for a new actor and gives its address; `cell` makes what runs it.
    pub(crate) fn create<M: 'static>(&mut self, kind: Rc<str>, cell: impl FnOnce(Raw) -> Box<dyn Cell>) -> Raw {
        let name = self.now.next_name().mixed(ACTOR);
        if self.now.muted {
            let slot = self.slot_of(name).expect("what is run again creates what it created before");
            return Raw { name, slot };
        }
        // A creation cannot be done again from a record.
        self.now.record = None;
        let slot = self.about.len() as u32;
        self.by_name.insert(name, slot);
        let history = Name(self.now.history).mixed(name.0).0;
        self.about.push(About { name, kind, by: self.now.step, history, steps: 0, service: false });
        self.mail.add_mailbox::<M>();
        if !self.shared.is_empty() {
            self.shared.pasts.created(self.now.actor, slot, self.now.step);
        }
        let raw = Raw { name, slot };
        self.newborn.push(cell(raw));
        raw
    }

    /// Says that the newest actor is a lock, a future or the like.
    pub(crate) fn serves(&mut self, raw: Raw) {
        if let Some(about) = self.about.get_mut(raw.slot as usize) {
            about.service = true;
        }
    }

    /// What the actor at an await receives next; `None`: it has to wait.
    pub(crate) fn receive(&mut self) -> Option<u32> {
        let (what, branch) = self.now.feed.pop_front()?;
        self.now.begin(self.mail[what].name, branch);
        self.now.muted = !self.now.feed.is_empty();
        Some(what)
    }

    /// The body of a future has panicked.
    pub(crate) fn future_failed(&mut self, actor: u32, failure: Failure) {
        if self.now.muted {
            return;
        }
        if let Some(record) = &mut self.now.record {
            let failure = failure.clone();
            record.push(Rc::new(move |engine| engine.future_failed(actor, failure.clone())));
        }
        self.failed.push((actor, self.now.step, failure));
    }

    // ---- what the machine does ---------------------------------------------------------------------

    /// Takes a message from the pending ones. The answer is whether all that was pending could have been delivered.
    #[inline]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> bool {
        let all_open = self.mail.deliver(what, step);
        if !self.shared.is_empty() {
            self.shared.pasts.delivered(self.mail[what].to, what as usize, step);
        }
        all_open
    }

    /// What has happened so far was before the explored part.
    pub(crate) fn settle(&mut self) {
        self.mail.settle();
        for about in &mut self.about {
            about.by = SET_UP;
            about.steps = 0;
        }
        self.shared.settle();
    }

    /// Forgets all actors from number `mark` on.
    pub(crate) fn uncreate(&mut self, mark: u32) {
        while self.about.len() > mark as usize {
            let about = self.about.pop().expect("the loop checked");
            self.by_name.remove(&about.name);
            self.mail.remove_mailbox();
        }
    }

    /// Forgets what futures and variables did in steps from `depth` on.
    #[inline]
    pub(crate) fn rewind_sync(&mut self, depth: u32) {
        if !self.shared.is_empty() {
            self.shared.rewind(depth);
        }
        while self.failed.last().is_some_and(|&(_, step, _)| step != SET_UP && step >= depth) {
            self.failed.pop();
        }
    }
}
