//! Whippet's searches: every reduction, order and sampler, for any machine.
//!
//! [`explore()`] searches a program and returns a verdict; [`replay()`] executes one schedule. [`Options`] select the
//! search. Each [`Reduction`] is implemented in a file of its own, and all of them share one driver.

#![warn(missing_debug_implementations)]

mod driver;
mod names;
mod options;
mod orders;
mod reductions;
mod sampling;
#[cfg(any(test, feature = "toy"))]
pub mod toy;

pub use driver::checkpoint::{Checkpoint, CheckpointError, Checkpoints};
pub use driver::explain::explain;
pub use driver::explore::{
    ExecutionObserver, Observer, Preliminary, Progress, SearchError, explore, explore_specialized,
};
pub use driver::journal::{Journal, LastPath, journal_words};
pub use driver::replay::{ReplayError, Replayed, lead_up, replay, replay_within};
pub use driver::walker::{Configuration, Destination, WalkChoice, WalkError, WalkStep, Walker};
pub use names::UnknownName;
pub use options::{Options, Order, Rule, StepSize};
pub use reductions::Reduction;
pub use reductions::udpor::export::{Unfolded, UnfoldedEvent, unfold};
