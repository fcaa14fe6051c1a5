//! Whippet's shim of tokio.
//!
//! This crate has the names of tokio's API, so programs and libraries compile against it unchanged. It runs tasks
//! on Whippet's machine for tasks: every `#[tokio::test]` is explored in all orders instead of being run once.
//! `cargo whippet test` substitutes it for tokio; to do so manually:
//!
//! ```toml
//! [patch.crates-io]
//! tokio = { path = "whippet/shims/tokio" }
//! ```

#[macro_use]
mod macros;
pub mod runtime;
/// An empty module: streams are in a separate crate, as in tokio (`tokio-stream`).
pub mod stream {}
pub mod sync;
pub mod task;
pub mod time;
#[doc(hidden)]
pub mod whippet;

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    not(target_feature = "crt-static"),
    not(miri)
))]
mod system;
mod unmodelled;
pub use unmodelled::{fs, net, process, signal};
pub mod io;

pub use task::spawn;
pub use whippet_tokio_macros::{main, test};
