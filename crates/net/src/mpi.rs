//! Programs as they are written with MPI: ranks, tags, requests, collectives.
//!
//! A layer of nothing but mailboxes. A message from rank s to rank d with tag t goes through the mailbox (s, d, t);
//! where d receives tag t from any source, through one mailbox (d, t) for all senders. So it must be known beforehand
//! which rank does so: see [`World::any_source`]. Collectives use mailboxes of their own, in a fixed order, and add no
//! traces.
//!
//! Sends are synchronous by default ([`Buffering::Zero`]): a send ends when it has been received. With
//! [`Buffering::Eager`] it ends at once. MPI leaves open which it is: a program should hold with both.

use crate::net::{Net, SetUp};
use crate::task::{Communication, Mailbox, Receiving, Sending, test_any, wait_any};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// Whether sends wait for their receives.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Buffering {
    /// A send is over when it has been received.
    #[default]
    Zero,
    /// A send is over at once.
    Eager,
}

/// How many ranks there are, and how they talk.
#[derive(Clone, Debug)]
pub struct World {
    ranks: usize,
    tags: usize,
    buffering: Buffering,
    any: Vec<(usize, usize)>,
}

impl World {
    /// A number of ranks, messages with tag 0, no buffering.
    #[must_use]
    pub fn new(ranks: usize) -> World {
        World { ranks, tags: 1, buffering: Buffering::Zero, any: Vec::new() }
    }

    /// With the tags 0 to `tags` - 1.
    #[must_use]
    pub fn tags(mut self, tags: usize) -> World {
        self.tags = tags;
        self
    }

    /// With this buffering.
    #[must_use]
    pub fn buffering(mut self, buffering: Buffering) -> World {
        self.buffering = buffering;
        self
    }

    /// This rank receives messages of this tag from any source, always.
    #[must_use]
    pub fn any_source(mut self, rank: usize, tag: usize) -> World {
        self.any.push((rank, tag));
        self
    }

    /// The program in which every rank runs `body`.
    ///
    /// ```
    /// use whippet_net::mpi::{Source, World};
    /// use whippet_search::{Options, Reduction, explore};
    ///
    /// let world = World::new(3).any_source(0, 0);
    /// let net = world.program("greetings", async |mpi| {
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
                for tag in 0..=self.tags {
                    for src in 0..=self.ranks {
                        let what = if tag == self.tags { "collectives".into() } else { format!("tag {tag}") };
                        let from = if src == self.ranks { "anybody".into() } else { format!("rank {src}") };
                        net.mailbox::<T>(format!("{from} → rank {dst}, {what}"));
                    }
                }
            }
            let world = Rc::new(self.clone());
            for rank in 0..self.ranks {
                let (body, world) = (body.clone(), world.clone());
                net.process(format!("rank {rank}"), async move || {
                    body(Rank { rank, world: world.clone(), of: PhantomData }).await;
                });
            }
        })
    }

    fn mailbox<T>(&self, src: usize, dst: usize, tag: usize) -> Mailbox<T> {
        let no = (dst * (self.tags + 1) + tag) * (self.ranks + 1) + src;
        Mailbox { no: no as u32, of: PhantomData }
    }

    fn check(&self, rank: usize, tag: usize) {
        assert!(rank < self.ranks, "there is no rank {rank}: the world has {} ranks", self.ranks);
        assert!(tag < self.tags, "tag {tag} is not declared: say `World::new(…).tags({})`", tag + 1);
    }
}

/// Where a message may come from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From this rank only.
    Rank(usize),
    /// From whoever is first.
    Any,
}

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// Who sent it.
    pub source: usize,
    /// What was sent.
    pub value: T,
}

/// Something that was begun and may not be complete.
#[derive(Clone, Debug)]
pub struct Request<T>(Begun<T>);

#[derive(Clone, Debug)]
enum Begun<T> {
    Send(Sending),
    /// An eager send: complete from the beginning.
    Buffered,
    Receive(Receiving<(usize, T)>),
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
            Begun::Receive(receiving) => {
                let (source, value) = receiving.value();
                Some(Received { source, value })
            }
            _ => None,
        }
    }
}

/// One rank, for the code that runs as it.
#[derive(Clone, Debug)]
pub struct Rank<T> {
    rank: usize,
    world: Rc<World>,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Which rank this is.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.world.ranks
    }

    /// Begins to send.
    ///
    /// # Panics
    /// If there is no such rank or tag.
    pub async fn isend(&self, to: usize, tag: usize, value: T) -> Request<T> {
        self.world.check(to, tag);
        let any = self.world.any.contains(&(to, tag));
        let src = if any { self.world.ranks } else { self.rank };
        let sending = self.world.mailbox(src, to, tag).send_async((self.rank, value)).await;
        Request(match self.world.buffering {
            Buffering::Zero => Begun::Send(sending),
            Buffering::Eager => Begun::Buffered,
        })
    }

    /// Begins to receive.
    ///
    /// # Panics
    /// If there is no such rank or tag, or the world was not told whether this rank receives from any source.
    pub async fn irecv(&self, from: Source, tag: usize) -> Request<T> {
        let any = self.world.any.contains(&(self.rank, tag));
        let me = self.rank;
        let src = match from {
            Source::Any => {
                assert!(
                    any,
                    "rank {me} receives tag {tag} from any source: declare it with `World::new(…).any_source({me}, {tag})`"
                );
                self.world.check(me, tag);
                self.world.ranks
            }
            Source::Rank(src) => {
                assert!(
                    !any,
                    "rank {me} receives tag {tag} from any source, so it cannot ask for rank {src} alone: use another tag"
                );
                self.world.check(src, tag);
                src
            }
        };
        Request(Begun::Receive(self.world.mailbox(src, me, tag).receive_async().await))
    }

    /// Sends, and waits as the buffering says.
    pub async fn send(&self, to: usize, tag: usize, value: T) {
        let request = self.isend(to, tag, value).await;
        self.wait(&request).await;
    }

    /// Receives.
    pub async fn recv(&self, from: Source, tag: usize) -> Received<T> {
        let request = self.irecv(from, tag).await;
        self.wait(&request).await.expect("a receive brings a message")
    }

    /// Waits for a request; a receive brings its message.
    pub async fn wait(&self, request: &Request<T>) -> Option<Received<T>> {
        self.waitany(&[request]).await.1
    }

    /// Waits for one of several requests, and says which. Eager sends are complete, and are taken first.
    pub async fn waitany(&self, requests: &[&Request<T>]) -> (usize, Option<Received<T>>) {
        let k = match requests.iter().position(|r| r.communication().is_none()) {
            Some(buffered) => buffered,
            None => wait_any(&communications(requests)).await,
        };
        (k, requests[k].result())
    }

    /// Waits for all requests, in order.
    pub async fn waitall(&self, requests: &[&Request<T>]) -> Vec<Option<Received<T>>> {
        let mut all = Vec::new();
        for request in requests {
            all.push(self.wait(request).await);
        }
        all
    }

    /// Whether a request is complete by now. The message of a receive is there then, too.
    pub async fn test(&self, request: &Request<T>) -> Option<Option<Received<T>>> {
        self.testany(&[request]).await.map(|(_, received)| received)
    }

    /// Which of several requests is complete by now, if any.
    pub async fn testany(&self, requests: &[&Request<T>]) -> Option<(usize, Option<Received<T>>)> {
        let k = match requests.iter().position(|r| r.communication().is_none()) {
            Some(buffered) => buffered,
            None => test_any(&communications(requests)).await?,
        };
        Some((k, requests[k].result()))
    }

    /// Waits until all ranks are here.
    pub async fn barrier(&self, token: T) {
        self.reduce(0, token.clone(), |a, _| a).await;
        self.bcast(0, token).await;
    }

    /// Gives everybody the root's value.
    pub async fn bcast(&self, root: usize, value: T) -> T {
        if self.rank != root {
            return self.collective(root, self.rank).receive().await.1;
        }
        for other in (0..self.size()).filter(|&other| other != root) {
            self.collective(root, other).send((root, value.clone())).await;
        }
        value
    }

    /// Combines everybody's value, in the order of ranks after the root's own; the root has the result.
    pub async fn reduce(&self, root: usize, value: T, combine: impl Fn(T, T) -> T) -> Option<T> {
        if self.rank != root {
            self.collective(self.rank, root).send((self.rank, value)).await;
            return None;
        }
        let mut sum = value;
        for other in (0..self.size()).filter(|&other| other != root) {
            sum = combine(sum, self.collective(other, root).receive().await.1);
        }
        Some(sum)
    }

    fn collective(&self, src: usize, dst: usize) -> Mailbox<(usize, T)> {
        self.world.mailbox(src, dst, self.world.tags)
    }
}

fn communications<'a, T: Clone + 'static>(requests: &'a [&Request<T>]) -> Vec<&'a dyn Communication> {
    requests.iter().filter_map(|request| request.communication()).collect()
}
