//! ABS programs for Whippet: a front end and an interpreter that all searches can explore.
//!
//! # Entry points
//!
//! * [`AbsProgram::parse`] turns the text of a file into a program, or returns an [`AbsError`] that shows every error
//!   at its place in the source. [`AbsProgram::conflict_rule`] chooses the conflict rule ([`ConflictRule::Fields`], the default, or
//!   [`ConflictRule::Actors`]), [`AbsProgram::statement_limit`] the limit on the length of a step.
//! * [`AbsProgram::parse_method`] explores one method with inputs that the search chooses, within [`InputBounds`].
//! * An [`AbsProgram`] is a `whippet_model::Program`: all searches explore it.
//! * [`selection`] implements the search of the paper on actor and task selection, including stable actors and marks
//!   (`--conflicts marks`); [`selection::reproduce`] returns its table with our numbers beside the published ones.
//!
//! # Structure
//!
//! `syntax` parses by recursive descent. `check` resolves names, checks types and generates `code`. `machine` runs
//! the code, one task at a time, and undoes steps. `summary` and `selection` compute in advance what methods can do.
//! No input crashes or hangs the front end: recursion is bounded everywhere.
//!
//! # Limits of the language
//!
//! Time is virtual: the clock jumps when no task can run. Deltas, product lines, user-defined schedulers and
//! foreign code are reported as "not supported" at their place in the source.

#![warn(missing_debug_implementations)]

mod builtins;
mod cases;
mod check;
mod code;
mod error;
mod eval;
mod inputs;
mod machine;
mod record;
pub mod selection;
mod source;
mod summary;
mod syntax;
mod value;

pub use error::{AbsError, ErrorPlace};
pub use inputs::InputBounds;
pub use machine::{AbsMachine, AbsProgram, DEFAULT_STATEMENTS};
pub use record::{Coverage, MissedBranch};

pub use whippet_model::{ConflictRule, Marks};
