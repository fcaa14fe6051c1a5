//! Whippet's searches: every reduction, order and sampler over any machine.
//!
//! [`explore`] searches a program and gives a verdict, [`replay()`] carries out one schedule. What is
//! searched, and how, is in [`Options`]: each [`Reduction`] is one file, and all share one driver.

mod collect;
mod control;
mod exhaustive;
mod explore;
mod names;
mod options;
mod replay;
mod run;
mod settle;
#[cfg(any(test, feature = "toy"))]
pub mod toy;
mod weights;

pub use explore::{Observer, Progress, SearchError, explore};
pub use names::UnknownName;
pub use options::{Options, Order, Reduction, Rule, StepSize};
pub use replay::{ReplayError, Replayed, replay};
