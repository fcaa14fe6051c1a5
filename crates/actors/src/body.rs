//! The cell of an actor written as one `async` body that receives explicitly.
//!
//! A suspended body cannot be cloned. While the execution only moves forward, the future of the body is kept alive and
//! polled with each new message. After steps have been undone, the body is rebuilt: it is run again from its beginning
//! on the messages that it had received, with the engine muted. The effects of a step are also memoized by the actor's
//! history ([`Memory`]), so that most steps need neither.

use crate::Message;
use crate::cell::{Cell, Polled, Status, Trouble, awaited, drop_muted, poll};
use crate::cx::Hands;
use crate::engine::Engine;
use crate::inbox::{Filter, Inbox};
use crate::mail::Content;
use crate::now::On;
use crate::remember::Memory;
use crate::words;
use rustc_hash::FxHasher;
use std::any::Any;
use std::future::Future;
use std::hash::Hasher;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use whippet_model::{Branch, MachineError, Name};

/// Salt that distinguishes the name under which a body acts before its first receive from the actor's own name.
const BEGINNING: u64 = 0xB0D7;

/// The cell of an actor with an `async` body; see the module documentation.
pub(crate) struct BodyCell<M, F> {
    body: Rc<F>,
    status: Status,
    saved: Vec<Status>,
    received: Vec<(u32, Branch)>,
    /// For each entry of `received`, `true` if its step created actors.
    created: Vec<bool>,
    /// The values that `choose` returned before the first receive.
    first_choices: Vec<u32>,
    live: Option<Pin<Box<dyn Future<Output = ()>>>>,
    /// The number of messages that the live body has received.
    live_received: usize,
    memory: Memory<()>,
    hands: Hands,
    runs: u64,
    of: PhantomData<fn(M)>,
}

impl<M: Message, F: AsyncFn(&mut Inbox<M>) + Send + 'static> BodyCell<M, F> {
    pub(crate) fn new(body: Rc<F>, hands: Hands) -> BodyCell<M, F> {
        BodyCell {
            body,
            status: Status::Rest,
            saved: Vec::new(),
            received: Vec::new(),
            created: Vec::new(),
            first_choices: Vec::new(),
            live: None,
            live_received: 0,
            memory: Memory::default(),
            hands,
            runs: 0,
            of: PhantomData,
        }
    }

    fn code(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        let (body, hands) = (self.body.clone(), self.hands.clone());
        Box::pin(async move {
            let mut inbox = Inbox::new(hands);
            body(&mut inbox).await;
        })
    }

    fn beginning(&self) -> Name {
        self.hands.me.name.mixed(BEGINNING)
    }

    fn poll(&mut self) -> Result<(), Trouble> {
        self.runs += 1;
        let live = self.live.as_mut().expect("there is one to poll");
        match poll(&self.hands.engine, live.as_mut()) {
            Ok(Polled::Ended((), _)) => {
                self.live = None;
                self.status = Status::Stopped;
                Ok(())
            }
            Ok(Polled::Waits) => {
                self.live_received = self.received.len();
                let wait = self.hands.engine.borrow_mut().now.wait.take();
                self.status = Status::Waiting(Box::new(wait.expect("poll checked that it waits for something")));
                Ok(())
            }
            Err(trouble) => {
                self.status = Status::Failed;
                drop_muted(&self.hands.engine, self.live.take());
                Err(trouble)
            }
        }
    }

    fn receive(&mut self, what: u32, branch: Branch) -> Result<(), Trouble> {
        self.saved.push(self.status.clone());
        let live = self.live.is_some() && self.live_received == self.received.len();
        self.received.push((what, branch));
        if let Some(known) = self.memory.recall(&self.hands.engine) {
            self.status = known.status.clone();
            return Ok(());
        }
        let result = if live {
            self.hands.engine.borrow_mut().now.feed.push_back((what, branch));
            self.poll()
        } else {
            self.rebuild()
        };
        match &result {
            Ok(()) => self.memory.keep(&self.hands.engine, &self.status, || ()),
            Err(_) => Memory::<()>::discard(&self.hands.engine),
        }
        result
    }

    /// Runs the body again from its beginning. Only the last message received is new to it.
    fn rebuild(&mut self) -> Result<(), Trouble> {
        drop_muted(&self.hands.engine, self.live.take());
        self.live = Some(self.code());
        {
            let mut engine = self.hands.engine.borrow_mut();
            engine.now.begin(self.beginning(), Branch::FIRST);
            engine.now.muted = true;
            engine.now.forced.extend(&self.first_choices);
            engine.now.feed.extend(&self.received);
            engine.shared.run_again(self.hands.me.slot, None);
        }
        let result = self.poll();
        let mut engine = self.hands.engine.borrow_mut();
        engine.now.forced.clear();
        if std::mem::take(&mut engine.now.muted) || !engine.now.feed.is_empty() {
            engine.now.feed.clear();
            return Err(Trouble::Error(MachineError::Nondeterministic(format!(
                "the body of {} ended or waited earlier than the last time",
                engine.about[self.hands.me.slot as usize].kind
            ))));
        }
        result
    }
}

impl<M: Message, F: AsyncFn(&mut Inbox<M>) + Send + 'static> Cell for BodyCell<M, F> {
    fn begin(&mut self) -> Result<(), Trouble> {
        let chosen = {
            let mut engine = self.hands.engine.borrow_mut();
            engine.now.actor = self.hands.me.slot;
            engine.now.history = engine.about[self.hands.me.slot as usize].history;
            engine.now.handled = self.beginning();
            engine.now.effects = 0;
            engine.now.wait = None;
            engine.now.arities.len()
        };
        self.live = Some(self.code());
        let result = self.poll();
        let engine = self.hands.engine.borrow();
        self.first_choices = (chosen..engine.now.arities.len()).map(|k| engine.now.branch.digit(k)).collect();
        result
    }

    fn deliver(&mut self, what: u32, branch: Branch) -> Result<(), Trouble> {
        let actors = self.hands.engine.borrow().about.len();
        let result = self.receive(what, branch);
        self.created.push(self.hands.engine.borrow().about.len() > actors);
        result
    }

    fn undo(&mut self) {
        self.status = self.saved.pop().expect("there is a step to take back");
        self.received.pop();
        self.created.pop();
        if self.live.is_some() && self.live_received > self.received.len() {
            drop_muted(&self.hands.engine, self.live.take());
        }
    }

    fn settle(&mut self) {
        self.saved.clear();
    }

    fn position(&self) -> usize {
        self.saved.len()
    }

    fn status(&self, position: usize) -> &Status {
        self.saved.get(position).unwrap_or(&self.status)
    }

    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool {
        let Status::Waiting(wait) = self.status(position) else { return false };
        let content = engine.mail[what].content;
        awaited(wait, content)
            && match (&wait.on, content) {
                (On::Message(Some(filter)), Content::Message(place)) => {
                    let filter = filter.downcast_ref::<Filter<M>>().expect("a body filters its own messages");
                    filter(engine.mail.message::<M>(self.hands.me.slot, place))
                }
                _ => true,
            }
    }

    fn hash(&self, engine: &Engine) -> Option<u64> {
        // The state of a suspended body consists of the messages it has received and the addresses of the actors it
        // created. Those addresses derive from the name of the message that was handled, not from its content.
        let mut hasher = FxHasher::default();
        for (&(what, branch), &created) in self.received.iter().zip(&self.created) {
            hasher.write_u64(self.hash_message(engine, what)?);
            hasher.write_u64(branch.0);
            hasher.write_u64(if created { engine.mail[what].name.0 } else { 0 });
        }
        Some(hasher.finish())
    }

    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64> {
        let mut hasher = FxHasher::default();
        hasher.write(words::content::<M>(engine, what).as_bytes());
        Some(hasher.finish())
    }

    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        words::variant_of::<M>(engine, what)
    }

    fn view(&self, _position: usize) -> Option<&dyn Any> {
        None
    }

    fn show(&self, _position: usize) -> Option<String> {
        None
    }

    fn show_message(&self, engine: &Engine, what: u32) -> String {
        words::content::<M>(engine, what)
    }

    fn is_body(&self) -> bool {
        true
    }

    fn runs(&self) -> u64 {
        self.runs
    }
}
