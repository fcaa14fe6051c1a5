//! Messages: the criteria of a receive, and the message received.

use super::fail;
use std::any::{Any, type_name};
use std::rc::Rc;

/// The rank that does not exist (`MPI_PROC_NULL`): a send to it, or a receive from it, is complete from the beginning.
///
/// ```
/// use whippet_net::mpi::{PROC_NULL, World};
/// let net = World::new(2).program("to the right", async |mpi| {
///     let right = if mpi.rank() + 1 < mpi.size() { mpi.rank() + 1 } else { PROC_NULL };
///     let left = if mpi.rank() > 0 { mpi.rank() - 1 } else { PROC_NULL };
///     let message = mpi.sendrecv(right, 0, mpi.rank(), left, 0).await;
///     assert_eq!(message.map(|message| message.value), mpi.rank().checked_sub(1));
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub const PROC_NULL: usize = usize::MAX - 1;

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
    /// No rank (`MPI_PROC_NULL`): the receive is complete from the beginning, without a message.
    Null,
}

impl From<usize> for Source {
    fn from(rank: usize) -> Source {
        if rank == PROC_NULL { Source::Null } else { Source::Rank(rank) }
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

/// A message on its way, whose type is checked when it is received.
#[derive(Clone)]
pub(super) struct Letter {
    pub(super) source: usize,
    pub(super) tag: u32,
    pub(super) value: Rc<dyn Any>,
    /// The type of the value.
    pub(super) value_type: &'static str,
}

impl Letter {
    /// Returns the message with its value, or ends the process with a finding if the value has another type.
    pub(super) fn open<T: Clone + 'static>(&self) -> Received<T> {
        match self.value.downcast_ref::<T>() {
            Some(value) => Received { source: self.source, tag: self.tag, value: value.clone() },
            None => fail(format!(
                "type mismatch: a receive of {} was matched with a message of rank {} with tag {}, which has the type {}",
                type_name::<T>(),
                self.source,
                self.tag,
                self.value_type
            )),
        }
    }
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Letter from {} with tag {}", self.source, self.tag)
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
