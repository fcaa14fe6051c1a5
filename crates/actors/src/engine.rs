//! The engine: the state on which running actors act. It holds the messages, the actors' metadata and the current step.
//!
//! Handlers reach the engine through their [`crate::Cx`]. All lists grow and shrink at the end: messages are numbered
//! in the order they were sent, actors in the order they were created, and undoing steps truncates the lists. The
//! states of the actors are kept in their cells instead, so that a handler can use the engine while its own state is
//! borrowed.

use crate::Message;
use crate::address::RawAddr;
use crate::cell::ActorCell;
use crate::current_step::{CurrentStep, SETUP};
use crate::describe::type_label;
use crate::history::Histories;
use crate::lock::HeldLocks;
use crate::messages::{Acceptance, MessageContent, MessageStore, PENDING, SendKind, SentMessage};
use crate::promise::Failure;
use crate::shared::Variables;
use crate::speed::HandlerSpeed;
use crate::timers::Timers;
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
pub(crate) struct ActorInfo {
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
    /// The source location of its creation.
    pub(crate) site: &'static Location<'static>,
}

/// Properties shared by all actors of one type.
#[derive(Clone)]
pub(crate) struct ActorType {
    pub(crate) kind: Rc<str>,
    pub(crate) speed: Rc<HandlerSpeed>,
}

/// The engine; see the module documentation.
pub(crate) struct Engine {
    pub(crate) messages: MessageStore,
    pub(crate) actors: Vec<ActorInfo>,
    by_name: FxHashMap<Name, u32>,
    types: FxHashMap<TypeId, ActorType>,
    /// Cells of actors created in the current step.
    pub(crate) new_cells: Vec<Box<dyn ActorCell>>,
    /// The number of bytes left for memoizing steps.
    pub(crate) memo_budget: usize,
    pub(crate) shared: Variables,
    pub(crate) held: HeldLocks,
    pub(crate) histories: Histories,
    pub(crate) timers: Timers,
    /// `true` if there ever was a history or a timer.
    pub(crate) records_more: bool,
    /// Tasks whose body panicked: the actor, the step and the failure.
    pub(crate) failed: Vec<(u32, u32, Failure)>,
    pub(crate) current: CurrentStep,
}

/// Salt that distinguishes names of actors from names of messages with the same number.
const ACTOR: u64 = 0xAC70;
/// Salt that distinguishes a copy of a message from the message.
const COPY: u64 = 0xC0B1;

impl Engine {
    pub(crate) fn new() -> Engine {
        Engine {
            messages: MessageStore::default(),
            actors: Vec::new(),
            by_name: FxHashMap::default(),
            types: FxHashMap::default(),
            new_cells: Vec::new(),
            memo_budget: 0,
            shared: Variables::default(),
            held: HeldLocks::default(),
            histories: Histories::default(),
            timers: Timers::default(),
            records_more: false,
            failed: Vec::new(),
            current: CurrentStep::new(),
        }
    }

    pub(crate) fn actor_type<A: 'static>(&mut self) -> ActorType {
        let known = self.types.entry(TypeId::of::<A>());
        let new = || ActorType { kind: type_label(type_name::<A>()).into(), speed: Rc::default() };
        known.or_insert_with(new).clone()
    }

    /// Returns the number of the actor at this address. An address of an actor that does not exist in this execution is
    /// a misuse, which `site` made.
    #[inline(always)]
    fn slot(&mut self, raw: RawAddr, site: &'static Location<'static>) -> Option<u32> {
        match self.actors.get(raw.slot as usize) {
            Some(info) if info.name == raw.name => Some(raw.slot),
            _ => self.slot_by_name(raw.name, site),
        }
    }

    #[cold]
    fn slot_by_name(&mut self, name: Name, site: &'static Location<'static>) -> Option<u32> {
        if let Some(&slot) = self.by_name.get(&name) {
            return Some(slot);
        }
        self.current.misuse(|| {
            format!(
                "{}:{}: the address of an actor that does not exist here: it was kept from another execution or another \
                 test; keep addresses only in actors and messages, and create the actors in the body of the test",
                site.file(),
                site.line()
            )
        });
        None
    }

    pub(crate) fn slot_of(&self, name: Name) -> Option<u32> {
        self.by_name.get(&name).copied()
    }

    // ---- operations of handlers ------------------------------------------------------------------

    pub(crate) fn send<M: Message>(&mut self, to: RawAddr, message: M, site: &'static Location<'static>) -> Name {
        let name = self.current.next_name();
        if !self.current.is_muted() {
            if let Some(record) = &mut self.current.record {
                let message = message.clone();
                record.push(Rc::new(move |engine| {
                    engine.send(to, message.clone(), site);
                }));
            }
            let Some(to) = self.slot(to, site) else { return name };
            let content = self.messages.keep_message(to, message);
            self.post(name, to, content, SendKind::Sent, site);
        }
        name
    }

    pub(crate) fn reply<T: Message>(&mut self, call: Name, to: RawAddr, value: T, site: &'static Location<'static>) {
        let name = self.current.next_name();
        if !self.current.is_muted() {
            if let Some(record) = &mut self.current.record {
                let value = value.clone();
                record.push(Rc::new(move |engine| engine.reply(call, to, value.clone(), site)));
            }
            let Some(to) = self.slot(to, site) else { return };
            let content = self.messages.keep_reply(call, Rc::new(value));
            self.post(name, to, content, SendKind::Sent, site);
        }
    }

    #[inline(always)]
    pub(crate) fn post(
        &mut self,
        name: Name,
        to: u32,
        content: MessageContent,
        kind: SendKind,
        site: &'static Location<'static>,
    ) {
        let (from, by) = (self.current.actor, self.current.step);
        if self.shared.tracks_clocks() {
            self.shared.clocks.sent(from, self.messages.len() as usize, by);
        }
        let origin = Name(self.current.history).child(self.current.effects).0;
        self.messages.post(SentMessage {
            name,
            to,
            from,
            by,
            delivered: PENDING,
            content,
            origin,
            enabled: false,
            kind,
            site,
        });
    }

    /// Makes a copy of a message pending, which the network will deliver once more.
    pub(crate) fn post_copy(&mut self, what: u32) {
        let sent = self.messages[what];
        let by = self.current.step;
        if self.shared.tracks_clocks() {
            self.shared.clocks.copied(what as usize, self.messages.len() as usize);
        }
        let (name, origin) = (sent.name.mixed(COPY), Name(sent.origin).mixed(COPY).0);
        let kind = SendKind::Copy;
        self.messages.post(SentMessage { name, by, delivered: PENDING, origin, enabled: false, kind, ..sent });
    }

    /// Registers a new actor and returns its address; `cell` creates the cell that runs it.
    #[track_caller]
    pub(crate) fn create<M: 'static>(
        &mut self,
        kind: Rc<str>,
        cell: impl FnOnce(RawAddr) -> Box<dyn ActorCell>,
    ) -> RawAddr {
        let name = self.current.next_name().mixed(ACTOR);
        if self.current.is_muted() {
            let slot = self.slot_of(name).expect("code that is run again creates the same actors");
            return RawAddr { name, slot };
        }
        // A creation cannot be replayed from a record, so the step is not memoized.
        self.current.record = None;
        let slot = self.actors.len() as u32;
        self.by_name.insert(name, slot);
        let history = Name(self.current.history).mixed(name.0).0;
        let (by, site) = (self.current.step, Location::caller());
        self.actors.push(ActorInfo { name, kind, by, history, steps: 0, service: false, site });
        self.messages.add_mailbox::<M>();
        if self.shared.tracks_clocks() {
            self.shared.clocks.created(self.current.actor, slot, self.current.step);
        }
        let raw = RawAddr { name, slot };
        self.new_cells.push(cell(raw));
        raw
    }

    /// Returns the addresses that the next actors will get, provided that nothing is sent before they are created.
    pub(crate) fn coming_addresses(&self, count: usize) -> Vec<RawAddr> {
        let slot = self.actors.len() as u32;
        (0..count as u32).map(|k| RawAddr { name: self.current.later_name(k).mixed(ACTOR), slot: slot + k }).collect()
    }

    /// Marks an actor as a lock, a task or another built-in object.
    pub(crate) fn mark_service(&mut self, raw: RawAddr) {
        if let Some(info) = self.actors.get_mut(raw.slot as usize) {
            info.service = true;
        }
    }

    /// Returns the next message for the actor that awaits one, or `None` if the actor has to wait.
    pub(crate) fn receive(&mut self) -> Option<u32> {
        let (what, branch) = self.current.feed.pop_front()?;
        self.current.begin(self.messages[what].name, branch);
        let again = !self.current.feed.is_empty();
        self.current.set_muted(again);
        Some(what)
    }

    /// Records that the body of a task panicked.
    pub(crate) fn task_failed(&mut self, actor: u32, failure: Failure) {
        if self.current.is_muted() {
            return;
        }
        if let Some(record) = &mut self.current.record {
            let failure = failure.clone();
            record.push(Rc::new(move |engine| engine.task_failed(actor, failure.clone())));
        }
        self.failed.push((actor, self.current.step, failure));
    }

    // ---- operations of the machine -----------------------------------------------------------------

    /// Removes a message from the pending ones and records its delivery in `step`. Returns the acceptance of its receiver before.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> Acceptance {
        let acceptance = self.messages.deliver(what, step);
        if self.shared.tracks_clocks() {
            self.shared.clocks.delivered(self.messages[what].to, what as usize, step);
        }
        acceptance
    }

    /// Marks everything that has happened so far as part of the setup, which is not explored.
    pub(crate) fn commit(&mut self) {
        self.messages.commit();
        for info in &mut self.actors {
            info.by = SETUP;
            info.steps = 0;
        }
        self.shared.commit();
        self.histories.commit();
        self.timers.commit();
    }

    /// Removes all actors from number `mark` on.
    pub(crate) fn uncreate(&mut self, mark: u32) {
        while self.actors.len() > mark as usize {
            let info = self.actors.pop().expect("the loop checked");
            self.by_name.remove(&info.name);
            self.messages.remove_mailbox();
        }
    }

    /// Undoes the effects that steps from `depth` on had on tasks, shared variables, histories and timers.
    #[inline]
    pub(crate) fn rewind_sync(&mut self, depth: u32) {
        if self.shared.tracks_clocks() {
            self.shared.rewind(depth);
        }
        if self.records_more {
            self.histories.rewind(depth);
            self.timers.rewind(depth);
        }
        while self.failed.last().is_some_and(|&(_, step, _)| step != SETUP && step >= depth) {
            self.failed.pop();
        }
    }
}
