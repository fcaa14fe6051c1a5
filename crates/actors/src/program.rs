//! A program of actors: its settings and the body that sets it up, which is run anew for each machine.

use crate::delivery::Delivery;
use crate::environment::Environment;
use crate::machine::ActorMachine;
use crate::network::Network;
use crate::panics::catch;
use crate::system::System;
use std::fmt::{self, Debug};
use std::sync::Arc;
use whippet_model::{ConflictRule, MachineConfig, MachineError, Program};

/// The setup of a program. Returns the error message if the user's function returned an error.
type Setup = dyn Fn(&mut System) -> Option<String> + Send + Sync;

/// The return type of the body of a test: `()`, or `Result<(), E>` if the body uses `?`.
///
/// The body runs before the exploration, so an error does not depend on the order of messages: it is a finding with an
/// empty counterexample. To report an error from a handler, panic.
///
/// ```
/// use whippet::prelude::*;
/// let verdict = whippet::explore(|sys| {
///     let start: u8 = "300".parse()?;
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///     sys.send(sink, start);
///     Ok::<(), std::num::ParseIntError>(())
/// }).unwrap();
/// assert_eq!(verdict.findings[0].message, "the test returned an error: ParseIntError { kind: PosOverflow }");
/// ```
#[diagnostic::on_unimplemented(
    message = "the body of a test returns `()` or `Result<(), E>` where `E: Debug`, not `{Self}`",
    label = "`{Self}` is not an outcome of a test"
)]
pub trait TestOutcome {
    /// Returns the text of the error, if the body returned one.
    #[doc(hidden)]
    fn into_error(self) -> Option<String>;
}

impl TestOutcome for () {
    fn into_error(self) -> Option<String> {
        None
    }
}

/// Gives a name to the type `!`, which stable Rust allows only as the return type of a function.
mod never {
    #[doc(hidden)]
    pub trait Output {
        type Type;
    }

    impl<T> Output for fn() -> T {
        type Type = T;
    }
}

/// The outcome of a body that always panics.
impl TestOutcome for <fn() -> ! as never::Output>::Type {
    fn into_error(self) -> Option<String> {
        match self {}
    }
}

impl<E: Debug> TestOutcome for Result<(), E> {
    fn into_error(self) -> Option<String> {
        self.err().map(|error| format!("{error:?}"))
    }
}

/// A program of actors: its name, its settings and the body that sets it up.
///
/// ```
/// use whippet_actors::{Delivery, System, ActorProgram};
/// use whippet_model::{Machine, Program};
/// let test = ActorProgram::new("quiet", |system: &mut System| {
///     let _ = system;
/// })
/// .delivery(Delivery::Fifo);
/// assert_eq!(test.name(), "quiet");
/// assert_eq!(test.machine(&Default::default()).unwrap().depth(), 0);
/// ```
#[derive(Clone)]
pub struct ActorProgram {
    name: String,
    parameters: Vec<(String, String)>,
    delivery: Delivery,
    environment: Environment,
    conflict_rule: ConflictRule,
    network: Network,
    memo_bytes: usize,
    setup: Arc<Setup>,
}

impl fmt::Debug for ActorProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ActorProgram { name, parameters, delivery, .. } = self;
        let mut program = f.debug_struct("ActorProgram");
        program.field("name", name).field("parameters", parameters).field("delivery", delivery).finish_non_exhaustive()
    }
}

/// The default number of bytes that a machine may use to memoize steps of slow and async handlers.
const DEFAULT_MEMO_BYTES: usize = 64 << 20;

impl ActorProgram {
    /// Creates a program with this name. `body` sets it up, anew for each machine.
    pub fn new<R: TestOutcome>(
        name: impl Into<String>,
        body: impl Fn(&mut System) -> R + Send + Sync + 'static,
    ) -> ActorProgram {
        ActorProgram {
            name: name.into(),
            parameters: Vec::new(),
            delivery: Delivery::default(),
            environment: Environment::default(),
            conflict_rule: ConflictRule::default(),
            network: Network::reliable(),
            memo_bytes: DEFAULT_MEMO_BYTES,
            setup: Arc::new(move |system| body(system).into_error()),
        }
    }

    /// Sets the delivery order.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> ActorProgram {
        self.delivery = delivery;
        self
    }

    /// Sets the state that the program must have reached at the end. The body can override it.
    ///
    /// ```
    /// use whippet_actors::{Environment, ActorProgram};
    /// let closed = ActorProgram::new("closed", |_sys| {}).environment(Environment::Closed);
    /// # let verdict = whippet_search::explore(std::sync::Arc::new(closed), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty(), "nobody is there who could still run");
    /// ```
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> ActorProgram {
        self.environment = environment;
        self
    }

    /// Sets the network between actors: see [`Network`]. The body can override it.
    ///
    /// ```
    /// use whippet_actors::{ActorProgram, Network};
    /// use whippet_model::Program;
    /// let lossy = ActorProgram::new("lossy", |_sys| {}).network(Network::lossy(1));
    /// assert!(lossy.parameters().contains(&("network".to_string(), "lossy(1)".to_string())));
    /// ```
    #[must_use]
    pub fn network(mut self, network: Network) -> ActorProgram {
        self.network = network;
        self
    }

    /// Sets the rule by which two messages to one actor conflict. By default the rule uses the
    /// [`Tracked`](crate::Tracked) fields of actors that have them; marks need tracked fields too.
    ///
    /// ```
    /// use whippet_actors::{Actor, Cx, ActorProgram, Tracked};
    /// use whippet_model::{Machine, Program, Dependence, ConflictRule};
    /// #[derive(Clone, Debug, Default)]
    /// struct Counter { hits: Tracked<u32> }
    /// impl Actor for Counter {
    ///     type Msg = ();
    ///     const FIELDS: bool = true;
    ///     async fn handle(&mut self, _msg: (), _cx: &mut Cx<Self>) { *self.hits += 1 }
    /// }
    /// let test = ActorProgram::new("fields", |sys| {
    ///     sys.spawn(Counter::default());
    /// });
    /// assert_eq!(test.machine(&Default::default()).unwrap().profile().dependence, Dependence::Footprints);
    /// assert_eq!(test.conflict_rule(ConflictRule::Actors).machine(&Default::default()).unwrap().profile().dependence, Dependence::PerActor);
    /// ```
    #[must_use]
    pub fn conflict_rule(mut self, rule: ConflictRule) -> ActorProgram {
        self.conflict_rule = rule;
        self
    }

    /// Adds a parameter with which the body was created; it appears in schedules and reports.
    ///
    /// ```
    /// use whippet_actors::ActorProgram;
    /// use whippet_model::Program;
    /// let test = ActorProgram::new("crowd", |_sys| {}).parameter("n", 4);
    /// assert_eq!(test.parameters()[0], ("n".to_string(), "4".to_string()));
    /// ```
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl ToString) -> ActorProgram {
        self.parameters.push((name.into(), value.to_string()));
        self
    }

    /// Sets the number of bytes each worker may use to memoize steps of slow and async handlers, so that they are not
    /// run again on the same history: 64 MiB by default, 0 to disable memoization.
    ///
    /// ```
    /// use whippet_actors::ActorProgram;
    /// use whippet_model::Program;
    /// let test = ActorProgram::new("frugal", |_sys| {}).memo_bytes(0);
    /// assert!(test.machine(&Default::default()).is_ok());
    /// ```
    #[must_use]
    pub fn memo_bytes(mut self, bytes: usize) -> ActorProgram {
        self.memo_bytes = bytes;
        self
    }

    /// Returns the `always` checks that inspect several actors: where each is declared, and the number of its actors.
    /// All steps of these actors are dependent on each other, so there are many more orders to explore.
    ///
    /// ```
    /// # use whippet_actors::{Actor, ActorProgram, Cx};
    /// # #[derive(Clone, Debug)]
    /// # struct Till(i64);
    /// # impl Actor for Till {
    /// #     type Msg = i64;
    /// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.0 += sum; }
    /// # }
    /// let program = ActorProgram::new("tills", |sys| {
    ///     let (a, b) = (sys.spawn(Till(5)), sys.spawn(Till(5)));
    ///     sys.always((a, b), |(a, b)| assert!(a.0 + b.0 <= 10));
    /// });
    /// assert_eq!(program.wide_checks()[0].1, 2);
    /// ```
    #[must_use]
    pub fn wide_checks(&self) -> Vec<(String, usize)> {
        self.machine(&MachineConfig::default()).map_or_else(|_| Vec::new(), |machine| machine.wide_checks())
    }

    /// Returns the delivery order.
    ///
    /// ```
    /// use whippet_actors::{Delivery, ActorProgram};
    /// assert_eq!(ActorProgram::new("plain", |_sys| {}).delivery_mode(), Delivery::Unordered);
    /// ```
    #[must_use]
    pub fn delivery_mode(&self) -> Delivery {
        self.delivery
    }
}

impl Program for ActorProgram {
    type Machine = ActorMachine;

    fn machine(&self, config: &MachineConfig) -> Result<ActorMachine, MachineError> {
        let mut system = System::new(self.delivery, self.environment);
        if !self.network.is_reliable() {
            system.network(self.network);
        }
        let result = catch(|| (self.setup)(&mut system));
        let error = result.map_err(|panic| MachineError::Misuse(format!("the body of the test panicked: {panic}")))?;
        let mut machine = system.into_machine()?;
        machine.start(self.conflict_rule, self.memo_bytes.min(config.memory), config)?;
        if let Some(error) = error {
            machine.fail_at_start(&error);
        }
        Ok(machine)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = self.parameters.clone();
        parameters.push(("delivery".to_owned(), self.delivery.to_string()));
        if !self.network.is_reliable() {
            parameters.push(("network".to_owned(), self.network.to_string()));
        }
        parameters
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        0
    }
}
