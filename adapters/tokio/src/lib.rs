//! Whippet's stand-in for tokio.
//!
//! It has tokio's names, so that programs and libraries compile against it unchanged, and runs tasks on
//! Whippet's machine for tasks: every `#[tokio::test]` is explored in all orders instead of run once. It is put
//! in tokio's place by `cargo whippet test`, or by hand:
//!
//! ```toml
//! [patch.crates-io]
//! tokio = { path = "whippet/adapters/tokio" }
//! ```

#[macro_use]
mod macros;
pub mod runtime;
/// Streams are in a crate of their own, as the real ones.
pub mod stream {}
pub mod sync;
pub mod task;
pub mod time;
#[doc(hidden)]
pub mod whippet;

mod unmodelled;
pub use unmodelled::{fs, net, process, signal};
pub mod io;
mod io_ext;

pub use task::spawn;
pub use whippet_tokio_macros::{join, main, select, test, try_join};
