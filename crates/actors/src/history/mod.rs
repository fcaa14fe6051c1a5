//! Histories: the operations that actors perform on a replicated or otherwise distributed object, as its clients see them.
//!
//! A client records when it [invokes](crate::Cx::invoked) an operation and when the operation has
//! [returned](crate::Cx::returned). These *ends* of operations are part of the state of the program, but no messages and no
//! steps of their own. A history is compared with a sequential specification ([`Sequential`]): is there an order of the
//! operations in which the specification gives the same answers?
//!
//! **Dependence.** An order must keep an operation that returned before another one was invoked before that one. Whether it
//! did so is the only thing that the order of two ends decides: two invocations commute, and so do two returns. So each
//! invocation reads an object that stands for the history, and each return adds to it. If only the order of the operations of
//! each client counts ([sequential consistency](crate::System::sequentially_consistent)), nothing depends on the ends.

mod objects;
mod record;
mod search;
mod show;

pub use objects::{
    Answer, Counter, CounterOp, Dictionary, DictionaryOp, Log, LogOp, Queue, QueueOp, Register, RegisterOp, Set, SetOp,
    Stack, StackOp,
};
pub(crate) use record::{Histories, HistoryLog, Violation};

use crate::Message;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// A sequential specification: an object on which one operation is performed after the other.
///
/// The state of a value of this type is the state of the object. This crate has [`Register`], [`Queue`], [`Stack`], [`Set`],
/// [`Dictionary`], [`Counter`] and [`Log`].
///
/// ```
/// use whippet::{Sequential, prelude::*};
/// /// Hands out each number once.
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// struct Tickets(u32);
/// impl Sequential for Tickets {
///     type Op = ();
///     type Ret = u32;
///     fn apply(&mut self, _next: &()) -> u32 {
///         self.0 += 1;
///         self.0
///     }
/// }
/// let failure = Checker::new("tickets").try_check(|sys| {
///     let history = sys.linearizable(Tickets(0));
///     for _ in 0..2 {
///         sys.spawn_fn(async move |client: &mut Inbox<()>| {
///             client.invoked(history, ());
///             client.returned(history, 1); // both get the same ticket
///         });
///     }
///     let trigger = sys.spawn_fn(async move |client: &mut Inbox<()>| {
///         client.receive().await;
///         client.invoked(history, ());
///         client.returned(history, 1);
///     });
///     sys.send(trigger, ());
/// }).unwrap_err().to_string();
/// assert!(failure.starts_with("assertion: the history of tickets is not linearizable"), "{failure}");
/// ```
pub trait Sequential: Clone + Debug + Eq + Hash + 'static {
    /// The operations.
    type Op: Message + Hash;
    /// The answers to operations.
    type Ret: Message + Hash + PartialEq;

    /// Performs an operation and returns its answer.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// Performs an operation, and returns `true` if the specification allows this answer. Implement it if an operation has
    /// several possible answers.
    ///
    /// ```
    /// use whippet::{Answer, Register, RegisterOp, Sequential};
    /// let mut register = Register::new(5);
    /// assert!(register.allows(&RegisterOp::Read, &Answer::Value(5)));
    /// assert!(!register.allows(&RegisterOp::Read, &Answer::Value(6)));
    /// ```
    fn allows(&mut self, op: &Self::Op, ret: &Self::Ret) -> bool {
        self.apply(op) == *ret
    }
}

/// A history of operations on an object with the specification `S`.
///
/// [`System::linearizable`](crate::System::linearizable) and
/// [`System::sequentially_consistent`](crate::System::sequentially_consistent) create one. Clients record their operations in it;
/// each actor performs one operation at a time.
///
/// ```
/// use whippet::{Answer, History, Register, RegisterOp, prelude::*};
/// #[derive(Clone, Debug)]
/// enum Msg { Set(u32, Reply<()>), Get(Reply<u32>) }
/// #[derive(Clone, Debug)]
/// struct Server(u32);
/// impl Actor for Server {
///     type Msg = Msg;
///     async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
///         match msg {
///             Msg::Set(value, reply) => { self.0 = value; cx.reply(reply, ()); }
///             Msg::Get(reply) => cx.reply(reply, self.0),
///         }
///     }
/// }
/// async fn client(inbox: &mut Inbox<()>, server: Addr<Server>, history: History<Register<u32>>) {
///     inbox.invoked(history, RegisterOp::Write(1));
///     inbox.call(server, |reply| Msg::Set(1, reply)).await;
///     inbox.returned(history, Answer::Done);
///     inbox.invoked(history, RegisterOp::Read);
///     let value = inbox.call(server, Msg::Get).await;
///     inbox.returned(history, Answer::Value(value));
/// }
/// whippet::check(|sys| {
///     let (server, history) = (sys.spawn(Server(0)), sys.linearizable(Register::new(0)));
///     for _ in 0..2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| client(inbox, server, history).await);
///     }
/// });
/// ```
pub struct History<S> {
    pub(crate) number: u32,
    of: PhantomData<fn() -> S>,
}

impl<S> History<S> {
    pub(crate) fn new(number: u32) -> History<S> {
        History { number, of: PhantomData }
    }
}

impl<S> Copy for History<S> {}

impl<S> Clone for History<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> PartialEq for History<S> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<S> Eq for History<S> {}

impl<S> Hash for History<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.number.hash(hasher);
    }
}

impl<S> Debug for History<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "history {}", self.number + 1)
    }
}

/// The order of operations that an explanation of a history has to keep.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Consistency {
    /// An operation that returned before another one was invoked comes first.
    Linearizable,
    /// The operations of each actor keep their order.
    Sequential,
}
