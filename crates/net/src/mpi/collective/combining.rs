//! Collective operations that combine the values of the ranks.

use super::{Plan, only};
use crate::mpi::operators::name_of;
use crate::mpi::{Rank, Request};
use std::any::Any;
use std::fmt::Debug;
use std::rc::Rc;

/// Returns the length of a vector of numbers, the only values whose count is known.
fn count_of<T: 'static>(value: &T) -> Option<usize> {
    macro_rules! lengths {
        ($($number:ty)*) => {
            [$((value as &dyn Any).downcast_ref::<Vec<$number>>().map(Vec::len)),*]
        };
    }
    lengths!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool char).into_iter().flatten().next()
}

/// Combines values from left to right.
fn fold<T>(values: Vec<Vec<T>>, combine: &impl Fn(T, T) -> T) -> Option<T> {
    values.into_iter().flatten().reduce(combine)
}

impl<T: Clone + Debug + 'static> Rank<T> {
    fn reduce_plan(
        &self,
        operation: &'static str,
        root: usize,
        value: T,
        combine: impl Fn(T, T) -> T + 'static,
    ) -> Plan<T> {
        Plan {
            operation,
            root: Some(root),
            operator: name_of(&combine),
            count: count_of(&value),
            values: Some(vec![value]),
            reads: self.everyone_if_root(root),
            synchronises: false,
            finish: Rc::new(move |values| fold(values, &combine).into_iter().collect()),
        }
    }

    /// Combines the values of all ranks in the order of ranks; only the root gets the result (`MPI_Reduce`). Ranks that
    /// call this with different named functions (see [`operators`](crate::mpi::operators)) are reported; closures are not compared.
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
    #[track_caller]
    pub fn reduce(
        &self,
        root: usize,
        value: T,
        combine: impl Fn(T, T) -> T + 'static,
    ) -> impl Future<Output = Option<T>> {
        let joined = self.join_and_wait(self.reduce_plan("reduce", root, value, combine));
        async move {
            let request = joined.await;
            request.results().pop()
        }
    }

    /// Starts [`Rank::reduce`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if the rank `root` does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sum", async |mpi| {
    ///     let request = mpi.ireduce(0, mpi.rank(), |a, b| a + b).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results().pop(), (mpi.rank() == 0).then_some(3));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn ireduce(
        &self,
        root: usize,
        value: T,
        combine: impl Fn(T, T) -> T + 'static,
    ) -> impl Future<Output = Request<T>> {
        self.join(self.reduce_plan("ireduce", root, value, combine))
    }

    fn allreduce_plan(&self, operation: &'static str, value: T, combine: impl Fn(T, T) -> T + 'static) -> Plan<T> {
        Plan {
            operation,
            root: None,
            operator: name_of(&combine),
            count: count_of(&value),
            values: Some(vec![value]),
            reads: self.everyone(),
            synchronises: false,
            finish: Rc::new(move |values| fold(values, &combine).into_iter().collect()),
        }
    }

    /// Combines the values of all ranks in the order of ranks, and returns the result to all (`MPI_Allreduce`).
    ///
    /// ```
    /// use whippet_net::mpi::{World, operators};
    /// let net = World::new(3).program("sum", async |mpi| {
    ///     assert_eq!(mpi.allreduce(mpi.rank(), operators::sum).await, 3);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn allreduce(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = T> {
        let joined = self.join_and_wait(self.allreduce_plan("allreduce", value, combine));
        async move {
            let request = joined.await;
            only(&request)
        }
    }

    /// Starts [`Rank::allreduce`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// ```
    /// use whippet_net::mpi::{World, operators};
    /// let net = World::new(3).program("sum", async |mpi| {
    ///     let request = mpi.iallreduce(mpi.rank(), operators::max).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [2]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iallreduce(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = Request<T>> {
        self.join(self.allreduce_plan("iallreduce", value, combine))
    }

    fn reduce_scatter_plan(
        &self,
        operation: &'static str,
        values: Vec<T>,
        combine: impl Fn(T, T) -> T + 'static,
    ) -> Plan<T> {
        {
            let me = self.rank();
            assert_eq!(values.len(), self.size(), "a reduce_scatter needs one value for each rank");
            Plan {
                operation,
                root: None,
                operator: name_of(&combine),
                count: None,
                values: Some(values),
                reads: self.everyone(),
                synchronises: false,
                finish: Rc::new(move |values| {
                    let column = values.into_iter().map(|row| row[me].clone());
                    column.reduce(&combine).into_iter().collect()
                }),
            }
        }
    }

    /// Combines the k-th values of all ranks, and returns the k-th result to rank k (`MPI_Reduce_scatter`,
    /// `MPI_Reduce_scatter_block`).
    ///
    /// # Panics
    ///
    /// Panics if there is not one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("sums", async |mpi| {
    ///     let sum = mpi.reduce_scatter(vec![1, mpi.rank()], |a, b| a + b).await;
    ///     assert_eq!(sum, [2, 1][mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn reduce_scatter(&self, values: Vec<T>, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = T> {
        let joined = self.join_and_wait(self.reduce_scatter_plan("reduce_scatter", values, combine));
        async move {
            let request = joined.await;
            only(&request)
        }
    }

    /// Starts [`Rank::reduce_scatter`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// # Panics
    ///
    /// Panics if there is not one value for each rank.
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(2).program("sums", async |mpi| {
    ///     let request = mpi.ireduce_scatter(vec![1, mpi.rank()], |a, b| a + b).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [[2, 1][mpi.rank()]]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn ireduce_scatter(
        &self,
        values: Vec<T>,
        combine: impl Fn(T, T) -> T + 'static,
    ) -> impl Future<Output = Request<T>> {
        self.join(self.reduce_scatter_plan("ireduce_scatter", values, combine))
    }

    fn scan_plan(&self, operation: &'static str, value: T, combine: impl Fn(T, T) -> T + 'static) -> Plan<T> {
        Plan {
            operation,
            root: None,
            operator: name_of(&combine),
            count: count_of(&value),
            values: Some(vec![value]),
            reads: (0..=self.rank() as u32).collect(),
            synchronises: false,
            finish: Rc::new(move |values| fold(values, &combine).into_iter().collect()),
        }
    }

    /// Combines the values of the ranks up to this one (`MPI_Scan`).
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sums", async |mpi| {
    ///     assert_eq!(mpi.scan(1 + mpi.rank(), |a, b| a + b).await, [1, 3, 6][mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn scan(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = T> {
        let joined = self.join_and_wait(self.scan_plan("scan", value, combine));
        async move {
            let request = joined.await;
            only(&request)
        }
    }

    /// Starts [`Rank::scan`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sums", async |mpi| {
    ///     let request = mpi.iscan(1 + mpi.rank(), |a, b| a + b).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results(), [[1, 3, 6][mpi.rank()]]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iscan(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = Request<T>> {
        self.join(self.scan_plan("iscan", value, combine))
    }

    fn exscan_plan(&self, operation: &'static str, value: T, combine: impl Fn(T, T) -> T + 'static) -> Plan<T> {
        Plan {
            operation,
            root: None,
            operator: name_of(&combine),
            count: count_of(&value),
            values: Some(vec![value]),
            reads: (0..self.rank() as u32).collect(),
            synchronises: false,
            finish: Rc::new(move |values| fold(values, &combine).into_iter().collect()),
        }
    }

    /// Combines the values of the ranks before this one; rank 0 gets no result (`MPI_Exscan`).
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sums", async |mpi| {
    ///     assert_eq!(mpi.exscan(1 + mpi.rank(), |a, b| a + b).await, [None, Some(1), Some(3)][mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn exscan(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = Option<T>> {
        let joined = self.join_and_wait(self.exscan_plan("exscan", value, combine));
        async move {
            let request = joined.await;
            request.results().pop()
        }
    }

    /// Starts [`Rank::exscan`] without waiting for it. The results are those of [`Request::results`].
    ///
    /// ```
    /// use whippet_net::mpi::World;
    /// let net = World::new(3).program("sums", async |mpi| {
    ///     let request = mpi.iexscan(1 + mpi.rank(), |a, b| a + b).await;
    ///     mpi.wait(&request).await;
    ///     assert_eq!(request.results().pop(), [None, Some(1), Some(3)][mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn iexscan(&self, value: T, combine: impl Fn(T, T) -> T + 'static) -> impl Future<Output = Request<T>> {
        self.join(self.exscan_plan("iexscan", value, combine))
    }
}
