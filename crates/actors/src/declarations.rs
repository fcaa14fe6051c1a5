//! The declarations of a test: what must hold, what must be reachable, and the results of its executions.

use crate::address::Addr;
use crate::checks::{Check, CheckTarget};
use crate::history::{Consistency, History, Sequential};
use crate::machine::temporal::Temporal;
use crate::{Actor, System};
use std::fmt::Debug;
use std::panic::Location;

impl System {
    /// Adds a check that runs on the states of the named actors after every step of one of them.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Account(i64);
    /// # impl Actor for Account {
    /// #     type Msg = i64;
    /// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.0 += sum; }
    /// # }
    /// let failure = Checker::new("never negative").try_check(|sys| {
    ///     let account = sys.spawn(Account(0));
    ///     sys.send(account, 10);
    ///     sys.send(account, -5);
    ///     sys.always(account, |account| assert!(account.0 >= 0, "overdrawn"));
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("assertion: always: overdrawn"));
    /// ```
    #[track_caller]
    pub fn always<W: CheckTarget>(&mut self, who: W, check: impl Fn(W::View<'_>) + 'static) {
        self.machine.always(Check::new(who, check));
    }

    /// Adds a check that runs on the states of the named actors when no step is enabled.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Account(i64);
    /// # impl Actor for Account {
    /// #     type Msg = i64;
    /// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.0 += sum; }
    /// # }
    /// whippet::check(|sys| {
    ///     let account = sys.spawn(Account(0));
    ///     sys.send(account, 10);
    ///     sys.send(account, -5);
    ///     sys.at_end(account, |account| assert_eq!(account.0, 5));
    /// });
    /// ```
    #[track_caller]
    pub fn at_end<W: CheckTarget>(&mut self, who: W, check: impl Fn(W::View<'_>) + 'static) {
        self.machine.at_end(Check::new(who, check));
    }

    /// Requires that some execution reaches a state of the named actors in which `check` holds. The verdict has a schedule that
    /// reaches it; if there is none, this is a finding, provided that the search is complete and has found nothing else.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Cell(u32);
    /// # impl Actor for Cell {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = self.0 * 2 + n; }
    /// # }
    /// let reaches = |value: u32| Checker::new("reaches").try_check(move |sys| {
    ///     let cell = sys.spawn(Cell(0));
    ///     (1..=2).for_each(|n| sys.send(cell, n));
    ///     sys.sometimes(cell, move |cell| cell.0 == value);
    /// });
    /// assert!(reaches(5).is_ok(), "2 comes first");
    /// let failure = reaches(7).unwrap_err().to_string();
    /// assert!(failure.starts_with("unreached: `sometimes` never holds"), "{failure}");
    /// ```
    #[track_caller]
    pub fn sometimes<W: CheckTarget>(&mut self, who: W, check: impl Fn(W::View<'_>) -> bool + 'static) {
        self.machine.add_sometimes(Check::new(who, check));
    }

    /// Requires that every execution reaches a state of the named actors in which `check` holds, at any time. An execution that
    /// ends without is a finding.
    ///
    /// An execution that never ends is a finding of its own kind (a limit), because a search cannot tell whether it would
    /// get there. If a check of several actors sees only [a part](Addr::only) of their states, fewer steps depend on each other.
    ///
    /// ```
    /// # use whippet::{Network, prelude::*};
    /// # #[derive(Clone, Debug)]
    /// # struct Node { leader: bool }
    /// # impl Actor for Node {
    /// #     type Msg = bool;
    /// #     async fn handle(&mut self, leads: bool, _cx: &mut Cx<Self>) { self.leader = leads; }
    /// # }
    /// let elects = |network| Checker::new("elects").network(network).try_check(|sys| {
    ///     let nodes = [(); 2].map(|()| sys.spawn(Node { leader: false }));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
    ///         inbox.send(nodes[0], true);
    ///         inbox.send(nodes[0], false);
    ///     });
    ///     sys.eventually((nodes[0], nodes[1]), |(a, b)| a.leader || b.leader);
    /// });
    /// assert!(elects(Network::reliable()).is_ok());
    /// let failure = elects(Network::lossy(1)).unwrap_err().to_string();
    /// assert!(failure.starts_with("assertion: `eventually` never holds in this execution"), "{failure}");
    /// ```
    #[track_caller]
    pub fn eventually<W: CheckTarget>(&mut self, who: W, check: impl Fn(W::View<'_>) -> bool + 'static) {
        self.machine.add_temporal(Temporal::Eventually, Check::new(who, check));
    }

    /// Requires that a state of the named actors lasts: if `check` holds at any time, it holds at the end. It is tested when no
    /// step is enabled; `check` may fail in between.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Cell(u32);
    /// # impl Actor for Cell {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = n; }
    /// # }
    /// let lasts = |value: u32| Checker::new("lasts").try_check(move |sys| {
    ///     let cell = sys.spawn(Cell(0));
    ///     (1..=2).for_each(|n| sys.send(cell, n));
    ///     sys.stable(cell, move |cell| cell.0 >= value);
    /// });
    /// assert!(lasts(1).is_ok(), "0 comes first");
    /// let failure = lasts(2).unwrap_err().to_string();
    /// assert!(failure.starts_with("assertion: `stable` held once, but not at the end"), "{failure}");
    /// ```
    #[track_caller]
    pub fn stable<W: CheckTarget>(&mut self, who: W, check: impl Fn(W::View<'_>) -> bool + 'static) {
        self.machine.add_temporal(Temporal::Stable, Check::new(who, check));
    }

    /// Requires that replicas agree when no step is enabled: `read` has the same value for all of them. No steps depend on each
    /// other for it.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Replica(u32);
    /// # impl Actor for Replica {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = n; }
    /// # }
    /// let failure = Checker::new("last write wins").try_check(|sys| {
    ///     let replicas: Vec<_> = (0..2).map(|_| sys.spawn(Replica(0))).collect();
    ///     for &replica in &replicas {
    ///         (1..=2).for_each(|n| sys.send(replica, n));
    ///     }
    ///     sys.converge(replicas, |replica| replica.0);
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("assertion: at the end: the replicas differ: replica 1 has "), "{failure}");
    /// ```
    #[track_caller]
    pub fn converge<A, T>(&mut self, replicas: Vec<Addr<A>>, read: impl Fn(&A) -> T + 'static)
    where
        A: Actor,
        T: PartialEq + Debug + 'static,
    {
        let addresses = replicas.clone();
        self.machine.at_end(Check::new(replicas, move |states| {
            let values: Vec<T> = states.into_iter().map(&read).collect();
            if values.windows(2).any(|pair| pair[0] != pair[1]) {
                let each = addresses.iter().zip(&values).map(|(replica, value)| format!("{replica:?} has {value:?}"));
                panic!("the replicas differ: {}", each.collect::<Vec<_>>().join(", "));
            }
        }));
    }

    /// Declares a result of executions: a value of the states of the named actors when no step is enabled. The verdict lists
    /// the different results, each with the schedule of an execution: [`Verdict::outcomes`](whippet_model::Verdict::outcomes).
    /// Results are the same if their `Debug` texts are. Executions with another finding have no result; if
    /// there are any, `Reduction::Stateful` may list fewer results than other searches.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Cell(u32);
    /// # impl Actor for Cell {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = n; }
    /// # }
    /// let verdict = Checker::new("last write").explore(|sys| {
    ///     let cell = sys.spawn(Cell(0));
    ///     (1..=3).for_each(|n| sys.send(cell, n));
    ///     sys.outcome(cell, |cell| cell.0);
    /// }).unwrap();
    /// let results: Vec<_> = verdict.outcomes.iter().map(|outcome| (outcome.message.as_str(), outcome.executions)).collect();
    /// assert_eq!(results, [("1", 2), ("2", 2), ("3", 2)]);
    /// ```
    #[track_caller]
    pub fn outcome<W: CheckTarget, T: Debug>(&mut self, who: W, result: impl Fn(W::View<'_>) -> T + 'static) {
        self.machine.add_outcome(Check::new(who, move |view| format!("{:?}", result(view))));
    }

    /// Requires that each [`outcome`](System::outcome) has the same value in all executions. Different values are a finding.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Cell(u32);
    /// # impl Actor for Cell {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = n; }
    /// # }
    /// let failure = Checker::new("last write").try_check(|sys| {
    ///     let cell = sys.spawn(Cell(0));
    ///     (1..=2).for_each(|n| sys.send(cell, n));
    ///     sys.outcome(cell, |cell| cell.0);
    ///     sys.deterministic();
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("outcome: the result depends on the order of messages: 2 different ones: 1, 2"), "{failure}");
    /// ```
    pub fn deterministic(&mut self) {
        self.machine.set_deterministic();
    }

    /// Creates a history of operations that must be linearizable: there is an order of the operations in which the
    /// specification, which begins in this state, gives the same answers, and in which an operation that returned before
    /// another one was invoked comes first. Operations that have not returned may or may not have taken effect.
    ///
    /// The history is tested whenever an operation returns. Only the ends of operations depend on each other.
    ///
    /// ```
    /// use whippet::{Answer, Register, RegisterOp, prelude::*};
    /// #[derive(Clone, Debug)]
    /// enum Msg { Set(u32), Get(Reply<u32>) }
    /// #[derive(Clone, Debug)]
    /// struct Server(u32);
    /// impl Actor for Server {
    ///     type Msg = Msg;
    ///     async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
    ///         match msg {
    ///             Msg::Set(value) => self.0 = value,
    ///             Msg::Get(reply) => cx.reply(reply, self.0),
    ///         }
    ///     }
    /// }
    /// let failure = Checker::new("no acknowledgement").try_check(|sys| {
    ///     let (server, history) = (sys.spawn(Server(0)), sys.linearizable(Register::new(0)));
    ///     sys.spawn_fn_named("client", async move |client: &mut Inbox<()>| {
    ///         client.invoked(history, RegisterOp::Write(1));
    ///         client.send(server, Msg::Set(1));
    ///         client.returned(history, Answer::Done); // too early
    ///         client.invoked(history, RegisterOp::Read);
    ///         let value = client.call(server, Msg::Get).await;
    ///         client.returned(history, Answer::Value(value));
    ///     });
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("then Read of client would return Value(1), not Value(0)"), "{failure}");
    /// ```
    #[track_caller]
    pub fn linearizable<S: Sequential>(&mut self, specification: S) -> History<S> {
        self.add_history(specification, Consistency::Linearizable, Location::caller())
    }

    /// Creates a history of operations that must be sequentially consistent: there is an order of the operations in which the
    /// specification, which begins in this state, gives the same answers, and which keeps the order of the operations of each
    /// actor. In contrast to [`linearizable`](System::linearizable), an operation may seem to take effect later than it
    /// returned.
    ///
    /// The history is tested when no step is enabled. No steps depend on each other for it.
    ///
    /// ```
    /// use whippet::{Answer, Register, RegisterOp, prelude::*};
    /// whippet::check(|sys| {
    ///     let history = sys.sequentially_consistent(Register::new(0));
    ///     sys.spawn_fn(async move |writer: &mut Inbox<()>| {
    ///         writer.invoked(history, RegisterOp::Write(1));
    ///         writer.returned(history, Answer::Done);
    ///     });
    ///     let reader = sys.spawn_fn(async move |reader: &mut Inbox<u32>| {
    ///         reader.invoked(history, RegisterOp::Read);
    ///         let value = reader.receive().await;
    ///         reader.returned(history, Answer::Value(value));
    ///     });
    ///     sys.send(reader, 0); // an old value, although the write has returned
    /// });
    /// ```
    #[track_caller]
    pub fn sequentially_consistent<S: Sequential>(&mut self, specification: S) -> History<S> {
        self.add_history(specification, Consistency::Sequential, Location::caller())
    }

    fn add_history<S: Sequential>(
        &mut self,
        specification: S,
        consistency: Consistency,
        site: &'static Location<'static>,
    ) -> History<S> {
        let engine = &mut *self.context.engine.borrow_mut();
        engine.records_more = true;
        engine.histories.add(specification, consistency, site)
    }
}
