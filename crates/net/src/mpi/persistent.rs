//! Persistent requests: sends and receives that are started again and again.

use super::{Rank, Request, Source, Tag};
use crate::process::located;
use std::fmt::Debug;

/// A send or receive that can be started repeatedly (`MPI_Send_init`, `MPI_Recv_init`).
///
/// ```
/// use whippet_net::mpi::{Persistent, World};
/// let net = World::new(2).program("again", async |mpi| {
///     let other = 1 - mpi.rank();
///     let receive = Persistent::receive(other, 0);
///     let send = Persistent::send(other, 0, mpi.rank());
///     for _ in 0..2 {
///         let requests = [receive.start(&mpi).await, send.start(&mpi).await];
///         let messages = mpi.waitall(&requests.each_ref()).await;
///         assert_eq!(messages[0].as_ref().unwrap().value, other);
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub enum Persistent<T> {
    /// A send to a rank with a tag.
    Send {
        /// The rank that receives.
        to: usize,
        /// The tag of the messages.
        tag: u32,
        /// The value that is sent each time.
        value: T,
    },
    /// A receive.
    Receive {
        /// The source of messages.
        from: Source,
        /// The tag of messages.
        tag: Tag,
    },
}

impl<T: Clone + Debug + 'static> Persistent<T> {
    /// Creates a send, which is not started yet.
    ///
    /// ```
    /// use whippet_net::mpi::Persistent;
    /// assert!(matches!(Persistent::send(1, 0, 42), Persistent::Send { to: 1, .. }));
    /// ```
    #[must_use]
    pub fn send(to: usize, tag: u32, value: T) -> Persistent<T> {
        Persistent::Send { to, tag, value }
    }

    /// Creates a receive, which is not started yet.
    ///
    /// ```
    /// use whippet_net::mpi::{Persistent, Source};
    /// let receive: Persistent<u32> = Persistent::receive(Source::Any, 0);
    /// assert!(matches!(receive, Persistent::Receive { .. }));
    /// ```
    #[must_use]
    pub fn receive(from: impl Into<Source>, tag: impl Into<Tag>) -> Persistent<T> {
        Persistent::Receive { from: from.into(), tag: tag.into() }
    }

    /// Starts the send or receive (`MPI_Start`).
    ///
    /// ```
    /// use whippet_net::mpi::{Persistent, World};
    /// let net = World::new(2).program("start", async |mpi| match mpi.rank() {
    ///     0 => mpi.send(1, 0, 42).await,
    ///     _ => {
    ///         let request = Persistent::receive(0, 0).start(&mpi).await;
    ///         assert_eq!(mpi.wait(&request).await.unwrap().value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn start(&self, rank: &Rank<T>) -> impl Future<Output = Request<T>> {
        located(async move {
            match self {
                Persistent::Send { to, tag, value } => rank.isend(*to, *tag, value.clone()).await,
                Persistent::Receive { from, tag } => rank.irecv(*from, *tag).await,
            }
        })
    }
}
