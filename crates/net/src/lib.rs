//! Asynchronous distributed programs: processes that communicate through mailboxes and queue for mutexes.
//!
//! The model is that of Pham, Jéron and Quinson, *Unfolding-based Dynamic Partial Order Reduction of Asynchronous
//! Distributed Programs* (FORTE 2019). A program is a [`Net`], which every search of Whippet can explore. It can be
//! given
//!
//! * as text, one process per line: [`Net::parse`], whose [`TextError`] reports line and column;
//! * as lists of actions: [`Net::script`];
//! * as async functions that use a [`Mailbox`] and a [`Mutex`]: [`Net::new`];
//! * as ranks that send and receive in the style of MPI: [`mpi::World::program`].
//!
//! [`Net::with_relation`] sets the dependence relation. [`subjects()`] returns the programs of the paper's Table 1,
//! [`reproduce()`] measures that table again, and [`interleavings`] counts the executions that an exhaustive search
//! would visit. The unfolding of a program can be inspected with `whippet_search::unfold`.
//!
//! ```
//! use whippet_net::Net;
//! use whippet_search::{Options, Reduction, explore};
//!
//! let net = Net::parse("philosophers", "
//!     plato:    Kleft MWleft Kright MWright Uright Uleft
//!     socrates: Kright MWright Kleft MWleft Uleft Uright
//! ").unwrap();
//! let options = Options::new(Reduction::Udpor);
//! let verdict = explore(net.into(), &options, &()).unwrap();
//! assert_eq!(verdict.counters.executions, 3);
//! assert_eq!(verdict.findings[0].message, "no process can continue\n  \
//!     plato waits for mutex right, which socrates holds\n  \
//!     socrates waits for mutex left, which plato holds");
//! ```

#![warn(missing_debug_implementations)]

mod choose;
mod collective;
mod communication;
mod deadlock;
mod describe;
mod history;
mod machine;
mod mailbox;
mod memory;
pub mod mpi;
mod mutex;
mod net;
mod op;
mod panics;
mod port;
mod port_handle;
mod process;
mod ready;
mod relation;
mod reproduce;
mod script;
mod state;
mod subjects;
mod text;
mod unfold;
mod unreceived;

pub use choose::choose;
pub use communication::{Communication, Receiving, Sending, test_any, wait_all, wait_any};
pub use machine::NetMachine;
pub use mailbox::Mailbox;
pub use mutex::{LockRequest, Mutex, mutex_test_any, mutex_wait_any};
pub use net::{MailboxRelation, Net, NetBuilder};
pub use process::{create, step};
pub use reproduce::{UdporRow, interleavings, reproduce};
pub use script::{Action, Script, ScriptError};
pub use subjects::{NetSubject, ProcessCount, subjects};
pub use text::TextError;
