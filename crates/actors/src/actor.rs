//! The traits that users implement: [`Message`] and [`Actor`].

use crate::{Cx, Hashes};
use std::fmt::Debug;
use std::future::Future;

/// A value that can be sent as a message: any `'static` type that implements `Clone`, `Debug` and `Send`. The trait is
/// implemented automatically.
///
/// Actors share no memory, so a message cannot contain an `Rc`:
///
/// ```compile_fail,E0277
/// use std::rc::Rc;
/// use whippet::prelude::*;
/// whippet::check(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<Rc<str>>| { inbox.receive().await; });
///     sys.send(reader, "hello".into());
/// });
/// ```
///
/// ```
/// use whippet::{Message, prelude::*};
/// /// Keeps the newest message.
/// async fn newest<M: Message>(inbox: &mut Inbox<M>) {
///     let mut _kept;
///     loop {
///         _kept = inbox.receive().await;
///     }
/// }
/// whippet::check(|sys| {
///     let (numbers, texts) = (sys.spawn_fn(newest::<u32>), sys.spawn_fn(newest::<String>));
///     sys.send(numbers, 1);
///     sys.send(texts, "one".to_string());
/// });
/// ```
pub trait Message: Clone + Debug + Send + 'static {}

impl<T: Clone + Debug + Send + 'static> Message for T {}

/// An actor: a state and a handler for messages.
///
/// A handler runs from the delivery of a message to its end, or to the next call whose reply it awaits; the actor
/// handles no other message in the meantime. Its behaviour must depend only on the state and the message: not on time,
/// random numbers, the iteration order of a `std` hash map, or memory shared with other actors. Pass such values in as
/// messages, or explore every value with [`Cx::choose`]. An actor must be `Send`, so that it cannot share an `Rc` with
/// others; variables that several actors use are [`Shared`](crate::Shared).
///
/// ```compile_fail,E0277
/// use std::{cell::RefCell, rc::Rc};
/// use whippet::prelude::*;
/// #[derive(Clone, Debug)]
/// struct Logger { log: Rc<RefCell<Vec<u8>>> }
/// impl Actor for Logger { // error: `Rc<RefCell<Vec<u8>>>` cannot be sent between threads safely
///     type Msg = u8;
///     async fn handle(&mut self, n: u8, _cx: &mut Cx<Self>) { self.log.borrow_mut().push(n); }
/// }
/// ```
///
/// ```
/// use whippet_actors::{Actor, Cx};
///
/// #[derive(Clone, Debug, Default)]
/// struct Account { balance: i64 }
///
/// #[derive(Clone, Debug)]
/// enum Msg { Deposit(i64), Withdraw(i64) }
///
/// impl Actor for Account {
///     type Msg = Msg;
///     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
///         match msg {
///             Msg::Deposit(sum) => self.balance += sum,
///             Msg::Withdraw(sum) => self.balance -= sum,
///         }
///     }
///     // A constraint: a refused message stays pending until the state changes.
///     fn accepts(&self, msg: &Msg) -> bool {
///         !matches!(msg, Msg::Withdraw(sum) if *sum > self.balance)
///     }
/// }
/// ```
pub trait Actor: Debug + Send + Sized + 'static {
    /// The type of message the actor handles.
    type Msg: Message;

    /// Hash functions for the state and the messages, used by searches that compare states. See [`Hashes`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug, Hash)]
    /// struct Light { on: bool }
    /// impl Actor for Light {
    ///     type Msg = bool;
    ///     const HASHES: Hashes<Self> = Hashes::of();
    ///     async fn handle(&mut self, on: bool, _cx: &mut Cx<Self>) { self.on = on; }
    /// }
    /// let stateful = Checker::new("light").reduction(Reduction::Stateful).explore(|sys| {
    ///     let light = sys.spawn(Light { on: false });
    ///     sys.send(light, true);
    ///     sys.send(light, true);
    /// }).unwrap();
    /// assert_eq!(stateful.counters.states, Some(2), "off and on: the other message changes nothing");
    /// ```
    const HASHES: Hashes<Self> = Hashes::NONE;

    /// `true` if the whole state is stored in [`Tracked`](crate::Tracked) fields, so that messages that touch different
    /// fields count as independent. [`accepts`](Actor::accepts) may then read only one field.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug, Default)]
    /// struct Desk { names: Tracked<u32>, visits: Tracked<u32> }
    /// #[derive(Clone, Debug)]
    /// enum Msg { Register, Visit }
    /// impl Actor for Desk {
    ///     type Msg = Msg;
    ///     const FIELDS: bool = true;
    ///     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
    ///         match msg {
    ///             Msg::Register => *self.names += 1,
    ///             Msg::Visit => *self.visits += 1,
    ///         }
    ///     }
    /// }
    /// let verdict = Checker::new("desk").explore(|sys| {
    ///     let desk = sys.spawn(Desk::default());
    ///     sys.send(desk, Msg::Register);
    ///     sys.send(desk, Msg::Visit);
    /// }).unwrap();
    /// assert_eq!(verdict.counters.executions, 1, "different fields: their order does not matter");
    /// ```
    const FIELDS: bool = false;

    /// Handles one message.
    fn handle(&mut self, msg: Self::Msg, cx: &mut Cx<Self>) -> impl Future<Output = ()>;

    /// Returns the state in which the actor restarts after a crash, or `None` if it does not restart: then it receives nothing any
    /// more. Called only for actors that [may crash](crate::System::crashes). Everything that the actor does not copy from its
    /// old state is lost, as are its timers and a handler that waits; see [`Durable`](crate::Durable) for parts that are written to a
    /// disk. It may send messages, set timers, and [choose](crate::Cx::choose).
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Node { disk: u32, cache: u32 }
    /// impl Actor for Node {
    ///     type Msg = u32;
    ///     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
    ///         self.cache += n;
    ///         self.disk = self.cache;
    ///     }
    ///     fn after_crash(&self, _cx: &mut Cx<Self>) -> Option<Node> {
    ///         Some(Node { disk: self.disk, cache: 0 }) // forgets to read the disk
    ///     }
    /// }
    /// let failure = Checker::new("node").try_check(|sys| {
    ///     let node = sys.spawn(Node { disk: 0, cache: 0 });
    ///     (1..=2).for_each(|n| sys.send(node, n));
    ///     sys.crashes(node, 1);
    ///     sys.at_end(node, |node| assert_eq!(node.disk, 3));
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("2. node crashes"), "{failure}");
    /// ```
    fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Self> {
        let _ = cx;
        None
    }

    /// Returns `true` if the actor can receive the message in its current state. A refused message stays pending.
    fn accepts(&self, msg: &Self::Msg) -> bool {
        let _ = msg;
        crate::acceptance::accept_by_default::<Self>()
    }
}
