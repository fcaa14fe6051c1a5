//! Services: the built-in actors that implement locks, semaphores and condition variables.
//!
//! A service runs no user code, never waits and cannot fail. A step of a service therefore needs no future and catches
//! no panics: it saves the state, takes the message, and answers. In all other respects a service is an ordinary actor.

use crate::Message;
use crate::address::Reply;
use crate::cell::{ActorCell, ActorStatus, StepError};
use crate::describe;
use crate::engine::{Engine, EngineRef};
use crate::messages::MessageContent;
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
    engine.current.history = GRANTED;
    engine.reply(reply.call, reply.to, (), Location::caller());
}

/// The cell of a service; see the module documentation.
pub(crate) struct ServiceCell<S> {
    state: S,
    /// The state before each step.
    saved: Vec<S>,
    /// Always [`ActorStatus::Rest`].
    status: ActorStatus,
    slot: u32,
    engine: EngineRef,
}

impl<S: Service> ServiceCell<S> {
    pub(crate) fn new(state: S, slot: u32, engine: EngineRef) -> ServiceCell<S> {
        ServiceCell { state, saved: Vec::new(), status: ActorStatus::Rest, slot, engine }
    }

    fn state_at(&self, position: usize) -> &S {
        self.saved.get(position).unwrap_or(&self.state)
    }
}

impl<S: Service> ActorCell for ServiceCell<S> {
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    fn deliver(&mut self, what: u32, _branch: Branch) -> Result<(), StepError> {
        let engine = &mut *self.engine.borrow_mut();
        let MessageContent::Message(place) = engine.messages[what].content else {
            unreachable!("a service makes no calls")
        };
        let msg = *engine.messages.message::<S::Msg>(self.slot, place);
        self.saved.push(self.state.clone());
        self.state.take(msg, engine);
        Ok(())
    }

    fn undo(&mut self) {
        self.state = self.saved.pop().expect("there is a step to undo");
    }

    fn commit(&mut self) {
        self.saved.clear();
    }

    fn position(&self) -> usize {
        self.saved.len()
    }

    fn status(&self, _position: usize) -> &ActorStatus {
        &self.status
    }

    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool {
        match engine.messages[what].content {
            MessageContent::Message(place) => {
                self.state_at(position).accepts(engine.messages.message::<S::Msg>(self.slot, place))
            }
            MessageContent::Reply(..) | MessageContent::Crash => false,
        }
    }

    fn update_enabled(&self, slot: u32, engine: &mut Engine) {
        engine.messages.update_enabled_by_content::<S::Msg>(slot, |content, messages| match content {
            MessageContent::Message(place) => self.state.accepts(&messages[place as usize]),
            MessageContent::Reply(..) | MessageContent::Crash => false,
        });
    }

    fn hash(&self, _engine: &Engine) -> Option<u64> {
        let mut hasher = FxHasher::default();
        self.state.hash(&mut hasher);
        Some(hasher.finish())
    }

    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64> {
        let MessageContent::Message(place) = engine.messages[what].content else { return None };
        let mut hasher = FxHasher::default();
        engine.messages.message::<S::Msg>(self.slot, place).hash(&mut hasher);
        Some(hasher.finish())
    }

    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        crate::describe::variant_of::<S::Msg>(engine, what)
    }

    fn view(&self, position: usize) -> Option<&dyn Any> {
        Some(self.state_at(position))
    }

    fn show(&self, position: usize) -> Option<String> {
        Some(format!("{:?}", self.state_at(position)))
    }

    fn show_message(&self, engine: &Engine, what: u32) -> String {
        describe::content::<S::Msg>(engine, what)
    }

    fn runs(&self) -> u64 {
        0
    }
}
