//! Messages: the criteria of a receive, and the message received.

/// The source of messages that a receive accepts. The number of a rank converts to it by `into`.
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
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This rank only.
    Rank(usize),
    /// Any rank.
    Any,
}

impl From<usize> for Source {
    fn from(rank: usize) -> Source {
        Source::Rank(rank)
    }
}

/// The tag of messages that a receive accepts. A number converts to it by `into`.
///
/// ```
/// use whippet_net::mpi::{Tag, World};
/// let net = World::new(2).program("whatever the tag", async |mpi| {
///     if mpi.rank() == 0 {
///         mpi.send(1, 7, "hello").await;
///     } else {
///         assert_eq!(mpi.recv(0, Tag::Any).await.tag, 7);
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// This tag only.
    Is(u32),
    /// Any tag.
    Any,
}

impl From<u32> for Tag {
    fn from(tag: u32) -> Tag {
        Tag::Is(tag)
    }
}

/// A message that was received.
///
/// ```
/// use whippet_net::mpi::{Received, Source, World};
/// let net = World::new(2).program("two", async |mpi| {
///     if mpi.rank() == 0 {
///         mpi.send(1, 0, 42).await;
///     } else {
///         let Received { source, value, .. } = mpi.recv(Source::Rank(0), 0).await;
///         assert_eq!((source, value), (0, 42));
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// The rank that sent the message.
    pub source: usize,
    /// The tag of the message.
    pub tag: u32,
    /// The value that was sent.
    pub value: T,
}
