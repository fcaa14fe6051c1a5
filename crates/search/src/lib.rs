//! Whippet's searches: every reduction, order and sampler, for any machine.
//!
//! [`explore()`] searches a program and returns a verdict; [`replay()`] executes one schedule. [`Options`] select the
//! search. Each [`Reduction`] is implemented in a file of its own, and all of them share one driver.

mod driver;
mod names;
mod options;
mod orders;
mod reductions;
mod sampling;
#[cfg(any(test, feature = "toy"))]
pub mod toy;

pub use driver::explore::{Observer, Progress, SearchError, explore};
pub use driver::replay::{ReplayError, Replayed, replay, replay_within};
pub use names::UnknownName;
pub use options::{Options, Order, Rule, StepSize};
pub use reductions::Reduction;
pub use reductions::udpor::export::{Unfolded, UnfoldedEvent, unfold};
