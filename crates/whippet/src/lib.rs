//! A systematic tester for actor programs.
//!
//! Actor bugs hide in orders of messages that rarely happen. Whippet runs real actors under a machine that
//! controls every delivery and executes every *meaningfully different* order once. It reports that all of them
//! hold, or shows the shortest counterexample, which can be replayed.
//!
//! ```
//! use whippet::prelude::*;
//!
//! #[derive(Clone, Debug, Default)]
//! struct Account { balance: i64 }
//!
//! #[derive(Clone, Debug)]
//! enum Msg { Deposit(i64), Withdraw(i64) }
//!
//! impl Actor for Account {
//!     type Msg = Msg;
//!     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
//!         match msg {
//!             Msg::Deposit(sum) => self.balance += sum,
//!             Msg::Withdraw(sum) => self.balance -= sum,
//!         }
//!     }
//! }
//!
//! let verdict = Checker::new("never negative").explore(|sys| {
//!     let account = sys.spawn(Account::default());
//!     sys.send(account, Msg::Deposit(10));
//!     sys.send(account, Msg::Withdraw(5));
//!     sys.always(account, |a| assert!(a.balance >= 0, "overdrawn: {}", a.balance));
//! }).unwrap();
//! assert_eq!(verdict.counters.executions, 2);
//! assert_eq!(verdict.findings[0].message, "always: overdrawn: -5");
//! assert_eq!(verdict.findings[0].counterexample.len(), 1, "only the withdrawal matters");
//! ```
//!
//! In a test, write the body under `#[whippet::test]`, or call [`check`] in any `#[test]`.
//!
//! # Assumptions
//!
//! Actors share nothing but messages. A handler depends only on its state and its message: not on time, random
//! numbers, the order of a `std` hash map, or memory that an earlier execution changed. Pass such values in as
//! messages, or explore every value with [`Cx::choose`]. A program that violates these assumptions is reported as not
//! deterministic wherever a replay can see the difference; it does not silently get a wrong verdict there.

mod check;
mod determinism;
mod replay;

pub use check::{CheckError, CheckFailure, Checker, check, explore};
pub use whippet_actors::{
    Actor, ActorMachine, ActorOps, ActorProgram, Addr, Call, CheckTarget, Condvar, Cx, Delivery, Environment, Failure,
    Guard, Hashes, Inbox, Lock, Lockable, Message, Mutex, ParseDeliveryError, Permit, Promise, ReadGuard, Receive,
    Recipient, Reply, RwLock, Semaphore, Shared, States, System, Task, TestOutcome, Tracked, WriteGuard, receive,
};
pub use whippet_macros::test;
pub use whippet_model as model;
pub use whippet_model::{Finding, FindingKind, Verdict};
pub use whippet_report as report;
pub use whippet_search as search;
pub use whippet_search::{Order, Reduction};

/// The imports for a file of actors and tests: `use whippet::prelude::*;`.
///
/// The attribute `test` is not included, so that plain `#[test]` keeps its meaning: write `#[whippet::test]`.
///
/// ```
/// use whippet::prelude::*;
/// let delivery = Delivery::Fifo;
/// assert_eq!(delivery.to_string(), "fifo");
/// ```
pub mod prelude {
    pub use crate::{
        Actor, Addr, Checker, Condvar, Cx, Delivery, Environment, Hashes, Inbox, Lock, Mutex, Order, Promise,
        Recipient, Reduction, Reply, RwLock, Semaphore, Shared, System, Task, Tracked, check, receive,
    };
}
