//! What actors act upon: the messages sent, who is where, and the step that is running.
//!
//! Handlers reach the engine through their [`crate::Cx`]. Everything grows at the end and is taken back
//! from the end: messages are numbered in order of sending, actors in order of creation, and going back
//! is cutting off. The states of actors are not here but in their cells, so that a handler can use the
//! engine while its own state is borrowed.
//!
//! A suspended actor is brought back by running its code again on what it had received. Meanwhile the
//! engine is *muted*: sends and creations are only counted, so that they keep their names.

use crate::Message;
use crate::address::Raw;
use crate::bits::Bits;
use crate::cell::Cell;
use crate::future::Failure;
use crate::line::{Line, Link};
use crate::pace::Pace;
use crate::remember::Effect;
use crate::shared::Variables;
use crate::words::type_label;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{Branch, MachineError, Name};

/// How actors and the machine share the engine.
pub(crate) type EngineRef = Rc<RefCell<Engine>>;

/// No step: before the explored part.
pub(crate) const SET_UP: u32 = u32::MAX;
/// Not delivered.
pub(crate) const PENDING: u32 = u32::MAX;
/// Delivered before the explored part.
pub(crate) const LONG_AGO: u32 = u32::MAX - 1;
/// The number of the test itself, which sends what its body sends.
pub(crate) const TEST: u32 = 0;

/// The value of a reply.
pub(crate) trait Value: Any + Debug {}
impl<T: Any + Debug> Value for T {}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A message: its place in the receiver's mailbox.
    Message(u32),
    /// The answer to a call: its place among the replies.
    Reply(u32, Name),
}

/// One message, from its sending on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) name: Name,
    pub(crate) to: u32,
    pub(crate) from: u32,
    /// The step that sent it.
    pub(crate) by: u32,
    /// The step that delivered it.
    pub(crate) delivered: u32,
    pub(crate) content: Content,
    /// The sender's history when it was sent, and its number there: it says what the content is.
    pub(crate) origin: u64,
    /// Whether it can be delivered now, where not all that is pending for the actor can be.
    pub(crate) open: bool,
    /// Where in the source it was sent.
    pub(crate) site: &'static Location<'static>,
}

impl Sent {
    pub(crate) fn is_pending(&self) -> bool {
        self.delivered == PENDING
    }
}

/// The messages sent to one actor, `Vec<M>` inside, the first `len` of which count.
pub(crate) struct Mailbox {
    messages: Box<dyn Any>,
    len: u32,
    /// What is pending, in order, and how much that is.
    pub(crate) line: Line,
    pub(crate) pending: u32,
    /// All that is pending can be delivered now, whatever the messages themselves say.
    pub(crate) all_open: bool,
    /// What may be delivered to the actor has to be found out again.
    pub(crate) dirty: bool,
}

impl Mailbox {
    fn new<M: 'static>() -> Mailbox {
        Mailbox {
            messages: Box::new(Vec::<M>::new()),
            len: 0,
            line: Line::EMPTY,
            pending: 0,
            all_open: true,
            dirty: false,
        }
    }

    /// The messages sent to the actor, by place.
    pub(crate) fn messages<M: 'static>(&self) -> &[M] {
        self.messages.downcast_ref::<Vec<M>>().expect("a cell knows its messages")
    }
}

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

/// What a suspended actor waits for.
#[derive(Clone)]
pub(crate) struct Wait {
    pub(crate) on: On,
    pub(crate) site: &'static Location<'static>,
}

/// See [`Wait`].
#[derive(Clone)]
pub(crate) enum On {
    /// The answer to its call of that name.
    Reply(Name),
    /// A message that passes the filter, `Rc<dyn Fn(&M) -> bool>` inside.
    Message(Option<Rc<dyn Any>>),
}

/// The step that is running.
pub(crate) struct Now {
    pub(crate) actor: u32,
    pub(crate) step: u32,
    /// The name of the message being handled: what sends and creations are named after.
    pub(crate) handled: Name,
    /// How many sends and creations there were in it.
    pub(crate) effects: u32,
    /// How many there were by the test itself, while something else acts.
    pub(crate) test_effects: u32,
    pub(crate) muted: bool,
    pub(crate) branch: Branch,
    /// How many values each `choose` of the step had.
    pub(crate) arities: SmallVec<[u32; Branch::DIGITS]>,
    /// The values that `choose` gives next, when a first segment is run again.
    pub(crate) forced: VecDeque<u32>,
    pub(crate) stop: bool,
    /// The actor's history with what it handles now.
    pub(crate) history: u64,
    /// What the step does, while it is being recorded.
    pub(crate) record: Option<Vec<Effect>>,
    pub(crate) wait: Option<Wait>,
    /// What the actor receives next, and which way it went then: the last one is new, those before are being run again.
    pub(crate) feed: VecDeque<(u32, Branch)>,
    /// The program did what it must not.
    pub(crate) error: Option<MachineError>,
}

/// See the module.
pub(crate) struct Engine {
    pub(crate) sent: Vec<Sent>,
    /// All that is pending, as bits over messages.
    waiting: Bits,
    /// The links of the lines of mailboxes.
    pub(crate) links: Vec<Link>,
    /// The actors to which something can be delivered now, as bits; true when nothing is dirty.
    pub(crate) busy: Bits,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) about: Vec<About>,
    replies: Vec<Rc<dyn Value>>,
    by_name: FxHashMap<Name, u32>,
    types: FxHashMap<TypeId, TypeOfActors>,
    /// Cells of actors created in the running step.
    pub(crate) newborn: Vec<Box<dyn Cell>>,
    pub(crate) dirty: Vec<u32>,
    /// How many bytes are left for remembering what steps did.
    pub(crate) remember: usize,
    pub(crate) shared: Variables,
    /// The locks that running and suspended code holds: actor, lock, how often.
    held: Vec<(u32, Name, u32)>,
    /// Futures whose body panicked, with the step.
    pub(crate) failed: Vec<(u32, u32, Failure)>,
    pub(crate) now: Now,
}

/// Tells names of actors from names of messages that have the same number.
const ACTOR: u64 = 0xAC70;

impl Engine {
    pub(crate) fn new() -> Engine {
        Engine {
            sent: Vec::new(),
            waiting: Bits::default(),
            links: Vec::new(),
            busy: Bits::default(),
            mailboxes: Vec::new(),
            about: Vec::new(),
            replies: Vec::new(),
            by_name: FxHashMap::default(),
            types: FxHashMap::default(),
            newborn: Vec::new(),
            dirty: Vec::new(),
            remember: 0,
            shared: Variables::default(),
            held: Vec::new(),
            failed: Vec::new(),
            now: Now {
                actor: TEST,
                step: SET_UP,
                handled: Name::ROOT,
                effects: 0,
                test_effects: 0,
                muted: false,
                branch: Branch::FIRST,
                arities: SmallVec::new(),
                forced: VecDeque::new(),
                stop: false,
                history: Name::ROOT.0,
                record: None,
                wait: None,
                feed: VecDeque::new(),
                error: None,
            },
        }
    }

    /// The name of the next send or creation.
    pub(crate) fn next_name(&mut self) -> Name {
        let name = self.now.handled.child(self.now.effects);
        self.now.effects += 1;
        name
    }

    /// The name that the next send will have.
    pub(crate) fn coming_name(&self) -> Name {
        self.now.handled.child(self.now.effects)
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
        let name = self.next_name();
        if !self.now.muted {
            if let Some(record) = &mut self.now.record {
                let message = message.clone();
                record.push(Rc::new(move |engine| {
                    engine.send(to, message.clone(), site);
                }));
            }
            let to = self.slot(to);
            let mailbox = &mut self.mailboxes[to as usize];
            let messages = mailbox.messages.downcast_mut::<Vec<M>>().expect("addresses are typed");
            messages.truncate(mailbox.len as usize);
            messages.push(message);
            let content = Content::Message(mailbox.len);
            mailbox.len += 1;
            self.post(name, to, content, site);
        }
        name
    }

    pub(crate) fn reply<T: Message>(&mut self, call: Name, to: Raw, value: T, site: &'static Location<'static>) {
        let name = self.next_name();
        if !self.now.muted {
            if let Some(record) = &mut self.now.record {
                let value = value.clone();
                record.push(Rc::new(move |engine| engine.reply(call, to, value.clone(), site)));
            }
            let to = self.slot(to);
            let content = Content::Reply(self.replies.len() as u32, call);
            self.replies.push(Rc::new(value));
            self.post(name, to, content, site);
        }
    }

    #[inline(always)]
    fn post(&mut self, name: Name, to: u32, content: Content, site: &'static Location<'static>) {
        self.waiting.insert(self.sent.len() as u32);
        let mailbox = &mut self.mailboxes[to as usize];
        mailbox.line.push(&mut self.links);
        mailbox.pending += 1;
        let (from, by) = (self.now.actor, self.now.step);
        if !self.shared.is_empty() {
            self.shared.pasts.sent(from, self.sent.len(), by);
        }
        let origin = Name(self.now.history).child(self.now.effects).0;
        self.sent.push(Sent { name, to, from, by, delivered: PENDING, content, origin, open: false, site });
        self.mark_dirty(to);
    }

    /// Makes room for a new actor and gives its address; `cell` makes what runs it.
    pub(crate) fn create<M: 'static>(&mut self, kind: Rc<str>, cell: impl FnOnce(Raw) -> Box<dyn Cell>) -> Raw {
        let name = self.next_name().mixed(ACTOR);
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
        self.mailboxes.push(Mailbox::new::<M>());
        if !self.shared.is_empty() {
            self.shared.pasts.created(self.now.actor, slot, self.now.step);
        }
        let raw = Raw { name, slot };
        self.newborn.push(cell(raw));
        raw
    }

    pub(crate) fn choose(&mut self, n: u32) -> u32 {
        if let Some(value) = self.now.forced.pop_front() {
            return value;
        }
        let k = self.now.arities.len();
        if n == 0 || n > Branch::VALUES || k == Branch::DIGITS {
            self.now.error.get_or_insert_with(|| {
                MachineError::Misuse(format!(
                    "choose({n}): a choice has 1 to {} values, and a step at most {} choices; split the handler by sending a message to itself",
                    Branch::VALUES,
                    Branch::DIGITS
                ))
            });
            return 0;
        }
        if n > 1 && self.now.step == SET_UP {
            self.now.error.get_or_insert_with(|| {
                MachineError::Misuse(format!(
                    "choose({n}) in the set-up, which is not explored: choose when a message of the test's body is handled"
                ))
            });
            return 0;
        }
        self.now.arities.push(n);
        self.now.branch.digit(k)
    }

    /// What the actor at an await receives next; `None`: it has to wait.
    pub(crate) fn receive(&mut self) -> Option<u32> {
        let (what, branch) = self.now.feed.pop_front()?;
        self.begin(self.sent[what as usize].name, branch);
        self.now.muted = !self.now.feed.is_empty();
        Some(what)
    }

    /// From here on, effects belong to the handling of this message.
    pub(crate) fn begin(&mut self, handled: Name, branch: Branch) {
        self.now.handled = handled;
        self.now.effects = 0;
        self.now.branch = branch;
        self.now.arities.clear();
        self.now.wait = None;
    }

    /// Says that the newest actor is a lock, a future or the like.
    pub(crate) fn serves(&mut self, raw: Raw) {
        if let Some(about) = self.about.get_mut(raw.slot as usize) {
            about.service = true;
        }
    }

    pub(crate) fn holds(&self, actor: u32, lock: Name) -> bool {
        self.times_held(actor, lock) > 0
    }

    /// How often an actor holds a lock.
    pub(crate) fn times_held(&self, actor: u32, lock: Name) -> u32 {
        let held = self.held.iter().find(|&&(by, held, _)| (by, held) == (actor, lock));
        held.map_or(0, |&(_, _, times)| times)
    }

    pub(crate) fn hold(&mut self, actor: u32, lock: Name) {
        match self.held.iter_mut().find(|(by, held, _)| (*by, *held) == (actor, lock)) {
            Some((_, _, times)) => *times += 1,
            None => self.held.push((actor, lock, 1)),
        }
    }

    /// Whether this was the last time that the actor held the lock.
    pub(crate) fn let_go(&mut self, actor: u32, lock: Name) -> bool {
        let place = self.held.iter().position(|&(by, held, _)| (by, held) == (actor, lock));
        let place = place.expect("a guard exists as long as its lock is held");
        self.held[place].2 -= 1;
        let last = self.held[place].2 == 0;
        if last {
            self.held.swap_remove(place);
        }
        last
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

    // ---- what cells and the machine ask -----------------------------------------------------------

    pub(crate) fn message<M: 'static>(&self, slot: u32, place: u32) -> &M {
        &self.mailboxes[slot as usize].messages::<M>()[place as usize]
    }

    pub(crate) fn reply_value(&self, place: u32) -> &Rc<dyn Value> {
        &self.replies[place as usize]
    }

    #[inline]
    pub(crate) fn mark_dirty(&mut self, actor: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        if !mailbox.dirty {
            mailbox.dirty = true;
            self.dirty.push(actor);
        }
    }

    // ---- going back ------------------------------------------------------------------------------

    /// Forgets everything sent from number `mark` on.
    #[inline]
    pub(crate) fn unsend(&mut self, mark: u32) {
        while self.sent.len() > mark as usize {
            let sent = self.sent.pop().expect("the loop checked");
            let mailbox = &mut self.mailboxes[sent.to as usize];
            self.waiting.remove(self.sent.len() as u32);
            mailbox.line.pop(&mut self.links);
            match sent.content {
                // The message itself is dropped when its place is needed.
                Content::Message(_) => mailbox.len -= 1,
                Content::Reply(..) => {
                    self.replies.pop();
                }
            }
            mailbox.pending -= 1;
            if !mailbox.all_open {
                self.mark_dirty(sent.to);
            } else if mailbox.pending == 0 {
                self.set_busy(sent.to, false);
            }
        }
    }

    /// Forgets all actors from number `mark` on.
    pub(crate) fn uncreate(&mut self, mark: u32) {
        while self.about.len() > mark as usize {
            let about = self.about.pop().expect("the loop checked");
            self.by_name.remove(&about.name);
            self.mailboxes.pop();
            self.set_busy(self.about.len() as u32, false);
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

    /// Takes a message from the pending ones. The answer is whether all that was pending could have been delivered.
    #[inline]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> bool {
        let sent = &mut self.sent[what as usize];
        assert_eq!(sent.delivered, PENDING, "only pending messages are delivered");
        sent.delivered = step;
        let to = sent.to;
        self.waiting.remove(what);
        let mailbox = &mut self.mailboxes[to as usize];
        mailbox.line.take(&mut self.links, what);
        mailbox.pending -= 1;
        let all_open = mailbox.all_open && !mailbox.dirty;
        if mailbox.pending == 0 {
            mailbox.dirty = false;
            mailbox.all_open = true;
            self.set_busy(to, false);
        } else {
            self.mark_dirty(to);
        }
        if !self.shared.is_empty() {
            self.shared.pasts.delivered(to, what as usize, step);
        }
        all_open
    }

    /// Puts a message back among the pending ones, of which all could be delivered or not.
    #[inline]
    pub(crate) fn undeliver(&mut self, what: u32, all_open: bool) {
        let sent = &mut self.sent[what as usize];
        sent.delivered = PENDING;
        let to = sent.to;
        self.waiting.insert(what);
        let mailbox = &mut self.mailboxes[to as usize];
        mailbox.line.put_back(&mut self.links, what);
        mailbox.pending += 1;
        if all_open {
            mailbox.all_open = true;
            mailbox.dirty = false;
            self.set_busy(to, true);
        } else {
            self.mark_dirty(to);
        }
    }

    // ---- what can be delivered -------------------------------------------------------------------

    /// All that is pending, in order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.iter()
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.waiting.iter().next().is_none()
    }

    /// What is pending for one actor, in order.
    pub(crate) fn pending_of(&self, actor: u32) -> SmallVec<[u32; 16]> {
        self.mailboxes[actor as usize].line.iter(&self.links).collect()
    }

    /// Whether a pending message can be delivered now; nothing is dirty.
    #[inline]
    pub(crate) fn is_open(&self, what: u32) -> bool {
        let sent = &self.sent[what as usize];
        sent.open || self.mailboxes[sent.to as usize].all_open
    }

    /// What is pending for an actor can be delivered as its messages say, `open` of them.
    #[inline]
    pub(crate) fn opened(&mut self, actor: u32, open: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        mailbox.all_open = open == mailbox.pending;
        self.set_busy(actor, open > 0);
    }

    /// Whether something can be delivered to an actor now.
    #[inline]
    fn set_busy(&mut self, actor: u32, busy: bool) {
        if busy { self.busy.insert(actor) } else { self.busy.remove(actor) }
    }

    /// The next actor of which it has to be found out again what can be delivered to it.
    #[inline]
    pub(crate) fn next_dirty(&mut self) -> Option<u32> {
        loop {
            let actor = *self.dirty.last()?;
            match self.mailboxes.get_mut(actor as usize) {
                Some(mailbox) if mailbox.dirty && mailbox.pending > 0 => return Some(actor),
                Some(mailbox) if mailbox.dirty => {
                    mailbox.dirty = false;
                    self.opened(actor, 0);
                }
                // It was put right by going back, or is gone.
                _ => {}
            }
            self.dirty.pop();
        }
    }

    /// It has been found out for the newest dirty actor.
    #[inline]
    pub(crate) fn clean(&mut self) {
        let actor = self.dirty.pop().expect("somebody is dirty");
        self.mailboxes[actor as usize].dirty = false;
    }
}
