//! The mail: everything that was sent, what of it is pending, and what can be delivered now.
//!
//! Messages are numbered in order of sending. Going back is cutting off what was sent last and putting back what was
//! delivered last, so that a line of pending messages ([`Line`]) is as it was without a search.
//!
//! Whether a pending message can be delivered is up to its receiver. The answer is kept with the message, and asked for
//! again only where something has happened to the receiver since: it is *dirty* until then. An actor to which something
//! can be delivered is *busy*.

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

/// Not delivered.
pub(crate) const PENDING: u32 = u32::MAX;
/// Delivered before the explored part.
pub(crate) const LONG_AGO: u32 = u32::MAX - 1;

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
struct Mailbox {
    messages: Box<dyn Any>,
    len: u32,
    /// What is pending, in order, and how much that is.
    line: Line,
    pending: u32,
    /// All that is pending can be delivered now, whatever the messages themselves say.
    all_open: bool,
    /// What can be delivered to the actor has to be found out again.
    dirty: bool,
}

impl Mailbox {
    fn messages<M: 'static>(&self) -> &[M] {
        self.messages.downcast_ref::<Vec<M>>().expect("a cell knows its messages")
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Mail {
    sent: Vec<Sent>,
    replies: Vec<Rc<dyn Value>>,
    /// By actor.
    mailboxes: Vec<Mailbox>,
    /// The links of the lines of mailboxes.
    links: Vec<Link>,
    /// All that is pending, as bits over messages.
    pending: Bits,
    /// The busy actors, as bits; true when nobody is dirty.
    busy: Bits,
    /// The dirty actors, and some that were put right since.
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
    /// All that was sent, in order.
    #[inline]
    pub(crate) fn all(&self) -> &[Sent] {
        &self.sent
    }

    /// How much was sent.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.sent.len() as u32
    }

    /// A message to an actor, by its place.
    #[inline]
    pub(crate) fn message<M: 'static>(&self, actor: u32, place: u32) -> &M {
        &self.mailboxes[actor as usize].messages::<M>()[place as usize]
    }

    /// A reply, by its place.
    pub(crate) fn reply(&self, place: u32) -> &Rc<dyn Value> {
        &self.replies[place as usize]
    }

    // ---- sending and delivering --------------------------------------------------------------------

    /// Makes a mailbox for the next actor.
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

    /// Keeps a message to an actor, to be posted.
    #[inline]
    pub(crate) fn keep_message<M: 'static>(&mut self, to: u32, message: M) -> Content {
        let mailbox = &mut self.mailboxes[to as usize];
        let messages = mailbox.messages.downcast_mut::<Vec<M>>().expect("addresses are typed");
        messages.truncate(mailbox.len as usize);
        messages.push(message);
        mailbox.len += 1;
        Content::Message(mailbox.len - 1)
    }

    /// Keeps the answer to a call, to be posted.
    pub(crate) fn keep_reply(&mut self, call: Name, value: Rc<dyn Value>) -> Content {
        self.replies.push(value);
        Content::Reply(self.replies.len() as u32 - 1, call)
    }

    /// Sends something whose content was kept just now.
    #[inline(always)]
    pub(crate) fn post(&mut self, sent: Sent) {
        self.pending.insert(self.sent.len() as u32);
        let mailbox = &mut self.mailboxes[sent.to as usize];
        mailbox.line.push(&mut self.links);
        mailbox.pending += 1;
        self.sent.push(sent);
        self.mark_dirty(sent.to);
    }

    /// Takes a message from the pending ones. The answer is whether all that was pending could have been delivered.
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

    // ---- going back ------------------------------------------------------------------------------

    /// Puts a message back among the pending ones, of which all could be delivered or not.
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

    /// Forgets everything sent from number `mark` on.
    #[inline]
    pub(crate) fn unsend(&mut self, mark: u32) {
        while self.sent.len() > mark as usize {
            let sent = self.sent.pop().expect("the loop checked");
            let mailbox = &mut self.mailboxes[sent.to as usize];
            self.pending.remove(self.sent.len() as u32);
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

    /// Takes back the newest mailbox, which is empty.
    pub(crate) fn remove_mailbox(&mut self) {
        self.mailboxes.pop();
        self.set_busy(self.mailboxes.len() as u32, false);
    }

    /// What has happened so far was before the explored part.
    pub(crate) fn settle(&mut self) {
        for sent in &mut self.sent {
            sent.by = SET_UP;
            if !sent.is_pending() {
                sent.delivered = LONG_AGO;
            }
        }
    }

    // ---- what can be delivered -------------------------------------------------------------------

    /// All that is pending, in order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending.iter()
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.pending.iter().next().is_none()
    }

    /// What is pending for one actor, in order.
    pub(crate) fn pending_of(&self, actor: u32) -> SmallVec<[u32; 16]> {
        self.mailboxes[actor as usize].line.iter(&self.links).collect()
    }

    /// What can be delivered now, in order; nobody is dirty.
    pub(crate) fn open(&self) -> impl Iterator<Item = u32> + '_ {
        self.pending().filter(|&what| {
            let sent = &self.sent[what as usize];
            sent.open || self.mailboxes[sent.to as usize].all_open
        })
    }

    /// What can be delivered to one actor now, in order; nobody is dirty.
    #[inline]
    pub(crate) fn open_of(&self, actor: u32) -> impl Iterator<Item = u32> + '_ {
        let mailbox = &self.mailboxes[actor as usize];
        mailbox.line.iter(&self.links).filter(|&what| mailbox.all_open || self.sent[what as usize].open)
    }

    /// The busy actor of the lowest rank, and of those the first; nobody is dirty.
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

    // ---- finding out what can be delivered ---------------------------------------------------------

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

    /// Says of all that is pending for an actor, in order, whether it can be delivered.
    pub(crate) fn reopen(&mut self, actor: u32, can_be: impl IntoIterator<Item = bool>) {
        let line = self.mailboxes[actor as usize].line;
        let mut open = 0;
        for (what, can_be) in line.iter(&self.links).zip(can_be) {
            self.sent[what as usize].open = can_be;
            open += u32::from(can_be);
        }
        self.opened(actor, open);
    }

    /// The same by the content: `can_be` is given that and the messages to the actor, of type `M`, by place.
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

    /// So many messages to an actor can be delivered.
    #[inline]
    fn opened(&mut self, actor: u32, open: u32) {
        let mailbox = &mut self.mailboxes[actor as usize];
        mailbox.all_open = open == mailbox.pending;
        self.set_busy(actor, open > 0);
    }

    /// It has been found out for an actor, the newest dirty one.
    #[inline]
    pub(crate) fn clean(&mut self, actor: u32) {
        let newest = self.dirty.pop();
        debug_assert_eq!(newest, Some(actor), "our bug: somebody else is dirty");
        self.mailboxes[actor as usize].dirty = false;
    }
}
