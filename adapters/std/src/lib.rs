//! `std`, with its shared memory under Whippet's eyes.
//!
//! A crate that has this package among its dependencies *under the name `std`* is compiled with it instead of the
//! real one, without a change to its sources:
//!
//! ```toml
//! [dependencies]
//! std = { package = "whippet-std", path = "…" }
//! core = { package = "whippet-core", path = "…" }
//! ```
//!
//! Everything is the real thing but [`sync`] and [`thread`]: locks, condition variables, channels, cells that are set
//! once and atomics have the same names and do the same, and while a program is explored each of their operations is an
//! event; threads are tasks then, and `std::time` stays real. Memory is
//! sequentially consistent, whatever ordering is asked for. Atomics and cells that are set once begin anew with each
//! execution where they are statics; other statics keep what an earlier execution left in them.
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
