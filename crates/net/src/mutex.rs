//! Handles through which processes use mutexes: requests in a queue, and the operations that wait for ownership.

use crate::op::{Answer, Op};
use crate::process::{Asked, Link, ask, begin};
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
///             let mine = pen.lock().await;
///             mine.unlock().await;
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
    ///             let asked = pen.lock_async().await;
    ///             asked.wait().await;
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn lock_async(self) -> Request {
        let (of, index) = begin(Op::Lock { mutex: self.no }).await;
        Request { of, index, released: Rc::default() }
    }

    /// Joins the queue and waits to own the mutex.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let mine = pen.lock().await;
    ///             mine.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn lock(self) -> Request {
        let request = self.lock_async().await;
        request.wait().await;
        request
    }
}

/// A request in the queue of a mutex.
///
/// ```
/// use whippet_net::{Net, Request};
/// let net = Net::new("turns", |net| {
///     let pen = net.mutex("pen");
///     for who in ["plato", "socrates"] {
///         net.process(who, async move || {
///             let place: Request = pen.lock_async().await;
///             place.wait().await;
///             place.unlock().await;
///         });
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    of: Name,
    index: u32,
    released: Rc<Cell<bool>>,
}

impl Request {
    /// Waits to own the mutex (MutexWait).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             asked.wait().await;
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn wait(&self) {
        mutex_wait_any(&[self]).await;
    }

    /// Returns `true` if this process owns the mutex (MutexTest).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             if !asked.test().await {
    ///                 asked.wait().await;
    ///             }
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn test(&self) -> bool {
        mutex_test_any(&[self]).await.is_some()
    }

    /// Removes the request from the queue, whether or not it owns the mutex (MutexUnlock).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             asked.unlock().await; // withdraws the request
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn unlock(&self) {
        ask(|link| {
            self.must_be_usable(link, "unlocks");
            self.released.set(true);
            Asked::Op(Op::Unlock { of: self.index })
        })
        .await;
    }

    /// Records a misuse if the process may not use the request.
    fn must_be_usable(&self, link: &Link, what: &str) {
        if self.of != link.process() {
            link.blame(format!("a process {what} a mutex that it never asked for: another process did"));
        } else if self.released.get() {
            link.blame(format!("a process {what} a mutex that it has unlocked already: ask for it again"));
        }
    }
}

/// Waits to own one of the mutexes, or tests for ownership.
async fn own(all: &[&Request], test: bool) -> Option<usize> {
    let reply = ask(|link| {
        for request in all {
            request.must_be_usable(link, "waits for");
        }
        if all.is_empty() {
            link.blame("a process waits for no mutex at all: that would never end");
        }
        Asked::Op(Op::MutexWait { of: all.iter().map(|r| r.index).collect(), test })
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
pub async fn mutex_wait_any(all: &[&Request]) -> usize {
    own(all, false).await.expect("a wait ends with something")
}

/// Returns the index of a mutex that this process owns, if there is one (MutexTest on several).
///
/// ```
/// use whippet_net::{Net, mutex_test_any};
/// let net = Net::new("either", |net| {
///     let (left, right) = (net.mutex("left"), net.mutex("right"));
///     net.process("plato", async move || {
///         let (l, r) = (left.lock_async().await, right.lock_async().await);
///         assert!(mutex_test_any(&[&l, &r]).await.is_some(), "nobody else wants them");
///         l.unlock().await;
///         r.unlock().await;
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn mutex_test_any(all: &[&Request]) -> Option<usize> {
    own(all, true).await
}
