//! Whippet's native actors and the machine that runs them.
//!
//! An actor is a Rust type with a message type and an `async fn handle` ([`Actor`]), or an `async` body that receives
//! explicitly ([`Inbox`]). A test ([`ActorProgram`]) sets up a [`System`] of actors; its machine ([`ActorMachine`]) delivers
//! one message at a time, forward and backward, in the order that a search chooses.
//!
//! Actors share no memory. Actors and messages must be `Send`, so that `Rc` is refused at compile time; sharing by
//! `Arc<Mutex<_>>`, atomics or statics is not allowed either, but the compiler cannot see it. The behaviour of an actor
//! must depend only on its state and the messages it receives.

#![warn(missing_debug_implementations)]

mod acceptance;
mod actor;
mod address;
mod body;
mod cell;
mod checks;
mod condvar;
mod copy_on_write;
mod current_step;
mod cx;
mod declarations;
mod delivery;
mod describe;
mod durable;
mod enabled_index;
mod engine;
mod environment;
mod fields;
mod handler;
mod hashes;
mod history;
mod inbox;
mod linked_queue;
mod lock;
mod machine;
mod memo;
mod messages;
mod network;
mod ops;
mod panics;
mod peers;
mod program;
mod promise;
mod rwlock;
mod semaphore;
mod service;
mod shared;
mod speed;
mod system;
mod test_cell;
mod timers;
mod vector_clocks;

pub use actor::{Actor, Message};
pub use address::{Addr, Recipient, Reply};
pub use checks::{CheckTarget, Only, States};
pub use condvar::Condvar;
pub use copy_on_write::CopyOnWrite;
pub use cx::{Call, Cx};
pub use delivery::{Delivery, ParseDeliveryError};
pub use durable::Durable;
pub use environment::Environment;
pub use fields::Tracked;
pub use hashes::Hashes;
pub use history::{
    Answer, Counter, CounterOp, Dictionary, DictionaryOp, History, Log, LogOp, Queue, QueueOp, Register, RegisterOp,
    Sequential, Set, SetOp, Stack, StackOp,
};
pub use inbox::{Inbox, Receive};
pub use lock::{Guard, Lock, Lockable, Mutex};
pub use machine::ActorMachine;
pub use network::Network;
pub use program::{ActorProgram, TestOutcome};
pub use promise::{ActorOps, Failure, Promise, Task};
pub use rwlock::{ReadGuard, RwLock, WriteGuard};
pub use semaphore::{Permit, Semaphore};
pub use shared::Shared;
pub use system::System;

/// Returns the path prefix of this crate's source files, as it appears in source locations.
fn sources() -> &'static str {
    file!().trim_end_matches("lib.rs")
}
