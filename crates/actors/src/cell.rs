//! Cells: what runs one actor, forward and back.

use crate::engine::{Engine, EngineRef};
use crate::mail::Content;
use crate::now::{Now, On, Wait};
use crate::panics::{self, Panic};
use smallvec::SmallVec;
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use whippet_model::{Branch, MachineError};

/// How an actor is, between steps.
#[derive(Clone)]
pub(crate) enum Status {
    /// It takes messages.
    Rest,
    /// It is in the middle of its code and waits. Rare, and kept small.
    Waiting(Box<Wait>),
    /// It has stopped.
    Stopped,
    /// Its code panicked.
    Failed,
}

impl Status {
    /// Whether the actor takes no message any more.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Status::Stopped | Status::Failed)
    }
}

/// What went wrong in a step.
pub(crate) enum Trouble {
    /// The user's code panicked.
    Panic(Panic),
    /// The machine cannot go on.
    Error(MachineError),
}

/// One actor, with everything needed to take its steps back. A *position* is what lies between two of its steps:
/// 0 is before the first one, and the newest is the present.
pub(crate) trait Cell {
    /// Runs what comes before the first message.
    fn begin(&mut self) -> Result<(), Trouble>;

    /// Handles a message or reply, going this way.
    fn deliver(&mut self, what: u32, branch: Branch) -> Result<(), Trouble>;

    /// Takes back the newest step.
    fn undo(&mut self);

    /// Makes the present the first position.
    fn settle(&mut self);

    /// The number of the present position.
    fn position(&self) -> usize;

    /// How the actor is at a position.
    fn status(&self, position: usize) -> &Status;

    /// How it is at present.
    fn present(&self) -> &Status {
        self.status(self.position())
    }

    /// Whether the actor takes this message at a position, whatever the order of delivery says.
    fn accepts(&self, position: usize, engine: &Engine, what: u32) -> bool;

    /// The same at present.
    fn accepts_now(&self, engine: &Engine, what: u32) -> bool {
        self.accepts(self.position(), engine, what)
    }

    /// Marks which of its pending messages the actor takes at present, whatever the order of delivery says.
    fn reopen(&self, slot: u32, engine: &mut Engine) {
        self.reopen_one_by_one(slot, engine);
    }

    /// The same for any kind of actor.
    fn reopen_one_by_one(&self, slot: u32, engine: &mut Engine) {
        let accepts = |what| self.accepts_now(engine, what);
        let accepted: SmallVec<[bool; 16]> = engine.mail.pending_of(slot).into_iter().map(accepts).collect();
        engine.mail.reopen(slot, accepted);
    }

    /// Whether what has been received and done counts as the same to the actor: a hash of its state at present.
    fn hash(&self, engine: &Engine) -> Option<u64>;

    /// A hash of the content of one of its messages.
    fn hash_message(&self, engine: &Engine, what: u32) -> Option<u64>;

    /// Which variant one of its messages is: the same number for the same one.
    fn variant(&self, engine: &Engine, what: u32) -> u64 {
        let _ = (engine, what);
        0
    }

    /// The state at a position, if it can be looked at: after the last handler that ended.
    fn view(&self, position: usize) -> Option<&dyn Any>;

    /// That state, as text.
    fn show(&self, position: usize) -> Option<String>;

    /// One of its messages, as text.
    fn show_message(&self, engine: &Engine, what: u32) -> String;

    /// Whether the actor is written as an async body.
    fn is_body(&self) -> bool {
        false
    }

    /// Whether the actor tells which fields its handlers touch.
    fn has_fields(&self) -> bool {
        false
    }

    /// The fields that the newest step touched; `None`: the actor as a whole.
    fn fields(&self) -> Option<&[(usize, bool)]> {
        None
    }

    /// How often the user's code was run.
    fn runs(&self) -> u64;
}

/// What running the code of an actor led to.
pub(crate) enum Polled<T> {
    /// It has ended, and may have asked to stop.
    Ended(T, bool),
    /// It waits.
    Waits,
}

/// Polls the code of an actor once. Where it waits, the engine knows for what.
#[inline]
pub(crate) fn poll<F>(engine: &EngineRef, code: Pin<&mut F>) -> Result<Polled<F::Output>, Trouble>
where
    F: Future + ?Sized,
{
    let mut context = Context::from_waker(Waker::noop());
    let result = panics::catch(|| code.poll(&mut context));
    let now = &mut engine.borrow_mut().now;
    match result {
        Ok(Poll::Ready(output)) if now.error.is_none() => Ok(Polled::Ended(output, now.stop)),
        Ok(Poll::Pending) if now.error.is_none() && now.wait.is_some() => Ok(Polled::Waits),
        result => Err(trouble(now, result.err())),
    }
}

#[cold]
fn trouble(now: &mut Now, panic: Option<Panic>) -> Trouble {
    match (now.error.take(), panic) {
        (Some(error), _) => Trouble::Error(error),
        (None, Some(panic)) => Trouble::Panic(panic),
        (None, None) => Trouble::Error(MachineError::Misuse(
            "an actor awaits something that is neither a call nor a receive: everything it waits for must come as a message"
                .to_owned(),
        )),
    }
}

/// Drops the code of an actor that is suspended; what its destructors do does not count.
pub(crate) fn drop_muted<T>(engine: &EngineRef, code: T) {
    let before = std::mem::replace(&mut engine.borrow_mut().now.muted, true);
    let effects = engine.borrow().now.effects;
    // A destructor that panics here would have panicked after the execution it belongs to was over.
    let _ = panics::catch(|| drop(code));
    let mut engine = engine.borrow_mut();
    engine.now.muted = before;
    engine.now.effects = effects;
}

/// Whether a message of this content is what a suspended actor waits for; the filter is left to the caller.
pub(crate) fn awaited(wait: &Wait, content: Content) -> bool {
    match (&wait.on, content) {
        (On::Reply(call), Content::Reply(_, answers)) => *call == answers,
        (On::Message(_), Content::Message(_)) => true,
        _ => false,
    }
}
