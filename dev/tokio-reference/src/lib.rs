//! An independent judge of what programs on tokio may do.
//!
//! The crate holds a small language of programs ([`program`]), a generator of them ([`generate()`]), a reference model
//! that computes every outcome of a program by brute force ([`outcomes`]), and a printer that writes a program as a
//! test for tokio ([`rust_test`]). It depends on nothing that it judges.

pub mod generate;
pub mod handles;
pub mod model;
mod outcome;
pub mod program;
mod sharing;
pub mod shrink;
pub mod source;

pub use generate::{generate, is_real_time_safe};
pub use model::{Granularity, outcomes, outcomes_within};
pub use outcome::{End, Outcome, TaskOutcome};
pub use program::{Leaf, Object, ObjectId, Op, Program, TaskId, Value};
pub use shrink::smaller;
pub use source::rust_test;
