//! Whippet's searches: every reduction, order and sampler over any machine.

mod names;
mod options;

pub use names::UnknownName;
pub use options::{Options, Order, Reduction, Rule, StepSize};
