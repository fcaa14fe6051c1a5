//! The mail: all messages sent, the pending ones among them, and those that can be delivered now.
//!
//! Messages are numbered in the order they were sent. Undoing steps truncates the list of messages and reinserts
//! delivered messages into the linked list ([`Line`]) of their mailbox, without any search.
//!
//! A pending message is *open* if it can be delivered now, which its receiver decides. The result is cached with the
//! message and computed again only after something has happened to the receiver; until then the receiver's mailbox is
//! *dirty*. An actor with an open message is *busy*.

use crate::bits::Bits;
use crate::line::{Line, Link};
use crate::now::SET_UP;
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Index;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::Name;

/// Value of [`Sent::delivered`]: the message is still pending.
pub(crate) const PENDING: u32 = u32::MAX;
/// Value of [`Sent::delivered`]: the message was delivered during the setup.
pub(crate) const LONG_AGO: u32 = u32::MAX - 1;

/// The value of a reply.
pub(crate) trait Value: Any + Debug {}
impl<T: Any + Debug> Value for T {}

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A message: its index in the receiver's mailbox.
    Message(u32),
    /// The reply to a call: its index in the list of replies, and the name of the call.
    Reply(u32, Name),
}

/// One message, from the moment it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) name: Name,
    pub(crate) to: u32,
    pub(crate) from: u32,
    /// The step that sent the message.
    pub(crate) by: u32,
    /// The step that delivered the message.
    pub(crate) delivered: u32,
    pub(crate) content: Content,
    /// A hash of the sender's history and of the message's number in the step; it identifies the content.
    pub(crate) origin: u64,
    /// `true` if the message can be delivered now. Ignored if [`Mailbox::all_open`] is set.
    pub(crate) open: bool,
    /// The source location of the send.
    pub(crate) site: &'static Location<'static>,
}

impl Sent {
    pub(crate) fn is_pending(&self) -> bool {
        self.delivered == PENDING
    }
}

/// The messages sent to one actor, stored as a `Vec<M>`; only its first `len` elements are valid.
struct Mailbox {
    messages: Box<dyn Any>,
    len: u32,
    /// The pending messages in the order they were sent, and their number.
    line: Line,
    pending: u32,
    /// `true` if all pending messages can be delivered now, regardless of [`Sent::open`].
    all_open: bool,
    /// `true` if the open messages have to be computed again.
    dirty: bool,
}

impl Mailbox {
    fn messages<M: 'static>(&self) -> &[M] {
        self.messages.downcast_ref::<Vec<M>>().expect("a cell knows its messages")
    }
}

/// The mail of a system; see the module documentation.
#[derive(Default)]
pub(crate) struct Mail {
    sent: Vec<Sent>,
    replies: Vec<Rc<dyn Value>>,
    /// The mailboxes, indexed by actor.
    mailboxes: Vec<Mailbox>,
    /// The links of all mailboxes' lists, indexed by message.
    links: Vec<Link>,
    /// The set of pending messages.
    pending: Bits,
    /// The set of busy actors; valid only if no mailbox is dirty.
    busy: Bits,
    /// A stack of actors that includes all dirty ones; some may have become clean since.
    dirty: Vec<u32>,
}

impl Index<u32> for Mail {
    type Output = Sent;

    #[inline]
    fn index(&self, what: u32) -> &Sent {
        &self.sent[what as usize]
    }
}

impl Mail {
    /// Returns all messages, in the order they were sent.
    #[inline]
    pub(crate) fn all(&self) -> &[Sent] {
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
    pub(crate) fn reply(&self, place: u32) -> &Rc<dyn Value> {
        &self.replies[place as usize]
    }

    // ---- sending and delivering --------------------------------------------------------------------

    /// Adds a mailbox for the next actor.
    pub(crate) fn add_mailbox<M: 'static>(&mut self) {
        self.mailboxes.push(Mailbox {
            messages: Box::new(Vec::<M>::new()),
            len: 0,
            line: Line::EMPTY,
            pending: 0,
            all_open: true,
            dirty: false,
        });
    }

    /// Stores the content of a message to an actor, which is then passed to [`post`](Mail::post).
    #[inline]
    pub(crate) fn keep_message<M: 'static>(&mut self, to: u32, message: M) -> Content {
        let mailbox = &mut self.mailboxes[to as usize];
        let messages = mailbox.messages.downcast_mut::<Vec<M>>().expect("addresses are typed");
        messages.truncate(mailbox.len as usize);
        messages.push(message);
        mailbox.len += 1;
        Content::Message(mailbox.len - 1)
    }

    /// Stores the content of a reply, which is then passed to [`post`](Mail::post).
    pub(crate) fn keep_reply(&mut self, call: Name, value: Rc<dyn Value>) -> Content {
        self.replies.push(value);
        Content::Reply(self.replies.len() as u32 - 1, call)
    }

    /// Sends a message whose content was stored just before.
    #[inline(always)]
    pub(crate) fn post(&mut self, sent: Sent) {
        self.pending.insert(self.sent.len() as u32);
        let mailbox = &mut self.mailboxes[sent.to as usize];
        mailbox.line.push(&mut self.links);
        mailbox.pending += 1;
        self.sent.push(sent);
        self.mark_dirty(sent.to);
    }

    /// Removes a message from the pending ones and records its delivery in `step`. Returns `true` if every message
    /// pending for its receiver was open.
    #[inline]
    pub(crate) fn deliver(&mut self, what: u32, step: u32) -> bool {
        let sent = &mut self.sent[what as usize];
        assert_eq!(sent.delivered, PENDING, "only pending messages are delivered");
        sent.delivered = step;
        let to = sent.to;
        self.pending.remove(what);
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
        all_open
    }

    // ---- undoing steps ---------------------------------------------------------------------------

    /// Makes a delivered message pending again. `all_open` is the value that [`deliver`](Mail::deliver) returned.
    #[inline]
    pub(crate) fn undeliver(&mut self, what: u32, all_open: bool) {
        let sent = &mut self.sent[what as usize];
        sent.delivered = PENDING;
        let to = sent.to;
        self.pending.insert(what);
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

    /// Removes all messages from number `mark` on.
    #[inline]
    pub(crate) fn unsend(&mut self, mark: u32) {
        while self.sent.len() > mark as usize {
            let sent = self.sent.pop().expect("the loop checked");
            let mailbox = &mut self.mailboxes[sent.to as usize];
            self.pending.remove(self.sent.len() as u32);
            mailbox.line.pop(&mut self.links);
            match sent.content {
                // The value stays in the mailbox until its slot is reused.
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

    /// Removes the newest mailbox, which is empty.
    pub(crate) fn remove_mailbox(&mut self) {
        self.mailboxes.pop();
        self.set_busy(self.mailboxes.len() as u32, false);
    }

    /// Marks everything that has happened so far as part of the setup, which is not explored.
    pub(crate) fn settle(&mut self) {
        for sent in &mut self.sent {
            sent.by = SET_UP;
            if !sent.is_pending() {
                sent.delivered = LONG_AGO;
            }
        }
    }

    // ---- open messages ---------------------------------------------------------------------------

    /// Returns all pending messages, in the order they were sent.
    pub(crate) fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending.iter()
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.pending.iter().next().is_none()
    }

    /// Returns the messages pending for one actor, in the order they were sent.
    pub(crate) fn pending_of(&self, actor: u32) -> SmallVec<[u32; 16]> {
        self.mailboxes[actor as usize].line.iter(&self.links).collect()
    }

    /// Returns the open messages, in the order they were sent. No mailbox may be dirty.
    pub(crate) fn open(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending().filter(|&what| {
            let sent = &self.sent[what as usize];
            sent.open || self.mailboxes[sent.to as usize].all_open
        })
    }

    /// Returns the open messages of one actor, in the order they were sent. No mailbox may be dirty.
    #[inline]
    pub(crate) fn open_of(&self, actor: u32) -> impl Iterator<Item = u32> + '_ {
        let mailbox = &self.mailboxes[actor as usize];
        mailbox.line.iter(&self.links).filter(|&what| mailbox.all_open || self.sent[what as usize].open)
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

    // ---- computing the open messages ---------------------------------------------------------------

    #[inline]
    fn mark_dirty(&mut self, actor: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        if !mailbox.dirty {
            mailbox.dirty = true;
            self.dirty.push(actor);
        }
    }

    #[inline]
    fn set_busy(&mut self, actor: u32, busy: bool) {
        if busy { self.busy.insert(actor) } else { self.busy.remove(actor) }
    }

    /// Returns the next actor whose open messages have to be computed again.
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
                // The mailbox became clean when a step was undone, or its actor no longer exists.
                _ => {}
            }
            self.dirty.pop();
        }
    }

    /// Sets, for each message pending for an actor in order, whether it is open.
    pub(crate) fn reopen(&mut self, actor: u32, can_be: impl IntoIterator<Item = bool>) {
        let line = self.mailboxes[actor as usize].line;
        let mut open = 0;
        for (what, can_be) in line.iter(&self.links).zip(can_be) {
            self.sent[what as usize].open = can_be;
            open += u32::from(can_be);
        }
        self.opened(actor, open);
    }

    /// Like [`reopen`](Mail::reopen), but by content: `can_be` receives the content and the mailbox of the actor, whose
    /// messages have type `M`.
    #[inline]
    pub(crate) fn reopen_by_content<M: 'static>(&mut self, actor: u32, can_be: impl Fn(Content, &[M]) -> bool) {
        let mailbox = &self.mailboxes[actor as usize];
        let messages = mailbox.messages::<M>();
        let mut open = 0;
        for what in mailbox.line.iter(&self.links) {
            let sent = &mut self.sent[what as usize];
            sent.open = can_be(sent.content, messages);
            open += u32::from(sent.open);
        }
        self.opened(actor, open);
    }

    /// Records that `open` of the messages pending for an actor are open.
    #[inline]
    fn opened(&mut self, actor: u32, open: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        mailbox.all_open = open == mailbox.pending;
        self.set_busy(actor, open > 0);
    }

    /// Marks the mailbox of the newest dirty actor as clean.
    #[inline]
    pub(crate) fn clean(&mut self, actor: u32) {
        let newest = self.dirty.pop();
        debug_assert_eq!(newest, Some(actor), "our bug: somebody else is dirty");
        self.mailboxes[actor as usize].dirty = false;
    }
}
