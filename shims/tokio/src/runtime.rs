//! Runtimes. During an exploration, all runtimes are the explored one; outside of one, `block_on` runs one order.

use crate::task::JoinHandle;
use crate::task::blocking::{Region, may_block};
use crate::unmodelled::not_modelled;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A runtime. All values denote the same one.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
}

/// A runtime whose tasks need not be `Send`. In the shim, no task has to be.
#[derive(Debug)]
pub struct LocalRuntime {
    handle: Handle,
}

/// A handle to the runtime.
#[derive(Debug, Clone)]
pub struct Handle {
    name: Option<Arc<str>>,
    flavor: RuntimeFlavor,
}

/// The identifier of a runtime or of a `LocalSet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(u32);

impl Id {
    pub(crate) fn of_local_set(number: u32) -> Id {
        // The first number is the runtime's.
        Id(number + 1)
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug)]
pub struct EnterGuard<'a>(std::marker::PhantomData<&'a ()>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    CurrentThread,
    MultiThread,
}

#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    pub fn is_missing_context(&self) -> bool {
        true
    }
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl std::fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("there is no reactor running, must be called from the context of a Tokio 1.x runtime")
    }
}
impl std::error::Error for TryCurrentError {}

/// The options of a [`LocalRuntime`]. It has no options.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {}

/// The reaction to an unhandled panic. The shim ignores it: an unhandled panic is always a finding.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum UnhandledPanic {
    Ignore,
    ShutdownRuntime,
}

/// The seed for the scheduling of a real runtime. The shim ignores it: all orders are explored.
#[derive(Debug, Clone)]
pub struct RngSeed(());

impl RngSeed {
    pub fn from_bytes(_: &[u8]) -> RngSeed {
        RngSeed(())
    }
}

/// A builder of runtimes. Its settings do not affect the set of possible orders.
#[derive(Debug)]
pub struct Builder {
    handle: Handle,
}

macro_rules! settings {
    ($($name:ident($($argument:ty),*)),* $(,)?) => {$(
        pub fn $name(&mut self $(, _: $argument)*) -> &mut Builder {
            self
        }
    )*};
}

impl Builder {
    pub fn new_current_thread() -> Builder {
        Builder { handle: Handle { name: None, flavor: RuntimeFlavor::CurrentThread } }
    }
    pub fn new_multi_thread() -> Builder {
        Builder { handle: Handle { name: None, flavor: RuntimeFlavor::MultiThread } }
    }
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Builder {
        let name: String = name.into();
        assert!(!name.trim().is_empty(), "runtime name shouldn't be empty");
        self.handle.name = Some(name.into());
        self
    }
    settings!(
        enable_all(),
        enable_io(),
        enable_time(),
        start_paused(bool),
        worker_threads(usize),
        max_blocking_threads(usize),
        thread_name(impl Into<String>),
        thread_stack_size(usize),
        thread_keep_alive(Duration),
        global_queue_interval(u32),
        event_interval(u32),
        on_thread_start(impl Fn() + Send + Sync + 'static),
        on_thread_stop(impl Fn() + Send + Sync + 'static),
        on_thread_park(impl Fn() + Send + Sync + 'static),
        on_thread_unpark(impl Fn() + Send + Sync + 'static),
        thread_name_fn(impl Fn() -> String + Send + Sync + 'static),
        max_io_events_per_tick(usize),
        max_io_events_per_busy_tick(usize),
        // In tokio, these require `tokio_unstable`.
        disable_lifo_slot(),
        enable_alt_timer(),
        enable_eager_driver_handoff(),
        enable_sharded_blocking_queue(),
        rng_seed(RngSeed),
        unhandled_panic(UnhandledPanic),
    );
    pub fn build(&mut self) -> std::io::Result<Runtime> {
        Ok(Runtime { handle: self.handle.clone() })
    }
    pub fn build_local(&mut self, _: LocalOptions) -> std::io::Result<LocalRuntime> {
        Ok(LocalRuntime { handle: self.handle.clone() })
    }
}

/// Defines the methods that runtimes and handles have in common.
macro_rules! runs_tasks {
    ($($name:ident),*) => {$(
        impl $name {
            #[track_caller]
            pub fn block_on<F: Future>(&self, future: F) -> F::Output {
                block_on(self.runtime_flavor(), future)
            }

            #[track_caller]
            pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
            where
                F: Future + Send + 'static,
                F::Output: Send + 'static,
            {
                crate::task::spawn(future)
            }

            #[track_caller]
            pub fn spawn_blocking<F, R>(&self, work: F) -> JoinHandle<R>
            where
                F: FnOnce() -> R + Send + 'static,
                R: Send + 'static,
            {
                crate::task::spawn_blocking(work)
            }

            pub fn metrics(&self) -> RuntimeMetrics {
                RuntimeMetrics(())
            }

            pub fn enter(&self) -> EnterGuard<'_> {
                EnterGuard(std::marker::PhantomData)
            }
        }
    )*};
}
runs_tasks!(Runtime, LocalRuntime, Handle);

/// Defines the methods of the owned runtimes.
macro_rules! is_owned {
    ($($name:ident: $flavor:ident),*) => {$(
        impl $name {
            pub fn new() -> std::io::Result<$name> {
                Ok($name { handle: Handle { name: None, flavor: RuntimeFlavor::$flavor } })
            }
            fn runtime_flavor(&self) -> RuntimeFlavor {
                self.handle.flavor
            }
            pub fn handle(&self) -> &Handle {
                &self.handle
            }
            pub fn shutdown_background(self) {}
            pub fn shutdown_timeout(self, _: Duration) {}
        }
    )*};
}
is_owned!(Runtime: MultiThread, LocalRuntime: CurrentThread);

impl LocalRuntime {
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        crate::task::spawn_local(future)
    }
}

#[track_caller]
fn block_on<F: Future>(flavor: RuntimeFlavor, future: F) -> F::Output {
    if whippet_runtime::task_name().is_some() {
        assert!(
            may_block(),
            "Cannot start a runtime from within a runtime. This happens because a function (like `block_on`) attempted to block the \
             current thread while the thread is being used to drive asynchronous tasks. If you are in an async function, use `.await` \
             on the future instead of blocking on it."
        );
        let _region = Region::enter(false);
        let output = whippet_runtime::block_on_here(future);
        return output.unwrap_or_else(|| panic!("the execution is over"));
    }
    crate::whippet::main(flavor == RuntimeFlavor::MultiThread, future)
}

/// Returns the flavor of the runtime that the test declares.
fn declared_flavor() -> RuntimeFlavor {
    if whippet_runtime::declares_threads() { RuntimeFlavor::MultiThread } else { RuntimeFlavor::CurrentThread }
}

impl Handle {
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    pub fn try_current() -> Result<Handle, TryCurrentError> {
        let current = || Handle { name: None, flavor: declared_flavor() };
        whippet_runtime::task_name().map(|_| current()).ok_or(TryCurrentError(()))
    }

    /// Returns the flavor that the test declares. Inside of it, all runtimes are the test's.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.flavor
    }

    pub fn id(&self) -> Id {
        Id(1)
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// Returns the index of the current worker thread. There is only one, with index 0.
pub fn worker_index() -> Option<usize> {
    whippet_runtime::task_name().map(|_| 0)
}

/// Returns `true` if I/O failed because its runtime was shut down. Always `false`: I/O is not modelled.
pub fn is_rt_shutdown_err(_: &std::io::Error) -> bool {
    false
}

/// The metrics of a runtime. Metrics that depend on its speed have no meaning in the shim: calling them is an error.
#[derive(Debug, Clone)]
pub struct RuntimeMetrics(());

macro_rules! not_measured {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {$(
        #[track_caller]
        pub fn $name(&self $(, _: $argument)*) -> $result {
            not_modelled(concat!("runtime::RuntimeMetrics::", stringify!($name)), Location::caller())
        }
    )*};
}

impl RuntimeMetrics {
    pub fn num_workers(&self) -> usize {
        1
    }

    not_measured! {
        num_alive_tasks() -> usize;
        global_queue_depth() -> usize;
        worker_park_count(usize) -> u64;
        worker_park_unpark_count(usize) -> u64;
        worker_total_busy_duration(usize) -> Duration;
    }
}
