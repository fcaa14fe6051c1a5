//! Tasks: spawning, joining, aborting.

pub(crate) mod blocking;
mod builder;
pub mod coop;
pub mod join_set;
mod local;
mod task_local;

pub use blocking::block_in_place;
pub use builder::Builder;
pub use join_set::JoinSet;
pub use local::{LocalEnterGuard, LocalSet, spawn_local};
pub use task_local::{AccessError, LocalKey, TaskLocalFuture};

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_runtime::Point;
use whippet_runtime::{Action, End, Ends, Exit, Leaves, Part, Place, WaitTarget, Waiter};

pub mod futures {
    pub use super::task_local::TaskLocalFuture;
}

/// The identifier of a task: its stable name as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

pub fn try_id() -> Option<Id> {
    whippet_runtime::task_name().map(|name| Id(name.0))
}

/// The reason why a task returned no result: it panicked or was cancelled.
pub struct JoinError {
    id: Id,
    panic: Option<Box<dyn Any + Send>>,
}

// SAFETY: a shared reference gives no access to the payload.
unsafe impl Sync for JoinError {}

impl JoinError {
    pub fn is_cancelled(&self) -> bool {
        self.panic.is_none()
    }
    pub fn is_panic(&self) -> bool {
        self.panic.is_some()
    }
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }
    pub fn try_into_panic(mut self) -> Result<Box<dyn Any + Send>, JoinError> {
        self.panic.take().ok_or(self)
    }
    pub fn id(&self) -> Id {
        self.id
    }
    fn message(&self) -> Option<&str> {
        let panic = self.panic.as_ref()?;
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.panic, self.message()) {
            (None, _) => write!(f, "task {} was cancelled", self.id),
            (_, Some(message)) => write!(f, "task {} panicked with message {message:?}", self.id),
            (_, None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.panic, self.message()) {
            (None, _) => write!(f, "JoinError::Cancelled({:?})", self.id),
            (_, Some(message)) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id),
            (_, None) => write!(f, "JoinError::Panic({:?}, ...)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> std::io::Error {
        std::io::Error::other(if error.is_panic() { "task panicked" } else { "task was cancelled" })
    }
}

/// Shim of `tokio::task::JoinHandle`: a future that waits for the result of a task.
pub struct JoinHandle<T> {
    task: Arc<dyn Leaves<T>>,
    waiter: Waiter,
    place: Place,
}

impl<T> Unpin for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

#[inline]
pub(crate) fn start<F>(
    kind: &'static str,
    future: F,
    place: Place,
    on_exit: Option<Box<dyn FnOnce()>>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    assert!(
        whippet_runtime::task_name().is_some(),
        "there is no reactor running, must be called from the context of a Tokio 1.x runtime"
    );
    let task = whippet_runtime::spawn(kind, future, place, on_exit);
    JoinHandle { task, waiter: Waiter::new(), place }
}

#[inline]
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    start(kind_of::<F>(), future, Location::caller(), None)
}

/// Names of tasks that have a meaning of their own.
const RESERVED: [&str; 2] = ["main", whippet_runtime::THREAD];

/// Returns the kind of the task that runs a future: the name of the async function that made it, or "task".
pub(crate) fn kind_of<F>() -> &'static str {
    // The future of an async function is a closure in that function; a block in it is a closure in the closure.
    let Some(path) = std::any::type_name::<F>().strip_suffix("::{{closure}}") else { return "task" };
    // This is done for each task in each execution, so bytes are compared, and not patterns.
    let from = path.bytes().rposition(|byte| byte == b':').map_or(0, |at| at + 1);
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let name = &path[from..];
    if name.bytes().all(is_of_name) && !RESERVED.contains(&name) { name } else { "task" }
}

/// Runs a blocking function as a separate task. Its operations on channels and locks are events.
#[track_caller]
pub fn spawn_blocking<F, R>(work: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    start(whippet_runtime::BLOCKING, async move { work() }, Location::caller(), None)
}

/// Yields to the other tasks.
#[track_caller]
pub fn yield_now() -> impl Future<Output = ()> {
    let place = Location::caller();
    let mut waiter = Waiter::new();
    std::future::poll_fn(move |cx| {
        waiter.poll(cx, || (WaitTarget::Yield, Action::plain(Point::GoesOnAfterYielding, place)))
    })
}

impl<T> JoinHandle<T> {
    #[track_caller]
    pub fn abort(&self) {
        self.task.end().abort(Location::caller());
    }

    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(self.task.end(), Location::caller())
    }

    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: self.task.clone() }
    }

    pub fn id(&self) -> Id {
        Id(self.task.end().name().0)
    }

    pub(crate) fn result(&self) -> Result<T, JoinError> {
        let error = |panic| JoinError { id: self.id(), panic };
        match self.task.end().take() {
            Some(Exit::Finished) => Ok(self.task.output().expect("a finished task has a result")),
            Some(Exit::Panicked(panic)) => Err(error(Some(panic))),
            Some(Exit::Cancelled) | None => Err(error(None)),
        }
    }
}

fn is_finished(end: &End, place: Place) -> bool {
    whippet_runtime::event(Action::new(Point::LooksAtTask, end.object, place));
    whippet_runtime::read(end.object.part(Part::Tail));
    end.is_over()
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let JoinHandle { task, waiter, place } = &mut *self;
        ready!(
            waiter.poll(cx, || (
                WaitTarget::Object(task.clone(), 0),
                Action::new(Point::Joins, task.end().object, place)
            ))
        );
        Poll::Ready(self.result())
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish()
    }
}

/// Shim of `tokio::task::AbortHandle`: a handle that aborts a task.
#[derive(Clone)]
pub struct AbortHandle {
    task: Arc<dyn Ends>,
}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    #[track_caller]
    pub fn abort(&self) {
        self.task.end().abort(Location::caller());
    }
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(self.task.end(), Location::caller())
    }
    pub fn id(&self) -> Id {
        Id(self.task.end().name().0)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish()
    }
}
