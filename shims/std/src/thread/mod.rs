//! `std::thread`. While a program is explored, threads are tasks and sleeping is a timer.
//!
//! All tasks run on one real thread. Thread-local values, and the names and ids of threads, are those of that thread.

mod park;
mod scope;

pub use park::{Thread, current, park, park_timeout};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::*;

use crate::sync::leave_if_over;
use park::Parking;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whippet_runtime::Point;
use whippet_runtime::{Action, Ends, Exit, Part, Place, WaitTarget, is_live};

/// A started thread: a real one, or a task of the explored program.
enum ThreadKind<R, T> {
    Real(R, Thread),
    Task(TaskThread<T>),
}

/// A thread that runs as a task of the explored program.
struct TaskThread<T> {
    task: Arc<dyn Ends>,
    output: Arc<Mutex<Option<T>>>,
    thread: Thread,
}

impl<T> TaskThread<T> {
    /// Starts a thread.
    ///
    /// # Safety
    ///
    /// The thread must end before anything that `work` borrows is dropped.
    unsafe fn borrowing<'a>(work: impl FnOnce() -> T + 'a, place: Place) -> TaskThread<T>
    where
        T: 'a,
    {
        leave_if_over();
        let (output, parking) = (Arc::new(Mutex::new(None)), Parking::new());
        let (kept, mine) = (output.clone(), parking.clone());
        let body: Pin<Box<dyn Future<Output = ()> + 'a>> = Box::pin(async move {
            mine.install();
            let value = work();
            *kept.lock().expect("no panic while it is locked") = Some(value);
        });
        // SAFETY: the caller guarantees that the thread ends before its borrows do.
        let body = unsafe {
            std::mem::transmute::<Pin<Box<dyn Future<Output = ()> + 'a>>, Pin<Box<dyn Future<Output = ()>>>>(body)
        };
        let task = whippet_runtime::spawn(whippet_runtime::THREAD, body, place, None);
        TaskThread { task, output, thread: Thread::new(std::thread::current(), Some(parking)) }
    }

    fn join(self, place: Place) -> Result<T> {
        let end = self.task.end();
        whippet_runtime::wait_here(
            &WaitTarget::Object(self.task.clone(), 0),
            Action::new(Point::Joins, end.object, place),
        );
        match end.take() {
            Some(Exit::Finished) => {
                Ok(self.output.lock().expect("no panic while it is locked").take().expect("a thread has a result"))
            }
            Some(Exit::Panicked(panic)) => Err(panic),
            Some(Exit::Cancelled) | None => {
                leave_if_over();
                Err(Box::new("the execution is over"))
            }
        }
    }

    fn is_finished(&self, place: Place) -> bool {
        let end = self.task.end();
        whippet_runtime::event(Action::new(Point::ChecksThread, end.object, place));
        whippet_runtime::read(end.object.part(Part::Tail));
        end.is_over()
    }
}

/// Implements the functions of join handles, scoped or not.
macro_rules! join_handle {
    ([$($life:lifetime)?] $name:ident, $type:ty, $real:ty) => {
        impl<$($life,)? T> $type {
            fn real(handle: $real) -> $type {
                let thread = Thread::new(handle.thread().clone(), None);
                $name(ThreadKind::Real(handle, thread))
            }

            /// Waits for the thread to end and returns its result.
            #[track_caller]
            pub fn join(self) -> Result<T> {
                match self.0 {
                    ThreadKind::Real(handle, _) => handle.join(),
                    ThreadKind::Task(started) => started.join(Location::caller()),
                }
            }

            /// Returns `true` if the thread has ended.
            #[track_caller]
            pub fn is_finished(&self) -> bool {
                match &self.0 {
                    ThreadKind::Real(handle, _) => handle.is_finished(),
                    ThreadKind::Task(started) => started.is_finished(Location::caller()),
                }
            }

            /// Returns the thread, for example to unpark it.
            pub fn thread(&self) -> &Thread {
                match &self.0 {
                    ThreadKind::Real(_, thread) => thread,
                    ThreadKind::Task(started) => &started.thread,
                }
            }
        }

        impl<$($life,)? T> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// A handle to join a thread.
pub struct JoinHandle<T>(ThreadKind<std::thread::JoinHandle<T>, T>);

join_handle!([] JoinHandle, JoinHandle<T>, std::thread::JoinHandle<T>);
join_handle!(['scope] ScopedJoinHandle, ScopedJoinHandle<'scope, T>, std::thread::ScopedJoinHandle<'scope, T>);

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(work).expect("failed to spawn thread")
}

/// Settings of a new thread. They only affect real threads.
#[derive(Debug)]
pub struct Builder(std::thread::Builder);

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// Creates a builder with the default settings.
    pub fn new() -> Builder {
        Builder(std::thread::Builder::new())
    }

    /// Sets the name of the thread.
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// Sets the size of the thread's stack.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, work: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if !is_live() {
            return self.0.spawn(work).map(JoinHandle::real);
        }
        // SAFETY: `work` is `'static`, so it borrows nothing.
        Ok(JoinHandle(ThreadKind::Task(unsafe { TaskThread::borrowing(work, Location::caller()) })))
    }

    /// Starts a scoped thread, which ends before the scope does.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        work: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match scope.real() {
            Some(real) => self.0.spawn_scoped(real, work).map(ScopedJoinHandle::real),
            None => Ok(scope.start(work, Location::caller())),
        }
    }
}

/// Waits for `time`, which is virtual while a program is explored.
#[track_caller]
pub fn sleep(time: Duration) {
    if !is_live() {
        return std::thread::sleep(time);
    }
    let due =
        whippet_runtime::now(Location::caller()).saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    whippet_runtime::wait_here(&WaitTarget::Timer(due), Action::plain(Point::IsWokenByTimer, Location::caller()));
    leave_if_over();
}

/// Lets other threads run first.
#[track_caller]
pub fn yield_now() {
    if !is_live() {
        return std::thread::yield_now();
    }
    whippet_runtime::wait_here(&WaitTarget::Yield, Action::plain(Point::ContinuesAfterYielding, Location::caller()));
    leave_if_over();
}
