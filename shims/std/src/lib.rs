//! `std`, with shared memory that Whippet observes.
//!
//! A crate that depends on this package *under the name `std`* is compiled against it instead of the real `std`,
//! without changes to its sources:
//!
//! ```toml
//! [dependencies]
//! std = { package = "whippet-std", path = "…" }
//! core = { package = "whippet-core", path = "…" }
//! ```
//!
//! Everything except [`sync`] and [`thread`] is re-exported from the real `std`. Locks, condition variables, channels,
//! cells that are set once and atomics have the same names and behaviour as in the real `std`; while a program is
//! explored, each of their operations is an event. Threads are tasks during exploration.
//! Memory is sequentially consistent, regardless of the requested ordering. Atomics and set-once cells in statics are
//! reset at the start of each execution; other statics keep the value that an earlier execution left in them.
//!
//! ```
//! use whippet_std::sync::{Arc, Mutex, atomic::{AtomicU32, Ordering}};
//! let (lock, count) = (Arc::new(Mutex::new(1)), AtomicU32::new(1));
//! *lock.lock().unwrap() += count.fetch_add(1, Ordering::Relaxed);
//! assert_eq!((*lock.lock().unwrap(), count.into_inner()), (2, 2));
//! ```

pub use std::*;

pub mod sync;
pub mod thread;
