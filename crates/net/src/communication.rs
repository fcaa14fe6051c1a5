//! Communications: sends and receives in progress, and the operations that wait for them.

use crate::op::{Answer, Op, Payload, WaitMode};
use crate::process::{ProcessCall, call, located};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use whippet_model::Name;

/// A communication of this process, which it can wait for alone or together with others.
///
/// ```
/// use whippet_net::{Communication, Net, wait_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let all: [&dyn Communication; 2] = [&x, &y];
///         match wait_any(&all).await {
///             0 => assert_eq!(x.value(), 1),
///             _ => assert_eq!(y.value(), 2),
///         }
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub trait Communication {
    #[doc(hidden)]
    fn id(&self) -> (Name, u32);
    #[doc(hidden)]
    fn set_value(&self, value: Option<Rc<dyn Any>>);
    /// Stores the values of a complete collective operation.
    #[doc(hidden)]
    fn set_values(&self, _: Vec<Option<Rc<dyn Any>>>) {
        unreachable!("internal error: only collective operations bring several values");
    }
}

/// A send that may not have been matched with its receive yet.
///
/// ```
/// use whippet_net::{Net, Sending};
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || {
///         let sending: Sending = door.send_async(1).await;
///         sending.wait().await;
///     });
///     net.process("host", async move || assert_eq!(door.receive().await, 1));
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Sending {
    of: Name,
    index: u32,
}

impl Communication for Sending {
    fn id(&self) -> (Name, u32) {
        (self.of, self.index)
    }

    fn set_value(&self, _: Option<Rc<dyn Any>>) {}
}

impl Sending {
    /// Creates the handle of the send started by the `index`-th operation of process `of`.
    pub(crate) fn new((of, index): (Name, u32)) -> Sending {
        Sending { of, index }
    }

    /// Waits until the value has been received.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || {
    ///         let sending = door.send_async(1).await;
    ///         sending.wait().await;
    ///     });
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = ()> {
        located(async move {
            wait_any(&[self]).await;
        })
    }

    /// Returns `true` if the value has been received.
    ///
    /// ```
    /// use whippet_net::Net;
    /// // There is no receiver.
    /// let net = Net::new("alone", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || {
    ///         let sending = door.send_async(1).await;
    ///         assert!(!sending.test().await);
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn test(&self) -> impl Future<Output = bool> {
        located(async move { test_any(&[self]).await.is_some() })
    }
}

/// A receive that may not have been matched with its send yet.
///
/// ```
/// use whippet_net::{Net, Receiving};
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || door.send(1).await);
///     net.process("host", async move || {
///         let letter: Receiving<u32> = door.receive_async().await;
///         assert_eq!(letter.wait().await, 1);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Receiving<T> {
    of: Name,
    index: u32,
    value: Rc<RefCell<Option<T>>>,
}

impl<T: Clone + 'static> Communication for Receiving<T> {
    fn id(&self) -> (Name, u32) {
        (self.of, self.index)
    }

    fn set_value(&self, value: Option<Rc<dyn Any>>) {
        let value = value.expect("a completed receive has a value");
        let value = value.downcast_ref::<T>().expect("internal error: a mailbox holds values of one type");
        self.value.replace(Some(value.clone()));
    }
}

impl<T> Receiving<T> {
    /// Creates the handle of the receive started by the `index`-th operation of process `of`.
    pub(crate) fn new((of, index): (Name, u32)) -> Receiving<T> {
        Receiving { of, index, value: Rc::default() }
    }
}

impl<T: Clone + 'static> Receiving<T> {
    /// Waits for the value.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || {
    ///         let letter = door.receive_async().await;
    ///         assert_eq!(letter.wait().await, 1);
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = T> {
        located(async move {
            wait_any(&[self]).await;
            self.value()
        })
    }

    /// Returns the value if it has arrived.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || { door.send_async(1).await; });
    ///     net.process("host", async move || {
    ///         let letter = door.receive_async().await;
    ///         // The test may come before or after the send: both are explored.
    ///         assert!(matches!(letter.test().await, None | Some(1)));
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn test(&self) -> impl Future<Output = Option<T>> {
        located(async move { test_any(&[self]).await.map(|_| self.value()) })
    }

    /// Returns the value, after a wait or test reported that this receive is complete.
    ///
    /// # Panics
    ///
    /// Panics if no wait or test has reported that.
    ///
    /// ```
    /// use whippet_net::{Net, wait_any};
    /// let net = Net::new("either", |net| {
    ///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
    ///     net.process("one", async move || { a.send_async(1).await; });
    ///     net.process("two", async move || { b.send_async(2).await; });
    ///     net.process("reader", async move || {
    ///         let (x, y) = (a.receive_async().await, b.receive_async().await);
    ///         match wait_any(&[&x, &y]).await {
    ///             0 => assert_eq!(x.value(), 1),
    ///             _ => assert_eq!(y.value(), 2),
    ///         }
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn value(&self) -> T {
        self.value
            .borrow()
            .clone()
            .expect("the communication is not complete: wait for it or test it before calling `value`")
    }
}

/// Waits for one of the communications, or tests them, and stores the value that it brought.
pub(crate) async fn complete(all: &[&dyn Communication], mode: WaitMode) -> Option<usize> {
    let reply = call(|link| {
        if all.iter().any(|c| c.id().0 != link.process()) {
            link.report_misuse(
                "a process waits for a communication of another process: only the process that started it may wait for it",
            );
        }
        if all.is_empty() {
            link.report_misuse("the list of communications to wait for is empty: pass at least one");
        }
        ProcessCall::Op(Op::Wait { of: all.iter().map(|c| c.id().1).collect(), mode })
    })
    .await;
    match reply.answer {
        Answer::Ready { k, .. } => {
            all[k as usize].set_value(reply.value.map(|value| value.any));
            Some(k as usize)
        }
        Answer::Gathered { k, .. } => {
            let any = |value: Option<Payload>| value.map(|value| value.any);
            all[k as usize].set_values(reply.values.into_iter().map(any).collect());
            Some(k as usize)
        }
        _ => None,
    }
}

/// Waits until one of the communications is complete and returns its index (WaitAny). If several are complete, each
/// choice is explored.
///
/// ```
/// use whippet_net::{Net, wait_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let first = wait_any(&[&x, &y]).await;
///         assert!(first < 2);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert!(verdict.counters.executions > 1, "either may be first");
/// ```
#[track_caller]
pub fn wait_any(all: &[&dyn Communication]) -> impl Future<Output = usize> {
    located(async move { complete(all, WaitMode::Wait).await.expect("a wait returns an index") })
}

/// Returns the index of a complete communication, if there is one (TestAny).
///
/// ```
/// use whippet_net::{Net, test_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let done = test_any(&[&x, &y]).await;
///         assert!(matches!(done, None | Some(0 | 1)));
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[track_caller]
pub fn test_any(all: &[&dyn Communication]) -> impl Future<Output = Option<usize>> {
    located(async move { complete(all, WaitMode::Test).await })
}

/// Waits for all communications, one after another.
///
/// ```
/// use whippet_net::{Net, wait_all};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         wait_all(&[&x, &y]).await;
///         assert_eq!(x.value() + y.value(), 3);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[track_caller]
pub fn wait_all(all: &[&dyn Communication]) -> impl Future<Output = ()> {
    located(async move {
        for one in all {
            wait_any(&[*one]).await;
        }
    })
}
