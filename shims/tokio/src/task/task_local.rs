//! `task_local!`: values that belong to a task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A key for a value per task. The address of the static identifies the key.
pub struct LocalKey<T: 'static> {
    #[doc(hidden)]
    pub key: fn() -> usize,
    #[doc(hidden)]
    pub marker: std::marker::PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task-local value not set")
    }
}
impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Some(future) }
    }

    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, work: impl FnOnce() -> R) -> R {
        let scope = Scope::enter(self, Some(value));
        let result = work();
        drop(scope);
        result
    }

    #[track_caller]
    pub fn with<R>(&'static self, work: impl FnOnce(&T) -> R) -> R {
        self.try_with(work).expect("cannot access a task-local storage value without setting it first")
    }

    pub fn try_with<R>(&'static self, work: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        whippet_runtime::with_local((self.key)(), |value: Option<&T>| value.map(work).ok_or(AccessError))
    }

    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }
}

/// A guard: the value of the key is set while it exists.
struct Scope<T: 'static> {
    key: &'static LocalKey<T>,
    set: bool,
}

impl<T: 'static> Scope<T> {
    fn enter(key: &'static LocalKey<T>, value: Option<T>) -> Scope<T> {
        let set = value.is_some();
        if let Some(value) = value {
            whippet_runtime::push_local((key.key)(), value);
        }
        Scope { key, set }
    }

    fn leave(&mut self) -> Option<T> {
        if std::mem::take(&mut self.set) { whippet_runtime::pop_local((self.key.key)()) } else { None }
    }
}

impl<T: 'static> Drop for Scope<T> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A future that runs with its own value of a key.
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    future: Option<F>,
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        // SAFETY: the value is never pinned.
        unsafe { self.get_unchecked_mut() }.value.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: only the future is structurally pinned, and it is dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        let mut scope = Scope::enter(this.key, this.value.take());
        let future = this.future.as_mut().expect("it is polled until it is done");
        // SAFETY: `self` is pinned, and with it the future.
        let polled = unsafe { Pin::new_unchecked(future) }.poll(cx);
        if polled.is_ready() {
            this.future = None;
        }
        this.value = scope.leave();
        polled
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attr])* $vis static $name: $t);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty) => {
        $(#[$attr])*
        $vis static $name: $crate::task::LocalKey<$t> = $crate::task::LocalKey {
            key: || ::std::ptr::from_ref(&$name) as usize,
            marker: ::std::marker::PhantomData,
        };
    };
}
