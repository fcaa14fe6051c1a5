//! Checks that the shim conforms to the real tokio, and that its reduction misses no outcome.
//!
//! The modules in `programs` are written once and compiled twice, against the real tokio and against the shim: every
//! outcome of the real tokio must be among the outcomes that the shim can produce. The programs of [`generated`] are
//! explored with and without reduction.

// The programs are compiled twice on purpose.
#![allow(clippy::duplicate_mod)]

extern crate shim as tokio;

pub mod generated;

use std::future::Future;
use std::pin::Pin;

/// A small program, which returns its observations as a text.
pub type Program = fn() -> Pin<Box<dyn Future<Output = String> + Send>>;

/// Defines `all`, which returns the programs of a file with their names.
macro_rules! programs {
    ($($program:ident)*) => {
        /// Returns the programs of this file with their names.
        #[must_use]
        pub fn all() -> Vec<(&'static str, $crate::Program)> {
            vec![$((stringify!($program), (|| Box::pin($program())) as $crate::Program)),*]
        }
    };
}

pub mod on_real;
pub mod on_shim;
