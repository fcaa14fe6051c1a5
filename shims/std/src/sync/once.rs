//! `OnceLock` and `LazyLock`: cells that are set once and then only read.
//!
//! In statics they are reset at the start of each execution; see [`Once`]. A value that was set before the first
//! execution stays set, and reading it is not an event.

use super::Mutex;
use super::atomic::AtomicIdentity;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::PoisonError;
use whippet_runtime::Point;
use whippet_runtime::{Once, Place, read, write};

/// Like `std::sync::OnceLock`; its operations are events.
pub struct OnceLock<T> {
    value: Once<T>,
    identity: AtomicIdentity,
    /// Held by the task that computes the value.
    initializing: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// Creates an empty cell.
    #[must_use]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock { value: Once::new(), identity: AtomicIdentity::new(Location::caller()), initializing: Mutex::new(()) }
    }

    fn get_at(&self, place: Place) -> Option<&T> {
        if !self.value.is_settled()
            && let Some(name) = self.identity.event(Point::ReadsOnceLock, "OnceLock", place, || ())
        {
            read(name);
        }
        self.value.get()
    }

    fn set_at(&self, value: T, place: Place) -> Result<(), T> {
        let name = self.identity.event(Point::SetsOnceLock, "OnceLock", place, || ());
        let done = self.value.set(value);
        if let Some(name) = name {
            if done.is_ok() { write(name) } else { read(name) }
        }
        done
    }

    /// Returns the value, if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.get_at(Location::caller())
    }

    /// Returns a mutable reference to the value, if it is set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the value, unless it is already set.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.set_at(value, Location::caller())
    }

    /// Returns the value. Computes it with `make` if it is not set.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let place = Location::caller();
        if self.get_at(place).is_none() {
            let _making = self.initializing.lock().unwrap_or_else(PoisonError::into_inner);
            if self.get_at(place).is_none() {
                let _ = self.set_at(make(), place);
            }
        }
        self.value.get().expect("it was set")
    }

    /// Consumes the cell and returns its value, if it is set.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value, leaving the cell empty.
    pub fn take(&mut self) -> Option<T> {
        self.value.take()
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
        OnceLock { value: Once::with(Some(value)), ..OnceLock::new() }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> OnceLock<T> {
        self.value.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.value.get() == other.value.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("OnceLock");
        match self.value.get() {
            Some(value) => tuple.field(value),
            None => tuple.field(&format_args!("<uninit>")),
        };
        tuple.finish()
    }
}

/// Like `std::sync::LazyLock`; reading it is an event, unless the value was computed outside executions.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: Cell<Option<F>>,
}

// SAFETY: `make` is taken only under the cell's lock, by the task that computes the value.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `make` computes on first use.
    #[track_caller]
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), make: Cell::new(Some(make)) }
    }

    /// Returns the value. Computes it if it is not set.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| match this.make.take() {
            Some(make) => {
                let next = again(&make);
                let value = make();
                this.make.set(next);
                value
            }
            None => panic!("LazyLock instance has previously been poisoned"),
        })
    }
}

/// Returns a copy of the function if it captures nothing, so that a later execution can compute the value again. The
/// functions of statics capture nothing.
fn again<F>(make: &F) -> Option<F> {
    let plain = size_of::<F>() == 0 || std::any::type_name::<F>().starts_with("fn(");
    // SAFETY: `plain` and the absence of a destructor mean that this is a function pointer or a value of size 0, such as
    // a closure without captures. Both can be duplicated by reading them.
    (plain && !std::mem::needs_drop::<F>()).then(|| unsafe { std::ptr::read(make) })
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
        f.debug_tuple("LazyLock").field(&self.cell.value.get()).finish()
    }
}
