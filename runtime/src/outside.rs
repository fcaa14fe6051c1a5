//! Outside of executions: plain tests whose threads share channels and locks of the shims.
//!
//! Such tests are not explored. Their threads use the shims as they would use the real library: a value of a shim is lent to one thread at a
//! time ([`Local`](crate::Local)), a thread that has to wait sleeps until some other one has made its wait ready, and a future that is
//! polled by an executor of the test's own gets its waker called.

use crate::local::me;
use crate::waiting::WaitTarget;
use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, yield_now};

/// What waits outside of executions.
struct Waiting {
    /// The number of operations so far that may have made waits ready.
    changes: u64,
    /// The wakers to be called after the next one.
    wakers: Vec<Waker>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { changes: 0, wakers: Vec::new() });
static CHANGED: Condvar = Condvar::new();

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records an operation that may have made waits ready.
#[cold]
pub(crate) fn has_changed() {
    let wakers = {
        let mut waiting = waiting();
        waiting.changes += 1;
        CHANGED.notify_all();
        std::mem::take(&mut waiting.wakers)
    };
    wakers.into_iter().for_each(Waker::wake);
}

fn is_ready(on: &WaitTarget) -> bool {
    match on {
        WaitTarget::Object(source, key) => source.ready(*key).is_some(),
        WaitTarget::Timer(_) => false,
        WaitTarget::Yield => true,
    }
}

/// Blocks this thread until the wait is ready. Returns `false` at once if it never is: timers belong to executions.
pub(crate) fn wait(on: &WaitTarget) -> bool {
    match on {
        WaitTarget::Object(..) => {}
        WaitTarget::Timer(_) => return false,
        WaitTarget::Yield => yield_now(),
    }
    loop {
        let seen = waiting().changes;
        if is_ready(on) {
            return true;
        }
        let mut waiting = waiting();
        while waiting.changes == seen {
            waiting = CHANGED.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Polls a wait for an executor of the test's own, whose waker is called after the next change.
pub(crate) fn poll(cx: &Context<'_>, on: &WaitTarget) -> Poll<()> {
    if is_ready(on) {
        return Poll::Ready(());
    }
    let waker = cx.waker().clone();
    {
        let mut waiting = waiting();
        if !waiting.wakers.iter().any(|known| known.will_wake(&waker)) {
            waiting.wakers.push(waker);
        }
    }
    // It may have become ready before the waker was there.
    if is_ready(on) { Poll::Ready(()) } else { Poll::Pending }
}

/// Wakes a sleeping thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to completion on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, mut cx) = (std::pin::pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// The numbers of the threads that have executions, one for each.
static OWNERS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn owners() -> MutexGuard<'static, Vec<usize>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` if this thread, or one that has ended, has no executions. None begins there meanwhile.
pub(crate) fn if_left<R>(thread: usize, work: impl FnOnce() -> R) -> Option<R> {
    let owners = owners();
    (!owners.contains(&thread)).then(work)
}

/// Counts an execution of this thread during its lifetime.
pub(crate) struct Counted(usize);

impl Counted {
    pub(crate) fn new() -> Counted {
        let thread = me();
        owners().push(thread);
        Counted(thread)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut owners = owners();
        if let Some(at) = owners.iter().position(|owner| *owner == self.0) {
            owners.swap_remove(at);
        }
    }
}
