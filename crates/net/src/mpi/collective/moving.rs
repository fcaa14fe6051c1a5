//! Collective operations that move values between ranks.

use super::{Plan, only};
use crate::mpi::{Rank, Request};
use std::fmt::Debug;
use std::rc::Rc;

impl<T: Clone + Debug + 'static> Rank<T> {
    fn bcast_plan(&self, operation: &'static str, root: usize, value: T) -> Plan<T> {
        Plan {
            operation,
            root: Some(root),
            operator: None,
            count: None,
            values: Some(vec![value]),
            reads: vec![self.checked_rank(root)],
            synchronises: false,
            finish: Rc::new(|values| values.concat()),
        }
    }

    /// Returns the root's value to all ranks (`MPI_Bcast`).
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
    #[track_caller]
    pub fn bcast(&self, root: usize, value: T) -> impl Future<Output = T> {
        let joined = self.join_and_wait(self.bcast_plan("bcast", root, value));
        async move {
            let request = joined.await;
            only(&request)
        }
    }

    /// Starts [`Rank::bcast`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("broadcast", async |mpi| {
    ///     let request = mpi.ibcast(1, 10 * mpi.rank()).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [10]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn ibcast(&self, root: usize, value: T) -> impl Future<Output = Request<T>> {
        self.join(self.bcast_plan("ibcast", root, value))
    }

    /// Replaces a buffer of all ranks by that of the root (`MPI_Bcast`). All buffers must have the same length, which
    /// [`Rank::bcast`] does not require.
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("lengths", async |mpi| {
    ///     let mut buffer = vec![7; 2 + mpi.rank()];
    ///     mpi.bcast_into(0, &mut buffer).await;
    /// });
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings[0].message.starts_with("collective calls do not match"));
    /// ```
    #[track_caller]
    pub fn bcast_into(&self, root: usize, buffer: &mut Vec<T>) -> impl Future<Output = ()> {
        let (root_rank, values, count) = (self.checked_rank(root), buffer.clone(), buffer.len());
        let joined = self.join_and_wait(Plan {
            operation: "bcast",
            root: Some(root),
            operator: None,
            count: Some(count),
            values: Some(values),
            reads: vec![root_rank],
            synchronises: false,
            finish: Rc::new(|values| values.concat()),
        });
        async move { *buffer = joined.await.results() }
    }

    fn gather_plan(&self, operation: &'static str, root: usize, value: T) -> Plan<T> {
        Plan {
            operation,
            root: Some(root),
            operator: None,
            count: None,
            values: Some(vec![value]),
            reads: self.everyone_if_root(root),
            synchronises: false,
            finish: Rc::new(|values| values.concat()),
        }
    }

    /// Returns the values of all ranks to the root, in the order of ranks (`MPI_Gather`, `MPI_Gatherv`).
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("gather", async |mpi| {
    ///     let all = mpi.gather(1, 10 * mpi.rank()).await;
    ///     assert_eq!(all, (mpi.rank() == 1).then(|| vec![0, 10, 20]));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn gather(&self, root: usize, value: T) -> impl Future<Output = Option<Vec<T>>> {
        let request_rank = self.rank();
        let joined = self.join_and_wait(self.gather_plan("gather", root, value));
        async move {
            let request = joined.await;
            (request_rank == root).then(|| request.results())
        }
    }

    /// Starts [`Rank::gather`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("gather", async |mpi| {
    ///     let request = mpi.igather(1, 10 * mpi.rank()).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results().len(), if mpi.rank() == 1 { 3 } else { 0 });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn igather(&self, root: usize, value: T) -> impl Future<Output = Request<T>> {
        self.join(self.gather_plan("igather", root, value))
    }

    pub(super) fn allgather_plan(&self, operation: &'static str, value: T) -> Plan<T> {
        Plan {
            operation,
            root: None,
            operator: None,
            count: None,
            values: Some(vec![value]),
            reads: self.everyone(),
            synchronises: false,
            finish: Rc::new(|values| values.concat()),
        }
    }

    /// Returns the values of all ranks to all, in the order of ranks (`MPI_Allgather`, `MPI_Allgatherv`).
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("gather", async |mpi| {
    ///     assert_eq!(mpi.allgather(10 * mpi.rank()).await, [0, 10, 20]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn allgather(&self, value: T) -> impl Future<Output = Vec<T>> {
        let joined = self.join_and_wait(self.allgather_plan("allgather", value));
        async move {
            let request = joined.await;
            request.results()
        }
    }

    /// Starts [`Rank::allgather`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("gather", async |mpi| {
    ///     let request = mpi.iallgather(10 * mpi.rank()).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [0, 10, 20]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iallgather(&self, value: T) -> impl Future<Output = Request<T>> {
        self.join(self.allgather_plan("iallgather", value))
    }

    fn scatter_plan(&self, operation: &'static str, root: usize, values: Option<Vec<T>>) -> Plan<T> {
        {
            let (me, root_rank) = (self.rank(), self.checked_rank(root));
            if me == root {
                let given = values.as_ref().map_or(0, Vec::len);
                assert_eq!(given, self.size(), "the root of a scatter needs one value for each rank");
            }
            Plan {
                operation,
                root: Some(root),
                operator: None,
                count: None,
                values: Some(if me == root { values.unwrap_or_default() } else { Vec::new() }),
                reads: vec![root_rank],
                synchronises: false,
                finish: Rc::new(move |values| vec![values[0][me].clone()]),
            }
        }
    }

    /// Returns to each rank its value of the root's list (`MPI_Scatter`, `MPI_Scatterv`). The list of the other ranks is
    /// ignored.
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist, or if the root does not give one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("scatter", async |mpi| {
    ///     let list = (mpi.rank() == 1).then(|| vec![0, 10, 20]);
    ///     assert_eq!(mpi.scatter(1, list).await, 10 * mpi.rank());
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn scatter(&self, root: usize, values: Option<Vec<T>>) -> impl Future<Output = T> {
        let joined = self.join_and_wait(self.scatter_plan("scatter", root, values));
        async move {
            let request = joined.await;
            only(&request)
        }
    }

    /// Starts [`Rank::scatter`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist, or if the root does not give one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("scatter", async |mpi| {
    ///     let list = (mpi.rank() == 1).then(|| vec![0, 10, 20]);
    ///     let request = mpi.iscatter(1, list).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [10 * mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iscatter(&self, root: usize, values: Option<Vec<T>>) -> impl Future<Output = Request<T>> {
        self.join(self.scatter_plan("iscatter", root, values))
    }

    fn alltoall_plan(&self, operation: &'static str, values: Vec<T>) -> Plan<T> {
        {
            let me = self.rank();
            assert_eq!(values.len(), self.size(), "an alltoall needs one value for each rank");
            Plan {
                operation,
                root: None,
                operator: None,
                count: None,
                values: Some(values),
                reads: self.everyone(),
                synchronises: false,
                finish: Rc::new(move |values| values.into_iter().map(|row| row[me].clone()).collect()),
            }
        }
    }

    /// Sends one value to each rank, and returns the value of each (`MPI_Alltoall`, `MPI_Alltoallv`).
    ///
    /// # Panics
    ///
    /// Panics if there is not one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("transpose", async |mpi| {
    ///     let row = (0..2).map(|column| 10 * mpi.rank() + column).collect();
    ///     assert_eq!(mpi.alltoall(row).await, [mpi.rank(), 10 + mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn alltoall(&self, values: Vec<T>) -> impl Future<Output = Vec<T>> {
        let joined = self.join_and_wait(self.alltoall_plan("alltoall", values));
        async move {
            let request = joined.await;
            request.results()
        }
    }

    /// Starts [`Rank::alltoall`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if there is not one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("transpose", async |mpi| {
    ///     let request = mpi.ialltoall((0..2).map(|column| 10 * mpi.rank() + column).collect()).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [mpi.rank(), 10 + mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn ialltoall(&self, values: Vec<T>) -> impl Future<Output = Request<T>> {
        self.join(self.alltoall_plan("ialltoall", values))
    }
}
