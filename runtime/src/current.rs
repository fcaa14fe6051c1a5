//! The one way to the execution that runs on this thread.
//!
//! User code calls the shims without passing an execution, so the execution is found through a thread-local pointer. It
//! consists of two parts:
//!
//! * [`Facts`] are read at any time: the number of the execution, if it is over, the running task, the refinements.
//! * The [`Execution`] itself is lent to one closure at a time ([`with_current`], [`with_running`], [`Live::with`]). A
//!   closure that asks for it again panics, so two references to it never coexist.
//!
//! No closure may therefore switch tasks or call user code: destructors and wakers of the user included. Values that may
//! have such a destructor (waits, wakers, outputs) are returned from the closure and dropped outside. The methods of
//! [`Readiness`](crate::Readiness) are called inside, and may read facts only.

use crate::execution::{Execution, NONE};
use crate::outside::Counted;
use crate::program::Settings;
use crate::refinements::{Refinements, SharedRefinements};
use crate::system::System;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

/// The part of an execution that can be read while the execution is lent.
pub(crate) struct Facts {
    id: Cell<u64>,
    over: Cell<bool>,
    running: Cell<u32>,
    /// The refinements of the machine.
    pub(crate) refinements: Arc<Refinements>,
    /// `true` if every operation is preceded by a scheduling point.
    pub(crate) deep: bool,
    /// `true` if no operation is merged, even if no other task can observe it.
    pub(crate) every_event: bool,
    /// `true` if the program cannot be run again: see [`Settings::runs_once`].
    pub(crate) runs_once: bool,
    /// `true` if the program declares a runtime with several threads.
    pub(crate) declares_threads: bool,
    /// What the system answers to tasks.
    pub(crate) system: Arc<System>,
}

impl Facts {
    /// Returns the number of the execution.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.id.get()
    }

    /// Returns the number of the running task, or [`NONE`].
    #[inline]
    pub(crate) fn running(&self) -> u32 {
        self.running.get()
    }

    pub(crate) fn set_running(&self, task: u32) {
        self.running.set(task);
    }

    /// Returns `true` if the execution is over: its tasks are being dropped.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Ends the execution.
    pub(crate) fn set_over(&self) {
        self.over.set(true);
    }

    /// Resets the facts for a new execution.
    pub(crate) fn renew(&self, id: u64) {
        self.id.set(id);
        self.over.set(false);
        self.running.set(NONE);
    }
}

/// An execution and its facts.
pub(crate) struct Live {
    facts: Rc<Facts>,
    execution: RefCell<Execution>,
    _counted: Counted,
}

impl Live {
    pub(crate) fn new(
        refinements: Arc<Refinements>,
        shared: SharedRefinements,
        settings: &Settings,
        system: Arc<System>,
    ) -> Live {
        let facts = Rc::new(Facts {
            id: Cell::new(0),
            over: Cell::new(false),
            running: Cell::new(NONE),
            refinements,
            deep: settings.deep || settings.runs_once,
            every_event: settings.deep || settings.runs_once || settings.every_event,
            runs_once: settings.runs_once,
            declares_threads: settings.declares_threads,
            system,
        });
        let execution = Execution::new(facts.clone(), shared, settings.untaken);
        Live { facts, execution: RefCell::new(execution), _counted: Counted::new() }
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the execution, which does not run now.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Execution {
        self.execution.get_mut()
    }

    /// Lends the execution to `work`.
    #[inline]
    #[track_caller]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Execution) -> R) -> R {
        work(&mut self.execution.borrow_mut())
    }

    /// Makes this the execution on this thread while `work` runs.
    pub(crate) fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _before = Before(CURRENT.replace(self));
        work()
    }
}

thread_local! {
    static CURRENT: Cell<*const Live> = const { Cell::new(ptr::null()) };
}

/// Makes the previous execution on this thread the current one when it is dropped.
struct Before(*const Live);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Returns the execution on this thread, if there is one, for the caller's own use: `'static` stands for the time until
/// the caller returns.
#[inline]
fn current() -> Option<&'static Live> {
    // SAFETY: `Live::enter` sets the pointer and borrows the execution for as long as it is set, also if it unwinds. The
    // pointer is thread-local, and no function of this file keeps the reference after it has returned.
    CURRENT.try_with(Cell::get).ok().and_then(|live| unsafe { live.as_ref() })
}

/// Calls `read` with the facts of the execution on this thread, if there is one.
#[inline]
pub(crate) fn with_facts<R>(read: impl FnOnce(&Facts) -> R) -> Option<R> {
    current().map(|live| read(&live.facts))
}

/// Lends the execution on this thread, if there is one, to `work`.
#[inline]
#[track_caller]
pub(crate) fn with_current<R>(work: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    current().map(|live| live.with(work))
}

/// Like [`with_current`], but does nothing if the execution is lent already.
#[inline]
pub(crate) fn try_with_current<R>(work: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    current().and_then(|live| live.execution.try_borrow_mut().ok().map(|mut x| work(&mut x)))
}

/// Lends the execution on this thread to `work`, if one of its tasks is running.
#[inline]
#[track_caller]
pub(crate) fn with_running<R>(work: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    current().filter(|live| live.facts.running() != NONE).map(|live| live.with(work))
}

/// Lends the execution on this thread to `work`, for code of a task.
#[inline]
#[track_caller]
pub(crate) fn in_task<R>(work: impl FnOnce(&mut Execution) -> R) -> R {
    with_running(work).expect("internal error: this is called by a task")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Live {
        Live::new(Arc::default(), SharedRefinements::default(), &Settings::default(), Arc::default())
    }

    #[test]
    fn an_execution_is_current_until_the_end_of_enter() {
        let (outer, inner) = (live(), live());
        outer.facts().renew(1);
        inner.facts().renew(2);
        let id = || with_facts(Facts::id);
        assert_eq!(id(), None);
        outer.enter(|| {
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                inner.enter(|| {
                    assert_eq!(id(), Some(2));
                    std::panic::resume_unwind(Box::new("a panic"))
                })
            }));
            assert!(failed.is_err() && id() == Some(1));
            assert_eq!((with_current(|_| ()), with_running(|_| ())), (Some(()), None));
        });
        assert_eq!(id(), None);
    }

    #[test]
    #[should_panic(expected = "already")]
    fn an_execution_is_lent_once_at_a_time() {
        live().enter(|| with_current(|_| with_current(|_| ())));
    }

    #[test]
    fn facts_are_read_while_the_execution_is_lent() {
        let live = live();
        live.facts().renew(7);
        let read = live.enter(|| with_current(|_| with_facts(|facts| (facts.id(), facts.is_over()))));
        assert_eq!(read, Some(Some((7, false))));
    }
}
