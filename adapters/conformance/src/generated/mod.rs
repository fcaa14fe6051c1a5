//! Generated programs: one execution per trace must see every outcome that every order sees.
//!
//! A [`plan`] is drawn from a seed: a few tasks with a few acts each, on channels, locks, signals and timers that
//! they share. [`task`] interprets it over the stand-in, so nothing is compiled per program. [`judge`] explores it
//! twice, with `optimal` and with `exhaustive`, compares what was seen, and makes a plan that differs smaller.

mod commute;
mod judge;
mod plan;
mod task;

pub use commute::commute;
pub use judge::{Difference, Early, Judged, judge, shrink};
pub use plan::{Act, Leaf, Plan};
