//! The core of channels with one receiver, for the shims of several libraries, and of the handles of channels.

mod asking;
mod handles;
mod queue;

pub use asking::{Asking, Placed};
pub use handles::Handles;
pub use queue::{Queue, Refused};
