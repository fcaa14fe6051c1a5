//! Collectives: what all ranks do together.
//!
//! Each pair of ranks has a mailbox in each direction that nothing else uses. As a root sends to the others and receives
//! from them in the order of ranks, there is one way to do it, and no further trace.

use super::Rank;
use crate::mailbox::Mailbox;
use crate::net::SetUp;
use std::fmt::Debug;

/// Makes the mailboxes of a program that has no others.
pub(super) fn set_up(net: &mut SetUp, ranks: usize) {
    for dst in 0..ranks {
        for src in 0..ranks {
            net.mailbox::<()>(format!("rank {src} → rank {dst}, collectives"));
        }
    }
}

/// The mailbox from one rank to another, whatever it carries: in the order in which [`set_up`] makes them.
fn between<V>(src: usize, dst: usize, ranks: usize) -> Mailbox<V> {
    Mailbox::numbered((dst * ranks + src) as u32)
}

impl<T: Clone + Debug + 'static> Rank<T> {
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

    /// Gives everybody a value of the root.
    async fn spread<V: Clone + Debug + 'static>(&self, root: usize, value: V) -> V {
        self.known(root);
        if self.rank() != root {
            return between(root, self.rank(), self.size()).receive().await;
        }
        for other in (0..self.size()).filter(|&other| other != root) {
            between(root, other, self.size()).send(value.clone()).await;
        }
        value
    }

    /// Combines a value of everybody at the root.
    async fn gather<V: Clone + Debug + 'static>(
        &self,
        root: usize,
        value: V,
        combine: impl Fn(V, V) -> V,
    ) -> Option<V> {
        self.known(root);
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
