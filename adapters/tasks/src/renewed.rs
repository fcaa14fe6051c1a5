//! What begins anew with each execution: the state of objects that statics hold.
//!
//! A static outlives executions, and it has no creator: the first use of it in an execution is an event, which names it by
//! where it was made.

use crate::events::{self, event, execution_id, is_live};
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

struct Current<T> {
    execution: u64,
    object: Object,
    state: T,
}

/// An object and its state, which is the default one at the beginning of each execution.
pub struct Renewed<T> {
    kind: &'static str,
    made: Option<Place>,
    current: Local<Option<Current<T>>>,
}

impl<T: Default> Renewed<T> {
    /// An object of that kind, a word for stories.
    #[must_use]
    pub const fn new(kind: &'static str, made: Option<Place>) -> Renewed<T> {
        Renewed { kind, made, current: Local::new(None) }
    }

    /// Whether it is new to this execution.
    fn is_fresh(&self) -> bool {
        let now = execution_id();
        !self.current.is_mine() || self.current.with(|c| c.as_ref().is_none_or(|c| c.execution != now && now != 0))
    }

    fn begin(&self, object: Object) {
        let next = Current { execution: execution_id(), object, state: T::default() };
        self.current.adopt();
        // What an earlier execution left may hold values of the user's.
        drop(self.current.with(|c| c.replace(next)));
    }

    /// Whether it belongs to this thread: after an execution it may be dropped by another.
    pub fn is_mine(&self) -> bool {
        self.current.is_mine()
    }

    /// It as an object, named by the running task if it is new.
    pub fn object(&self) -> Object {
        if self.is_fresh() {
            self.begin(Object::new(self.kind));
        }
        self.current.with(|c| c.as_ref().expect("it was made").object)
    }

    /// It as an object, named by where it was made if it is new: the running event uses it first.
    pub fn named(&self) -> Object {
        if self.is_fresh() {
            self.begin(Object::late(self.kind, self.made));
        }
        self.object()
    }

    /// It as an object. If it is new, using it is an event that changes `parts`.
    pub fn used(&self, parts: &[Part], place: Place) -> Object {
        if self.is_fresh() && is_live() {
            event(Action { verb: "begins to use a", what: self.kind, link: "", object: None, place });
            let object = self.named();
            for part in parts {
                events::write(object.part(*part));
            }
        }
        self.object()
    }

    /// Works on the state.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.object();
        self.current.with(|c| work(&mut c.as_mut().expect("it was made").state))
    }
}

/// A value that is set at most once in each execution. Who has a reference to one of an earlier execution may keep it:
/// such values are never dropped. What was set outside of executions stays set.
pub struct Once<T> {
    given: Option<T>,
    first: OnceLock<T>,
    /// The one of this execution, if an earlier one has set the first.
    later: AtomicPtr<OnceLock<T>>,
    /// The execution that has set it; 0 for none.
    set_in: AtomicU64,
}

impl<T> Once<T> {
    /// Not set.
    #[must_use]
    pub const fn new() -> Once<T> {
        Once::with(None)
    }

    /// Set from the beginning, if there is a value.
    #[must_use]
    pub const fn with(given: Option<T>) -> Once<T> {
        Once { given, first: OnceLock::new(), later: AtomicPtr::new(std::ptr::null_mut()), set_in: AtomicU64::new(0) }
    }

    fn cell(&self) -> &OnceLock<T> {
        // What is put there is freed only with the whole.
        unsafe { self.later.load(Ordering::Acquire).as_ref() }.unwrap_or(&self.first)
    }

    /// Whether an earlier execution has set it, and this one has not.
    fn is_stale(&self) -> bool {
        let (set_in, now) = (self.set_in.load(Ordering::Relaxed), execution_id());
        set_in != 0 && now != 0 && set_in != now
    }

    /// Whether it was set outside of executions: nothing changes it any more.
    pub fn is_settled(&self) -> bool {
        self.get().is_some() && self.set_in.load(Ordering::Relaxed) == 0
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        if self.is_stale() { None } else { self.given.as_ref().or_else(|| self.cell().get()) }
    }

    /// Sets it, or gives the value back.
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

    /// The value of an exclusive owner.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.is_stale() {
            return None;
        }
        // As in `cell`, and nobody else has it.
        let cell = unsafe { self.later.get_mut().as_mut() }.unwrap_or(&mut self.first);
        self.given.as_mut().or_else(|| cell.get_mut())
    }

    /// The value; the cell is as new.
    pub fn take(&mut self) -> Option<T> {
        if self.is_stale() {
            return None;
        }
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
            // It came out of a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(later) });
        }
    }
}
