//! Generated programs, on which one execution per trace must see every outcome that all orders see.
//!
//! The module `plan` draws a plan from a seed: a few tasks with a few acts each, on shared channels, locks, signals and
//! timers. `task` interprets the plan on the shim, so no program has to be compiled. `judge` explores it with `optimal`
//! and with `exhaustive`, compares the outcomes, and minimizes a plan on which they differ. `commute` checks that
//! independent steps commute.

mod commute;
mod judge;
mod plan;
mod task;

pub use commute::commute;
pub use judge::{Difference, Early, Judged, judge, shrink};
pub use plan::{Act, Leaf, Plan};
