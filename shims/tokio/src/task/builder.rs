//! `Builder`: tasks with names. In tokio, it requires `tokio_unstable`.

use super::{JoinHandle, LocalSet, spawn, spawn_blocking, spawn_local};
use crate::runtime::Handle;
use std::future::Future;
use std::io;
use std::marker::PhantomData;

/// Shim of `tokio::task::Builder`. The names of tasks are ignored.
#[derive(Debug, Default)]
pub struct Builder<'a>(PhantomData<&'a str>);

impl<'a> Builder<'a> {
    pub fn new() -> Builder<'a> {
        Builder::default()
    }

    #[must_use]
    pub fn name(&self, _: &'a str) -> Builder<'a> {
        Builder::new()
    }

    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(spawn(future))
    }

    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(handle.spawn(future))
    }

    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(spawn_local(future))
    }

    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, set: &LocalSet) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(set.spawn_local(future))
    }

    #[track_caller]
    pub fn spawn_blocking<F, R>(self, work: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(spawn_blocking(work))
    }

    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, work: F, handle: &Handle) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(handle.spawn_blocking(work))
    }
}
