//! Cells: each one runs one actor, forward and backward.

use crate::current_step::{ActorWait, CurrentStep, WaitKind};
use crate::engine::{Engine, EngineRef};
use crate::messages::MessageContent;
use crate::panics::{self, CaughtPanic};
use smallvec::SmallVec;
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use whippet_model::{Branch, MachineError};

/// The status of an actor between two steps.
#[derive(Clone)]
pub(crate) enum ActorStatus {
    /// The actor is idle and can receive messages.
    Rest,
    /// The actor is suspended in the middle of its code. Boxed because it is rare.
    Waiting(Box<ActorWait>),
    /// The actor has stopped.
    Stopped,
    /// The actor's code panicked.
    Failed,
}

impl ActorStatus {
    /// Returns `true` if the actor will never receive another message.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, ActorStatus::Stopped | ActorStatus::Failed)
    }
}

/// The reason why a step failed.
pub(crate) enum StepError {
    /// The user's code panicked.
    Panic(CaughtPanic),
    /// The machine cannot continue.
    Error(MachineError),
}

/// One actor, with everything needed to undo its steps. A *position* is a point between two of its steps: position 0 is
/// before the first step, and the highest position is the current one.
pub(crate) trait ActorCell {
    /// Runs the code before the first receive.
    fn begin(&mut self) -> Result<(), StepError>;

    /// Delivers a message or reply and runs the resulting step along `branch`.
    fn deliver(&mut self, what: u32, branch: Branch) -> Result<(), StepError>;

    /// Runs a crash as a step. Only actors with a handler crash.
    fn crash(&mut self) -> Result<(), StepError> {
        unreachable!("only actors with a handler crash")
    }

    /// Undoes the newest step.
    fn undo(&mut self);

    /// Makes the current position the first one; earlier steps can no longer be undone.
    fn commit(&mut self);

    /// Returns the number of the current position.
    fn position(&self) -> usize;

    /// Returns the actor's status at a position.
    fn status(&self, position: usize) -> &ActorStatus;

    /// Returns the actor's current status.
    fn current_status(&self) -> &ActorStatus {
        self.status(self.position())
    }

    /// Returns `true` if the actor accepts this message at a position, disregarding the delivery order.
    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool;

    /// Returns `true` if the actor accepts this message now, disregarding the delivery order.
    fn accepts_now(&self, engine: &Engine, what: u32) -> bool {
        self.accepts(self.position(), engine, what)
    }

    /// Returns `true` if the actor accepts every message now, whatever it contains, disregarding the delivery order.
    fn accepts_all(&self) -> bool {
        false
    }

    /// Records in the messages which pending messages the actor accepts now, disregarding the delivery order.
    fn update_enabled(&self, slot: u32, engine: &mut Engine) {
        self.update_enabled_one_by_one(slot, engine);
    }

    /// The implementation of [`update_enabled`](ActorCell::update_enabled) that works for every kind of actor.
    fn update_enabled_one_by_one(&self, slot: u32, engine: &mut Engine) {
        let accepts = |what| self.accepts_now(engine, what);
        let accepted: SmallVec<[bool; 16]> = engine.messages.pending_of(slot).into_iter().map(accepts).collect();
        engine.messages.update_enabled(slot, accepted);
    }

    /// Returns a hash of the current state, or `None` if the actor does not support hashing.
    fn hash(&self, engine: &Engine) -> Option<u64>;

    /// Returns a hash of the content of a message to this actor, or `None` if messages cannot be hashed.
    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64>;

    /// Returns a number that identifies the variant of a message to this actor.
    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        let _ = (engine, what);
        0
    }

    /// Returns the state at a position, as left by the last handler that completed, or `None` if the state is not
    /// accessible.
    fn view(&self, position: usize) -> Option<&dyn Any>;

    /// Returns the state at a position as text.
    fn show(&self, position: usize) -> Option<String>;

    /// Returns a message to this actor as text.
    fn show_message(&self, engine: &Engine, what: u32) -> String;

    /// Returns `true` if the actor is written as an `async` body.
    fn is_body(&self) -> bool {
        false
    }

    /// Returns `true` if the fields that handlers touch are tracked.
    fn has_fields(&self) -> bool {
        false
    }

    /// Returns the fields that the newest step touched, or `None` if it counts as touching the whole actor.
    fn fields(&self) -> Option<&[(usize, bool)]> {
        None
    }

    /// Returns the number of times that user code was run.
    fn runs(&self) -> u64;
}

/// The result of polling the code of an actor.
pub(crate) enum Polled<T> {
    /// The code has ended; the flag is `true` if it asked to stop the actor.
    Ended(T, bool),
    /// The code is suspended.
    Waits,
}

/// Polls the code of an actor once. If the code is suspended, `current.wait` of the engine says what it waits for.
#[inline]
pub(crate) fn poll<F>(engine: &EngineRef, code: Pin<&mut F>) -> Result<Polled<F::Output>, StepError>
where
    F: Future + ?Sized,
{
    let mut context = Context::from_waker(Waker::noop());
    let result = panics::catch(|| code.poll(&mut context));
    let current = &mut engine.borrow_mut().current;
    match result {
        Ok(Poll::Ready(output)) if current.error.is_none() => Ok(Polled::Ended(output, current.stop)),
        Ok(Poll::Pending) if current.error.is_none() && current.wait.is_some() => Ok(Polled::Waits),
        result => Err(step_error(current, result.err())),
    }
}

#[cold]
fn step_error(current: &mut CurrentStep, panic: Option<CaughtPanic>) -> StepError {
    match (current.error.take(), panic) {
        (Some(error), _) => StepError::Error(error),
        (None, Some(panic)) => StepError::Panic(panic),
        (None, None) => StepError::Error(MachineError::Misuse(
            "an actor awaits a future from outside of Whippet; actors can only wait for messages, calls, promises and locks"
                .to_owned(),
        )),
    }
}

/// Drops the suspended code of an actor. Effects of its destructors are discarded.
pub(crate) fn drop_muted<T>(engine: &EngineRef, code: T) {
    let before = engine.borrow_mut().current.set_muted(true);
    let effects = engine.borrow().current.effects;
    // The code is discarded by the machine, so a panic in a destructor is not a problem of the program.
    let _ = panics::catch(|| drop(code));
    let mut engine = engine.borrow_mut();
    engine.current.set_muted(before);
    engine.current.effects = effects;
}

/// Returns `true` if content of this kind can end the wait. The caller must still apply the filter of a receive.
pub(crate) fn ends_wait(wait: &ActorWait, content: MessageContent) -> bool {
    match (&wait.kind, content) {
        (WaitKind::Reply(call), MessageContent::Reply(_, answers)) => *call == answers,
        (WaitKind::Message(_), MessageContent::Message(_)) => true,
        _ => false,
    }
}
