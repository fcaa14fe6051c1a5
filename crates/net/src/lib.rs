//! Asynchronous distributed programs: processes that meet at mailboxes and queue for mutexes.
//!
//! The model is that of Pham, Jéron and Quinson, *Unfolding-based Dynamic Partial Order Reduction of Asynchronous
//! Distributed Programs* (FORTE 2019). Programs come as text, as lists of actions, or as async functions, and all
//! are a [`Net`], which every search of Whippet runs.

mod history;
mod machine;
pub mod mpi;
mod net;
mod op;
mod panics;
mod relation;
mod reproduce;
mod script;
mod subjects;
mod task;
mod text;
mod unfold;
mod words;

pub use machine::NetMachine;
pub use net::{Dependence, Net, SetUp};
pub use reproduce::{Row, interleavings, reproduce};
pub use script::{Action, Script, ScriptError};
pub use subjects::{Processes, Subject, subjects};
pub use task::{
    Communication, Mailbox, Mutex, Receiving, Request, Sending, create, mutex_test_any, mutex_wait_any, step, test_any,
    wait_all, wait_any,
};
pub use text::TextError;
