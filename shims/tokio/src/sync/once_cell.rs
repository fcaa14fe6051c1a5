//! `OnceCell`: a value that one task initializes while the others wait.
//!
//! As in tokio, the right to initialize is the only permit of a semaphore, and the semaphore is closed when the value
//! is set: this ends the waits of all other tasks at once.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_runtime::Point;
use whippet_runtime::{Acquiring, Once, Place, SemaphoreCore};

/// Shim of `tokio::sync::OnceCell`.
pub struct OnceCell<T> {
    turn: OnceLock<Arc<SemaphoreCore>>,
    value: Once<T>,
}

/// The right to initialize a cell, released on drop.
struct Turn<'a> {
    gate: &'a Arc<SemaphoreCore>,
    place: Place,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.release(1, Point::GivesUpInitializing, self.place);
    }
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
        OnceCell::new_with(None)
    }

    pub const fn const_new() -> OnceCell<T> {
        OnceCell { turn: OnceLock::new(), value: Once::new() }
    }

    pub const fn const_new_with(value: T) -> OnceCell<T> {
        OnceCell { turn: OnceLock::new(), value: Once::with(Some(value)) }
    }

    pub fn new_with(value: Option<T>) -> OnceCell<T> {
        let cell = OnceCell { turn: OnceLock::new(), value: Once::with(value) };
        cell.turn().object();
        cell
    }

    fn turn(&self) -> &Arc<SemaphoreCore> {
        self.turn.get_or_init(|| Arc::new(SemaphoreCore::closing("once-cell", 1)))
    }

    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if !self.value.is_settled() {
            self.turn().is_closed(Location::caller());
        }
        self.value.get()
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.value.is_settled() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.turn().try_acquire(1, Point::SetsCell, Location::caller()) {
            Some(true) => {
                self.value.set(value).map_err(SetError::AlreadyInitializedError)?;
                self.turn().close_now();
                Ok(())
            }
            Some(false) => Err(SetError::InitializingError(value)),
            None => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> Fut, Fut: Future<Output = T>>(&self, make: F) -> impl Future<Output = &T> {
        let place = Location::caller();
        async move {
            let make = || async { Ok::<T, std::convert::Infallible>(make().await) };
            match self.init(make, place).await {
                Ok(value) => value,
                Err(never) => match never {},
            }
        }
    }

    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, make: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.init(make, Location::caller())
    }

    async fn init<E, F, Fut>(&self, make: F, place: Place) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if !self.value.is_settled() {
            let gate = self.turn();
            let mut asks = Acquiring::new(gate.clone(), 1, Point::AsksToInitialize, place);
            // A closed semaphore means that the value is set.
            if poll_fn(|cx| asks.poll(cx)).await.is_ok() {
                let turn = Turn { gate, place };
                let value = make().await?;
                gate.close_as(Point::Initializes, place, || drop(self.value.set(value)));
                std::mem::forget(turn);
            }
        }
        Ok(self.value.get().expect("the value is set"))
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
