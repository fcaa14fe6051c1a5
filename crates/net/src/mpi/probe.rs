//! Probes: looking for a message without receiving it.
//!
//! A probe is matched with a message in the same way as a receive, and is waited for or tested like one. The message
//! remains for the receives that follow.

use super::message::Letter;
use super::{PROC_NULL, Rank, Request, Source, Tag};
use crate::communication::{Communication, Receiving, test_any, wait_any};
use crate::op::Envelope;
use crate::port::ReceiveFilter;
use crate::process::located;
use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

/// The source and the tag of a message that a probe has found.
///
/// ```
/// use whippet_net::mpi::{Probed, Source, Tag, World};
/// let net = World::new(2).program("unknown tag", async |mpi| match mpi.rank() {
///     0 => mpi.send(1, 7, 42).await,
///     _ => {
///         let found = mpi.probe(Source::Any, Tag::Any).await;
///         assert_eq!(found, Probed { source: 0, tag: 7 });
///         assert_eq!(mpi.recv(found.source, found.tag).await.value, 42);
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The rank that sent the message, or [`PROC_NULL`] if the probe named it as its source.
    pub source: usize,
    /// The tag of the message.
    pub tag: u32,
}

impl Probed {
    /// The result of a probe for a message from [`PROC_NULL`].
    const NONE: Probed = Probed { source: PROC_NULL, tag: 0 };
}

/// The messages that a probe looks for, and its handle.
type OpenProbe = (ReceiveFilter, Receiving<Letter>);

/// The probes of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    /// The probes that have found no message yet. A probe for the same messages resumes them.
    open: Rc<RefCell<Vec<OpenProbe>>>,
    /// The messages that were found and that no receive has been started for: the port of the sender, and the envelope.
    found: Rc<RefCell<Vec<(u32, Envelope)>>>,
}

impl Probes {
    /// Notes that a receive was started, which may take messages.
    pub(super) fn receive(&self, filter: ReceiveFilter) {
        self.open.borrow_mut().clear();
        self.found.borrow_mut().retain(|&(from, envelope)| !filter.accepts(from, envelope));
    }

    /// Returns `true` if a message that was found before can be found again.
    fn has_found(&self, filter: ReceiveFilter) -> bool {
        self.found.borrow().iter().any(|&(from, envelope)| filter.accepts(from, envelope))
    }

    fn take_open(&self, filter: ReceiveFilter) -> Option<Receiving<Letter>> {
        let mut open = self.open.borrow_mut();
        let k = open.iter().position(|(other, _)| *other == filter)?;
        Some(open.swap_remove(k).1)
    }
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Resumes or starts a probe.
    async fn start_probe(&self, filter: ReceiveFilter) -> Receiving<Letter> {
        match self.probes.take_open(filter) {
            Some(probe) => probe,
            None => self.port.probe(filter).await,
        }
    }

    /// Waits for a message.
    async fn wait_for_probe(&self, filter: ReceiveFilter) -> Probed {
        self.polling.reset();
        let probe = self.start_probe(filter).await;
        wait_any(&[&probe]).await;
        self.found(&probe)
    }

    /// Notes the message that a probe has found, and returns its source and tag.
    fn found(&self, probe: &Receiving<Letter>) -> Probed {
        let Letter { source, tag, .. } = probe.value();
        let envelope = Envelope { communicator: self.communicator.id, tag };
        self.probes.found.borrow_mut().push((self.port_of(source), envelope));
        Probed { source, tag }
    }

    /// Waits until a message can be received from one rank or any, with one tag or any (`MPI_Probe`). If messages of
    /// several ranks can be received, each choice is explored.
    ///
    /// A receive from the rank and with the tag that are returned receives this message. One from any source may receive
    /// another.
    ///
    /// # Panics
    ///
    /// Panics if the rank `from` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(3).program("probe", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         for _ in 0..2 {
    ///             let found = mpi.probe(Source::Any, 0).await;
    ///             assert_eq!(mpi.recv(found.source, 0).await.value, found.source);
    ///         }
    ///     }
    ///     rank => mpi.send(0, 0, rank).await,
    /// });
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert_eq!((verdict.counters.executions, verdict.findings.len()), (2, 0));
    /// ```
    #[track_caller]
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = Probed> {
        located(async move {
            match self.filter(from.into(), tag.into()) {
                Some(filter) => self.wait_for_probe(filter).await,
                None => Probed::NONE,
            }
        })
    }

    /// Returns the source and the tag of a message that can be received, if there is one (`MPI_Iprobe`). As with
    /// [`Rank::test`], a loop that probes ends.
    ///
    /// # Panics
    ///
    /// Panics if the rank `from` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, Tag, World};
    /// let net = World::new(2).program("poll", async |mpi| match mpi.rank() {
    ///     0 => mpi.send(1, 7, 42).await,
    ///     _ => {
    ///         let found = loop {
    ///             if let Some(found) = mpi.iprobe(Source::Any, Tag::Any).await {
    ///                 break found;
    ///             }
    ///         };
    ///         assert_eq!(mpi.recv(found.source, found.tag).await.value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iprobe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = Option<Probed>> {
        located(async move {
            let Some(filter) = self.filter(from.into(), tag.into()) else { return Some(Probed::NONE) };
            if self.probes.has_found(filter) {
                return Some(self.wait_for_probe(filter).await);
            }
            let probe = self.start_probe(filter).await;
            let of = vec![probe.id().1];
            self.polling.before_test(&of).await;
            if test_any(&[&probe]).await.is_some() {
                self.polling.reset();
                return Some(self.found(&probe));
            }
            self.polling.failed(of);
            self.probes.open.borrow_mut().push((filter, probe));
            None
        })
    }

    /// Waits for a message as [`Rank::probe`] does and takes it, so that no other receive gets it (`MPI_Mprobe`). Wait
    /// for the request to receive it (`MPI_Mrecv`). A send without a buffer is complete when its message has been taken.
    ///
    /// # Panics
    ///
    /// Panics if the rank `from` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(3).program("take", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let (found, taken) = mpi.mprobe(Source::Any, 0).await;
    ///         assert_ne!(mpi.recv(Source::Any, 0).await.source, found.source);
    ///         assert_eq!(mpi.wait(&taken).await.unwrap().value, found.source);
    ///     }
    ///     rank => mpi.send(0, 0, rank).await,
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn mprobe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = (Probed, Request<T>)> {
        located(async move {
            let found = self.probe(from, tag).await;
            (found, self.irecv(found.source, found.tag).await)
        })
    }

    /// Takes a message if there is one, as [`Rank::mprobe`] does (`MPI_Improbe`).
    ///
    /// # Panics
    ///
    /// Panics if the rank `from` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("take", async |mpi| match mpi.rank() {
    ///     0 => mpi.send(1, 0, 42).await,
    ///     _ => match mpi.improbe(0, 0).await {
    ///         Some((_, taken)) => assert_eq!(mpi.wait(&taken).await.unwrap().value, 42),
    ///         None => drop(mpi.recv(0, 0).await),
    ///     },
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn improbe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> impl Future<Output = Option<(Probed, Request<T>)>> {
        located(async move {
            let found = self.iprobe(from, tag).await?;
            Some((found, self.irecv(found.source, found.tag).await))
        })
    }
}
