//! Services: the built-in actors that implement locks, semaphores and condition variables.
//!
//! A service runs no user code, never waits and cannot fail. A step of a service therefore needs no future and catches
//! no panics: it saves the state, takes the message, and answers. In all other respects a service is an ordinary actor.

use crate::Message;
use crate::address::Reply;
use crate::cell::{Cell, Status, Trouble};
use crate::engine::{Engine, EngineRef};
use crate::mail::Content;
use crate::words;
use rustc_hash::FxHasher;
use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use whippet_model::Branch;

/// The behaviour of a service.
pub(crate) trait Service: Clone + Debug + Hash + 'static {
    /// The type of message the service receives.
    type Msg: Message + Copy + Hash;

    /// Handles a message that the service accepts.
    fn take(&mut self, msg: Self::Msg, engine: &mut Engine);

    /// Returns `true` if the service accepts this message in its current state.
    fn accepts(&self, msg: &Self::Msg) -> bool;
}

/// The history that every grant is attributed to.
const GRANTED: u64 = 0x62A7;

/// Answers a waiter. The reply is always the same, whatever the service has done before: actors that were granted the
/// same requests in another order have the same history, so their memoized steps can be reused.
#[inline]
pub(crate) fn grant(engine: &mut Engine, reply: Reply<()>) {
    engine.now.history = GRANTED;
    engine.reply(reply.call, reply.to, (), Location::caller());
}

/// The cell of a service; see the module documentation.
pub(crate) struct ServiceCell<S> {
    state: S,
    /// The state before each step.
    saved: Vec<S>,
    /// Always [`Status::Rest`].
    status: Status,
    slot: u32,
    engine: EngineRef,
}

impl<S: Service> ServiceCell<S> {
    pub(crate) fn new(state: S, slot: u32, engine: EngineRef) -> ServiceCell<S> {
        ServiceCell { state, saved: Vec::new(), status: Status::Rest, slot, engine }
    }

    fn state_at(&self, position: usize) -> &S {
        self.saved.get(position).unwrap_or(&self.state)
    }
}

impl<S: Service> Cell for ServiceCell<S> {
    fn begin(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn deliver(&mut self, what: u32, _branch: Branch) -> Result<(), Trouble> {
        let engine = &mut *self.engine.borrow_mut();
        let Content::Message(place) = engine.mail[what].content else { unreachable!("a service calls nobody") };
        let msg = *engine.mail.message::<S::Msg>(self.slot, place);
        self.saved.push(self.state.clone());
        self.state.take(msg, engine);
        Ok(())
    }

    fn undo(&mut self) {
        self.state = self.saved.pop().expect("there is a step to take back");
    }

    fn settle(&mut self) {
        self.saved.clear();
    }

    fn position(&self) -> usize {
        self.saved.len()
    }

    fn status(&self, _position: usize) -> &Status {
        &self.status
    }

    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool {
        match engine.mail[what].content {
            Content::Message(place) => self.state_at(position).accepts(engine.mail.message::<S::Msg>(self.slot, place)),
            Content::Reply(..) => false,
        }
    }

    fn reopen(&self, slot: u32, engine: &mut Engine) {
        engine.mail.reopen_by_content::<S::Msg>(slot, |content, messages| match content {
            Content::Message(place) => self.state.accepts(&messages[place as usize]),
            Content::Reply(..) => false,
        });
    }

    fn hash(&self, _engine: &Engine) -> Option<u64> {
        let mut hasher = FxHasher::default();
        self.state.hash(&mut hasher);
        Some(hasher.finish())
    }

    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64> {
        let Content::Message(place) = engine.mail[what].content else { return None };
        let mut hasher = FxHasher::default();
        engine.mail.message::<S::Msg>(self.slot, place).hash(&mut hasher);
        Some(hasher.finish())
    }

    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        crate::words::variant_of::<S::Msg>(engine, what)
    }

    fn view(&self, position: usize) -> Option<&dyn Any> {
        Some(self.state_at(position))
    }

    fn show(&self, position: usize) -> Option<String> {
        Some(format!("{:?}", self.state_at(position)))
    }

    fn show_message(&self, engine: &Engine, what: u32) -> String {
        words::content::<S::Msg>(engine, what)
    }

    fn runs(&self) -> u64 {
        0
    }
}
