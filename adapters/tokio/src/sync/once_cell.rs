//! `OnceCell`: a value that one task makes while the others wait.

use super::Semaphore;
use std::fmt;
use std::future::Future;
use whippet_tasks::Once;

/// Stand-in for `tokio::sync::OnceCell`.
pub struct OnceCell<T> {
    turn: Semaphore,
    value: Once<T>,
}

#[derive(PartialEq, Eq)]
pub enum SetError<T> {
    AlreadyInitializedError(T),
    InitializingError(T),
}

impl<T> SetError<T> {
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

impl<T> fmt::Debug for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_already_init_err() { "AlreadyInitializedError" } else { "InitializingError" })
    }
}
impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
impl<T> std::error::Error for SetError<T> {}

impl<T> Default for OnceCell<T> {
    fn default() -> OnceCell<T> {
        OnceCell::new()
    }
}

impl<T> OnceCell<T> {
    pub fn new() -> OnceCell<T> {
        OnceCell { turn: Semaphore::new(1), value: Once::new() }
    }

    pub const fn const_new() -> OnceCell<T> {
        OnceCell { turn: Semaphore::const_new(1), value: Once::new() }
    }

    pub const fn const_new_with(value: T) -> OnceCell<T> {
        OnceCell { turn: Semaphore::const_new(1), value: Once::with(Some(value)) }
    }

    pub fn new_with(value: Option<T>) -> OnceCell<T> {
        OnceCell { turn: Semaphore::new(1), value: Once::with(value) }
    }

    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // Whether somebody has set it by now is an answer that others can change.
        if !self.value.is_settled() {
            self.turn.available_permits();
        }
        self.value.get()
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match self.turn.try_acquire() {
            Ok(_turn) => self.value.set(value).map_err(SetError::AlreadyInitializedError),
            Err(_) if self.value.get().is_some() => Err(SetError::AlreadyInitializedError(value)),
            Err(_) => Err(SetError::InitializingError(value)),
        }
    }

    pub async fn get_or_init<F: FnOnce() -> Fut, Fut: Future<Output = T>>(&self, make: F) -> &T {
        let made: Result<&T, std::convert::Infallible> = self.get_or_try_init(|| async { Ok(make().await) }).await;
        match made {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    pub async fn get_or_try_init<E, F, Fut>(&self, make: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let _turn = self.turn.acquire().await.expect("it is never closed");
        if self.value.get().is_none() {
            let value = make().await?;
            let _ = self.value.set(value);
        }
        Ok(self.value.get().expect("it is set"))
    }

    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    pub fn take(&mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> OnceCell<T> {
        OnceCell::new_with(Some(value))
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    fn clone(&self) -> OnceCell<T> {
        OnceCell::new_with(self.value.get().cloned())
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.value.get()).finish()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &OnceCell<T>) -> bool {
        self.value.get() == other.value.get()
    }
}
