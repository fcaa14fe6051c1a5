//! Requests: sends, receives and collective calls in progress, and the operations that wait for them.

use super::gathering::Gathering;
use super::message::Letter;
use super::{Rank, Received};
use crate::communication::{Communication, Receiving, Sending, test_any, wait_any};
use crate::process::located;
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

/// A send, receive or collective call that may not be complete yet.
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
pub struct Request<T> {
    operation: Operation<T>,
    /// Set when a wait or test has reported that the request is complete. It is inactive from then on.
    done: Rc<Cell<bool>>,
}

/// The operation in progress.
#[derive(Clone, Debug)]
enum Operation<T> {
    Send(Sending),
    Receive(Receiving<Letter>),
    Collective(Gathering<T>),
}

/// The index that a wait or test returns if it has no active request (`MPI_UNDEFINED`).
///
/// ```
/// use whippet_net::mpi::{UNDEFINED, World};
/// let net = World::new(2).program("again", async |mpi| match mpi.rank() {
///     0 => mpi.send(1, 0, 42).await,
///     _ => {
///         let request = mpi.irecv(0, 0).await;
///         assert_eq!(mpi.waitany(&[&request]).await.0, 0);
///         assert_eq!(mpi.waitany(&[&request]).await.0, UNDEFINED, "it was completed before");
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub const UNDEFINED: usize = usize::MAX;

impl<T: Clone + 'static> Request<T> {
    fn new(operation: Operation<T>) -> Request<T> {
        Request { operation, done: Rc::default() }
    }

    /// Creates the request of a send.
    pub(super) fn send(sending: Sending) -> Request<T> {
        Request::new(Operation::Send(sending))
    }

    /// Creates the request of a receive.
    pub(super) fn receive(receiving: Receiving<Letter>) -> Request<T> {
        Request::new(Operation::Receive(receiving))
    }

    /// Creates the request of a collective call.
    pub(super) fn collective(gathering: Gathering<T>) -> Request<T> {
        Request::new(Operation::Collective(gathering))
    }

    /// Returns the flag that is set when the request becomes inactive.
    pub(super) fn flag(&self) -> &Rc<Cell<bool>> {
        &self.done
    }

    /// Returns `true` if no wait or test has reported yet that the request is complete.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("active", async |mpi| match mpi.rank() {
    ///     0 => mpi.send(1, 0, 42).await,
    ///     _ => {
    ///         let request = mpi.irecv(0, 0).await;
    ///         assert!(request.is_active());
    ///         mpi.wait(&request).await;
    ///         assert!(!request.is_active());
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.done.get()
    }

    /// Returns the results of a collective call, after a wait or test reported that it is complete.
    ///
    /// # Panics
    ///
    /// Panics if no wait or test has reported that, or if this is no collective call.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("all", async |mpi| {
    ///     let request = mpi.iallgather(mpi.rank()).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [0, 1, 2]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn results(&self) -> Vec<T> {
        let results = match &self.operation {
            Operation::Collective(gathering) => gathering.results(),
            _ => None,
        };
        results.expect("no results: wait for a collective request before calling `results`")
    }

    /// Returns the communication to wait for.
    fn communication(&self) -> &dyn Communication {
        match &self.operation {
            Operation::Send(sending) => sending,
            Operation::Receive(receiving) => receiving,
            Operation::Collective(gathering) => gathering,
        }
    }

    /// Marks the request as inactive, and returns the message of a completed receive.
    fn finish(&self) -> Option<Received<T>> {
        self.done.set(true);
        match &self.operation {
            Operation::Receive(receiving) => Some(receiving.value().open()),
            _ => None,
        }
    }
}

/// Returns the indices of the active requests.
fn active<T: Clone + 'static>(requests: &[&Request<T>]) -> Vec<usize> {
    (0..requests.len()).filter(|&k| requests[k].is_active()).collect()
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Waits for a request and returns the message if it is a receive. Returns at once, without a message, if the
    /// request is inactive.
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
    pub fn wait(&self, request: &Request<T>) -> impl Future<Output = Option<Received<T>>> {
        located(async move { self.waitany(&[request]).await.1 })
    }

    /// Waits for one of several requests and returns its index; if several are complete, each choice is explored.
    /// Inactive requests are ignored; if there is no other, the index is [`UNDEFINED`](super::UNDEFINED).
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
    #[track_caller]
    pub fn waitany(&self, requests: &[&Request<T>]) -> impl Future<Output = (usize, Option<Received<T>>)> {
        located(async move {
            self.polling.reset();
            let active = active(requests);
            if active.is_empty() {
                return (UNDEFINED, None);
            }
            let communications: Vec<_> = active.iter().map(|&k| requests[k].communication()).collect();
            let k = active[wait_any(&communications).await];
            (k, requests[k].finish())
        })
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
    #[track_caller]
    pub fn waitall(&self, requests: &[&Request<T>]) -> impl Future<Output = Vec<Option<Received<T>>>> {
        located(async move {
            let mut all = Vec::new();
            for request in requests {
                all.push(self.wait(request).await);
            }
            all
        })
    }

    /// Returns `Some` if a request is complete, with the message if it is a receive.
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
    #[track_caller]
    pub fn test(&self, request: &Request<T>) -> impl Future<Output = Option<Option<Received<T>>>> {
        located(async move { self.testany(&[request]).await.map(|(_, received)| received) })
    }

    /// Returns the index of a complete request, if there is one, with the message if it is a receive.
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
    #[track_caller]
    pub fn testany(&self, requests: &[&Request<T>]) -> impl Future<Output = Option<(usize, Option<Received<T>>)>> {
        located(async move {
            let active = active(requests);
            if active.is_empty() {
                return Some((UNDEFINED, None));
            }
            let k = active[self.tested(&active.iter().map(|&k| requests[k]).collect::<Vec<_>>()).await?];
            Some((k, requests[k].finish()))
        })
    }

    /// Tests active requests and returns the index of a complete one.
    async fn tested(&self, requests: &[&Request<T>]) -> Option<usize> {
        let communications: Vec<_> = requests.iter().map(|request| request.communication()).collect();
        let of: Vec<u32> = communications.iter().map(|communication| communication.id().1).collect();
        self.polling.before_test(&of).await;
        let k = test_any(&communications).await;
        match k {
            Some(_) => self.polling.reset(),
            None => self.polling.failed(of),
        }
        k
    }

    /// Waits for at least one of the requests, and returns the indices of all that are then found complete, each with
    /// the message if it is a receive. Returns an empty list if no request is active.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("some", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let requests = [mpi.irecv(1, 0).await, mpi.irecv(2, 0).await];
    ///         let done = mpi.waitsome(&requests.each_ref()).await;
    ///         assert!(!done.is_empty());
    ///         mpi.waitall(&requests.each_ref()).await;
    ///     }
    ///     rank => mpi.send(0, 0, rank).await,
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn waitsome(&self, requests: &[&Request<T>]) -> impl Future<Output = Vec<(usize, Option<Received<T>>)>> {
        located(async move {
            let (first, message) = self.waitany(requests).await;
            if first == UNDEFINED {
                return Vec::new();
            }
            let mut done = vec![(first, message)];
            done.extend(self.testsome(requests).await);
            done.sort_by_key(|(k, _)| *k);
            done
        })
    }

    /// Returns the indices of all requests that are complete, each with the message if it is a receive.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("some", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let requests = [mpi.irecv(1, 0).await, mpi.irecv(2, 0).await];
    ///         let done = mpi.testsome(&requests.each_ref()).await.len();
    ///         let rest = mpi.waitall(&requests.each_ref()).await.into_iter().flatten().count();
    ///         assert_eq!(done + rest, 2);
    ///     }
    ///     rank => mpi.send(0, 0, rank).await,
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn testsome(&self, requests: &[&Request<T>]) -> impl Future<Output = Vec<(usize, Option<Received<T>>)>> {
        located(async move {
            let mut done = Vec::new();
            for k in active(requests) {
                if self.tested(&[requests[k]]).await.is_some() {
                    done.push((k, requests[k].finish()));
                }
            }
            done
        })
    }

    /// Returns the messages of all requests if all of them are complete. Otherwise all remain active.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("all", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let requests = [mpi.irecv(1, 0).await, mpi.irecv(2, 0).await];
    ///         let messages = match mpi.testall(&requests.each_ref()).await {
    ///             Some(messages) => messages,
    ///             None => mpi.waitall(&requests.each_ref()).await,
    ///         };
    ///         assert_eq!(messages.into_iter().flatten().map(|message| message.value).sum::<usize>(), 3);
    ///     }
    ///     rank => mpi.send(0, 0, rank).await,
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn testall(&self, requests: &[&Request<T>]) -> impl Future<Output = Option<Vec<Option<Received<T>>>>> {
        located(async move {
            let active = active(requests);
            for &k in &active {
                self.tested(&[requests[k]]).await?;
            }
            Some(requests.iter().map(|request| if request.is_active() { request.finish() } else { None }).collect())
        })
    }
}
