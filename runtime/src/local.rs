//! State of shims: shared by tasks, but not by threads.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that tasks share. All tasks of an execution run on one thread, so no lock is needed. Code called from
/// [`Local::with`] must not access the same value again; shims ensure this by calling no user code inside.
#[derive(Debug)]
pub struct Local<T> {
    owner: AtomicUsize,
    busy: Cell<bool>,
    /// The execution it was created in, or 0.
    made_in: u64,
    value: UnsafeCell<T>,
}

// SAFETY: `with` rejects every thread but the owner.
unsafe impl<T> Send for Local<T> {}
unsafe impl<T> Sync for Local<T> {}

/// Returns an identifier of this thread that is unique among living threads: the address of a thread-local variable.
#[inline]
fn me() -> usize {
    thread_local! { static ME: u8 = const { 0 }; }
    ME.with(|me| std::ptr::from_ref(me).addr())
}

impl<T> Local<T> {
    /// Creates a value that belongs to the first thread that uses it.
    pub const fn new(value: T) -> Local<T> {
        Local { owner: AtomicUsize::new(0), busy: Cell::new(false), made_in: 0, value: UnsafeCell::new(value) }
    }

    /// Creates a value that belongs to this thread.
    pub fn here(value: T) -> Local<T> {
        let local = Local { made_in: crate::events::execution_id(), ..Local::new(value) };
        local.adopt();
        local
    }

    /// Calls `work` with the value.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        if !self.is_mine() {
            crate::foreign_threads::refuse(self.made_in);
        }
        assert!(!self.busy.replace(true), "internal error: the state of a shim is accessed again while it is in use");
        // SAFETY: only the owning thread gets here, and `busy` ensures that it does so once at a time.
        let result = work(unsafe { &mut *self.value.get() });
        self.busy.set(false);
        result
    }

    /// Returns `true` if this thread may use the value.
    #[inline]
    pub fn is_mine(&self) -> bool {
        let me = me();
        match self.owner.load(Ordering::Relaxed) {
            0 => self.owner.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
            owner => owner == me,
        }
    }

    /// Returns the execution it was created in, or 0.
    pub(crate) fn made_in(&self) -> u64 {
        self.made_in
    }

    /// Makes the value belong to this thread. For objects in statics, between executions.
    pub fn adopt(&self) {
        self.owner.store(me(), Ordering::Relaxed);
        self.busy.set(false);
    }

    /// Unwraps the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}
