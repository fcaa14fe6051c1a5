//! ABS: front end, interpreter as a machine, static summaries.

mod builtins;
mod check;
mod code;
mod eval;
mod machine;
mod source;
mod syntax;
mod value;

pub use machine::{AbsMachine, AbsProgram, DEFAULT_STATEMENTS, Tasks};
pub use source::{FaultPlace, LangError};
