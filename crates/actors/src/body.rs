//! The cell of an actor written as one `async` body that receives explicitly.
//!
//! A suspended body cannot be cloned. While the execution only moves forward, the future of the body is kept alive and
//! polled with each new message. After steps have been undone, the body is rebuilt: it is run again from its beginning
//! on the messages that it had received, with the engine muted. The effects of a step are also memoized by the actor's
//! history ([`MemoTable`]), so that most steps need neither.

use crate::Message;
use crate::cell::{ActorCell, ActorStatus, Polled, StepError, drop_muted, ends_wait, poll};
use crate::current_step::WaitKind;
use crate::cx::ActorContext;
use crate::describe;
use crate::engine::Engine;
use crate::inbox::{Filter, Inbox};
use crate::memo::MemoTable;
use crate::messages::MessageContent;
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
    status: ActorStatus,
    saved: Vec<ActorStatus>,
    received: Vec<(u32, Branch)>,
    /// For each entry of `received`, `true` if its step created actors.
    created: Vec<bool>,
    /// The values that `choose` returned before the first receive.
    first_choices: Vec<u32>,
    live: Option<Pin<Box<dyn Future<Output = ()>>>>,
    /// The number of messages that the live body has received.
    live_received: usize,
    memo: MemoTable<()>,
    context: ActorContext,
    runs: u64,
    of: PhantomData<fn(M)>,
}

impl<M: Message, F: AsyncFn(&mut Inbox<M>) + Send + 'static> BodyCell<M, F> {
    pub(crate) fn new(body: Rc<F>, context: ActorContext) -> BodyCell<M, F> {
        BodyCell {
            body,
            status: ActorStatus::Rest,
            saved: Vec::new(),
            received: Vec::new(),
            created: Vec::new(),
            first_choices: Vec::new(),
            live: None,
            live_received: 0,
            memo: MemoTable::default(),
            context,
            runs: 0,
            of: PhantomData,
        }
    }

    fn code(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        let (body, context) = (self.body.clone(), self.context.clone());
        Box::pin(async move {
            let mut inbox = Inbox::new(context);
            body(&mut inbox).await;
        })
    }

    fn beginning(&self) -> Name {
        self.context.me.name.mixed(BEGINNING)
    }

    fn poll(&mut self) -> Result<(), StepError> {
        self.runs += 1;
        let live = self.live.as_mut().expect("the suspended code was kept");
        match poll(&self.context.engine, live.as_mut()) {
            Ok(Polled::Ended((), _)) => {
                self.live = None;
                self.status = ActorStatus::Stopped;
                Ok(())
            }
            Ok(Polled::Waits) => {
                self.live_received = self.received.len();
                let wait = self.context.engine.borrow_mut().current.wait.take();
                self.status = ActorStatus::Waiting(Box::new(wait.expect("poll checked that it waits for something")));
                Ok(())
            }
            Err(error) => {
                self.status = ActorStatus::Failed;
                drop_muted(&self.context.engine, self.live.take());
                Err(error)
            }
        }
    }

    fn receive(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        self.saved.push(self.status.clone());
        let live = self.live.is_some() && self.live_received == self.received.len();
        self.received.push((what, branch));
        if let Some(known) = self.memo.recall(&self.context.engine) {
            self.status = known.status.clone();
            return Ok(());
        }
        let result = if live {
            self.context.engine.borrow_mut().current.feed.push_back((what, branch));
            self.poll()
        } else {
            self.rebuild()
        };
        match &result {
            Ok(()) => self.memo.insert(&self.context.engine, &self.status, || ()),
            Err(_) => MemoTable::<()>::discard(&self.context.engine),
        }
        result
    }

    /// Runs the body again from its beginning. Only the last message received is new to it.
    fn rebuild(&mut self) -> Result<(), StepError> {
        drop_muted(&self.context.engine, self.live.take());
        self.live = Some(self.code());
        {
            let mut engine = self.context.engine.borrow_mut();
            engine.current.begin(self.beginning(), Branch::FIRST);
            engine.current.set_muted(true);
            engine.current.forced.extend(&self.first_choices);
            engine.current.feed.extend(&self.received);
            engine.shared.run_again(self.context.me.slot, None);
        }
        let result = self.poll();
        let mut engine = self.context.engine.borrow_mut();
        engine.current.forced.clear();
        if engine.current.set_muted(false) || !engine.current.feed.is_empty() {
            engine.current.feed.clear();
            return Err(StepError::Error(MachineError::Nondeterministic(format!(
                "the body of {} ended or waited earlier when it was run again with the same messages",
                engine.actors[self.context.me.slot as usize].kind
            ))));
        }
        result
    }
}

impl<M: Message, F: AsyncFn(&mut Inbox<M>) + Send + 'static> ActorCell for BodyCell<M, F> {
    fn begin(&mut self) -> Result<(), StepError> {
        let chosen = {
            let mut engine = self.context.engine.borrow_mut();
            engine.current.actor = self.context.me.slot;
            engine.current.history = engine.actors[self.context.me.slot as usize].history;
            engine.current.handled = self.beginning();
            engine.current.effects = 0;
            engine.current.wait = None;
            engine.current.arities.len()
        };
        self.live = Some(self.code());
        let result = self.poll();
        let engine = self.context.engine.borrow();
        self.first_choices = (chosen..engine.current.arities.len()).map(|k| engine.current.branch.digit(k)).collect();
        result
    }

    fn deliver(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        let actors = self.context.engine.borrow().actors.len();
        let result = self.receive(what, branch);
        self.created.push(self.context.engine.borrow().actors.len() > actors);
        result
    }

    fn undo(&mut self) {
        self.status = self.saved.pop().expect("there is a step to undo");
        self.received.pop();
        self.created.pop();
        if self.live.is_some() && self.live_received > self.received.len() {
            drop_muted(&self.context.engine, self.live.take());
        }
    }

    fn commit(&mut self) {
        self.saved.clear();
    }

    fn position(&self) -> usize {
        self.saved.len()
    }

    fn status(&self, position: usize) -> &ActorStatus {
        self.saved.get(position).unwrap_or(&self.status)
    }

    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool {
        let ActorStatus::Waiting(wait) = self.status(position) else { return false };
        let content = engine.messages[what].content;
        ends_wait(wait, content)
            && match (&wait.kind, content) {
                (WaitKind::Message(Some(filter)), MessageContent::Message(place)) => {
                    let filter = filter.downcast_ref::<Filter<M>>().expect("a body filters its own messages");
                    filter(engine.messages.message::<M>(self.context.me.slot, place))
                }
                _ => true,
            }
    }

    #[inline]
    fn accepts_all(&self) -> bool {
        matches!(&self.status, ActorStatus::Waiting(wait) if matches!(wait.kind, WaitKind::Message(None)))
    }

    fn hash(&self, engine: &Engine) -> Option<u64> {
        // The state of a suspended body consists of the messages it has received and the addresses of the actors it
        // created. Those addresses derive from the name of the message that was handled, not from its content.
        let mut hasher = FxHasher::default();
        for (&(what, branch), &created) in self.received.iter().zip(&self.created) {
            hasher.write_u64(self.hash_message(engine, what)?);
            hasher.write_u64(branch.0);
            hasher.write_u64(if created { engine.messages[what].name.0 } else { 0 });
        }
        Some(hasher.finish())
    }

    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64> {
        let mut hasher = FxHasher::default();
        hasher.write(describe::content::<M>(engine, what).as_bytes());
        Some(hasher.finish())
    }

    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        describe::variant_of::<M>(engine, what)
    }

    fn view(&self, _position: usize) -> Option<&dyn Any> {
        None
    }

    fn show(&self, _position: usize) -> Option<String> {
        None
    }

    fn show_message(&self, engine: &Engine, what: u32) -> String {
        describe::content::<M>(engine, what)
    }

    fn is_body(&self) -> bool {
        true
    }

    fn runs(&self) -> u64 {
        self.runs
    }
}
