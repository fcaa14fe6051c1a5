//! Ranks, as seen by the code that runs as one: its number, and its sends and receives.
//!
//! The operations that wait for requests are in `request.rs`, the collective operations in `collective.rs`.

use super::communicator::Communicator;
use super::message::Letter;
use super::polling::{Polling, Unfinished};
use super::probe::Probes;
use super::{Buffering, PROC_NULL, Received, Request, Source, Tag, World, fail};
use crate::choose::choose;
use crate::communication::Sending;
use crate::op::{Envelope, Op, Payload};
use crate::port::ReceiveFilter;
use crate::port_handle::{PortHandle, SendMode};
use crate::process::{located, start_operation};
use std::any::type_name;
use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A rank, as seen by the code that runs as it. Its numbers are those of one communicator: at first of the world.
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
    pub(super) port: PortHandle,
    pub(super) world: World,
    pub(super) communicator: Communicator,
    pub(super) polling: Rc<Polling>,
    pub(super) unfinished: Unfinished,
    pub(super) probes: Probes,
    /// The choice of the network for this execution, once it is known.
    pub(super) synchronises: Rc<Cell<Option<bool>>>,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Clone + Debug + 'static> Rank<T> {
    pub(super) fn new(port: PortHandle, world: World, polled: Arc<AtomicBool>) -> Rank<T> {
        Rank {
            port,
            world,
            communicator: Communicator::world(world.ranks as u32, port.no()),
            polling: Rc::new(Polling::new(world.polls, polled)),
            probes: Probes::default(),
            unfinished: Unfinished::new(port.no(), world.report_unfinished),
            synchronises: Rc::default(),
            of: PhantomData,
        }
    }

    pub(super) fn unfinished(&self) -> Unfinished {
        self.unfinished.clone()
    }

    /// Returns this rank for messages of another type. A receive of one type that is matched with a message of another
    /// one is a finding.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("mixed", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         mpi.send(1, 0, 42).await;
    ///         mpi.typed::<&str>().send(1, 1, "hello").await;
    ///     } else {
    ///         assert_eq!(mpi.recv(0, 0).await.value, 42);
    ///         assert_eq!(mpi.typed::<&str>().recv(0, 1).await.value, "hello");
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn typed<V: Clone + Debug + 'static>(&self) -> Rank<V> {
        self.on(self.communicator.clone())
    }

    /// Returns this rank as a member of a communicator.
    pub(super) fn on<V>(&self, communicator: Communicator) -> Rank<V> {
        Rank {
            port: self.port,
            world: self.world,
            communicator,
            polling: self.polling.clone(),
            probes: self.probes.clone(),
            unfinished: self.unfinished.clone(),
            synchronises: self.synchronises.clone(),
            of: PhantomData,
        }
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
        self.communicator.me as usize
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
        self.communicator.members.len()
    }

    /// Checks that a rank exists and returns its number.
    pub(super) fn checked_rank(&self, rank: usize) -> u32 {
        if rank >= self.size() {
            let of = if self.communicator.is_world() { "world" } else { "communicator" };
            fail(format!("unknown rank {rank}: the {of} has {} ranks, numbered from 0", self.size()));
        }
        rank as u32
    }

    /// Returns the port of a member.
    pub(super) fn port_of(&self, rank: usize) -> u32 {
        self.communicator.members[self.checked_rank(rank) as usize]
    }

    /// Decides if a send is buffered.
    pub(super) async fn buffers(&self) -> bool {
        match self.world.buffering {
            Buffering::Zero => false,
            Buffering::Eager => true,
            Buffering::Either => choose(&["to send without a buffer", "to buffer the next send"]).await == 1,
        }
    }

    /// Returns a request that is complete from the beginning, without a message.
    async fn complete_request(&self, text: &str) -> Request<T> {
        Request::send(Sending::new(start_operation(Op::Local(Some(text.into()))).await))
    }

    pub(super) async fn start_send(&self, to: usize, tag: u32, value: T, mode: SendMode) -> Request<T> {
        self.polling.reset();
        if to == PROC_NULL {
            return self.complete_request("its send to no rank").await;
        }
        let text = format!("{value:?}");
        let envelope = Envelope { communicator: self.communicator.id, tag };
        let letter = Letter { source: self.rank(), tag, value: Rc::new(value), value_type: type_name::<T>() };
        let sending = self.port.send(self.port_of(to), envelope, Payload::new(letter, text), mode).await;
        let request = Request::send(sending);
        self.unfinished.add(|| format!("its send to rank {to} with tag {tag}"), request.flag());
        request
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
    #[track_caller]
    pub fn isend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = Request<T>> {
        located(async move {
            let buffered = to == PROC_NULL || self.buffers().await;
            self.start_send(to, tag, value, SendMode { buffered, ready: false }).await
        })
    }

    /// Starts a synchronous send, which completes when it has been matched with a receive.
    ///
    /// # Panics
    ///
    /// Panics if the rank `to` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Buffering, World};
    /// // Buffers do not help against this deadlock.
    /// let net = World::new(2).buffering(Buffering::Eager).program("synchronous", async |mpi| {
    ///     let request = mpi.issend(1 - mpi.rank(), 0, 42).await;
    ///     mpi.wait(&request).await;
    ///     mpi.recv(1 - mpi.rank(), 0).await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.findings.len(), 1);
    /// ```
    #[track_caller]
    pub fn issend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = Request<T>> {
        located(async move { self.start_send(to, tag, value, SendMode::default()).await })
    }

    /// Starts a buffered send, which is complete from the beginning. The size of the buffer is not modelled.
    ///
    /// # Panics
    ///
    /// Panics if the rank `to` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("buffered", async |mpi| {
    ///     let request = mpi.ibsend(1 - mpi.rank(), 0, 42).await;
    ///     mpi.wait(&request).await;
    ///     mpi.recv(1 - mpi.rank(), 0).await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    #[track_caller]
    pub fn ibsend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = Request<T>> {
        located(async move { self.start_send(to, tag, value, SendMode { buffered: true, ready: false }).await })
    }

    /// Sends a value and waits until it has been matched with a receive.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("synchronous", async |mpi| match mpi.rank() {
    ///     0 => mpi.ssend(1, 0, 42).await,
    ///     _ => drop(mpi.recv(0, 0).await),
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    #[track_caller]
    pub fn ssend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = ()> {
        located(async move {
            let request = self.issend(to, tag, value).await;
            self.wait(&request).await;
        })
    }

    /// Sends a value with a buffer, without waiting.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("buffered", async |mpi| {
    ///     mpi.bsend(1 - mpi.rank(), 0, 42).await;
    ///     mpi.recv(1 - mpi.rank(), 0).await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    #[track_caller]
    pub fn bsend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = ()> {
        located(async move {
            let request = self.ibsend(to, tag, value).await;
            self.wait(&request).await;
        })
    }

    /// Sends and receives at the same time. Returns the message, or `None` if the source is [`PROC_NULL`].
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("ring", async |mpi| {
    ///     let (next, before) = ((mpi.rank() + 1) % 3, (mpi.rank() + 2) % 3);
    ///     let message = mpi.sendrecv(next, 0, mpi.rank(), before, 0).await;
    ///     assert_eq!(message.unwrap().value, before);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    #[track_caller]
    pub fn sendrecv(
        &self,
        to: usize,
        send_tag: u32,
        value: T,
        from: impl Into<Source>,
        receive_tag: impl Into<Tag>,
    ) -> impl Future<Output = Option<Received<T>>> {
        located(async move {
            let receive = self.irecv(from, receive_tag).await;
            let send = self.isend(to, send_tag, value).await;
            self.wait(&send).await;
            self.wait(&receive).await
        })
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
    #[track_caller]
    pub fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = Request<T>> {
        located(async move {
            self.polling.reset();
            let (from, tag) = (from.into(), tag.into());
            let Some(filter) = self.filter(from, tag) else {
                return self.complete_request("its receive from no rank").await;
            };
            self.probes.receive(filter);
            let request = Request::receive(self.port.receive(filter).await);
            self.unfinished.add(|| format!("its receive from {from:?} with tag {tag:?}"), request.flag());
            request
        })
    }

    /// Returns the messages that a receive accepts, or `None` if the source is [`PROC_NULL`].
    pub(super) fn filter(&self, from: Source, tag: Tag) -> Option<ReceiveFilter> {
        let source = match from {
            Source::Rank(rank) => Some(self.port_of(rank)),
            Source::Any => None,
            Source::Null => return None,
        };
        let tag = match tag {
            Tag::Is(tag) => Some(tag),
            Tag::Any => None,
        };
        Some(ReceiveFilter { communicator: self.communicator.id, source, tag })
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
    #[track_caller]
    pub fn send(&self, to: usize, tag: u32, value: T) -> impl Future<Output = ()> {
        located(async move {
            let request = self.isend(to, tag, value).await;
            self.wait(&request).await;
        })
    }

    /// Receives a message from one rank or any, with one tag or any.
    ///
    /// # Panics
    ///
    /// Panics if the source is [`PROC_NULL`], which sends no message: use [`Rank::irecv`] or [`Rank::sendrecv`].
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
    #[track_caller]
    pub fn recv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = Received<T>> {
        located(async move {
            let request = self.irecv(from, tag).await;
            self.wait(&request).await.expect("a receive from `PROC_NULL` has no message: use `irecv` or `sendrecv`")
        })
    }
}
