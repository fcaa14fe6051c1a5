//! The vocabulary of Whippet.
//!
//! A [`Machine`] runs one program forward and back and calls what happens [`Step`]s; [`Clocks`] tell which
//! steps happened before which and which are in a race; a [`Schedule`] reproduces an execution; a
//! [`Problem`] is what a machine finds wrong with one execution, a [`Finding`] what a search makes of it,
//! a [`Verdict`] what the whole run says. Nothing here knows a search or runs user code.

mod choice;
mod clocks;
mod machine;
mod name;
mod problem;
mod schedule;
mod tasks;
mod verdict;

pub use choice::{Access, ActorNo, Branch, Choice, Delivered, Pending, Step, Touch, conflict};
pub use clocks::{Clocks, ones};
pub use machine::{Comparison, Extension, Machine, MachineError, Program, Relation, Without};
pub use name::Name;
pub use problem::{Finding, Kind, Problem, StepText};
pub use schedule::{Decision, SCHEDULE_VERSION, Schedule, ScheduleError};
pub use tasks::{Marks, Tasks};
pub use verdict::{Counters, Estimate, Events, LimitHit, Limits, Verdict};
