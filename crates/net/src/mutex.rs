//! Handles through which processes use mutexes: requests in a queue, and the operations that wait for ownership.

use crate::op::{Answer, Op};
use crate::process::{ProcessCall, ProcessLink, call, located, start_operation};
use std::cell::Cell;
use std::rc::Rc;
use whippet_model::Name;

/// A mutex with a queue: the oldest request owns it.
///
/// ```
/// use whippet_net::Net;
/// let net = Net::new("turns", |net| {
///     let pen = net.mutex("pen");
///     for who in ["plato", "socrates"] {
///         net.process(who, async move || {
///             let held = pen.lock().await;
///             held.unlock().await;
///         });
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, 2, "either has it first");
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Mutex {
    no: u32,
}

impl Mutex {
    /// Creates the handle of the mutex with this number.
    pub(crate) fn numbered(no: u32) -> Mutex {
        Mutex { no }
    }

    /// Joins the queue without waiting (AsyncMutexLock).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let request = pen.lock_async().await;
    ///             request.wait().await;
    ///             request.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn lock_async(self) -> impl Future<Output = LockRequest> {
        located(async move {
            let (of, index) = start_operation(Op::Lock { mutex: self.no }).await;
            LockRequest { of, index, released: Rc::default() }
        })
    }

    /// Joins the queue and waits to own the mutex.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let held = pen.lock().await;
    ///             held.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn lock(self) -> impl Future<Output = LockRequest> {
        located(async move {
            let request = self.lock_async().await;
            request.wait().await;
            request
        })
    }
}

/// A request in the queue of a mutex.
///
/// ```
/// use whippet_net::{Net, LockRequest};
/// let net = Net::new("turns", |net| {
///     let pen = net.mutex("pen");
///     for who in ["plato", "socrates"] {
///         net.process(who, async move || {
///             let request: LockRequest = pen.lock_async().await;
///             request.wait().await;
///             request.unlock().await;
///         });
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct LockRequest {
    of: Name,
    index: u32,
    released: Rc<Cell<bool>>,
}

impl LockRequest {
    /// Waits to own the mutex (MutexWait).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let request = pen.lock_async().await;
    ///             request.wait().await;
    ///             request.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = ()> {
        located(async move {
            mutex_wait_any(&[self]).await;
        })
    }

    /// Returns `true` if this process owns the mutex (MutexTest).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let request = pen.lock_async().await;
    ///             if !request.test().await {
    ///                 request.wait().await;
    ///             }
    ///             request.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn test(&self) -> impl Future<Output = bool> {
        located(async move { mutex_test_any(&[self]).await.is_some() })
    }

    /// Removes the request from the queue, whether or not it owns the mutex (MutexUnlock).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let request = pen.lock_async().await;
    ///             request.unlock().await; // withdraws the request
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn unlock(&self) -> impl Future<Output = ()> {
        located(async move {
            call(|link| {
                self.check_usable(link, "unlocks");
                self.released.set(true);
                ProcessCall::Op(Op::Unlock { of: self.index })
            })
            .await;
        })
    }

    /// Records a misuse if the process may not use the request.
    fn check_usable(&self, link: &ProcessLink, what: &str) {
        if self.of != link.process() {
            link.report_misuse(format!(
                "a process {what} a mutex that another process requested: call `lock` in this process first"
            ));
        } else if self.released.get() {
            link.report_misuse(format!(
                "a process {what} a mutex that it has already unlocked: call `lock` again first"
            ));
        }
    }
}

/// Waits to own one of the mutexes, or tests for ownership.
async fn acquire_any(all: &[&LockRequest], test: bool) -> Option<usize> {
    let reply = call(|link| {
        for request in all {
            request.check_usable(link, "waits for");
        }
        if all.is_empty() {
            link.report_misuse("the list of mutexes to wait for is empty: pass at least one");
        }
        ProcessCall::Op(Op::MutexWait { of: all.iter().map(|r| r.index).collect(), test })
    })
    .await;
    match reply.answer {
        Answer::Ready { k, .. } => Some(k as usize),
        _ => None,
    }
}

/// Waits to own one of the mutexes and returns its index (MutexWait on several).
///
/// ```
/// use whippet_net::{Net, mutex_wait_any};
/// let net = Net::new("either", |net| {
///     let (left, right) = (net.mutex("left"), net.mutex("right"));
///     net.process("plato", async move || {
///         let (l, r) = (left.lock_async().await, right.lock_async().await);
///         assert!(mutex_wait_any(&[&l, &r]).await < 2);
///         l.unlock().await;
///         r.unlock().await;
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[track_caller]
pub fn mutex_wait_any(all: &[&LockRequest]) -> impl Future<Output = usize> {
    located(async move { acquire_any(all, false).await.expect("a wait returns an index") })
}

/// Returns the index of a mutex that this process owns, if there is one (MutexTest on several).
///
/// ```
/// use whippet_net::{Net, mutex_test_any};
/// let net = Net::new("either", |net| {
///     let (left, right) = (net.mutex("left"), net.mutex("right"));
///     net.process("plato", async move || {
///         let (l, r) = (left.lock_async().await, right.lock_async().await);
///         assert!(mutex_test_any(&[&l, &r]).await.is_some(), "no other process requests them");
///         l.unlock().await;
///         r.unlock().await;
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[track_caller]
pub fn mutex_test_any(all: &[&LockRequest]) -> impl Future<Output = Option<usize>> {
    located(async move { acquire_any(all, true).await })
}
