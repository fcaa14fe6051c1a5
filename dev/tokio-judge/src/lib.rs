//! A judge of Whippet's shim of tokio.
//!
//! One generator, that of `tokio-reference`, writes programs for three interpreters: the reference model of that crate,
//! the real tokio ([`on_real`]) and the shim ([`on_shim`]). The two interpreters here are one source, compiled twice.
//! [`judge`] compares the outcomes of all three, and makes programs on which they differ smaller.

// The interpreter is compiled twice on purpose.
#![allow(clippy::duplicate_mod)]

extern crate shim as tokio;

pub mod hooks;
pub mod judge;
pub mod logs;
pub mod on_real;
pub mod on_shim;
pub mod real;
pub mod shim;
pub mod traces;
