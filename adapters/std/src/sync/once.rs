//! `OnceLock` and `LazyLock`: set once, and read from then on.
//!
//! What an earlier execution has set in a static stays set, and reading it is no event.

use super::Mutex;
use super::atomic::Spot;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::PoisonError;
use whippet_tasks::{Place, read, write};

/// Like `std::sync::OnceLock`; its operations are events.
pub struct OnceLock<T> {
    real: std::sync::OnceLock<T>,
    spot: Spot,
    /// Held by whoever makes the value.
    making: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// Not set.
    #[must_use]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock { real: std::sync::OnceLock::new(), spot: Spot::new(Location::caller()), making: Mutex::new(()) }
    }

    fn look(&self, place: Place) -> Option<&T> {
        // Set for good before this execution began.
        let settled = self.real.get().is_some() && !self.spot.is_of_this_execution();
        if !settled && let Some(name) = self.spot.event("looks at a", "OnceLock", place, || ()) {
            read(name);
        }
        self.real.get()
    }

    fn put(&self, value: T, place: Place) -> Result<(), T> {
        let name = self.spot.event("sets a", "OnceLock", place, || ());
        let done = self.real.set(value);
        if let Some(name) = name {
            if done.is_ok() { write(name) } else { read(name) }
        }
        done
    }

    /// The value, if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.look(Location::caller())
    }

    /// The value of an exclusive owner.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.real.get_mut()
    }

    /// Sets it, if nobody has.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.put(value, Location::caller())
    }

    /// The value, made if nobody has.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let place = Location::caller();
        if self.look(place).is_none() {
            let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
            if self.look(place).is_none() {
                let _ = self.put(make(), place);
            }
        }
        self.real.get().expect("it was set")
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.real.into_inner()
    }

    /// The value; the cell is as new.
    pub fn take(&mut self) -> Option<T> {
        self.real.take()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        OnceLock { real: value.into(), ..OnceLock::new() }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> OnceLock<T> {
        OnceLock { real: self.real.clone(), ..OnceLock::new() }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.real == other.real
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

/// Like `std::sync::LazyLock`; looking at it is an event until it is set.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: Cell<Option<F>>,
}

// The function is taken out under the cell's lock, by whoever makes the value.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that is made when it is needed.
    #[track_caller]
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), make: Cell::new(Some(make)) }
    }

    /// The value, made if nobody has.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| match this.make.take() {
            Some(make) => make(),
            None => panic!("LazyLock instance has previously been poisoned"),
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.cell.real.get()).finish()
    }
}
