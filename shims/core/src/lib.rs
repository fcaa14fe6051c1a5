//! The `core` counterpart of [`whippet_std`]: operations on its atomics are events.
//!
//! Cargo does not accept one package as a dependency under two names, so `std` and `core` are a package each.

pub use whippet_std::*;
