//! Ranks, as seen by the code that runs as one: its number, and its sends and receives.
//!
//! The operations that wait for requests are in `request.rs`, the collective operations in `collective.rs`.

use super::{Buffering, Received, Request, Source, Tag, World};
use crate::port::ReceiveFilter;
use crate::port_handle::PortHandle;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A rank, as seen by the code that runs as it.
///
/// ```
/// use whippet_net::mpi::{Rank, Source, World};
/// /// Each rank sends its number to the next one.
/// async fn ring(mpi: &Rank<usize>) {
///     let sending = mpi.isend((mpi.rank() + 1) % mpi.size(), 0, mpi.rank()).await;
///     let before = (mpi.rank() + mpi.size() - 1) % mpi.size();
///     assert_eq!(mpi.recv(Source::Rank(before), 0).await.value, before);
///     mpi.wait(&sending).await;
/// }
/// let net = World::new(3).program("ring", async |mpi| ring(&mpi).await);
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Rank<T> {
    port: PortHandle,
    world: World,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Clone + Debug + 'static> Rank<T> {
    pub(super) fn new(port: PortHandle, world: World) -> Rank<T> {
        Rank { port, world, of: PhantomData }
    }

    /// Returns the number of this rank.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(3).program("numbers", async |mpi: Rank<u8>| {
    ///     assert!(mpi.rank() < 3);
    ///     mpi.barrier().await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn rank(&self) -> usize {
        self.port.no() as usize
    }

    /// Returns the number of ranks.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(3).program("size", async |mpi: Rank<u8>| {
    ///     assert_eq!(mpi.size(), 3);
    ///     mpi.barrier().await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.world.ranks
    }

    /// Checks that a rank exists and returns its number.
    pub(super) fn checked_rank(&self, rank: usize) -> u32 {
        assert!(rank < self.size(), "unknown rank {rank}: the world has {} ranks, numbered from 0", self.size());
        rank as u32
    }

    /// Starts a send.
    ///
    /// # Panics
    ///
    /// Panics if the rank `to` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let sending = mpi.isend(1, 0, 42).await;
    ///         mpi.wait(&sending).await;
    ///     } else {
    ///         let receiving = mpi.irecv(Source::Rank(0), 0).await;
    ///         assert_eq!(mpi.wait(&receiving).await.unwrap().value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn isend(&self, to: usize, tag: u32, value: T) -> Request<T> {
        let text = format!("{value:?}");
        let message = Received { source: self.rank(), tag, value };
        let sending = self.port.send(self.checked_rank(to), tag, message, text).await;
        match self.world.buffering {
            Buffering::Zero => Request::send(sending),
            Buffering::Eager => Request::buffered(),
        }
    }

    /// Starts a receive from one rank or any, with one tag or any.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, Tag, World};
    /// use whippet_search::{Options, explore};
    ///
    /// let net = World::new(3).program("by source, by tag", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let from_one = mpi.irecv(1, 7).await;
    ///         let other = mpi.irecv(Source::Any, Tag::Any).await;
    ///         let all = mpi.waitall(&[&from_one, &other]).await;
    ///         assert_eq!(all[0].as_ref().unwrap().source, 1);
    ///         assert_eq!(all[1].as_ref().unwrap().tag, 8);
    ///     }
    ///     rank => mpi.send(0, 6 + rank as u32, "hello").await,
    /// });
    /// let verdict = explore(net.into(), &Options::default(), &()).unwrap();
    /// assert_eq!(verdict.counters.executions, 1, "nothing is left to chance");
    /// assert!(verdict.findings.is_empty());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the rank `from` does not exist.
    pub async fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Request<T> {
        let filter = ReceiveFilter {
            source: match from.into() {
                Source::Rank(rank) => Some(self.checked_rank(rank)),
                Source::Any => None,
            },
            tag: match tag.into() {
                Tag::Is(tag) => Some(tag),
                Tag::Any => None,
            },
        };
        Request::receive(self.port.receive(filter).await)
    }

    /// Sends a value, and waits until the send is complete according to the buffering.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.send(1, 0, 42).await;
    ///     } else {
    ///         assert_eq!(mpi.recv(Source::Rank(0), 0).await.value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn send(&self, to: usize, tag: u32, value: T) {
        let request = self.isend(to, tag, value).await;
        self.wait(&request).await;
    }

    /// Receives a message from one rank or any, with one tag or any.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.send(1, 0, 42).await;
    ///     } else {
    ///         assert_eq!(mpi.recv(Source::Rank(0), 0).await.value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn recv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Received<T> {
        let request = self.irecv(from, tag).await;
        self.wait(&request).await.expect("a completed receive has a message")
    }
}
