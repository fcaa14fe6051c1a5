//! The engine of channels with one receiver, whatever their library calls them, and of counting who holds an end of a
//! channel.

mod asking;
mod handles;
mod queue;

pub use asking::{Asking, Placed};
pub use handles::Handles;
pub use queue::{Queue, Refused};
