//! Collective operations of all ranks.
//!
//! Each pair of ranks has a mailbox in each direction that is used for nothing else. Since a root sends to the others
//! and receives from them in the order of ranks, a collective operation is deterministic and adds no traces.

use super::Rank;
use crate::mailbox::Mailbox;
use crate::net::NetBuilder;
use std::fmt::Debug;

/// Adds the mailboxes for collective operations to a program that has no others.
pub(super) fn set_up(net: &mut NetBuilder, ranks: usize) {
    for dst in 0..ranks {
        for src in 0..ranks {
            net.mailbox::<()>(format!("rank {src} → rank {dst}, collectives"));
        }
    }
}

/// Returns the mailbox from one rank to another, for any type of value. Mailboxes are numbered in the order in which
/// [`set_up`] adds them.
fn between<V>(src: usize, dst: usize, ranks: usize) -> Mailbox<V> {
    Mailbox::numbered((dst * ranks + src) as u32)
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Waits until all ranks have called this function.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(2).program("two", async |mpi: Rank<u8>| {
    ///     mpi.barrier().await; // returns when both ranks have called it
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn barrier(&self) {
        self.gather(0, (), |(), ()| ()).await;
        self.spread(0, ()).await;
    }

    /// Returns the root's value to all ranks.
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("broadcast", async |mpi| {
    ///     let told = mpi.bcast(1, 10 * mpi.rank()).await;
    ///     assert_eq!(told, 10);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn bcast(&self, root: usize, value: T) -> T {
        self.spread(root, value).await
    }

    /// Combines the values of all ranks, first the root's own and then the others in the order of ranks. Only the root
    /// gets the result.
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
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

    /// Sends a value from the root to all other ranks.
    async fn spread<V: Clone + Debug + 'static>(&self, root: usize, value: V) -> V {
        self.checked_rank(root);
        if self.rank() != root {
            return between(root, self.rank(), self.size()).receive().await;
        }
        for other in (0..self.size()).filter(|&other| other != root) {
            between(root, other, self.size()).send(value.clone()).await;
        }
        value
    }

    /// Combines the values of all ranks at the root.
    async fn gather<V: Clone + Debug + 'static>(
        &self,
        root: usize,
        value: V,
        combine: impl Fn(V, V) -> V,
    ) -> Option<V> {
        self.checked_rank(root);
        if self.rank() != root {
            between(self.rank(), root, self.size()).send(value).await;
            return None;
        }
        let mut sum = value;
        for other in (0..self.size()).filter(|&other| other != root) {
            sum = combine(sum, between(other, root, self.size()).receive().await);
        }
        Some(sum)
    }
}
