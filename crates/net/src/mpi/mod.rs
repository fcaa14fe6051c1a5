//! Programs in the style of MPI: ranks, tags, requests, collectives.
//!
//! Each rank has a port at which messages arrive and are received by source and by tag, each of them specific or any
//! (`port.rs`). As in MPI, messages of one source that a receive accepts are received in the order they were sent, and
//! a message is matched with the first receive that accepts it. Which of several sources comes first is not specified,
//! and every choice is explored.
//!
//! Sends are synchronous by default ([`Buffering::Zero`]): a send completes when it has been matched with a receive,
//! and a collective operation when all ranks have called it. With [`Buffering::Eager`], a send completes at once, and a
//! collective operation as soon as the rank has all values that it returns. MPI permits both, for each send anew, so a
//! program must be correct with all of them: [`Buffering::Either`] explores them.
//!
//! Collective calls that do not match are findings, and add no traces otherwise.

mod collective;
mod communicator;
mod gathering;
mod message;
pub mod operators;
mod persistent;
mod polling;
mod probe;
mod rank;
mod ready;
mod request;

pub use message::{PROC_NULL, Received, Source, Tag};
pub use persistent::Persistent;
pub use probe::Probed;
pub use rank::Rank;
pub use request::{Request, UNDEFINED};

use crate::choose::choose;
use crate::net::{Net, NetBuilder};
use crate::process::body_factory;
use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The rule that decides when a send completes.
///
/// ```
/// use whippet_net::mpi::{Buffering, Source, World};
/// // Both ranks send before they receive.
/// let exchange = |buffering| World::new(2).buffering(buffering).program("exchange", async |mpi| {
///     let other = 1 - mpi.rank();
///     mpi.send(other, 0, mpi.rank()).await;
///     assert_eq!(mpi.recv(Source::Rank(other), 0).await.value, other);
/// });
/// let [zero, eager] = [Buffering::Zero, Buffering::Eager].map(|buffering| {
///     whippet_search::explore(exchange(buffering).into(), &Default::default(), &()).unwrap().findings.len()
/// });
/// assert_eq!((zero, eager), (1, 0), "without buffers, all ranks wait forever");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Buffering {
    /// A send completes when it has been received.
    #[default]
    Zero,
    /// A send completes at once.
    Eager,
    /// Each send does the one or the other. All combinations are explored, which finds deadlocks that need some sends
    /// with a buffer and some without. The collective operations of an execution either all wait for all ranks, or
    /// each waits for its values only.
    Either,
}

/// The number of ranks, and the buffering of their sends.
///
/// ```
/// use whippet_net::mpi::{Buffering, Source, World};
/// let world = World::new(2).buffering(Buffering::Eager);
/// let net = world.program("tagged", async |mpi| {
///     if mpi.rank() == 0 {
///         mpi.send(1, 2, "hello").await;
///     } else {
///         assert_eq!(mpi.recv(Source::Any, 2).await.value, "hello");
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Copy, Clone, Debug)]
pub struct World {
    ranks: usize,
    buffering: Buffering,
    /// The number of times in a row that the same tests may fail.
    polls: u32,
    /// A rank must not end before its requests are complete.
    report_unfinished: bool,
}

impl World {
    /// Creates a world with this number of ranks and without buffering.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(2).program("two", async |mpi: Rank<u8>| {
    ///     assert_eq!(mpi.size(), 2);
    ///     mpi.barrier().await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn new(ranks: usize) -> World {
        World { ranks, buffering: Buffering::Zero, polls: 3, report_unfinished: false }
    }

    /// Sets the buffering of sends.
    ///
    /// ```
    /// use whippet_net::mpi::{Buffering, World};
    /// // A send completes at once, even without a receive.
    /// let net = World::new(2).buffering(Buffering::Eager).program("eager", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.send(1, 0, 42).await;
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn buffering(mut self, buffering: Buffering) -> World {
        self.buffering = buffering;
        self
    }

    /// Sets the number of times in a row that the same tests of requests may fail, with nothing but tests in between;
    /// 3 if not set. The next test then waits until one of the requests is complete, because a request that can
    /// complete does so eventually: a loop that polls ends. If the limit was reached, the verdict says so.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).polls(1).program("poll", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.send(1, 0, 42).await;
    ///     } else {
    ///         let receiving = mpi.irecv(0, 0).await;
    ///         while mpi.test(&receiving).await.is_none() {}
    ///     }
    /// });
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// assert!(verdict.may_miss, "executions with more tests are left out");
    /// ```
    #[must_use]
    pub fn polls(mut self, limit: u32) -> World {
        self.polls = limit;
        self
    }

    /// Reports ranks that end although one of their requests was never completed by a wait or test.
    ///
    /// ```
    /// use whippet_net::mpi::{Buffering, World};
    /// let net = World::new(2).buffering(Buffering::Eager).report_unfinished().program("leak", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.isend(1, 0, 42).await;
    ///     } else {
    ///         mpi.recv(0, 0).await;
    ///     }
    /// });
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings[0].message.contains("rank 0 ended with an unfinished request"));
    /// ```
    #[must_use]
    pub fn report_unfinished(mut self) -> World {
        self.report_unfinished = true;
        self
    }

    /// Returns the program in which every rank runs `body`.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// use whippet_search::{Options, Reduction, explore};
    ///
    /// let net = World::new(3).program("greetings", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let first = mpi.recv(Source::Any, 0).await;
    ///         let second = mpi.recv(Source::Any, 0).await;
    ///         assert_eq!(first.value + second.value, 3);
    ///     } else {
    ///         mpi.send(0, 0, mpi.rank()).await;
    ///     }
    /// });
    /// let options = Options::new(Reduction::Udpor);
    /// let verdict = explore(net.into(), &options, &()).unwrap();
    /// assert_eq!(verdict.counters.executions, 2);
    /// assert!(verdict.findings.is_empty());
    /// ```
    #[track_caller]
    pub fn program<T, F>(self, name: impl Into<String>, body: F) -> Net
    where
        T: Clone + Debug + 'static,
        F: AsyncFn(Rank<T>) + Send + Sync + 'static,
    {
        let place = Location::caller();
        let (body, polled) = (Arc::new(body), Arc::new(AtomicBool::new(false)));
        let reached = polled.clone();
        let net = Net::new(name, move |net: &mut NetBuilder| {
            for rank in 0..self.ranks {
                let (body, reached) = (body.clone(), reached.clone());
                let run = move |port| {
                    body_factory(async move || {
                        let rank = Rank::new(port, self, reached.clone());
                        let unfinished = rank.unfinished();
                        body(rank).await;
                        unfinished.report();
                    })
                };
                net.rank(format!("rank {rank}"), place, run);
            }
            if self.buffering == Buffering::Either {
                net.own_process("the network", async || {
                    choose(&[
                        "that collective operations synchronise",
                        "that collective operations do not synchronise",
                    ])
                    .await;
                });
            }
        });
        net.with_poll_limit(self.polls, polled)
    }
}

/// Ends the process with a finding that has no location in the user's code.
fn fail(message: String) -> ! {
    std::panic::resume_unwind(Box::new(message))
}
