//! A systematic tester for message-passing programs.
//!
//! Bugs in actor programs hide in orders of messages that rarely happen. Whippet runs real actors, controls the delivery
//! of every message, and executes every order that can make a difference exactly once. It reports that all of them pass,
//! or shows the shortest order that fails, which can be replayed.
//!
//! # A first test
//!
//! A test sets up actors, sends the first messages and declares checks. The order of the messages is up to Whippet:
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
//! fn never_negative(sys: &mut System) {
//!     let account = sys.spawn(Account::default());
//!     sys.send(account, Msg::Deposit(10));
//!     sys.send(account, Msg::Withdraw(5));
//!     sys.always(account, |a| assert!(a.balance >= 0, "overdrawn: {}", a.balance));
//! }
//!
//! let verdict = whippet::explore(never_negative)?;
//! assert_eq!(verdict.counters.executions, 2);
//! let finding = &verdict.findings[0];
//! assert_eq!(finding.kind, whippet::FindingKind::Assertion);
//! assert_eq!(finding.message, "always: overdrawn: -5");
//! assert_eq!(finding.counterexample.len(), 1, "only the withdrawal matters");
//! # Ok::<(), whippet::CheckError>(())
//! ```
//!
//! There are three ways to run it:
//!
//! * `#[whippet::test]` over `fn never_negative(sys: &mut System)` makes it a test: see [`test`](macro@test).
//! * [`check`] in any `#[test]` panics with the counterexample if there is a finding.
//! * [`explore`] returns the [`Verdict`] as a value, as above.
//!
//! # Settings
//!
//! [`Checker`] has the settings; `#[whippet::test(…)]` takes the same names as arguments.
//!
//! | setting | default | |
//! |---|---|---|
//! | [`delivery`](Checker::delivery) | [`Delivery::Unordered`] | the order in which messages may arrive |
//! | [`environment`](Checker::environment) | [`Environment::Open`] | whether actors may still wait at the end |
//! | [`undeliverable_is_error`](Checker::undeliverable_is_error) | off | whether a message that is never received is a finding |
//! | [`limit_executions`](Checker::limit_executions), [`limit_time`](Checker::limit_time) | none | when to stop the search; the test then fails without a verdict, unless [`partial_is_enough`](Checker::partial_is_enough) |
//! | [`limit_steps`](Checker::limit_steps), [`limit_handler`](Checker::limit_handler) | large | when an execution or a handler counts as endless, which is a finding |
//! | [`network`](Checker::network) | [`Network::reliable`] | the faults of the network: losses, duplicates, messages that overtake |
//! | [`first_bug`](Checker::first_bug) | off | whether to stop at the first finding |
//! | [`jobs`](Checker::jobs) | 1 | the number of threads, 0 for one per core |
//! | [`reduction`](Checker::reduction), [`order`](Checker::order) | [`Reduction::Optimal`] | the search algorithm; [`samples`](Checker::samples) and [`seed`](Checker::seed) if it is a random one |
//!
//! ```
//! use whippet::prelude::*;
//! Checker::new("in order").delivery(Delivery::Fifo).limit_executions(1_000).check(|sys| {
//!     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
//!     sys.send(reader, 1);
//!     sys.send(reader, 2);
//! });
//! ```
//!
//! # Protocols
//!
//! For replicated systems, networks may lose messages ([`Network`]), actors may crash ([`System::crashes`]) and set timers
//! ([`Cx::set_timer`]). Clients record what they experience in a [`History`], which must be
//! [linearizable](System::linearizable). [`System::sometimes`] requires that a state can be reached, and
//! [`System::outcome`] lists the results of all executions. `docs/protocols.md` of the repository builds a replicated
//! register with these, step by step.
//!
//! # Reading a counterexample
//!
//! A failing test shows, for the program above:
//!
//! ```text
//! assertion: always: overdrawn: -5 at tests/bank.rs:22
//!   1. account receives Withdraw(5) from the test (sent tests/bank.rs:21)   [balance: 0 → -5]
//!   replay: WHIPPET_REPLAY=target/whippet/never_negative.json cargo test never_negative
//!   look at it: target/whippet/never_negative.html
//!
//! 1 finding in 2 executions
//! ```
//!
//! The first line has the kind of the finding ([`FindingKind`]), its message and its location. Each numbered line is a step:
//! the actor, the message that it received, the sender, and where it was sent; in brackets, the change of the actor's state.
//! Lines below a step say what the actor sent, created or waits for. Steps that the finding does not need are left out.
//! The last file is a page that shows the steps in a browser.
//!
//! # Replaying
//!
//! The schedule of a finding is saved in a file. If the environment variable `WHIPPET_REPLAY` names this file, the test
//! executes this schedule alone, in one thread, so that a debugger or `dbg!` can follow it. The printed command does this. A
//! schedule is bound to the program: if the program has changed, the replay says at which step.
//!
//! The schedule is also kept in the directory `whippet-regressions` of the package, which is to be committed. Later runs
//! execute it first, and say when it is fixed: see [`Checker::regressions`].
//!
//! # Settings for one run
//!
//! Environment variables override the settings in the code: `WHIPPET_LIMIT_SECONDS=60 cargo test`,
//! `WHIPPET_REDUCTION=stateful`, `WHIPPET_JOBS=4`, `WHIPPET_SEED=7`. `docs/command-line.md` of the repository lists all of
//! them, and describes `cargo whippet`, which explores the same tests with progress and reports for other programs. The
//! features `log` and `tracing` of this crate show what actors log beside each step of a finding.
//!
//! # Assumptions
//!
//! Actors share nothing but messages, and the locks and variables of this crate. A handler depends only on its state and its
//! message: not on time, random numbers, the order of a `std` hash map, or memory that an earlier execution changed. Pass such
//! values in as messages, or explore every value with [`Cx::choose`].
//!
//! Actors and messages must be `Send`, so that sharing an `Rc` does not compile. Other violations are reported as "not
//! deterministic" where running an execution again shows a difference: see [`Checker::determinism_check`].

#![warn(missing_debug_implementations)]

mod check;
mod checker;
mod determinism;
mod errors;
mod logging;
#[doc(hidden)]
pub mod prebuilt;
mod regressions;
mod replay;
mod serve;
mod session;

pub use check::{check, explore};
pub use checker::Checker;
pub use errors::{CheckError, CheckFailure};
pub use whippet_actors::{
    Actor, ActorMachine, ActorOps, ActorProgram, Addr, Answer, Call, CheckTarget, Condvar, CopyOnWrite, Counter,
    CounterOp, Cx, Delivery, Dictionary, DictionaryOp, Durable, Environment, Failure, Guard, Hashes, History, Inbox,
    Lock, Lockable, Log, LogOp, Message, Mutex, Network, Only, ParseDeliveryError, Permit, Promise, Queue, QueueOp,
    ReadGuard, Receive, Recipient, Register, RegisterOp, Reply, RwLock, Semaphore, Sequential, Set, SetOp, Shared,
    Stack, StackOp, States, System, Task, TestOutcome, Tracked, WriteGuard, receive,
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
        Actor, Addr, Checker, Condvar, Cx, Delivery, Environment, Hashes, Inbox, Lock, Mutex, Network, Order, Promise,
        Recipient, Reduction, Reply, RwLock, Semaphore, Shared, System, Task, Tracked, check, receive,
    };
}
