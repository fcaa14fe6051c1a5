//! Requests: sends and receives in progress, and the operations that wait for them.

use super::{Rank, Received};
use crate::communication::{Communication, Receiving, Sending, test_any, wait_any};
use std::fmt::Debug;

/// A send or receive that may not be complete yet.
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
pub struct Request<T>(InProgress<T>);

/// The operation in progress.
#[derive(Clone, Debug)]
enum InProgress<T> {
    Send(Sending),
    /// An eager send, which is complete from the beginning.
    Buffered,
    Receive(Receiving<Received<T>>),
}

impl<T: Clone + 'static> Request<T> {
    /// Creates the request of a send to wait for.
    pub(super) fn send(sending: Sending) -> Request<T> {
        Request(InProgress::Send(sending))
    }

    /// Creates the request of a send that is already complete.
    pub(super) fn buffered() -> Request<T> {
        Request(InProgress::Buffered)
    }

    /// Creates the request of a receive to wait for.
    pub(super) fn receive(receiving: Receiving<Received<T>>) -> Request<T> {
        Request(InProgress::Receive(receiving))
    }

    /// Returns the communication to wait for, or `None` if the request is complete from the beginning.
    fn communication(&self) -> Option<&dyn Communication> {
        match &self.0 {
            InProgress::Send(sending) => Some(sending),
            InProgress::Receive(receiving) => Some(receiving),
            InProgress::Buffered => None,
        }
    }

    /// Returns the message of a completed receive.
    fn result(&self) -> Option<Received<T>> {
        match &self.0 {
            InProgress::Receive(receiving) => Some(receiving.value()),
            _ => None,
        }
    }
}

/// Returns the index of the first request that is complete from the beginning.
fn complete<T: Clone + 'static>(requests: &[&Request<T>]) -> Option<usize> {
    requests.iter().position(|request| request.communication().is_none())
}

fn communications<'a, T: Clone + 'static>(requests: &'a [&Request<T>]) -> Vec<&'a dyn Communication> {
    requests.iter().filter_map(|request| request.communication()).collect()
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Waits for a request and returns the message if it is a receive.
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

    /// Waits for one of several requests and returns its index; if several are complete, each choice is explored. Eager
    /// sends are already complete and are returned first.
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
        let k = match complete(requests) {
            Some(k) => k,
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
    pub async fn test(&self, request: &Request<T>) -> Option<Option<Received<T>>> {
        self.testany(&[request]).await.map(|(_, received)| received)
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
    pub async fn testany(&self, requests: &[&Request<T>]) -> Option<(usize, Option<Received<T>>)> {
        let k = match complete(requests) {
            Some(k) => k,
            None => test_any(&communications(requests)).await?,
        };
        Some((k, requests[k].result()))
    }
}
