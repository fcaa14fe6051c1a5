//! Scoped threads, which may borrow. The scope waits for its threads, so they end before anything that they borrow is
//! dropped. When an execution is torn down, the newest threads are dropped first, and the threads of a scope are newer
//! than the task that waits for the scope.

use super::{TaskThread, ThreadKind};
use crate::sync::leave_if_over;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope as Real;
use whippet_runtime::Point;
use whippet_runtime::{Action, Ends, Exit, Place, WaitTarget, is_live, wait_here};

/// A scope for threads that borrow; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    /// The real scope; null during executions.
    real: AtomicPtr<()>,
    started: Mutex<Vec<Arc<dyn Ends>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A handle to join a scoped thread.
pub struct ScopedJoinHandle<'scope, T>(pub(super) ThreadKind<std::thread::ScopedJoinHandle<'scope, T>, T>);

/// Runs `work`, which may start threads that borrow, and waits for these threads.
#[track_caller]
pub fn scope<'env, F, T>(work: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = Location::caller();
    let scope = Scope {
        real: AtomicPtr::new(ptr::null_mut()),
        started: Mutex::new(Vec::new()),
        scope: PhantomData,
        env: PhantomData,
    };
    if !is_live() {
        return std::thread::scope(|real| {
            scope.real.store(ptr::from_ref(real).cast_mut().cast(), Ordering::Release);
            work(&scope)
        });
    }
    let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
    let panicked = scope.wait(place);
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if panicked => panic!("a scoped thread panicked"),
        Ok(value) => {
            leave_if_over();
            value
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Returns the real scope, if there is one. It lives as long as any borrow of this scope.
    pub(super) fn real(&'scope self) -> Option<&'scope Real<'scope, 'scope>> {
        let real: *const Real<'scope, 'scope> = self.real.load(Ordering::Acquire).cast_const().cast();
        // SAFETY: the pointer is null, or `scope` stored a reference to the real scope in it. `work` gets this scope by
        // reference within the call of `std::thread::scope`, so the real scope outlives `'scope`.
        unsafe { real.as_ref() }
    }

    /// Waits for all threads. Returns `true` if one of them panicked and was not joined.
    fn wait(&self, place: Place) -> bool {
        let mut panicked = false;
        let next = || self.started.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(task) = next() {
            wait_here(&WaitTarget::Object(task.clone(), 0), Action::new(Point::Joins, task.end().object, place));
            panicked |= matches!(task.end().take(), Some(Exit::Panicked(_)));
        }
        panicked
    }

    /// Starts a scoped thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, work: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.real() {
            Some(real) => ScopedJoinHandle::real(real.spawn(work)),
            None => self.start(work, Location::caller()),
        }
    }

    pub(super) fn start<F, T>(&'scope self, work: F, place: Place) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: `scope` waits for all started threads before it returns, so the thread ends within `'scope`.
        let started = unsafe { TaskThread::borrowing(work, place) };
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push(started.task.clone());
        ScopedJoinHandle(ThreadKind::Task(started))
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
