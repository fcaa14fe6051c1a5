//! Whippet's searches: every reduction, order and sampler over any machine.

mod options;

pub use options::{Options, Order, Reduction, Rule, StepSize};
