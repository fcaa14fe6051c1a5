//! Programs in the style of MPI: ranks, tags, requests, collectives.
//!
//! Each rank has a port at which messages arrive and are received by source and by tag, each of them specific or any
//! (`port.rs`). As in MPI, messages of one source that a receive accepts are received in the order they were sent, and
//! a message is matched with the first receive that accepts it. Which of several sources comes first is not specified,
//! and every choice is explored. Collectives use their own mailboxes in a fixed order, and add no traces.
//!
//! Sends are synchronous by default ([`Buffering::Zero`]): a send completes when it has been matched with a receive.
//! With [`Buffering::Eager`] it completes at once. MPI permits both, so a program should be correct with either.

mod collective;
mod message;
mod rank;
mod request;

pub use message::{Received, Source, Tag};
pub use rank::Rank;
pub use request::Request;

use crate::net::{Net, NetBuilder};
use crate::process::body_factory;
use std::fmt::Debug;
use std::sync::Arc;

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
        World { ranks, buffering: Buffering::Zero }
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
    /// let options = Options { reduction: Reduction::Udpor, ..Options::default() };
    /// let verdict = explore(net.into(), &options, &()).unwrap();
    /// assert_eq!(verdict.counters.executions, 2);
    /// assert!(verdict.findings.is_empty());
    /// ```
    pub fn program<T, F>(self, name: impl Into<String>, body: F) -> Net
    where
        T: Clone + Debug + 'static,
        F: AsyncFn(Rank<T>) + Send + Sync + 'static,
    {
        let body = Arc::new(body);
        Net::new(name, move |net: &mut NetBuilder| {
            collective::set_up(net, self.ranks);
            for rank in 0..self.ranks {
                let body = body.clone();
                net.rank(format!("rank {rank}"), |end| body_factory(async move || body(Rank::new(end, self)).await));
            }
        })
    }
}
