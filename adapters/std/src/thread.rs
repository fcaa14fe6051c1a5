//! `std::thread`: while a program is explored, a thread is one more of its tasks, and sleeping is a timer.
//!
//! Scoped threads and parking are the real ones: what they do is no event.

use crate::sync::leave_if_over;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whippet_tasks::{Action, Exit, Handle, On, Part, Place};

pub use std::thread::*;

/// A thread, waited for.
pub struct JoinHandle<T>(Kind<T>);

enum Kind<T> {
    Real(std::thread::JoinHandle<T>),
    Task { handle: Handle, output: Arc<Mutex<Option<T>>>, thread: Thread },
}

/// A new thread.
#[track_caller]
pub fn spawn<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match task(work, Location::caller()) {
        Ok(handle) => handle,
        Err(work) => JoinHandle(Kind::Real(std::thread::spawn(work))),
    }
}

/// A thread of the program that is explored; none is outside.
fn task<F, T>(work: F, place: Place) -> std::result::Result<JoinHandle<T>, F>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if !whippet_tasks::is_live() {
        return Err(work);
    }
    let output = Arc::new(Mutex::new(None));
    let kept = output.clone();
    let body = async move {
        let value = work();
        *kept.lock().expect("nothing panics while it is held") = Some(value);
    };
    let handle = whippet_tasks::spawn("thread", Box::pin(body), place, None);
    Ok(JoinHandle(Kind::Task { handle, output, thread: std::thread::current() }))
}

impl<T> JoinHandle<T> {
    /// Waits for its end.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let place = Location::caller();
        let (handle, output) = match self.0 {
            Kind::Real(handle) => return handle.join(),
            Kind::Task { handle, output, .. } => (handle, output),
        };
        let action = Action::new("joins", handle.end.object, place);
        whippet_tasks::wait_here(&On::Source(handle.end.clone(), 0), action);
        match handle.end.take() {
            Some(Exit::Finished) => {
                Ok(output.lock().expect("nothing panics while it is held").take().expect("a thread has a result"))
            }
            Some(Exit::Panicked(panic)) => Err(panic),
            Some(Exit::Cancelled) | None => {
                leave_if_over();
                Err(Box::new("the execution is over"))
            }
        }
    }

    /// Whether it is over.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Kind::Real(handle) => handle.is_finished(),
            Kind::Task { handle, .. } => {
                whippet_tasks::event(Action::new("looks at", handle.end.object, Location::caller()));
                whippet_tasks::read(handle.end.object.part(Part::Tail));
                handle.end.is_over()
            }
        }
    }

    /// The real thread on which it runs.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Kind::Real(handle) => handle.thread(),
            Kind::Task { thread, .. } => thread,
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Settings of a new thread; they matter only to real ones.
#[derive(Debug)]
pub struct Builder(std::thread::Builder);

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// No settings.
    pub fn new() -> Builder {
        Builder(std::thread::Builder::new())
    }

    /// What it is called.
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// How large its stack is.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn<F, T>(self, work: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match task(work, Location::caller()) {
            Ok(handle) => Ok(handle),
            Err(work) => self.0.spawn(work).map(|handle| JoinHandle(Kind::Real(handle))),
        }
    }

    /// Starts a real thread that ends with a scope.
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        work: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.0.spawn_scoped(scope, work)
    }
}

/// Lets time go by.
#[track_caller]
pub fn sleep(time: Duration) {
    if !whippet_tasks::is_live() {
        return std::thread::sleep(time);
    }
    let due = whippet_tasks::now().saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    whippet_tasks::wait_here(&On::Timer(due), Action::plain("is woken by a timer", Location::caller()));
    leave_if_over();
}

/// Lets others go first.
#[track_caller]
pub fn yield_now() {
    if !whippet_tasks::is_live() {
        return std::thread::yield_now();
    }
    whippet_tasks::wait_here(&On::Yield, Action::plain("goes on after yielding", Location::caller()));
    leave_if_over();
}
