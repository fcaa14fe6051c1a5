//! The cell of an actor written as a message handler ([`Actor::handle`]).
//!
//! The state is cloned before each step, and undoing a step puts the clone back: no user code runs. A handler that
//! waits for a reply cannot be cloned. While the execution only moves forward, its future is kept alive. After steps
//! have been undone, the handler is run again from the state in which it began, on its message and the replies it had
//! received, with the engine muted.

use crate::cell::{ActorCell, ActorStatus, Polled, StepError, drop_muted, ends_wait, poll};
use crate::cx::{ActorContext, Cx};
use crate::engine::{Engine, EngineRef};
use crate::fields::{self, TouchedFields};
use crate::memo::MemoTable;
use crate::messages::MessageContent;
use crate::speed::HandlerSpeed;
use crate::{Actor, acceptance, describe};
use rustc_hash::FxHasher;
use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::hash::Hasher;
use std::pin::{Pin, pin};
use std::rc::Rc;
use whippet_model::{Branch, MachineError};

/// The contents of the cell before a step.
struct Saved<A> {
    /// The state before the step, if the step changed it.
    state: Option<A>,
    status: ActorStatus,
    /// The length of `received` before the step, and the index in it at which the waiting handler began.
    received: u32,
    began: u32,
    stopping: bool,
}

/// The future of a waiting handler. It is dropped when one of its steps is undone.
struct LiveHandler<A> {
    code: Pin<Box<dyn Future<Output = A>>>,
    /// The length of the cell's `received` list when the future was last polled.
    received: usize,
}

/// The cell of an actor with a message handler; see the module documentation.
pub(crate) struct HandlerCell<A: Actor + Clone> {
    /// The state after the last handler that completed.
    state: A,
    status: ActorStatus,
    saved: Vec<Saved<A>>,
    /// The messages received by handlers that waited, each with its branch. Those from `began` on belong to the handler
    /// that is waiting now.
    received: Vec<(u32, Branch)>,
    began: usize,
    /// `true` if the waiting handler has asked to stop the actor.
    stopping: bool,
    live: Option<LiveHandler<A>>,
    /// `true` once any handler has waited: later handlers are then started as futures that can be kept.
    waits: bool,
    cx: Cx<A>,
    /// The engine of `cx`, for use while the handler borrows `cx`.
    engine: EngineRef,
    /// The memoized steps, each with the new state if the step changed it, and the value of `stopping`.
    memo: MemoTable<(Option<A>, bool)>,
    speed: Rc<HandlerSpeed>,
    /// The fields that the newest step touched, if the step ran one handler from beginning to end.
    touched: Option<TouchedFields>,
    runs: u64,
    /// `true` once it is known that the type accepts every message in every state.
    unselective: Cell<bool>,
}

impl<A: Actor + Clone> HandlerCell<A> {
    pub(crate) fn new(state: A, context: ActorContext, speed: Rc<HandlerSpeed>) -> HandlerCell<A> {
        HandlerCell {
            state,
            status: ActorStatus::Rest,
            saved: Vec::new(),
            received: Vec::new(),
            began: 0,
            stopping: false,
            live: None,
            waits: false,
            engine: context.engine.clone(),
            cx: Cx::new(context),
            memo: MemoTable::default(),
            speed,
            touched: None,
            runs: 0,
            unselective: Cell::new(false),
        }
    }

    /// Returns `true` if steps are memoized. This is done for actors whose handlers wait or are slow.
    fn memoizes(&self) -> bool {
        (self.waits || self.speed.is_slow()) && !A::FIELDS
    }

    /// Saves the contents of the cell before a step.
    #[inline]
    fn save(&mut self, state: Option<A>) {
        let status = std::mem::replace(&mut self.status, ActorStatus::Rest);
        let (received, began) = (self.received.len() as u32, self.began as u32);
        self.saved.push(Saved { state, status, received, began, stopping: self.stopping });
    }

    /// Executes a step of an actor whose handlers wait, are slow, or have not been timed enough to tell.
    fn deliver_slow_path(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        let resumes = matches!(self.status, ActorStatus::Waiting(_));
        self.touched = None;
        self.save(None);
        self.received.push((what, branch));
        if self.memoizes() && self.recall() {
            return Ok(());
        }
        let result = if resumes { self.resume() } else { self.start_timed(what, branch) };
        match &result {
            Ok(()) if self.memoizes() => {
                let changed = self.saved.last().is_some_and(|saved| saved.state.is_some());
                let state = || changed.then(|| self.state.clone());
                self.memo.insert(&self.engine, &self.status, || (state(), self.stopping));
                result
            }
            Ok(()) => result,
            Err(_) => {
                MemoTable::<()>::discard(&self.engine);
                self.fail(result)
            }
        }
    }

    /// Restores the state before a handler that panicked, and marks the actor as failed.
    #[cold]
    fn fail(&mut self, result: Result<(), StepError>) -> Result<(), StepError> {
        if let Some(state) = self.saved.last_mut().and_then(|saved| saved.state.take()) {
            self.state = state;
        }
        self.status = ActorStatus::Failed;
        result
    }

    /// Repeats the effects of the step from memory. Returns `false` if the step is not memoized.
    fn recall(&mut self) -> bool {
        let Some(known) = self.memo.recall(&self.engine) else { return false };
        let saved = self.saved.last_mut().expect("the step saved");
        self.status = known.status.clone();
        self.stopping = known.state.1;
        if let Some(state) = &known.state.0 {
            saved.state = Some(std::mem::replace(&mut self.state, state.clone()));
        }
        if !matches!(self.status, ActorStatus::Waiting(_)) {
            self.began = self.received.len();
        }
        true
    }

    /// Starts a handler, and times it unless its speed is already known.
    fn start_timed(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        self.saved.last_mut().expect("the step saved").state = Some(self.state.clone());
        let speed = self.speed.clone();
        speed.time(|| if A::FIELDS { self.start_tracking(what, branch) } else { self.start(what, branch) })
    }

    /// Starts a handler and records the fields that it touches, including those that `accepts` read for its message.
    fn start_tracking(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        fields::start_tracking(&self.state);
        // The message was accepted before; `accepts` is called again only to record the fields it reads.
        let _ = crate::panics::catch(|| self.accepts_now(&self.engine.borrow(), what));
        let result = self.start(what, branch);
        let touched = fields::stop_tracking();
        let whole = result.is_err() || !matches!(self.status, ActorStatus::Rest);
        self.touched = (!whole).then_some(touched);
        result
    }

    /// Starts a handler and runs it to its end, or until it waits for the first time.
    #[inline]
    fn start(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        let message = {
            let engine = self.engine.borrow();
            let MessageContent::Message(place) = engine.messages[what].content else {
                unreachable!("an idle actor receives no reply")
            };
            engine.messages.message::<A::Msg>(self.cx.context.me.slot, place).clone()
        };
        self.runs += 1;
        if self.waits && !A::FIELDS {
            return self.run_live(message);
        }
        let ended = {
            let mut code = pin!(self.state.handle(message, &mut self.cx));
            let ended = poll(&self.engine, code.as_mut());
            if matches!(ended, Ok(Polled::Waits)) {
                // The future is dropped here; the handler will be run again when the reply arrives.
                self.engine.borrow_mut().current.set_muted(true);
            }
            ended
        };
        match ended? {
            Polled::Ended((), stop) => self.rest(stop),
            Polled::Waits => {
                self.engine.borrow_mut().current.set_muted(false);
                self.waits = true;
                if self.received.len() == self.began {
                    self.received.push((what, branch));
                }
                self.state = self.saved.last_mut().and_then(|s| s.state.take()).expect("the step saved it");
                self.suspend();
            }
        }
        Ok(())
    }

    /// Like [`start`](Self::start), but moves a copy of the state into the future, so that the future can be kept while
    /// the handler waits.
    fn run_live(&mut self, message: A::Msg) -> Result<(), StepError> {
        let mut state = self.saved.last_mut().and_then(|s| s.state.take()).expect("the step saved it");
        let mut cx = Cx::new(self.cx.context.clone());
        let code = Box::pin(async move {
            state.handle(message, &mut cx).await;
            state
        });
        // A previous future may still be here if the end of its handler was recalled from memory. The recalled step
        // already sent what its guards send when dropped.
        drop_muted(&self.engine, self.live.replace(LiveHandler { code, received: self.received.len() }));
        self.poll_live()
    }

    fn poll_live(&mut self) -> Result<(), StepError> {
        let live = self.live.as_mut().expect("the suspended code was kept");
        match poll(&self.engine, live.code.as_mut()) {
            Ok(Polled::Ended(state, stop)) => {
                self.live = None;
                let before = std::mem::replace(&mut self.state, state);
                self.saved.last_mut().expect("the step saved").state = Some(before);
                self.rest(stop);
                Ok(())
            }
            Ok(Polled::Waits) => {
                live.received = self.received.len();
                self.suspend();
                Ok(())
            }
            Err(error) => {
                // After a panic the future must not be polled again.
                let dead = self.live.take();
                drop_muted(&self.engine, dead);
                Err(error)
            }
        }
    }

    /// Continues a waiting handler. Only the last entry of `received` is new to it.
    fn resume(&mut self) -> Result<(), StepError> {
        self.runs += 1;
        let newest = *self.received.last().expect("a reply was received");
        if self.live.as_ref().is_some_and(|live| live.received + 1 == self.received.len()) {
            self.engine.borrow_mut().current.feed.push_back(newest);
            return self.poll_live();
        }
        drop_muted(&self.engine, self.live.take());
        let (what, branch) = self.received[self.began];
        let message = {
            let mut engine = self.engine.borrow_mut();
            let sent = engine.messages[what];
            engine.current.begin(sent.name, branch);
            engine.current.set_muted(true);
            engine.current.feed.extend(&self.received[self.began + 1..]);
            engine.shared.run_again(sent.to, Some(sent.delivered));
            let MessageContent::Message(place) = sent.content else { unreachable!("handlers begin with a message") };
            engine.messages.message::<A::Msg>(sent.to, place).clone()
        };
        let mut state = self.state.clone();
        let mut cx = Cx::new(self.cx.context.clone());
        let code = Box::pin(async move {
            state.handle(message, &mut cx).await;
            state
        });
        self.live = Some(LiveHandler { code, received: self.received.len() });
        let result = self.poll_live();
        let mut engine = self.engine.borrow_mut();
        if engine.current.set_muted(false) || !engine.current.feed.is_empty() {
            engine.current.feed.clear();
            return Err(StepError::Error(MachineError::Nondeterministic(format!(
                "a handler of {} ended or waited earlier when it was run again with the same messages",
                engine.actors[self.cx.context.me.slot as usize].kind
            ))));
        }
        result
    }

    fn rest(&mut self, stop: bool) {
        self.began = self.received.len();
        let stopped = std::mem::take(&mut self.stopping) || stop;
        self.status = if stopped { ActorStatus::Stopped } else { ActorStatus::Rest };
    }

    fn suspend(&mut self) {
        let mut engine = self.engine.borrow_mut();
        self.stopping |= engine.current.stop;
        let wait = engine.current.wait.take().expect("poll checked that it waits for something");
        self.status = ActorStatus::Waiting(Box::new(wait));
    }

    /// Returns the state at a position, which was saved by the next step that changed it.
    fn state_at(&self, position: usize) -> &A {
        self.saved.iter().skip(position).find_map(|saved| saved.state.as_ref()).unwrap_or(&self.state)
    }
}

impl<A: Actor + Clone> ActorCell for HandlerCell<A> {
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    #[inline]
    fn deliver(&mut self, what: u32, branch: Branch) -> Result<(), StepError> {
        if !self.waits && !A::FIELDS && self.speed.is_fast() {
            // A fast handler that never waits: `received` is not needed.
            self.save(Some(self.state.clone()));
            let result = self.start(what, branch);
            return if result.is_ok() { result } else { self.fail(result) };
        }
        self.deliver_slow_path(what, branch)
    }

    fn crash(&mut self) -> Result<(), StepError> {
        self.touched = None;
        let before = self.status.clone();
        self.save(Some(self.state.clone()));
        if before.is_end() {
            // Nothing is left to crash. It is enabled all the same, so that only the budget can rule a crash out: a search looks
            // for one step that did so, not for several that did so together.
            self.status = before;
            return Ok(());
        }
        drop_muted(&self.engine, self.live.take());
        (self.began, self.stopping) = (self.received.len(), false);
        self.runs += 1;
        let restarted = {
            let code = pin!(async { self.state.after_crash(&mut self.cx) });
            poll(&self.engine, code)
        };
        match restarted {
            Ok(Polled::Ended(Some(state), stop)) => {
                self.state = state;
                self.rest(stop);
                Ok(())
            }
            Ok(Polled::Ended(None, _)) => {
                self.status = ActorStatus::Stopped;
                Ok(())
            }
            Ok(Polled::Waits) => unreachable!("`after_crash` cannot wait"),
            Err(error) => self.fail(Err(error)),
        }
    }

    fn undo(&mut self) {
        let saved = self.saved.pop().expect("there is a step to undo");
        if let Some(state) = saved.state {
            self.state = state;
        }
        self.status = saved.status;
        self.received.truncate(saved.received as usize);
        self.began = saved.began as usize;
        self.stopping = saved.stopping;
        if self.live.as_ref().is_some_and(|live| live.received > saved.received as usize) {
            drop_muted(&self.engine, self.live.take());
        }
    }

    fn commit(&mut self) {
        self.saved.clear();
    }

    fn position(&self) -> usize {
        self.saved.len()
    }

    fn status(&self, position: usize) -> &ActorStatus {
        self.saved.get(position).map_or(&self.status, |saved| &saved.status)
    }

    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool {
        let content = engine.messages[what].content;
        match (self.status(position), content) {
            (ActorStatus::Rest, MessageContent::Message(_)) if self.unselective.get() => true,
            (ActorStatus::Rest, MessageContent::Message(place)) => {
                self.state_at(position).accepts(engine.messages.message::<A::Msg>(self.cx.context.me.slot, place))
            }
            (_, MessageContent::Crash) => true,
            (ActorStatus::Waiting(wait), content) => ends_wait(wait, content),
            _ => false,
        }
    }

    fn accepts_now(&self, engine: &Engine, what: u32) -> bool {
        if A::FIELDS && !fields::is_tracking() {
            fields::start_tracking(&self.state);
            let accepts = self.accepts_now(engine, what);
            // Two steps that write two different fields would commute although they jointly decide whether this message
            // is accepted.
            let several = fields::stop_tracking().len() > 1;
            assert!(!several, "`accepts` of an actor with tracked fields may read only one of them");
            return accepts;
        }
        match (&self.status, engine.messages[what].content) {
            (ActorStatus::Rest, MessageContent::Message(place)) => {
                self.state.accepts(engine.messages.message::<A::Msg>(self.cx.context.me.slot, place))
            }
            (_, MessageContent::Crash) => true,
            (ActorStatus::Waiting(wait), content) => ends_wait(wait, content),
            _ => false,
        }
    }

    #[inline]
    fn accepts_all(&self) -> bool {
        self.unselective.get() && matches!(self.status, ActorStatus::Rest)
    }

    fn update_enabled(&self, slot: u32, engine: &mut Engine) {
        if A::FIELDS {
            return self.update_enabled_one_by_one(slot, engine);
        }
        engine.messages.update_enabled_by_content::<A::Msg>(slot, |content, messages| match (&self.status, content) {
            (ActorStatus::Rest, MessageContent::Message(_)) if self.unselective.get() => true,
            (ActorStatus::Rest, MessageContent::Message(place)) => {
                let (accepts, unselective) = acceptance::ask(&self.state, &messages[place as usize]);
                self.unselective.set(unselective);
                accepts
            }
            (_, MessageContent::Crash) => true,
            (ActorStatus::Waiting(wait), content) => ends_wait(wait, content),
            _ => false,
        });
    }

    fn hash(&self, engine: &Engine) -> Option<u64> {
        let functions = A::HASHES.functions?;
        let mut hasher = FxHasher::default();
        (functions.state)(&self.state, &mut hasher);
        match &self.status {
            ActorStatus::Rest => hasher.write_u8(0),
            ActorStatus::Stopped => hasher.write_u8(1),
            ActorStatus::Failed => hasher.write_u8(2),
            ActorStatus::Waiting(_) => {
                // The state of a waiting handler consists of the state in which it began and everything it has
                // received.
                for &(what, branch) in &self.received[self.began..] {
                    hasher.write_u64(self.hash_message(engine, what)?);
                    hasher.write_u64(branch.0);
                }
            }
        }
        Some(hasher.finish())
    }

    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64> {
        let functions = A::HASHES.functions?;
        let mut hasher = FxHasher::default();
        match engine.messages[what].content {
            MessageContent::Message(place) => {
                (functions.message)(engine.messages.message::<A::Msg>(self.cx.context.me.slot, place), &mut hasher);
            }
            MessageContent::Reply(place, call) => describe::hash_reply(engine, place, call, &mut hasher),
            MessageContent::Crash => hasher.write_u8(3),
        }
        Some(hasher.finish())
    }

    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        describe::variant_of::<A::Msg>(engine, what)
    }

    fn view(&self, position: usize) -> Option<&dyn Any> {
        Some(self.state_at(position))
    }

    fn show(&self, position: usize) -> Option<String> {
        Some(format!("{:?}", self.state_at(position)))
    }

    fn show_message(&self, engine: &Engine, what: u32) -> String {
        describe::content::<A::Msg>(engine, what)
    }

    fn has_fields(&self) -> bool {
        A::FIELDS
    }

    fn fields(&self) -> Option<&[(usize, bool)]> {
        self.touched.as_deref()
    }

    fn runs(&self) -> u64 {
        self.runs
    }
}
