//! The messages: all messages sent, the pending ones among them, and those that can be delivered now.
//!
//! Messages are numbered in the order they were sent. Undoing steps truncates the list of messages and reinserts
//! delivered messages into the linked list ([`LinkedQueue`]) of their mailbox, without any search.
//!
//! A pending message is *enabled* if it can be delivered now, which its receiver decides. The result is cached with the
//! message and computed again only after something has happened to the receiver; until then the receiver's mailbox is
//! *dirty*. An actor with an enabled message is *busy*. While an actor is known to accept every message, its mailbox is *open*:
//! whatever is sent to it is enabled at once, and nothing has to be computed again.

use crate::current_step::SETUP;
use crate::enabled_index::EnabledIndex;
use crate::linked_queue::{LinkedQueue, QueueLink};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Index;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{BitSet, Name};

/// Value of [`SentMessage::delivered`]: the message is still pending.
pub(crate) const PENDING: u32 = u32::MAX;
/// Value of [`SentMessage::delivered`]: the message was delivered during the setup.
pub(crate) const DELIVERED_IN_SETUP: u32 = u32::MAX - 1;

/// The value of a reply.
pub(crate) trait ReplyValue: Any + Debug {}
impl<T: Any + Debug> ReplyValue for T {}

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageContent {
    /// A message: its index in the receiver's mailbox.
    Message(u32),
    /// The reply to a call: its index in the list of replies, and the name of the call.
    Reply(u32, Name),
    /// A crash of the receiver.
    Crash,
}

/// The origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendKind {
    /// It was sent.
    Sent,
    /// The network made a copy of a message, with which it shares the content.
    Copy,
    /// An actor set a timer: see [`crate::timers`].
    Timer,
    /// A crash of the receiver, which may also not happen.
    Crash,
}

/// One message, from the moment it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentMessage {
    pub(crate) name: Name,
    pub(crate) to: u32,
    pub(crate) from: u32,
    /// The step that sent the message.
    pub(crate) by: u32,
    /// The step that delivered the message.
    pub(crate) delivered: u32,
    pub(crate) content: MessageContent,
    /// A hash of the sender's history and of the message's number in the step; it identifies the content.
    pub(crate) origin: u64,
    /// `true` if the message can be delivered now. Ignored if [`MessageList::all_enabled`] is set.
    pub(crate) enabled: bool,
    pub(crate) kind: SendKind,
    /// The source location of the send.
    pub(crate) site: &'static Location<'static>,
}

impl SentMessage {
    pub(crate) fn is_pending(&self) -> bool {
        self.delivered == PENDING
    }
}

/// The acceptance of a mailbox before a delivery, which is restored when the delivery is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// Some pending messages were not enabled, or it was not known.
    Some,
    /// All pending messages were enabled.
    All,
    /// All pending messages were enabled, and further ones would have been: the mailbox was open.
    Open,
}

/// The messages sent to one actor, stored as a `Vec<M>`; only its first `len` elements are valid.
struct MessageList {
    messages: Box<dyn Any>,
    len: u32,
    /// The pending messages in the order they were sent, and their number.
    queue: LinkedQueue,
    pending: u32,
    /// The number of pending messages that can be delivered now; valid only if not all can be, and the mailbox is not dirty.
    enabled: u32,
    /// `true` if all pending messages can be delivered now, regardless of [`SentMessage::enabled`].
    all_enabled: bool,
    /// `true` if the enabled messages have to be computed again.
    dirty: bool,
    /// `true` if the actor accepts every message until its next step. Implies `all_enabled`, and that it is not dirty.
    open: bool,
}

impl MessageList {
    fn messages<M: 'static>(&self) -> &[M] {
        self.messages.downcast_ref::<Vec<M>>().expect("a mailbox holds messages of its actor's type")
    }
}

/// The messages of a system; see the module documentation.
#[derive(Default)]
pub(crate) struct MessageStore {
    sent: Vec<SentMessage>,
    replies: Vec<Rc<dyn ReplyValue>>,
    /// The mailboxes, indexed by actor.
    mailboxes: Vec<MessageList>,
    /// The links of all mailboxes' lists, indexed by message.
    links: Vec<QueueLink>,
    /// The set of pending messages.
    pending: BitSet,
    /// The set of busy actors; valid only if no mailbox is dirty.
    busy: BitSet,
    /// A stack of actors that includes all dirty ones; some may have become clean since.
    dirty: Vec<u32>,
    /// The set of enabled messages, once somebody has asked for it; valid only if no mailbox is dirty.
    index: Option<Box<EnabledIndex>>,
}

impl Index<u32> for MessageStore {
    type Output = SentMessage;

    #[inline]
    fn index(&self, what: u32) -> &SentMessage {
        &self.sent[what as usize]
    }
}

impl MessageStore {
    /// Returns all messages, in the order they were sent.
    #[inline]
    pub(crate) fn all(&self) -> &[SentMessage] {
        &self.sent
    }

    /// Returns the number of messages sent.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Returns a message to an actor, by its index in the mailbox.
    #[inline]
    pub(crate) fn message<M: 'static>(&self, actor: u32, place: u32) -> &M {
        &self.mailboxes[actor as usize].messages::<M>()[place as usize]
    }

    /// Returns a reply, by its index in the list of replies.
    pub(crate) fn reply(&self, place: u32) -> &Rc<dyn ReplyValue> {
        &self.replies[place as usize]
    }

    // ---- sending and delivering --------------------------------------------------------------------

    /// Adds a mailbox for the next actor.
    pub(crate) fn add_mailbox<M: 'static>(&mut self) {
        self.mailboxes.push(MessageList {
            messages: Box::new(Vec::<M>::new()),
            len: 0,
            queue: LinkedQueue::EMPTY,
            pending: 0,
            enabled: 0,
            all_enabled: true,
            dirty: false,
            open: false,
        });
    }

    /// Stores the content of a message to an actor, which is then passed to [`post`](MessageStore::post).
    #[inline]
    pub(crate) fn keep_message<M: 'static>(&mut self, to: u32, message: M) -> MessageContent {
        let mailbox = &mut self.mailboxes[to as usize];
        let messages = mailbox.messages.downcast_mut::<Vec<M>>().expect("addresses are typed");
        messages.truncate(mailbox.len as usize);
        messages.push(message);
        mailbox.len += 1;
        MessageContent::Message(mailbox.len - 1)
    }

    /// Stores the content of a reply, which is then passed to [`post`](MessageStore::post).
    pub(crate) fn keep_reply(&mut self, call: Name, value: Rc<dyn ReplyValue>) -> MessageContent {
        self.replies.push(value);
        MessageContent::Reply(self.replies.len() as u32 - 1, call)
    }

    /// Sends a message whose content was stored just before.
    #[inline(always)]
    pub(crate) fn post(&mut self, sent: SentMessage) {
        self.pending.insert(self.sent.len() as u32);
        let mailbox = &mut self.mailboxes[sent.to as usize];
        mailbox.queue.push(&mut self.links);
        mailbox.pending += 1;
        self.sent.push(sent);
        // Timers can be cancelled, and nobody accepts a reply to a call that was given up.
        let is_plain = sent.kind != SendKind::Timer && !matches!(sent.content, MessageContent::Reply(..));
        if mailbox.open && is_plain {
            self.set_busy(sent.to, true);
            self.set_indexed(self.sent.len() as u32 - 1, true);
        } else {
            self.mark_dirty(sent.to);
        }
    }

    /// Removes a message from the pending ones and records its delivery in `step`. Returns the acceptance of its receiver before.
    ///
    /// An open mailbox stays open. If the receiver does not accept everything after the step, call [`close`](MessageStore::close).
    #[inline(always)]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> Acceptance {
        let sent = &mut self.sent[what as usize];
        assert_eq!(sent.delivered, PENDING, "only pending messages are delivered");
        sent.delivered = step;
        let to = sent.to;
        self.pending.remove(what);
        self.set_indexed(what, false);
        let mailbox = &mut self.mailboxes[to as usize];
        mailbox.queue.unlink(&mut self.links, what);
        mailbox.pending -= 1;
        let acceptance = match (mailbox.open, mailbox.all_enabled && !mailbox.dirty) {
            (true, _) => Acceptance::Open,
            (false, true) => Acceptance::All,
            (false, false) => Acceptance::Some,
        };
        if mailbox.pending == 0 {
            mailbox.dirty = false;
            mailbox.all_enabled = true;
            self.set_busy(to, false);
        } else if !mailbox.open {
            self.mark_dirty(to);
        }
        acceptance
    }

    /// Records that an actor may no longer accept every message.
    pub(crate) fn close(&mut self, actor: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        mailbox.open = false;
        if mailbox.pending > 0 {
            self.mark_dirty(actor);
        }
    }

    // ---- undoing steps ---------------------------------------------------------------------------

    /// Makes a delivered message pending again. `before` is the value that [`deliver`](MessageStore::deliver) returned.
    #[inline(always)]
    pub(crate) fn undeliver(&mut self, what: u32, before: Acceptance) {
        let sent = &mut self.sent[what as usize];
        sent.delivered = PENDING;
        let to = sent.to;
        self.pending.insert(what);
        let mailbox = &mut self.mailboxes[to as usize];
        mailbox.queue.relink(&mut self.links, what);
        mailbox.pending += 1;
        if let Some(index) = &mut self.index
            && before != Acceptance::Some
        {
            // A mailbox that is dirty, or has messages that are not enabled, may have them in the index or not.
            let others = mailbox.dirty || !mailbox.all_enabled;
            let all = mailbox.queue.iter(&self.links).filter(|&one| others || one == what);
            all.for_each(|one| index.set(one, true));
        }
        if before != Acceptance::Some {
            mailbox.all_enabled = true;
            mailbox.dirty = false;
            mailbox.open = before == Acceptance::Open;
            self.set_busy(to, true);
        } else {
            self.mark_dirty(to);
        }
    }

    /// Removes all messages from number `mark` on.
    #[inline(always)]
    pub(crate) fn unsend(&mut self, mark: u32) {
        while self.sent.len() > mark as usize {
            let sent = self.sent.pop().expect("the loop checked");
            let mailbox = &mut self.mailboxes[sent.to as usize];
            self.pending.remove(self.sent.len() as u32);
            if let Some(index) = &mut self.index {
                index.set(self.sent.len() as u32, false);
            }
            mailbox.queue.pop(&mut self.links);
            match sent.content {
                // The value stays in the mailbox until its slot is reused.
                MessageContent::Message(_) => mailbox.len -= u32::from(sent.kind != SendKind::Copy),
                MessageContent::Reply(..) => {
                    self.replies.pop();
                }
                MessageContent::Crash => {}
            }
            mailbox.pending -= 1;
            if !mailbox.all_enabled {
                self.mark_dirty(sent.to);
            } else if mailbox.pending == 0 {
                self.set_busy(sent.to, false);
            }
        }
    }

    /// Removes the newest mailbox, which is empty.
    pub(crate) fn remove_mailbox(&mut self) {
        self.mailboxes.pop();
        self.set_busy(self.mailboxes.len() as u32, false);
    }

    /// Marks everything that has happened so far as part of the setup, which is not explored.
    pub(crate) fn commit(&mut self) {
        for sent in &mut self.sent {
            sent.by = SETUP;
            if !sent.is_pending() {
                sent.delivered = DELIVERED_IN_SETUP;
            }
        }
    }

    // ---- enabled messages ---------------------------------------------------------------------------

    /// Returns all pending messages, in the order they were sent.
    pub(crate) fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending.iter()
    }

    pub(crate) fn nothing_pending(&self) -> bool {
        self.pending.iter().next().is_none()
    }

    /// Returns the messages pending for one actor, in the order they were sent.
    pub(crate) fn pending_of(&self, actor: u32) -> SmallVec<[u32; 16]> {
        self.mailboxes[actor as usize].queue.iter(&self.links).collect()
    }

    /// Returns the enabled messages, in the order they were sent. No mailbox may be dirty.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending().filter(|&what| {
            let sent = &self.sent[what as usize];
            sent.enabled || self.mailboxes[sent.to as usize].all_enabled
        })
    }

    /// Returns the set of enabled messages. No mailbox may be dirty.
    pub(crate) fn enabled_index(&mut self) -> &EnabledIndex {
        if self.index.is_none() {
            let mut index = Box::<EnabledIndex>::default();
            self.enabled().for_each(|what| index.set(what, true));
            self.index = Some(index);
        }
        self.index.as_ref().expect("it was made just now")
    }

    #[inline(always)]
    fn set_indexed(&mut self, what: u32, enabled: bool) {
        if let Some(index) = &mut self.index {
            index.set(what, enabled);
        }
    }

    /// Returns `true` if a pending message is enabled. No mailbox may be dirty.
    pub(crate) fn is_enabled(&self, what: u32) -> bool {
        let sent = &self.sent[what as usize];
        sent.enabled || self.mailboxes[sent.to as usize].all_enabled
    }

    /// Returns the enabled messages of one actor, in the order they were sent. No mailbox may be dirty.
    #[inline]
    pub(crate) fn enabled_of(&self, actor: u32) -> impl Iterator<Item = u32> + '_ {
        let mailbox = &self.mailboxes[actor as usize];
        mailbox.queue.iter(&self.links).filter(|&what| mailbox.all_enabled || self.sent[what as usize].enabled)
    }

    /// Returns the number of enabled messages of one actor. No mailbox may be dirty.
    #[inline]
    pub(crate) fn enabled_count(&self, actor: u32) -> u32 {
        let mailbox = &self.mailboxes[actor as usize];
        if mailbox.all_enabled { mailbox.pending } else { mailbox.enabled }
    }

    /// Returns the enabled messages to the actor of a pending message that were sent after it, in the order they were sent. No
    /// mailbox may be dirty.
    pub(crate) fn enabled_after(&self, what: u32) -> impl Iterator<Item = u32> + '_ {
        let mailbox = &self.mailboxes[self.sent[what as usize].to as usize];
        let after = LinkedQueue::iter_after(what, &self.links);
        after.filter(|&what| mailbox.all_enabled || self.sent[what as usize].enabled)
    }

    /// Returns the busy actor with the lowest rank, and the lowest number among those. No mailbox may be dirty.
    #[inline]
    pub(crate) fn first_busy(&self, rank: impl Fn(u32) -> u32) -> Option<u32> {
        let (mut first, mut lowest) = (None, u32::MAX);
        for (k, &word) in self.busy.words().iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                let actor = k as u32 * 64 + bits.trailing_zeros();
                let rank = rank(actor);
                if rank < lowest || first.is_none() {
                    (first, lowest) = (Some(actor), rank);
                    if rank == 0 {
                        return first;
                    }
                }
                bits &= bits - 1;
            }
        }
        first
    }

    // ---- computing the enabled messages ---------------------------------------------------------------

    #[inline]
    fn mark_dirty(&mut self, actor: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        if !mailbox.dirty {
            mailbox.dirty = true;
            mailbox.open = false;
            self.dirty.push(actor);
        }
    }

    #[inline]
    fn set_busy(&mut self, actor: u32, busy: bool) {
        if busy { self.busy.insert(actor) } else { self.busy.remove(actor) }
    }

    /// Returns the next actor whose enabled messages have to be computed again.
    #[inline]
    pub(crate) fn next_dirty(&mut self) -> Option<u32> {
        loop {
            let actor = *self.dirty.last()?;
            match self.mailboxes.get_mut(actor as usize) {
                Some(mailbox) if mailbox.dirty && mailbox.pending > 0 => return Some(actor),
                Some(mailbox) if mailbox.dirty => {
                    mailbox.dirty = false;
                    self.set_enabled_count(actor, 0);
                }
                // The mailbox became clean when a step was undone, or its actor no longer exists.
                _ => {}
            }
            self.dirty.pop();
        }
    }

    /// Sets, for each message pending for an actor in order, whether it is enabled.
    pub(crate) fn update_enabled(&mut self, actor: u32, can_be: impl IntoIterator<Item = bool>) {
        let line = self.mailboxes[actor as usize].queue;
        let mut open = 0;
        for (what, can_be) in line.iter(&self.links).zip(can_be) {
            self.sent[what as usize].enabled = can_be;
            if let Some(index) = &mut self.index {
                index.set(what, can_be);
            }
            open += u32::from(can_be);
        }
        self.set_enabled_count(actor, open);
    }

    /// Like [`update_enabled`](MessageStore::update_enabled), but by content: `can_be` receives the content and the mailbox of the actor, whose
    /// messages have type `M`.
    #[inline]
    pub(crate) fn update_enabled_by_content<M: 'static>(
        &mut self,
        actor: u32,
        can_be: impl Fn(MessageContent, &[M]) -> bool,
    ) {
        let mailbox = &self.mailboxes[actor as usize];
        let messages = mailbox.messages::<M>();
        let mut open = 0;
        for what in mailbox.queue.iter(&self.links) {
            let sent = &mut self.sent[what as usize];
            sent.enabled = can_be(sent.content, messages);
            if let Some(index) = &mut self.index {
                index.set(what, sent.enabled);
            }
            open += u32::from(sent.enabled);
        }
        self.set_enabled_count(actor, open);
    }

    /// Records that `open` of the messages pending for an actor are enabled.
    #[inline]
    fn set_enabled_count(&mut self, actor: u32, open: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        mailbox.enabled = open;
        mailbox.all_enabled = open == mailbox.pending;
        self.set_busy(actor, open > 0);
    }

    /// Opens the mailbox of an actor that accepts every message, unless something else is pending. It may not be dirty.
    pub(crate) fn open(&mut self, actor: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        debug_assert!(!mailbox.dirty, "internal error: a dirty mailbox is opened");
        mailbox.open = mailbox.all_enabled;
    }

    /// Marks the mailbox of the newest dirty actor as clean.
    #[inline]
    pub(crate) fn clean(&mut self, actor: u32) {
        let newest = self.dirty.pop();
        debug_assert_eq!(newest, Some(actor), "internal error: dirty-mailbox stack out of order");
        self.mailboxes[actor as usize].dirty = false;
    }
}
