//! State that is reset in each execution: objects in statics.
//!
//! A static outlives executions and has no creator. Its first use in an execution is an event, which names it by its
//! place of construction.

use crate::events::{self, event, execution_id, is_live};
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use crate::points::Point;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

struct Current<T> {
    execution: u64,
    object: Object,
    state: T,
}

/// An object and its state, which is reset to the default at the beginning of each execution.
pub struct PerExecution<T> {
    kind: &'static str,
    made: Option<Place>,
    current: Local<Option<Current<T>>>,
}

impl<T: Default> PerExecution<T> {
    /// Creates an object of this kind, a word for counterexamples.
    #[must_use]
    pub const fn new(kind: &'static str, made: Option<Place>) -> PerExecution<T> {
        PerExecution { kind, made, current: Local::new(None) }
    }

    /// Returns `true` if the object was not used in this execution yet.
    fn is_fresh(&self) -> bool {
        let now = execution_id();
        let is_foreign = now != 0 && !self.current.is_mine();
        is_foreign || self.current.with(|c| c.as_ref().is_none_or(|c| c.execution != now && now != 0))
    }

    fn begin(&self, object: Object) {
        let next = Current { execution: execution_id(), object, state: T::default() };
        self.current.adopt();
        let is_outside = next.execution == 0;
        // The state of an earlier execution may hold user values, whose destructors must not run inside `with`. Outside of executions,
        // another thread may be faster.
        drop(self.current.with(|c| if is_outside && c.is_some() { Some(next) } else { c.replace(next) }));
    }

    /// Returns `true` if the object belongs to this thread: after an execution, another thread may drop it.
    pub fn is_mine(&self) -> bool {
        self.current.is_mine()
    }

    /// Returns the object; at its first use, it is named by the running task.
    pub fn object(&self) -> Object {
        if self.is_fresh() {
            self.begin(Object::new(self.kind));
        }
        self.current.with(|c| c.as_ref().expect("it was made").object)
    }

    /// Returns the object; at its first use, it is named by its place of construction. The running event uses it
    /// first.
    pub fn named(&self) -> Object {
        if self.is_fresh() {
            self.begin(Object::late(self.kind, self.made));
        }
        self.object()
    }

    /// Returns the object. Its first use is an event that writes `parts`.
    pub fn used(&self, parts: &[Part], place: Place) -> Object {
        if self.is_fresh() && is_live() {
            event(Action { point: Point::BeginsToUse, what: self.kind, object: None, place });
            let object = self.named();
            for part in parts {
                events::write(object.part(*part));
            }
        }
        self.object()
    }

    /// Calls `work` with the state.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.object();
        self.current.with(|c| work(&mut c.as_mut().expect("it was made").state))
    }
}

/// A value that is set at most once in each execution. References to values of earlier executions stay valid, because
/// these are never dropped. A value that was set outside any execution stays set.
pub struct Once<T> {
    given: Option<T>,
    first: OnceLock<T>,
    /// The cell of this execution, if an earlier one has set `first`.
    later: AtomicPtr<OnceLock<T>>,
    /// The execution that has set it; 0 for none.
    set_in: AtomicU64,
}

impl<T> Once<T> {
    /// Creates an empty cell.
    #[must_use]
    pub const fn new() -> Once<T> {
        Once::with(None)
    }

    /// Creates a cell that holds `given`, if that is a value.
    #[must_use]
    pub const fn with(given: Option<T>) -> Once<T> {
        Once { given, first: OnceLock::new(), later: AtomicPtr::new(std::ptr::null_mut()), set_in: AtomicU64::new(0) }
    }

    fn cell(&self) -> &OnceLock<T> {
        // SAFETY: the pointer is null or comes from a box that is freed only when `self` is dropped.
        unsafe { self.later.load(Ordering::Acquire).as_ref() }.unwrap_or(&self.first)
    }

    /// Returns `true` if an earlier execution has set the cell, and this one has not.
    fn is_stale(&self) -> bool {
        let (set_in, now) = (self.set_in.load(Ordering::Relaxed), execution_id());
        set_in != 0 && now != 0 && set_in != now
    }

    /// Returns `true` if the cell was set outside any execution: its value is final.
    pub fn is_settled(&self) -> bool {
        self.get().is_some() && self.set_in.load(Ordering::Relaxed) == 0
    }

    /// Returns the value, if it is set.
    pub fn get(&self) -> Option<&T> {
        if self.is_stale() { None } else { self.given.as_ref().or_else(|| self.cell().get()) }
    }

    /// Sets the value, or returns it if the cell is already set.
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.given.is_some() {
            return Err(value);
        }
        if self.is_stale() {
            self.later.store(Box::into_raw(Box::new(OnceLock::new())), Ordering::Release);
        }
        self.cell().set(value)?;
        self.set_in.store(execution_id(), Ordering::Relaxed);
        Ok(())
    }

    /// Returns a mutable reference to the value, if it is set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.is_stale() {
            return None;
        }
        // SAFETY: as in `cell`, and `self` is borrowed exclusively.
        let cell = unsafe { self.later.get_mut().as_mut() }.unwrap_or(&mut self.first);
        self.given.as_mut().or_else(|| cell.get_mut())
    }

    /// Takes the value and leaves the cell empty.
    pub fn take(&mut self) -> Option<T> {
        if self.is_stale() {
            return None;
        }
        // SAFETY: as in `cell`, and `self` is borrowed exclusively.
        let cell = unsafe { self.later.get_mut().as_mut() }.unwrap_or(&mut self.first);
        self.given.take().or_else(|| cell.take())
    }
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

impl<T> Drop for Once<T> {
    fn drop(&mut self) {
        let later = *self.later.get_mut();
        if !later.is_null() {
            // SAFETY: the pointer came from a box, and `self`, to which all references are bound, ends here.
            drop(unsafe { Box::from_raw(later) });
        }
    }
}
