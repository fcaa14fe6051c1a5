//! What holds the stand-in to the real tokio, and its reduction to every order.
//!
//! `programs` are written once and compiled twice, against the real tokio and against the stand-in: what the real one
//! does must be among what the stand-in can do. [`generated`] programs are explored with and without reduction.

// The programs are compiled twice on purpose.
#![allow(clippy::duplicate_mod)]

extern crate stand_in as tokio;

pub mod generated;

use std::future::Future;
use std::pin::Pin;

/// A small program; what it returns is what it saw.
pub type Program = fn() -> Pin<Box<dyn Future<Output = String> + Send>>;

/// The programs of a file, with their names.
macro_rules! programs {
    ($($program:ident)*) => {
        pub(crate) fn all() -> Vec<(&'static str, $crate::Program)> {
            vec![$((stringify!($program), (|| Box::pin($program())) as $crate::Program)),*]
        }
    };
}

pub mod on_real;
pub mod on_stand_in;
