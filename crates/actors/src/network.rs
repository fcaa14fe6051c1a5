//! Faults of the network, as choices of the search.

use std::fmt;

/// The faults of a network, each with a budget per execution.
///
/// A network concerns the messages and replies that actors send to other actors. What the test itself sends, what an
/// actor sends to itself, and what locks, tasks and other built-in objects exchange is always delivered. Each fault is a
/// choice of the search, and a step with a name in the counterexample: "the network loses Put(1)".
///
/// Budgets count the faults of a whole execution. A fault depends only on the steps that use the same budget and, apart
/// from losses, on the steps of the receiver, so that losing a message that no actor needed costs one execution.
///
/// ```
/// use whippet::{Network, prelude::*};
/// #[derive(Clone, Debug)]
/// struct Counter(u32);
/// impl Actor for Counter {
///     type Msg = u32;
///     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 += n; }
/// }
/// fn counts(sys: &mut System) {
///     let counter = sys.spawn(Counter(0));
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(counter, 1));
///     sys.at_end(counter, |counter| assert_eq!(counter.0, 1));
/// }
/// assert!(Checker::new("reliable").try_check(counts).is_ok());
/// let failure = Checker::new("lossy").network(Network::lossy(1)).try_check(counts).unwrap_err().to_string();
/// assert!(failure.contains("1. the network loses 1 from actor to counter"), "{failure}");
/// let failure = Checker::new("twice").network(Network::duplicating(1)).try_check(counts).unwrap_err().to_string();
/// assert!(failure.contains("receives 1 a second time"), "{failure}");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Network {
    /// The budgets, indexed by [`NetworkFault`].
    pub(crate) budgets: [u32; KINDS],
}

/// A kind of fault, as an index into the budgets of a network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum NetworkFault {
    Loss = 0,
    Duplicate = 1,
    Overtake = 2,
    /// An actor crashes, which is no fault of a network, but has a budget as well.
    Crash = 3,
}

/// The number of kinds of faults.
pub(crate) const KINDS: usize = 4;

impl Network {
    /// A budget without a limit: any number of messages may be lost, or delivered twice.
    ///
    /// ```
    /// use whippet::{Network, prelude::*};
    /// let verdict = Checker::new("any").network(Network::lossy(Network::UNLIMITED)).explore(|sys| {
    ///     let sinks = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| { sinks.map(|sink| inbox.send(sink, 1)); });
    /// }).unwrap();
    /// assert_eq!(verdict.counters.executions, 4, "each of two messages is lost or not");
    /// ```
    pub const UNLIMITED: u32 = u32::MAX;

    /// Creates a network without faults, which is the default.
    ///
    /// ```
    /// use whippet::Network;
    /// assert_eq!(Network::reliable(), Network::default());
    /// assert_eq!(Network::lossy(0), Network::reliable());
    /// ```
    #[must_use]
    pub fn reliable() -> Network {
        Network::default()
    }

    /// Creates a network that may lose messages, at most this many in an execution.
    ///
    /// ```
    /// use whippet::{Network, prelude::*};
    /// #[derive(Clone, Debug)]
    /// struct Get(Reply<u32>);
    /// let failure = Checker::new("no answer").network(Network::lossy(1)).try_check(|sys| {
    ///     let server = sys.spawn_fn(async |server: &mut Inbox<Get>| {
    ///         let Get(reply) = server.receive().await;
    ///         server.reply(reply, 42);
    ///     });
    ///     sys.spawn_fn(async move |client: &mut Inbox<()>| assert_eq!(client.call(server, Get).await, 42));
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("deadlock"), "{failure}");
    /// ```
    #[must_use]
    pub fn lossy(most: u32) -> Network {
        Network::of(NetworkFault::Loss, most)
    }

    /// Creates a network that may deliver messages a second time, at most this many in an execution. The second delivery
    /// may come at any time after the first. Replies are never delivered twice, because a caller waits for one only.
    ///
    /// ```
    /// use whippet::{Network, prelude::*};
    /// let failure = Checker::new("two").network(Network::duplicating(1)).try_check(|sys| {
    ///     let door = sys.spawn_fn(async |inbox: &mut Inbox<&str>| {
    ///         let (first, second) = (inbox.receive().await, inbox.receive().await);
    ///         assert_ne!(first, second);
    ///     });
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| { ["open", "close"].map(|it| inbox.send(door, it)); });
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("assertion"), "{failure}");
    /// ```
    #[must_use]
    pub fn duplicating(most: u32) -> Network {
        Network::of(NetworkFault::Duplicate, most)
    }

    /// Creates a network in which messages may overtake others, at most this many in an execution. For delivery orders
    /// that would not allow it: [`Delivery::Fifo`](crate::Delivery::Fifo) and
    /// [`Delivery::Causal`](crate::Delivery::Causal).
    ///
    /// ```
    /// use whippet::{Network, prelude::*};
    /// let executions = |network| Checker::new("order").delivery(Delivery::Fifo).network(network).explore(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| { [1, 2].map(|n| inbox.send(sink, n)); });
    /// }).unwrap().counters.executions;
    /// assert_eq!(executions(Network::reliable()), 1);
    /// assert_eq!(executions(Network::reordering(1)), 2);
    /// ```
    #[must_use]
    pub fn reordering(most: u32) -> Network {
        Network::of(NetworkFault::Overtake, most)
    }

    /// Returns a network with the faults of both.
    ///
    /// ```
    /// use whippet::Network;
    /// let network = Network::lossy(2).and(Network::duplicating(1));
    /// assert_eq!(network.to_string(), "lossy(2), duplicating(1)");
    /// ```
    #[must_use]
    pub fn and(self, other: Network) -> Network {
        let mut budgets = self.budgets;
        for (mine, more) in budgets.iter_mut().zip(other.budgets) {
            *mine = mine.saturating_add(more);
        }
        Network { budgets }
    }

    pub(crate) fn of(fault: NetworkFault, most: u32) -> Network {
        let mut network = Network::default();
        network.budgets[fault as usize] = most;
        network
    }

    pub(crate) fn is_reliable(self) -> bool {
        self == Network::default()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reliable() {
            return f.write_str("reliable");
        }
        let mut separator = "";
        for (name, budget) in ["lossy", "duplicating", "reordering"].into_iter().zip(self.budgets) {
            match budget {
                0 => continue,
                Network::UNLIMITED => write!(f, "{separator}{name}(unlimited)")?,
                most => write!(f, "{separator}{name}({most})")?,
            }
            separator = ", ";
        }
        Ok(())
    }
}
