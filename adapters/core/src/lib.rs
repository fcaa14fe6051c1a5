//! `core` as [`whippet_std`] has it: its atomics are events.
//!
//! One package cannot be a dependency under two names; so `core` is this one and `std` is that one.

pub use whippet_std::*;
