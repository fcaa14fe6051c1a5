//! Programs, the settings of their machines, and the errors that stop a machine.

use crate::Machine;

/// An error that stops a machine. Errors of the user's program are not among them: see [`Problem`](crate::Problem).
///
/// ```
/// use whippet_model::MachineError;
/// let error = MachineError::Nondeterministic("step 3 differs".into());
/// assert!(error.to_string().contains("usual causes: time, random numbers"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The program behaved differently from an earlier execution with the same messages in the same order.
    #[error(
        "your program is not deterministic: {0}\n  usual causes: time, random numbers, the order of a std HashMap, statics or shared memory that an earlier execution changed"
    )]
    Nondeterministic(String),
    /// The program uses a feature that this machine does not support, or uses a feature wrongly.
    #[error("{0}")]
    Misuse(String),
    /// Parts of the program share memory that this machine does not observe, and it matters.
    #[error("{0}")]
    UnseenMemory(String),
    /// Threads take part in the program that this machine does not control.
    #[error("{0}")]
    UnseenThreads(String),
    /// The search requires a feature that this program's machine does not provide.
    #[error("{0}")]
    Unsupported(String),
    /// The machine has learnt that its dependence relation is too coarse: see [`Program::refinements`]. The driver
    /// starts the search again, so users never see this error.
    #[error("the dependence relation of the program was refined: the search has to start again")]
    Refined,
}

/// The settings with which a machine is created.
///
/// ```
/// use whippet_model::{Machine, MachineConfig, Program};
/// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
/// // The same behaviour with less memory, but the program's code runs more often.
/// let mut machine = net.machine(&MachineConfig::default().with_memory(0)).unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled).unwrap();
/// assert_eq!(enabled.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineConfig {
    /// Isolates steps from each other: a step does not observe the effects of concurrent steps that the dependence
    /// relation considers independent, even if the program has a data race that would make them visible. The result
    /// of a step then depends only on its past. Set for searches that skip executions. Machines whose steps never
    /// observe independent steps ignore it.
    pub isolate_races: bool,
    /// The memory, in bytes, for cached data that can be recomputed, such as the results of user code.
    pub memory: usize,
    /// Prepares for calls of [`OrderHints::inbound_estimate`](crate::OrderHints::inbound_estimate). A machine that
    /// does not know its program's text may execute the program a few times for this.
    pub order_hints: bool,
    /// Puts steps that commute with all others off until nothing else can happen. Set for searches that explore every order
    /// whatever steps depend on each other, so that such steps do not multiply the orders.
    pub commuting_last: bool,
}

crate::setters!(MachineConfig {
    with_isolate_races => isolate_races: bool,
    with_memory => memory: usize,
    with_order_hints => order_hints: bool,
    with_commuting_last => commuting_last: bool,
});

impl Default for MachineConfig {
    fn default() -> MachineConfig {
        MachineConfig { isolate_races: false, memory: usize::MAX, order_hints: false, commuting_last: false }
    }
}

/// A program under test. It creates machines in their initial configuration; each worker of a search creates its own.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Machine, Program};
/// /// Returns the number of actors that a program begins with.
/// fn size<P: Program>(program: &P) -> usize {
///     program.machine(&Default::default()).map_or(0, |machine: P::Machine| machine.actors())
/// }
/// let test = ActorProgram::new("nobody", |_sys| {}).parameter("n", 3);
/// assert_eq!((test.name().as_str(), size(&test)), ("nobody", 1), "the test itself counts as one");
/// assert_eq!(test.parameters()[0], ("n".to_string(), "3".to_string()));
/// assert_eq!(test.refinements(), 0, "the dependence of actors is known beforehand");
/// ```
pub trait Program: Sync {
    /// The machine that executes this program.
    type Machine: Machine + 'static;

    /// Creates a machine. The program's setup has already been run in it.
    fn machine(&self, config: &MachineConfig) -> Result<Self::Machine, MachineError>;

    /// Returns the program's name in schedules and reports.
    fn name(&self) -> String;

    /// Returns the names and values of the program's parameters, in the order of their declaration.
    fn parameters(&self) -> Vec<(String, String)>;

    /// Returns the possible omissions of even a complete search of this program, for example because its dependence
    /// relation ignores something.
    ///
    /// ```
    /// use whippet_model::Program;
    /// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
    /// assert!(net.caveats().is_empty(), "the relation that it has by default hides nothing");
    /// ```
    fn caveats(&self) -> Vec<String>;

    /// Returns the number of refinements of the dependence relation that were learnt so far, by all machines of this
    /// program. If it has grown during a search, the driver starts the search again with new machines. Programs
    /// whose dependence relation is known beforehand return 0.
    fn refinements(&self) -> u64;
}
