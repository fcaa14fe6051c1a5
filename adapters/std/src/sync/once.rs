//! `OnceLock` and `LazyLock`: set once, and read from then on.
//!
//! In statics they begin anew with each execution. Who has a reference to an old value may keep it: such values are never
//! dropped. What was set before the first execution stays set, and reading it is no event.

use super::Mutex;
use super::atomic::Spot;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use whippet_tasks::{Place, execution_id, read, write};

type Real<T> = std::sync::OnceLock<T>;

/// Like `std::sync::OnceLock`; its operations are events.
pub struct OnceLock<T> {
    first: Real<T>,
    /// The one of this execution, if an earlier one has set the first.
    later: AtomicPtr<Real<T>>,
    /// The execution that has set it; 0 for none.
    set_in: AtomicU64,
    spot: Spot,
    /// Held by whoever makes the value.
    making: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// Not set.
    #[must_use]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            first: Real::new(),
            later: AtomicPtr::new(std::ptr::null_mut()),
            set_in: AtomicU64::new(0),
            spot: Spot::new(Location::caller()),
            making: Mutex::new(()),
        }
    }

    fn real(&self) -> &Real<T> {
        // What is put there is freed only with the whole.
        unsafe { self.later.load(Ordering::Acquire).as_ref() }.unwrap_or(&self.first)
    }

    fn real_mut(&mut self) -> &mut Real<T> {
        // As above, and nobody else has it.
        unsafe { self.later.get_mut().as_mut() }.unwrap_or(&mut self.first)
    }

    /// An earlier execution has set it: this one has not.
    fn renew(&self) {
        let set_in = self.set_in.load(Ordering::Relaxed);
        if set_in != 0 && set_in != execution_id() {
            self.set_in.store(0, Ordering::Relaxed);
            self.later.store(Box::into_raw(Box::new(Real::new())), Ordering::Release);
        }
    }

    fn look(&self, place: Place) -> Option<&T> {
        let settled = self.real().get().is_some() && self.set_in.load(Ordering::Relaxed) == 0;
        if !settled && let Some(name) = self.spot.event("looks at a", "OnceLock", place, || self.renew()) {
            read(name);
        }
        self.real().get()
    }

    fn put(&self, value: T, place: Place) -> Result<(), T> {
        let name = self.spot.event("sets a", "OnceLock", place, || self.renew());
        let done = self.real().set(value);
        if let Some(name) = name {
            if done.is_ok() {
                self.set_in.store(execution_id(), Ordering::Relaxed);
                write(name);
            } else {
                read(name);
            }
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
        self.real_mut().get_mut()
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
        self.real().get().expect("it was set")
    }

    /// The value.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// The value; the cell is as new.
    pub fn take(&mut self) -> Option<T> {
        self.real_mut().take()
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        let later = *self.later.get_mut();
        if !later.is_null() {
            // It came out of a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(later) });
        }
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
        let cell = OnceLock::new();
        let _ = cell.first.set(value);
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> OnceLock<T> {
        self.real().get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.real() == other.real()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real().fmt(f)
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

/// The same function once more, if it holds nothing: those of statics hold nothing.
fn again<F>(make: &F) -> Option<F> {
    let plain = size_of::<F>() == 0 || std::any::type_name::<F>().starts_with("fn(");
    // A function, or a closure without captures, can be copied.
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
        f.debug_tuple("LazyLock").field(&self.cell.real().get()).finish()
    }
}
