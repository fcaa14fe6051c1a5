//! Atomics. Each operation is an event that reads or writes one object.

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{Action, Object, Place, execution_id, is_live, read, write};

/// The identity of an atomic or a set-once cell in the current execution. A static has no creator, so its first use in
/// an execution names it, by the place where it was made.
pub(super) struct AtomicIdentity {
    made: Place,
    execution: real::AtomicU64,
    name: real::AtomicU64,
}

impl AtomicIdentity {
    pub(super) const fn new(made: Place) -> AtomicIdentity {
        AtomicIdentity { made, execution: real::AtomicU64::new(0), name: real::AtomicU64::new(0) }
    }

    /// Records an event. Returns the object that it touches, or `None` outside executions. On the first use in an
    /// execution, calls `reset` if an earlier execution has used the object.
    pub(super) fn event(&self, point: Point, what: &'static str, place: Place, reset: impl FnOnce()) -> Option<Name> {
        if !is_live() {
            return None;
        }
        whippet_runtime::event(Action { point, what, object: None, place });
        if !is_live() {
            return None;
        }
        let now = execution_id();
        let before = self.execution.swap(now, Ordering::Relaxed);
        if before != now {
            if before != 0 {
                reset();
            }
            let object = Object::late(what, Some(self.made));
            self.name.store(object.name.0, Ordering::Relaxed);
        }
        Some(Name(self.name.load(Ordering::Relaxed)))
    }
}

/// Defines an atomic type: the operations that all atomics share, and the read-modify-write operations of this type.
macro_rules! atomic {
    ($name:ident $(<$t:ident>)?, $type:ty, $own:ident { $($operation:ident)* }) => {
        #[doc = concat!("Like `std::sync::atomic::", stringify!($name), "`; its operations are events.")]
        pub struct $name $(<$t>)? {
            real: real::$name $(<$t>)?,
            initial: $type,
            identity: AtomicIdentity,
        }

        impl $(<$t>)? $name $(<$t>)? {
            /// Creates an atomic with this value.
            #[track_caller]
            pub const fn new(value: $type) -> Self {
                $name { real: real::$name::new(value), initial: value, identity: AtomicIdentity::new(Location::caller()) }
            }

            fn event(&self, point: Point, place: Place) -> Option<Name> {
                let reset = || self.real.store(self.initial, Ordering::SeqCst);
                self.identity.event(point, stringify!($name), place, reset)
            }

            /// Returns the value.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                self.event(Point::Loads, Location::caller()).map(read);
                self.real.load(order)
            }

            /// Sets the value.
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                self.event(Point::Stores, Location::caller()).map(write);
                self.real.store(value, order);
            }

            /// Sets the value and returns the previous one.
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                self.event(Point::Swaps, Location::caller()).map(write);
                self.real.swap(value, order)
            }

            /// Sets the value to `new` if it is `current`. Returns the previous value, as `Ok` if it was replaced.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let name = self.event(Point::ComparesAndExchanges, Location::caller());
                let result = self.real.compare_exchange(current, new, success, failure);
                // A failed exchange only reads.
                name.map(if result.is_ok() { write } else { read });
                result
            }

            /// Like `compare_exchange`. Never fails spuriously.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Sets the value to the result of `update`, unless that is `None`. Returns the previous value, as `Ok` if
            /// it was replaced.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                update: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let name = self.event(Point::Updates, Location::caller());
                let result = self.real.fetch_update(set, fetch, update);
                name.map(if result.is_ok() { write } else { read });
                result
            }

            /// Returns a mutable reference to the value.
            pub fn get_mut(&mut self) -> &mut $type {
                self.real.get_mut()
            }

            /// Consumes the atomic and returns its value.
            pub fn into_inner(self) -> $type {
                self.real.into_inner()
            }

            /// Returns a pointer to the value.
            pub const fn as_ptr(&self) -> *mut $type {
                self.real.as_ptr()
            }
        }

        impl $(<$t>)? From<$type> for $name $(<$t>)? {
            #[track_caller]
            fn from(value: $type) -> Self {
                $name::new(value)
            }
        }

        impl $(<$t>)? fmt::Debug for $name $(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real.fmt(f)
            }
        }

        atomic!(@$own $name, $type, $($operation)*);
    };
    (@plain $name:ident, $type:ty, $($operation:ident)*) => {
        impl $name {
            $(
                #[doc = concat!("Applies `", stringify!($operation), "` to the value and returns the previous one.")]
                #[track_caller]
                pub fn $operation(&self, value: $type, order: Ordering) -> $type {
                    self.event(Point::ChangesAtomic, Location::caller()).map(write);
                    self.real.$operation(value, order)
                }
            )*
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                $name::new(<$type>::default())
            }
        }
    };
    (@pointer $name:ident, $type:ty,) => {
        // SAFETY: `initial` is never dereferenced, only stored back into the atomic, and the real atomic is `Send`.
        unsafe impl<T> Send for $name<T> {}
        // SAFETY: `initial` is never written after creation, and the real atomic is `Sync`.
        unsafe impl<T> Sync for $name<T> {}

        impl<T> Default for $name<T> {
            #[track_caller]
            fn default() -> Self {
                $name::new(std::ptr::null_mut())
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident, $type:ty;)*) => {$(
        atomic!($name, $type, plain {
            fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min
        });
    )*};
}
integers! {
    AtomicU8, u8;
    AtomicU16, u16;
    AtomicU32, u32;
    AtomicU64, u64;
    AtomicUsize, usize;
    AtomicI8, i8;
    AtomicI16, i16;
    AtomicI32, i32;
    AtomicI64, i64;
    AtomicIsize, isize;
}
atomic!(AtomicBool, bool, plain { fetch_and fetch_nand fetch_or fetch_xor });
atomic!(AtomicPtr<T>, *mut T, pointer {});

impl AtomicBool {
    /// Negates the value and returns the previous one.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}
