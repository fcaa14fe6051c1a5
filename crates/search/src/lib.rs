//! Whippet's searches: every reduction, order and sampler, for any machine.
//!
//! [`explore()`] searches a program and returns a verdict; [`replay()`] executes one schedule. [`Options`] select the
//! search. Each [`Reduction`] is implemented in a file of its own, and all of them share one driver.

mod acts;
mod backtrack;
mod collect;
mod confirm;
mod control;
mod dcute;
mod estimate;
mod exhaustive;
mod explore;
mod levels;
mod names;
mod optimal;
mod options;
mod orders;
mod parallel;
mod persistent;
mod replay;
mod reversals;
mod revisit;
mod run;
mod sampling;
mod seen;
mod sleep;
mod source;
mod stack;
mod stateful;
mod threads;
#[cfg(any(test, feature = "toy"))]
pub mod toy;
mod transdpor;
mod udpor;
mod udpor_actors;
mod udpor_alternatives;
mod udpor_excluded;
mod udpor_export;
mod udpor_rows;
mod udpor_trials;
mod udpor_unfolding;
mod wakeup;
mod weights;

pub use explore::{Observer, Progress, SearchError, explore};
pub use names::UnknownName;
pub use options::{Options, Order, Reduction, Rule, StepSize};
pub use replay::{ReplayError, Replayed, replay, replay_within};
pub use udpor_export::{Unfolded, UnfoldedEvent, unfold};
