//! The vocabulary of Whippet.
//!
//! A [`Machine`] executes one program, one [`Step`] at a time, forward and back. [`Clocks`] compute which steps
//! happen before which, and which are in a race. A [`Schedule`] reproduces an execution. A [`Problem`] is an error in
//! one execution as seen by the machine, a [`Finding`] an error with its counterexample as reported by a search, and
//! a [`Verdict`] the result of the whole search. Nothing in this crate knows about searches or runs user code.

#![warn(missing_debug_implementations)]

mod bits;
mod choice;
mod clocks;
mod conflict_rule;
mod debug_value;
mod machine;
mod macros;
mod memory;
mod name;
mod output;
mod pasts;
mod problem;
mod schedule;
mod trace;
mod verdict;

pub use bits::{BitMatrix, BitSet, is_disjoint, is_set, is_subset, ones};
pub use choice::{Access, ActorNo, Branch, Choice, Delivered, Pending, Step, Touch, conflict};
pub use clocks::Clocks;
pub use conflict_rule::{ConflictRule, Marks};
pub use debug_value::DebugValue;
pub use machine::{
    Blockers, Branches, Completion, Deliveries, Dependence, EnabledChoices, Executed, Explain, Extension, Fingerprint,
    Foresight, IdleDeliveries, KnownExtensions, Machine, MachineConfig, MachineError, Observed, ObservedMachine,
    OrderHints, Profile, Program, Pruning, Remembered, Reversal, StateComparison, States, enabled_after,
    enabled_of_lowest,
};
pub use name::Name;
pub use output::{add_output, capture_output, captures_output, mute_output, set_printed};
pub use pasts::Pasts;
pub use problem::{Decides, Finding, FindingKind, Problem, Stall, StepDescription, Threads, WaitFor};
pub use schedule::{Decision, SCHEDULE_VERSION, Schedule, ScheduleError};
pub use trace::{
    ActorState, Change, Effect, EventKind, MessageText, Repeat, StateChange, Trace, TraceActor, TraceEvent, TraceTouch,
};
pub use verdict::{Algorithm, Counters, Estimate, Events, LimitHit, Limits, Verdict};
