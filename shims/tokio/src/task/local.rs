//! `LocalSet`: tasks that need not be `Send`. In the shim, all tasks of an execution run on one thread.

use super::{AbortHandle, JoinHandle, kind_of, start};
use crate::runtime;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_runtime::Point;
use whippet_runtime::{Action, Ends, Local, Object, WaitTarget, Waiter};

#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    start(kind_of::<F>(), future, Location::caller(), None)
}

/// Shim of `tokio::task::LocalSet`. Its tasks run whether or not the set is polled.
pub struct LocalSet {
    id: runtime::Id,
    tasks: Arc<Local<Vec<Arc<dyn Ends>>>>,
    waiter: Waiter,
}

/// The guard that [`LocalSet::enter`] returns.
#[derive(Debug)]
pub struct LocalEnterGuard(());

impl Default for LocalSet {
    fn default() -> LocalSet {
        LocalSet::new()
    }
}

impl std::fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}

impl LocalSet {
    pub fn new() -> LocalSet {
        let id = runtime::Id::of_local_set(Object::new("local set").number);
        LocalSet { id, tasks: Arc::new(Local::new(Vec::new())), waiter: Waiter::new() }
    }

    pub fn id(&self) -> runtime::Id {
        self.id
    }

    /// Does nothing: an unhandled panic is always a finding. In tokio, this requires `tokio_unstable`.
    pub fn unhandled_panic(&mut self, _: runtime::UnhandledPanic) -> &mut LocalSet {
        self
    }

    /// Adds a task to the set.
    pub(super) fn adopt(&self, task: &AbortHandle) {
        self.tasks.with(|tasks| tasks.push(task.task.clone()));
    }

    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let handle = start(kind_of::<F>(), future, Location::caller(), None);
        self.adopt(&handle.abort_handle());
        handle
    }

    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        future.await
    }

    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &runtime::Runtime, future: F) -> F::Output {
        runtime.block_on(future)
    }

    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard(())
    }
}

impl Future for LocalSet {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(next) = self.tasks.with(|tasks| tasks.last().cloned()) else { return Poll::Ready(()) };
            if !next.end().is_over() {
                let action = Action::new(Point::WaitsForTask, next.end().object, Location::caller());
                std::task::ready!(self.waiter.poll(cx, || (WaitTarget::Object(next, 0), action)));
            }
            self.tasks.with(Vec::pop);
        }
    }
}
