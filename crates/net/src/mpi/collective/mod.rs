//! Collective operations of all ranks of a communicator.
//!
//! Each operation has a form that waits and a form that returns a [`Request`]. A [`Plan`] says what a call contributes,
//! which members' values it reads, and how it computes its results from them. This file joins calls; `moving.rs` has the
//! operations that move values, `combining.rs` those that combine them.

mod combining;
mod moving;

use super::gathering::{Finish, Gathering};
use super::{Buffering, Rank, Request};
use crate::collective::{CollectiveCall, Signature};
use crate::op::{Answer, Op, Payload};
use crate::process::{located, perform};
use std::any::type_name;
use std::fmt::Debug;
use std::panic::Location;
use std::rc::Rc;

/// A collective call.
struct Plan<T> {
    operation: &'static str,
    root: Option<usize>,
    operator: Option<String>,
    /// The number of values, if all members must have the same.
    count: Option<usize>,
    /// The values that this member contributes.
    values: Option<Vec<T>>,
    /// The members whose values the call reads.
    reads: Vec<u32>,
    /// The call always waits for all members.
    synchronises: bool,
    finish: Finish<T>,
}

/// Returns the only result of a call.
fn only<T: Clone + 'static>(request: &Request<T>) -> T {
    request.results().pop().expect("internal error: the call has a result")
}

impl<T: Clone + Debug + 'static> Rank<T> {
    fn everyone(&self) -> Vec<u32> {
        (0..self.size() as u32).collect()
    }

    /// Returns all members if this one is the root, and none otherwise.
    fn everyone_if_root(&self, root: usize) -> Vec<u32> {
        if self.rank() == self.checked_rank(root) as usize { self.everyone() } else { Vec::new() }
    }

    /// Joins a collective operation.
    #[track_caller]
    fn join(&self, plan: Plan<T>) -> impl Future<Output = Request<T>> + use<T> {
        let (place, rank) = (Location::caller(), self.clone());
        located(async move {
            rank.polling.reset();
            let synchronises = plan.synchronises
                || match rank.world.buffering {
                    Buffering::Zero => true,
                    Buffering::Either if plan.reads.len() < rank.size() => rank.collectives_synchronise().await,
                    _ => false,
                };
            let call = CollectiveCall {
                communicator: rank.communicator.id,
                member: rank.communicator.me,
                members: rank.communicator.members.clone(),
                needs: if synchronises { rank.everyone() } else { plan.reads.clone() },
                reads: plan.reads,
                signature: Signature {
                    operation: plan.operation,
                    root: plan.root.map(|root| root as u32),
                    operator: plan.operator,
                    value_type: if plan.values.is_none() && plan.synchronises { "()" } else { type_name::<T>() },
                    count: plan.count,
                },
                place: format!("{}:{}", place.file(), place.line()),
            };
            let text = format!("its {} at {}", call.signature, call.place);
            let value = plan.values.map(|values| {
                let text = format!("{values:?}");
                Payload::new(values, text)
            });
            let request = Request::collective(Gathering::new(rank.port.arrive(call, value).await, plan.finish));
            rank.unfinished.add(|| text, request.flag());
            request
        })
    }

    /// Returns `true` if the collective operations of this execution synchronise. This is a choice of the network.
    async fn collectives_synchronise(&self) -> bool {
        if let Some(known) = self.synchronises.get() {
            return known;
        }
        let network = self.world.ranks as u32;
        let synchronises = match perform(Op::LearnChoice { process: network }).await.answer {
            Answer::Ready { k, .. } => k == 0,
            other => unreachable!("internal error: a choice is answered by {other:?}"),
        };
        self.synchronises.set(Some(synchronises));
        synchronises
    }

    /// Joins a collective operation and waits for it.
    #[track_caller]
    fn join_and_wait(&self, plan: Plan<T>) -> impl Future<Output = Request<T>> + use<T> {
        let (rank, joined) = (self.clone(), self.join(plan));
        located(async move {
            let request = joined.await;
            rank.wait(&request).await;
            request
        })
    }

    /// Returns the values of all members, for operations that create communicators.
    #[track_caller]
    pub(super) fn exchange(self, operation: &'static str, value: T) -> impl Future<Output = Vec<T>> + use<T> {
        let plan = self.allgather_plan(operation, value);
        let joined = self.join_and_wait(Plan { synchronises: true, ..plan });
        async move { joined.await.results() }
    }

    fn barrier_plan(&self, operation: &'static str) -> Plan<T> {
        Plan {
            operation,
            root: None,
            operator: None,
            count: None,
            values: None,
            reads: Vec::new(),
            synchronises: true,
            finish: Rc::new(|_| Vec::new()),
        }
    }

    /// Waits until all ranks have called this function (`MPI_Barrier`).
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(2).program("two", async |mpi: Rank<u8>| {
    ///     mpi.barrier().await; // returns when both ranks have called it
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn barrier(&self) -> impl Future<Output = ()> {
        let joined = self.join_and_wait(self.barrier_plan("barrier"));
        async move {
            joined.await;
        }
    }

    /// Starts [`Rank::barrier`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(2).program("two", async |mpi: Rank<u8>| {
    ///     let request = mpi.ibarrier().await;
    ///     mpi.wait(&request).await;
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn ibarrier(&self) -> impl Future<Output = Request<T>> {
        self.join(self.barrier_plan("ibarrier"))
    }
}
