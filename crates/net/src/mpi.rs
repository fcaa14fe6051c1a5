//! Programs as they are written with MPI: ranks, tags, requests, collectives.
//!
//! Each rank has a port, at which messages arrive and are taken by source and by tag, each given or any (`port.rs`). As MPI
//! has it, messages of one source that a receive would take are taken in the order of sending, and a message goes to the
//! first receive that takes it; which of several sources is first is open, and every answer is explored. Collectives use
//! mailboxes of their own, in a fixed order, and add no traces.
//!
//! Sends are synchronous by default ([`Buffering::Zero`]): a send ends when a receive has met it. With
//! [`Buffering::Eager`] it ends at once. MPI leaves open which it is: a program should hold with both.

use crate::history::start;
use crate::net::{Net, SetUp};
use crate::port::Wants;
use crate::task::{self, Communication, Mailbox, Receiving, Sending, test_any, wait_any};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

/// Whether sends wait for their receives.
///
/// ```
/// use whippet_net::mpi::{Buffering, Source, World};
/// // Both send before they receive.
/// let exchange = |buffering| World::new(2).buffering(buffering).program("exchange", async |mpi| {
///     let other = 1 - mpi.rank();
///     mpi.send(other, 0, mpi.rank()).await;
///     assert_eq!(mpi.recv(Source::Rank(other), 0).await.value, other);
/// });
/// let [zero, eager] = [Buffering::Zero, Buffering::Eager].map(|buffering| {
///     whippet_search::explore(exchange(buffering).into(), &Default::default(), &()).unwrap().findings.len()
/// });
/// assert_eq!((zero, eager), (1, 0), "without buffers, everybody waits for ever");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Buffering {
    /// A send is over when it has been received.
    #[default]
    Zero,
    /// A send is over at once.
    Eager,
}

/// How many ranks there are, and how they talk.
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
    /// A number of ranks, no buffering.
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

    /// With this buffering.
    ///
    /// ```
    /// use whippet_net::mpi::{Buffering, World};
    /// // A send that nobody receives is over at once.
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

    /// The program in which every rank runs `body`.
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
        Net::new(name, move |net: &mut SetUp| {
            for dst in 0..self.ranks {
                for src in 0..self.ranks {
                    net.mailbox::<T>(format!("rank {src} → rank {dst}, collectives"));
                }
            }
            for rank in 0..self.ranks {
                let body = body.clone();
                net.rank(format!("rank {rank}"), |end| {
                    start(async move || body(Rank { end, world: self, of: PhantomData }).await)
                });
            }
        })
    }
}

/// Where a message may come from. A number of a rank becomes one by `into`.
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
    /// From this rank only.
    Rank(usize),
    /// From whoever is first.
    Any,
}

impl From<usize> for Source {
    fn from(rank: usize) -> Source {
        Source::Rank(rank)
    }
}

/// With which tag a message may come. A number becomes one by `into`.
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
    /// With this one only.
    Is(u32),
    /// With any.
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
    /// Who sent it.
    pub source: usize,
    /// With which tag.
    pub tag: u32,
    /// What was sent.
    pub value: T,
}

/// Something that was begun and may not be complete.
///
/// ```
/// use whippet_net::mpi::{Request, Source, World};
/// let net = World::new(2).program("two", async |mpi| {
///     if mpi.rank() == 0 {
///         let sending = mpi.isend(1, 0, 42).await;
///         mpi.wait(&sending).await;
///     } else {
///         let receiving: Request<u32> = mpi.irecv(Source::Rank(0), 0).await;
///         assert_eq!(mpi.wait(&receiving).await.unwrap().value, 42);
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Request<T>(Begun<T>);

#[derive(Clone, Debug)]
enum Begun<T> {
    Send(Sending),
    /// An eager send: complete from the beginning.
    Buffered,
    Receive(Receiving<Received<T>>),
}

impl<T: Clone + 'static> Request<T> {
    fn communication(&self) -> Option<&dyn Communication> {
        match &self.0 {
            Begun::Send(sending) => Some(sending),
            Begun::Receive(receiving) => Some(receiving),
            Begun::Buffered => None,
        }
    }

    fn result(&self) -> Option<Received<T>> {
        match &self.0 {
            Begun::Receive(receiving) => Some(receiving.value()),
            _ => None,
        }
    }
}

/// One rank, for the code that runs as it.
///
/// ```
/// use whippet_net::mpi::{Rank, Source, World};
/// /// Everybody tells everybody's number to the next.
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
    end: task::Rank,
    world: World,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Which rank this is.
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
        self.end.no as usize
    }

    /// How many ranks there are.
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

    fn known(&self, rank: usize) -> u32 {
        assert!(rank < self.size(), "there is no rank {rank}: the world has {} ranks", self.size());
        rank as u32
    }

    /// Begins to send.
    ///
    /// # Panics
    /// If there is no such rank.
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
        let sending = self.end.post(self.known(to), tag, message, text).await;
        Request(match self.world.buffering {
            Buffering::Zero => Begun::Send(sending),
            Buffering::Eager => Begun::Buffered,
        })
    }

    /// Begins to receive: from a rank or any, with a tag or any.
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
    /// If there is no such rank.
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
    pub async fn irecv(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Request<T> {
        let wants = Wants {
            source: match from.into() {
                Source::Rank(rank) => Some(self.known(rank)),
                Source::Any => None,
            },
            tag: match tag.into() {
                Tag::Is(tag) => Some(tag),
                Tag::Any => None,
            },
        };
        Request(Begun::Receive(self.end.ask(wants).await))
    }

    /// Sends, and waits as the buffering says.
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

    /// Receives: from a rank or any, with a tag or any.
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
        self.wait(&request).await.expect("a receive brings a message")
    }

    /// Waits for a request; a receive brings its message.
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
    pub async fn wait(&self, request: &Request<T>) -> Option<Received<T>> {
        self.waitany(&[request]).await.1
    }

    /// Waits for one of several requests, and says which; where several are complete, each is explored. Eager sends are complete, and are taken first.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let sending = mpi.isend(1, 0, 42).await;
    ///         mpi.wait(&sending).await;
    ///     } else {
    ///         let receiving = mpi.irecv(Source::Rank(0), 0).await;
    ///         let (which, message) = mpi.waitany(&[&receiving]).await;
    ///         assert_eq!((which, message.unwrap().value), (0, 42));
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn waitany(&self, requests: &[&Request<T>]) -> (usize, Option<Received<T>>) {
        let k = match requests.iter().position(|r| r.communication().is_none()) {
            Some(buffered) => buffered,
            None => wait_any(&communications(requests)).await,
        };
        (k, requests[k].result())
    }

    /// Waits for all requests, in order.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let sending = mpi.isend(1, 0, 42).await;
    ///         mpi.wait(&sending).await;
    ///     } else {
    ///         let receiving = mpi.irecv(Source::Rank(0), 0).await;
    ///         let messages = mpi.waitall(&[&receiving]).await;
    ///         assert_eq!(messages[0].as_ref().unwrap().value, 42);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn waitall(&self, requests: &[&Request<T>]) -> Vec<Option<Received<T>>> {
        let mut all = Vec::new();
        for request in requests {
            all.push(self.wait(request).await);
        }
        all
    }

    /// Whether a request is complete by now. The message of a receive is there then, too.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let sending = mpi.isend(1, 0, 42).await;
    ///         mpi.wait(&sending).await;
    ///     } else {
    ///         let receiving = mpi.irecv(Source::Rank(0), 0).await;
    ///         if mpi.test(&receiving).await.is_none() {
    ///             mpi.wait(&receiving).await;
    ///         }
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn test(&self, request: &Request<T>) -> Option<Option<Received<T>>> {
        self.testany(&[request]).await.map(|(_, received)| received)
    }

    /// Which of several requests is complete by now, if any.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// let net = World::new(2).program("two", async |mpi| {
    ///     if mpi.rank() == 0 {
    ///         let sending = mpi.isend(1, 0, 42).await;
    ///         mpi.wait(&sending).await;
    ///     } else {
    ///         let receiving = mpi.irecv(Source::Rank(0), 0).await;
    ///         if mpi.testany(&[&receiving]).await.is_none() {
    ///             mpi.wait(&receiving).await;
    ///         }
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn testany(&self, requests: &[&Request<T>]) -> Option<(usize, Option<Received<T>>)> {
        let k = match requests.iter().position(|r| r.communication().is_none()) {
            Some(buffered) => buffered,
            None => test_any(&communications(requests)).await?,
        };
        Some((k, requests[k].result()))
    }

    /// Waits until all ranks are here.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(2).program("two", async |mpi: Rank<u8>| {
    ///     mpi.barrier().await; // nobody goes on before both are here
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn barrier(&self) {
        self.gather(0, (), |(), ()| ()).await;
        self.spread(0, ()).await;
    }

    /// Gives everybody the root's value.
    ///
    /// # Panics
    /// If there is no such rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("told", async |mpi| {
    ///     let told = mpi.bcast(1, 10 * mpi.rank()).await;
    ///     assert_eq!(told, 10);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn bcast(&self, root: usize, value: T) -> T {
        self.spread(root, value).await
    }

    /// Combines everybody's value, in the order of ranks after the root's own; the root has the result.
    ///
    /// # Panics
    /// If there is no such rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sum", async |mpi| {
    ///     let sum = mpi.reduce(0, mpi.rank(), |a, b| a + b).await;
    ///     assert_eq!(sum, (mpi.rank() == 0).then_some(3));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn reduce(&self, root: usize, value: T, combine: impl Fn(T, T) -> T) -> Option<T> {
        self.gather(root, value, combine).await
    }

    async fn spread<V: Clone + Debug + 'static>(&self, root: usize, value: V) -> V {
        self.known(root);
        if self.rank() != root {
            return self.collective(root, self.rank()).receive().await;
        }
        for other in (0..self.size()).filter(|&other| other != root) {
            self.collective(root, other).send(value.clone()).await;
        }
        value
    }

    async fn gather<V: Clone + Debug + 'static>(
        &self,
        root: usize,
        value: V,
        combine: impl Fn(V, V) -> V,
    ) -> Option<V> {
        self.known(root);
        if self.rank() != root {
            self.collective(self.rank(), root).send(value).await;
            return None;
        }
        let mut sum = value;
        for other in (0..self.size()).filter(|&other| other != root) {
            sum = combine(sum, self.collective(other, root).receive().await);
        }
        Some(sum)
    }

    fn collective<V>(&self, src: usize, dst: usize) -> Mailbox<V> {
        Mailbox { no: (dst * self.size() + src) as u32, of: PhantomData }
    }
}

fn communications<'a, T: Clone + 'static>(requests: &'a [&Request<T>]) -> Vec<&'a dyn Communication> {
    requests.iter().filter_map(|request| request.communication()).collect()
}
