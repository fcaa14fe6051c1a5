//! State of shims: shared by tasks, but not by threads.

use crate::events::execution_id;
use crate::outside::if_left;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that tasks share. All tasks of an execution run on one thread, so no lock is needed. Code called from
/// [`Local::with`] must not access the same value again; shims ensure this by calling no user code inside.
///
/// A value that was made outside of executions, and that none has used, is lent to one thread at a time.
#[derive(Debug)]
pub struct Local<T> {
    /// 0, or the [number](me) of the thread it belongs to, or that and [`LENT`].
    owner: AtomicUsize,
    busy: Cell<bool>,
    /// The execution it was created in, or 0.
    made_in: u64,
    value: UnsafeCell<T>,
}

// SAFETY: `with` rejects every thread but the owner, and threads own the value one after another: see `Local::lend`.
unsafe impl<T> Send for Local<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Local<T> {}

/// The bit in the owner's number that says that the value is given back after its use.
const LENT: usize = 1;

/// Returns an even number of this thread that is unique among living threads: twice the address of a thread-local variable.
#[inline]
pub(crate) fn me() -> usize {
    thread_local! { static ME: u8 = const { 0 }; }
    ME.with(|me| std::ptr::from_ref(me).addr()) << 1
}

/// Gives a lent value back to its owner before.
struct GiveBack<'a>(&'a AtomicUsize, usize);

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Release);
    }
}

impl<T> Local<T> {
    /// Creates a value that belongs to the first execution that uses it.
    pub const fn new(value: T) -> Local<T> {
        Local { owner: AtomicUsize::new(0), busy: Cell::new(false), made_in: 0, value: UnsafeCell::new(value) }
    }

    /// Creates a value that belongs to the running execution, if there is one.
    pub fn here(value: T) -> Local<T> {
        let made_in = execution_id();
        let owner = AtomicUsize::new(if made_in == 0 { 0 } else { me() });
        Local { owner, made_in, ..Local::new(value) }
    }

    /// Calls `work` with the value.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let is_own = self.owner.load(Ordering::Relaxed) == me() && (self.made_in != 0 || execution_id() != 0);
        if !is_own && (execution_id() == 0 || !self.is_mine()) {
            let _given_back = self.lend();
            // SAFETY: the value is lent to this thread until `_given_back` is dropped, and not twice.
            return work(unsafe { &mut *self.value.get() });
        }
        assert!(!self.busy.replace(true), "internal error: the state of a shim is accessed again while it is in use");
        // SAFETY: only the owning thread gets here, and `busy` ensures that it does so once at a time.
        let result = work(unsafe { &mut *self.value.get() });
        self.busy.set(false);
        result
    }

    /// Makes this thread the owner until the result is dropped. Panics if the value belongs to an execution of another thread.
    #[cold]
    #[track_caller]
    fn lend(&self) -> GiveBack<'_> {
        let me = me();
        loop {
            let owner = self.owner.load(Ordering::Relaxed);
            if owner == 0 || owner == me {
                let exchanged = self.owner.compare_exchange(owner, me | LENT, Ordering::Acquire, Ordering::Relaxed);
                if exchanged.is_ok() {
                    return GiveBack(&self.owner, owner);
                }
            } else if owner & LENT != 0 {
                assert!(owner != me | LENT, "internal error: the state of a shim is accessed again while it is in use");
                std::thread::yield_now();
            } else {
                let free = || self.owner.compare_exchange(owner, 0, Ordering::Acquire, Ordering::Relaxed);
                // Another thread may be faster.
                if self.made_in != 0 || if_left(owner, free).is_none() {
                    crate::foreign_threads::refuse(self.made_in);
                }
            }
        }
    }

    /// Returns `true` if this thread may use the value.
    #[inline]
    pub fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == me() || self.may_be_mine()
    }

    #[cold]
    fn may_be_mine(&self) -> bool {
        loop {
            let owner = self.owner.load(Ordering::Relaxed);
            let is_free = owner == 0 || owner & LENT != 0;
            if execution_id() == 0 {
                return is_free || self.made_in == 0 && if_left(owner, || ()).is_some();
            } else if !is_free {
                return owner == me();
            } else if owner == 0 {
                let _ = self.owner.compare_exchange(0, me(), Ordering::Acquire, Ordering::Relaxed);
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Returns the execution it was created in, or 0.
    pub(crate) fn made_in(&self) -> u64 {
        self.made_in
    }

    /// Makes the value belong to the running execution, if there is one. For objects in statics, between executions.
    pub fn adopt(&self) {
        if execution_id() == 0 {
            return;
        }
        let mut owner = self.owner.load(Ordering::Relaxed);
        loop {
            if owner & LENT != 0 {
                std::thread::yield_now();
                owner = self.owner.load(Ordering::Relaxed);
                continue;
            }
            match self.owner.compare_exchange(owner, me(), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => owner = now,
            }
        }
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
