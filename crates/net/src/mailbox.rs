//! Handles through which processes use mailboxes.

use crate::communication::{Receiving, Sending};
use crate::op::{Op, Payload};
use crate::process::{located, start_operation};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A rendez-vous point: the k-th send on it is matched with the k-th receive.
///
/// ```
/// use whippet_net::Net;
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || door.send(1).await);
///     net.process("host", async move || assert_eq!(door.receive().await, 1));
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub struct Mailbox<T> {
    no: u32,
    of: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Mailbox<T> {
        *self
    }
}

impl<T> Copy for Mailbox<T> {}

impl<T> Debug for Mailbox<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailbox({})", self.no)
    }
}

impl<T> Mailbox<T> {
    /// Creates the handle of the mailbox with this number.
    pub(crate) fn numbered(no: u32) -> Mailbox<T> {
        Mailbox { no, of: PhantomData }
    }
}

impl<T: Clone + Debug + 'static> Mailbox<T> {
    /// Starts a send (AsyncSend). The value is captured now, and is delivered when the receiver's wait or test
    /// succeeds.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || { door.send_async(1).await; });
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn send_async(self, value: T) -> impl Future<Output = Sending> {
        located(async move {
            let text = format!("{value:?}");
            let value = Some(Payload::new(value, text));
            Sending::new(start_operation(Op::Send { mailbox: self.no, value }).await)
        })
    }

    /// Starts a receive (AsyncReceive) and returns the communication to wait for.
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
    pub fn receive_async(self) -> impl Future<Output = Receiving<T>> {
        located(async move { Receiving::new(start_operation(Op::Receive { mailbox: self.no }).await) })
    }

    /// Sends a value and waits until it has been received (rendez-vous).
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn send(self, value: T) -> impl Future<Output = ()> {
        located(async move {
            self.send_async(value).await.wait().await;
        })
    }

    /// Receives a value, waiting until it arrives.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn receive(self) -> impl Future<Output = T> {
        located(async move { self.receive_async().await.wait().await })
    }
}
