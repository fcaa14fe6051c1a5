//! The surroundings of a program that runs.

use std::time::Duration;

/// Things that differ between the runtimes, beyond their API.
pub trait Hooks: Send + Sync {
    /// Gives the length of a tick.
    fn tick(&self) -> Duration;

    /// Tells whether tasks are only being cleared away: their ends do not count.
    fn is_over(&self) -> bool {
        false
    }

    /// Tells whether [`Hooks::pause`] does anything.
    fn pauses(&self) -> bool {
        false
    }

    /// Pauses before an operation of a task.
    fn pause(&self) {}

    /// Notes that one more task is alive.
    fn spawned(&self) {}

    /// Notes that a task has ended.
    fn ended(&self) {}
}

/// The surroundings on the shim: virtual time, no pauses.
#[derive(Debug, Default)]
pub struct Virtual;

impl Hooks for Virtual {
    fn tick(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn is_over(&self) -> bool {
        whippet_runtime::is_over()
    }
}
