//! Ready sends, whose receives must have been started before.

use super::{PROC_NULL, Rank, Request};
use crate::port_handle::SendMode;
use crate::process::located;
use std::fmt::Debug;

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Starts a ready send (`MPI_Irsend`). It is a finding if the receive that gets the message need not have been
    /// started before the send, or if there is none.
    ///
    /// # Panics
    ///
    /// Panics if the rank `to` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("ready", async |mpi| match mpi.rank() {
    ///     0 => {
    ///         let receive = mpi.irecv(1, 0).await;
    ///         mpi.barrier().await;
    ///         mpi.wait(&receive).await;
    ///     }
    ///     _ => {
    ///         mpi.barrier().await; // Without it, the receive might be late.
    ///         let send = mpi.irsend(0, 0, 42).await;
    ///         mpi.wait(&send).await;
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn irsend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = Request<T>> {
        located(async move {
            let buffered = to == PROC_NULL || self.buffers().await;
            self.start_send(to, tag, value, SendMode { buffered, ready: true }).await
        })
    }

    /// Sends a value as [`Rank::irsend`] does, and waits until the send is complete (`MPI_Rsend`).
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("not ready", async |mpi| match mpi.rank() {
    ///     0 => drop(mpi.recv(1, 0).await),
    ///     _ => mpi.rsend(0, 0, 42).await,
    /// });
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings[0].message.contains("may not have been started"));
    /// ```
    #[track_caller]
    pub fn rsend(&self, to: usize, tag: u32, value: T) -> impl Future<Output = ()> {
        located(async move {
            let request = self.irsend(to, tag, value).await;
            self.wait(&request).await;
        })
    }
}
