//! ABS programs for Whippet: text in, machine out.
//!
//! # What to call
//!
//! * [`AbsProgram::parse`] makes a program of the text of a file, or a [`LangError`] that shows every fault at
//!   its place in the source. [`AbsProgram::tasks`] says what counts as a conflict ([`Tasks::Fields`], the
//!   default, or [`Tasks::Actors`]), [`AbsProgram::statements`] how long a step may run.
//! * An [`AbsProgram`] is a `whippet_model::Program`: all searches explore it.
//! * [`selection`] has the search of the paper on actor and task selection, stable actors and marks included
//!   (`--tasks marks`), and [`selection::reproduce`] gives its table with our numbers beside the published ones.
//!
//! # What happens inside
//!
//! `syntax` parses by recursive descent; `check` finds what names mean, checks types and writes `code`;
//! `machine` runs it, one task at a time, and takes steps back; `summary` and `selection` know what methods
//! can do before they run. No input crashes or hangs the front end: recursion is bounded everywhere.
//!
//! # Limits of the language
//!
//! All modules of a file share one space of names. `duration`, `now` and deployment components are accepted
//! and cost nothing. Deltas, traits, product lines, user-defined schedulers and foreign code are reported
//! as "not supported" where they stand.

mod builtins;
mod check;
mod code;
mod eval;
mod machine;
pub mod selection;
mod source;
mod summary;
mod syntax;
mod value;

pub use machine::{AbsMachine, AbsProgram, DEFAULT_STATEMENTS};
pub use source::{FaultPlace, LangError};
pub use whippet_model::{Marks, Tasks};
