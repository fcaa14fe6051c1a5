//! The future, the exit and the output of a task, in one allocation that the task shares with its joiners.

use crate::current::with_current;
use crate::events;
use crate::execution::{self, NONE, Steps};
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use crate::panics::Caught;
use crate::points::Point;
use crate::task::State;
use crate::waiting::{Readiness, Ready, UnobservedWait};
use smallvec::SmallVec;
use std::any::Any;
use std::cell::UnsafeCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;

/// The way in which a task ended.
pub enum Exit {
    /// Its future has completed.
    Finished,
    /// It was aborted.
    Cancelled,
    /// It panicked.
    Panicked(Box<dyn Any + Send>),
}

struct EndState {
    step: u32,
    /// The causes of the end.
    before: Steps,
    over: bool,
    seen: bool,
    exit: Option<Exit>,
    panic: Option<Box<Panic>>,
}

/// The message of a panic and its location.
type Panic = (String, Option<String>);

/// The end of a task, which others can wait for.
pub struct End {
    /// The identity of the task as an object.
    pub object: Object,
    /// The task's number in its execution, and its stable name.
    number: u32,
    name: Name,
    state: Local<EndState>,
}

impl End {
    /// Creates the end of a new task of this kind. The object has the task's number, so that a join displays that
    /// task.
    #[inline(always)]
    fn new(kind: &'static str) -> End {
        let object = Object::new(kind);
        let (number, name) = execution::next_task();
        let state = EndState { step: NONE, before: Steps::new(), over: false, seen: false, exit: None, panic: None };
        End { object, number, name, state: Local::here(state) }
    }

    /// Returns the task's stable name, for ids.
    #[must_use]
    pub fn name(&self) -> Name {
        self.name
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns `true` if the task is over. Not an event.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state.with(|s| s.over)
    }

    /// Returns the way in which the task ended, on the first call.
    #[must_use]
    pub fn take(&self) -> Option<Exit> {
        self.state.with(|s| {
            s.seen = true;
            s.exit.take()
        })
    }

    /// Records the end of the task in this step, with its causes.
    pub(crate) fn come(&self, step: u32, before: Steps, exit: Result<Exit, Caught>) {
        let (exit, panic) = match exit {
            Ok(exit) => (exit, None),
            Err(caught) => (Exit::Panicked(caught.payload), Some(Box::new((caught.message, caught.place)))),
        };
        self.state.with(|s| {
            s.over = true;
            (s.step, s.before, s.exit, s.panic) = (step, before, Some(exit), panic);
        });
    }

    /// Returns a panic that no other task has observed, with its location and step.
    pub(crate) fn unseen_panic(&self) -> Option<(String, Option<String>, u32)> {
        let unseen = |s: &mut EndState| s.panic.as_deref().filter(|_| !s.seen).cloned().map(|panic| (panic, s.step));
        self.state.with(unseen).map(|((message, place), step)| (message, place, step))
    }

    /// Requests that the task stops at its next wait. Scheduling point.
    pub fn abort(&self, place: Place) {
        if !events::is_live() {
            return;
        }
        events::event(Action::new(Point::Aborts, self.object, place));
        if events::is_over() || events::execution_id() != self.state.made_in() {
            return;
        }
        let abort = self.name.mixed(Part::Abort as u64);
        events::write(abort);
        events::enables(abort, abort.mixed(1));
        with_current(|x| {
            let (is_new, step, at) = (x.mark(self.name), x.step, self.number as usize);
            if matches!(x.tasks[at].state, State::Done) {
                return;
            }
            x.tasks[at].interrupts.aborted.get_or_insert(step);
            // It was not known that the task is aborted, so it was blocked without a check of its waits. One that is
            // ready might have been ready at once, and then the poll is not over.
            let is_ready = x.tasks[at].live_waits().any(|wait| x.finds_ready(&wait.on));
            if is_new && is_ready && matches!(x.tasks[at].state, State::Blocked) {
                x.tasks[at].state = State::Looking { first: true };
            }
        });
    }
}

/// The view of a task for its joiners.
pub trait Ends: Readiness {
    /// Returns its end.
    fn end(&self) -> &End;
}

/// A task with an output.
pub trait Leaves<T>: Ends {
    /// Returns the output of a finished task, on the first call.
    fn output(&self) -> Option<T>;
}

/// The view of a task for its own coroutine.
pub(crate) trait Lives: Ends {
    /// Returns its future. Only the task itself may use it, and only until it has ended.
    fn body(&self) -> *mut (dyn Future<Output = ()> + 'static);

    /// Drops its future if it has not completed.
    ///
    /// # Safety
    ///
    /// Only the task itself may call this, before it has ended and while it does not poll: the SAFETY comments of the
    /// callers rest on this.
    unsafe fn give_up(&self);
}

struct Life<F: Future> {
    end: End,
    stage: UnsafeCell<Stage<F>>,
}

// SAFETY: `End` rejects every thread but the task's own, and the stage is reachable in no other way.
unsafe impl<F: Future> Send for Life<F> {}
unsafe impl<F: Future> Sync for Life<F> {}

/// The stage of a task. As a future, it drops the user's future as soon as that completes, and keeps the output.
enum Stage<F: Future> {
    Runs(F),
    Finished(F::Output),
    Gone,
}

impl<F: Future> Future for Stage<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the stage is not moved: the future is polled and dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        let Stage::Runs(future) = this else { panic!("it is polled until it is done") };
        // SAFETY: `self` is pinned, and with it the future inside.
        let value = ready!(unsafe { Pin::new_unchecked(future) }.poll(cx));
        *this = Stage::Gone;
        *this = Stage::Finished(value);
        Poll::Ready(())
    }
}

impl<F: Future> Readiness for Life<F> {
    fn ready(&self, _: u64) -> Option<Ready> {
        self.end.state.with(|s| s.over.then(|| Ready { since: s.step, item: self.end.object.part(Part::Item) }))
    }

    fn watched(&self, _: u64, out: &mut SmallVec<[Name; 2]>) {
        out.push(self.end.object.part(Part::Tail));
    }

    fn unobserved(&self, _: u64) -> Option<UnobservedWait> {
        Some(UnobservedWait { watched: self.end.object.part(Part::Tail), freed: None })
    }

    fn blockers(&self, _: u64, out: &mut Vec<u32>) {
        out.push(self.end.number);
    }

    fn causes(&self, _: u64, out: &mut Vec<u32>) {
        self.end.state.with(|s| out.extend_from_slice(&s.before));
    }
}

impl<F: Future> Ends for Life<F> {
    fn end(&self) -> &End {
        &self.end
    }
}

impl<F: Future> Leaves<F::Output> for Life<F> {
    fn output(&self) -> Option<F::Output> {
        // SAFETY: called only if the task is over: it no longer uses its stage, and taking the output calls no user
        // code. No other reference to the stage exists.
        let take = || match unsafe { std::ptr::replace(self.stage.get(), Stage::Gone) } {
            Stage::Finished(value) => Some(value),
            Stage::Runs(_) | Stage::Gone => None,
        };
        if self.end.is_over() { take() } else { None }
    }
}

impl<F: Future + 'static> Lives for Life<F> {
    fn body(&self) -> *mut (dyn Future<Output = ()> + 'static) {
        self.stage.get()
    }

    // SAFETY: see the trait.
    unsafe fn give_up(&self) {
        // SAFETY: by contract, the task itself calls this and does not poll its future now.
        let stage = unsafe { &mut *self.stage.get() };
        if matches!(stage, Stage::Runs(_)) {
            *stage = Stage::Gone;
        }
    }
}

/// Spawns a task in the current execution. `kind` names it in counterexamples; `on_exit` runs with its last step.
///
/// # Panics
/// Panics outside an execution.
#[inline]
pub fn spawn<F>(
    kind: &'static str,
    future: F,
    place: Place,
    on_exit: Option<Box<dyn FnOnce()>>,
) -> Arc<dyn Leaves<F::Output>>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let life = Arc::new(Life { end: End::new(kind), stage: UnsafeCell::new(Stage::Runs(future)) });
    execution::add_task(life.clone(), place, on_exit);
    life
}
