//! `JoinSet`: returns the results of tasks in the order in which the tasks end.

use super::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, kind_of, start};
use crate::runtime::Handle;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Local, Object, Part, Place, Readiness, Ready, WaitTarget, Waiter, enables, event, read, this_step, write,
};

/// The tasks that have ended, in order: the step in which each ended, and its number in the set.
struct Ends {
    object: Object,
    queue: Local<std::collections::VecDeque<(u32, usize)>>,
}

impl Readiness for Ends {
    fn ready(&self, _: u64) -> Option<Ready> {
        self.queue.with(|q| {
            q.front().map(|&(since, task)| Ready { since, item: self.object.part(Part::Item).mixed(task as u64) })
        })
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.object.part(Part::Tail));
    }
}

/// Shim of `tokio::task::JoinSet`.
pub struct JoinSet<T> {
    ends: Arc<Ends>,
    tasks: Vec<(usize, JoinHandle<T>)>,
    next: usize,
    waiter: Waiter,
}

impl<T> std::fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> JoinSet<T> {
    pub fn new() -> JoinSet<T> {
        let ends = Ends { object: Object::new("join set"), queue: Local::here(std::collections::VecDeque::new()) };
        JoinSet { ends: Arc::new(ends), tasks: Vec::new(), next: 0, waiter: Waiter::new() }
    }

    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn take(&mut self, number: usize) -> JoinHandle<T> {
        let at = self.tasks.iter().position(|(k, _)| *k == number).expect("it is in the set");
        self.tasks.remove(at).1
    }

    fn poll(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        let ends = &self.ends;
        let takes = || (WaitTarget::Object(ends.clone(), 0), Action::new(Point::TakesResult, ends.object, place));
        ready!(self.waiter.poll(cx, takes));
        Poll::Ready(self.pop())
    }

    fn pop(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        let (_, number) = self.ends.queue.with(std::collections::VecDeque::pop_front)?;
        let handle = self.take(number);
        Some((handle.id(), handle.result()))
    }

    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> + use<'_, T> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, place).map(|found| found.map(|(_, result)| result)))
    }

    #[track_caller]
    pub fn join_next_with_id(&mut self) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> + use<'_, T> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, place).map(|found| found.map(|(id, result)| result.map(|value| (id, value)))))
    }

    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(|result| result.map(|(_, value)| value))
    }

    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        event(Action::new(Point::LooksAtJoinSet, self.ends.object, Location::caller()));
        read(self.ends.object.part(Part::Tail));
        self.pop().map(|(id, result)| result.map(|value| (id, value)))
    }

    #[track_caller]
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll(cx, Location::caller()).map(|found| found.map(|(_, result)| result))
    }

    #[track_caller]
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        let found = self.poll(cx, Location::caller());
        found.map(|found| found.map(|(id, result)| result.map(|value| (id, value))))
    }

    #[track_caller]
    pub fn abort_all(&mut self) {
        for (_, handle) in &self.tasks {
            handle.task.end().abort(Location::caller());
        }
    }

    pub fn detach_all(&mut self) {
        self.tasks.clear();
    }

    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    pub async fn join_all(mut self) -> Vec<T>
    where
        T: 'static,
    {
        let mut all = Vec::new();
        while let Some(result) = self.join_next().await {
            match result {
                Ok(value) => all.push(value),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        all
    }
}

impl<T: 'static> JoinSet<T> {
    fn add<F: Future<Output = T> + 'static>(&mut self, kind: &'static str, task: F, place: Place) -> AbortHandle {
        let number = self.next;
        self.next += 1;
        let ends = self.ends.clone();
        let on_exit = Box::new(move || {
            let tail = ends.object.part(Part::Tail);
            write(tail);
            enables(tail, ends.object.part(Part::Item).mixed(number as u64));
            let step = this_step();
            ends.queue.with(|q| q.push_back((step, number)));
        });
        let handle = start(kind, task, place, Some(on_exit));
        let abort = handle.abort_handle();
        self.tasks.push((number, handle));
        abort
    }

    #[track_caller]
    pub fn spawn<F: Future<Output = T> + Send + 'static>(&mut self, task: F) -> AbortHandle
    where
        T: Send,
    {
        self.add(kind_of::<F>(), task, Location::caller())
    }

    #[track_caller]
    pub fn spawn_on<F: Future<Output = T> + Send + 'static>(&mut self, task: F, _: &Handle) -> AbortHandle
    where
        T: Send,
    {
        self.spawn(task)
    }

    #[track_caller]
    pub fn spawn_local<F: Future<Output = T> + 'static>(&mut self, task: F) -> AbortHandle {
        self.add(kind_of::<F>(), task, Location::caller())
    }

    #[track_caller]
    pub fn spawn_local_on<F: Future<Output = T> + 'static>(&mut self, task: F, set: &LocalSet) -> AbortHandle {
        let abort = self.spawn_local(task);
        set.adopt(&abort);
        abort
    }

    #[track_caller]
    pub fn spawn_blocking<F: FnOnce() -> T + Send + 'static>(&mut self, work: F) -> AbortHandle
    where
        T: Send,
    {
        self.add("blocking task", async move { work() }, Location::caller())
    }

    #[track_caller]
    pub fn spawn_blocking_on<F: FnOnce() -> T + Send + 'static>(&mut self, work: F, _: &Handle) -> AbortHandle
    where
        T: Send,
    {
        self.spawn_blocking(work)
    }

    /// Returns a builder for a task of the set. In tokio, this requires `tokio_unstable`.
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder { set: self }
    }
}

/// Shim of `tokio::task::join_set::Builder`. The names of tasks are ignored.
#[must_use]
#[derive(Debug)]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
}

impl<'a, T: 'static> Builder<'a, T> {
    pub fn name(self, _: &'a str) -> Builder<'a, T> {
        self
    }

    #[track_caller]
    pub fn spawn<F: Future<Output = T> + Send + 'static>(self, task: F) -> io::Result<AbortHandle>
    where
        T: Send,
    {
        Ok(self.set.spawn(task))
    }

    #[track_caller]
    pub fn spawn_on<F: Future<Output = T> + Send + 'static>(self, task: F, on: &Handle) -> io::Result<AbortHandle>
    where
        T: Send,
    {
        Ok(self.set.spawn_on(task, on))
    }

    #[track_caller]
    pub fn spawn_local<F: Future<Output = T> + 'static>(self, task: F) -> io::Result<AbortHandle> {
        Ok(self.set.spawn_local(task))
    }

    #[track_caller]
    pub fn spawn_local_on<F: Future<Output = T> + 'static>(self, task: F, on: &LocalSet) -> io::Result<AbortHandle> {
        Ok(self.set.spawn_local_on(task, on))
    }

    #[track_caller]
    pub fn spawn_blocking<F: FnOnce() -> T + Send + 'static>(self, work: F) -> io::Result<AbortHandle>
    where
        T: Send,
    {
        Ok(self.set.spawn_blocking(work))
    }

    #[track_caller]
    pub fn spawn_blocking_on<F: FnOnce() -> T + Send + 'static>(self, work: F, on: &Handle) -> io::Result<AbortHandle>
    where
        T: Send,
    {
        Ok(self.set.spawn_blocking_on(work, on))
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
    }
}

impl<T> Drop for JoinSet<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> FromIterator<F> for JoinSet<T> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> JoinSet<T> {
        let mut set = JoinSet::new();
        set.extend(tasks);
        set
    }
}

impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> Extend<F> for JoinSet<T> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        for task in tasks {
            self.spawn(task);
        }
    }
}
