//! The vocabulary of Whippet.
//!
//! A [`Machine`] executes one program, one [`Step`] at a time, forward and back. [`Clocks`] compute which steps
//! happen before which, and which are in a race. A [`Schedule`] reproduces an execution. A [`Problem`] is an error in
//! one execution as seen by the machine, a [`Finding`] an error with its counterexample as reported by a search, and
//! a [`Verdict`] the result of the whole search. Nothing in this crate knows about searches or runs user code.

mod choice;
mod clocks;
mod conflict_rule;
mod machine;
mod name;
mod problem;
mod schedule;
mod trace;
mod verdict;

pub use choice::{Access, ActorNo, Branch, Choice, Delivered, Pending, Step, Touch, conflict};
pub use clocks::{Clocks, ones};
pub use conflict_rule::{ConflictRule, Marks};
pub use machine::{
    Blockers, Branches, Comparison, Completion, Deliveries, Dependence, Executed, Explain, Extension, Fingerprint,
    Foresight, KnownExtensions, Machine, MachineConfig, MachineError, Observed, ObservedMachine, OrderHints, Profile,
    Program, Pruning, Reversal, enabled_of_lowest,
};
pub use name::Name;
pub use problem::{Decides, Finding, FindingKind, Problem, StepDescription, WaitFor};
pub use schedule::{Decision, SCHEDULE_VERSION, Schedule, ScheduleError};
pub use trace::{Change, Effect, EventKind, MessageText, Repeat, Trace, TraceActor, TraceEvent, TraceTouch};
pub use verdict::{Algorithm, Counters, Estimate, Events, LimitHit, Limits, Verdict};
