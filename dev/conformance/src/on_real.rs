//! The programs on the real tokio.

use real as tokio;

#[path = "programs/channels.rs"]
mod channels;
#[path = "programs/hand_polls.rs"]
pub mod hand_polls;
#[path = "programs/locks.rs"]
mod locks;
#[path = "programs/streams.rs"]
mod streams;
#[path = "programs/tasks.rs"]
mod tasks;
#[path = "programs/waiting.rs"]
mod waiting;

/// Returns all programs with their names.
#[must_use]
pub fn all() -> Vec<(&'static str, crate::Program)> {
    [channels::all(), hand_polls::all(), locks::all(), streams::all(), tasks::all(), waiting::all()].concat()
}
