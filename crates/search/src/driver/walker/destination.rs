//! The vocabulary of walks: steps, destinations and the configurations that are reached.

use std::fmt;
use std::str::FromStr;
use whippet_model::{ActorState, Branch, Decision, MachineError, Name, Problem, Schedule, StepDescription, Trace};

/// One step of a walk: a choice by its position among the enabled ones. The text form is `2`, or `2~5` if the choice
/// has a branch that is not listed.
///
/// ```
/// use whippet_search::WalkStep;
/// let step: WalkStep = "2~5".parse().unwrap();
/// assert_eq!((step.choice, step.branch.unwrap().0), (2, 5));
/// assert_eq!(step.to_string(), "2~5");
/// assert!("two".parse::<WalkStep>().is_err());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WalkStep {
    /// The position of the choice among the enabled ones.
    pub choice: u32,
    /// The branch, if it is another than the one that the machine lists.
    pub branch: Option<Branch>,
}

impl fmt::Display for WalkStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.choice)?;
        self.branch.map_or(Ok(()), |branch| write!(f, "~{}", branch.0))
    }
}

impl FromStr for WalkStep {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<WalkStep, Self::Err> {
        let (choice, branch) = text.split_once('~').map_or((text, None), |(choice, branch)| (choice, Some(branch)));
        Ok(WalkStep { choice: choice.parse()?, branch: branch.map(|b| b.parse().map(Branch)).transpose()? })
    }
}

/// A choice that is enabled in a configuration, and what happens if it is taken.
///
/// ```
/// # use std::sync::Arc;
/// # use whippet_actors::{ActorProgram, Inbox};
/// # use whippet_search::{Destination, Options, Walker};
/// # let program = ActorProgram::new("coin", |sys| {
/// #     let coin = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
/// #         inbox.receive().await;
/// #         assert_eq!(inbox.choose(2), 0, "tails");
/// #     });
/// #     sys.send(coin, ());
/// # });
/// // An actor that flips a coin, and fails if it shows tails.
/// let start = Walker::new(Arc::new(program), &Options::default()).go(Destination::start()).unwrap();
/// let [heads, tails] = &start.choices[..] else { panic!("two choices") };
/// assert!(heads.problem.is_none() && tails.problem.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkChoice {
    /// The step that takes this choice.
    pub step: WalkStep,
    /// A description of the step.
    pub description: StepDescription,
    /// The problem that the step shows, if any.
    pub problem: Option<Problem>,
    /// A remark for the reader if the choice could not be tried.
    pub remark: Option<String>,
}

/// A configuration that a walk has reached, and everything that can be said about it.
///
/// ```
/// # use std::sync::Arc;
/// # use whippet_actors::{ActorProgram, Inbox};
/// # use whippet_search::{Destination, Options, Walker};
/// # let program = ActorProgram::new("two", |sys| {
/// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
/// #     sys.send(sink, 1);
/// #     sys.send(sink, 2);
/// # });
/// // Two messages to one actor, to the end.
/// let mut walker = Walker::new(Arc::new(program), &Options::default());
/// let end = walker.go(Destination::end(&[])).unwrap();
/// assert_eq!((end.trace.events.len(), end.choices.len()), (2, 0));
/// assert_eq!(end.races, [[0, 1]], "the other order is possible, too");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Configuration {
    /// The steps that lead here.
    pub steps: Vec<WalkStep>,
    /// These steps as a trace.
    pub trace: Trace,
    /// The pairs of steps that could have come in the other order.
    pub races: Vec<[u32; 2]>,
    /// Everything that can happen next.
    pub choices: Vec<WalkChoice>,
    /// The problems of the steps and, if nothing can happen next, those of the end.
    pub problems: Vec<Problem>,
    /// The states of the actors, if the machine knows them.
    pub states: Vec<ActorState>,
    /// The decisions that lead here, for a replay.
    pub schedule: Schedule,
}

/// The configuration that a walk is to go to.
///
/// ```
/// use whippet_search::{Destination, WalkStep};
/// let first = WalkStep { choice: 0, branch: None };
/// assert_ne!(Destination::start(), Destination::Steps(vec![first]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// The configuration after these steps.
    Steps(Vec<WalkStep>),
    /// The end of an execution that begins with these steps, and goes on with the first choice each time.
    End(Vec<WalkStep>),
    /// The configuration after these decisions, for example those of a finding.
    Decisions(Vec<Decision>),
    /// The configuration after these threads have acted. Like decisions, without a check of their text.
    Threads(Vec<(Name, Branch)>),
    /// The end of an execution in which step `second` comes before step `first`, and that is otherwise as close as
    /// possible to the given one.
    Reversed {
        /// The execution.
        steps: Vec<WalkStep>,
        /// The step that comes first there.
        first: usize,
        /// The later step that is to come first.
        second: usize,
    },
}

impl Destination {
    /// Returns the initial configuration.
    #[must_use]
    pub fn start() -> Destination {
        Destination::Steps(Vec::new())
    }

    /// Returns the end of an execution that begins with these steps.
    ///
    /// ```
    /// use whippet_search::Destination;
    /// assert_eq!(Destination::end(&[]), Destination::End(vec![]));
    /// ```
    #[must_use]
    pub fn end(steps: &[WalkStep]) -> Destination {
        Destination::End(steps.to_vec())
    }
}

/// The reason why a walk did not arrive. It can go on from any configuration.
///
/// ```
/// # use std::sync::Arc;
/// # use whippet_actors::ActorProgram;
/// # use whippet_search::{Destination, Options, WalkError, Walker};
/// let nobody = ActorProgram::new("nobody", |_sys| {});
/// let mut walker = Walker::new(Arc::new(nobody), &Options::default());
/// let error = walker.go(Destination::Steps(vec!["0".parse().unwrap()])).unwrap_err();
/// assert_eq!(error.to_string(), "step 1 is not possible: nothing is enabled there");
/// assert!(walker.go(Destination::start()).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// A step cannot be taken.
    #[error("step {number} is not possible: {why}")]
    Impossible {
        /// The number of the step, counted from 1.
        number: usize,
        /// The reason.
        why: String,
    },
    /// User code did not return.
    #[error("{0}")]
    Stuck(String),
    /// The program cannot be executed.
    #[error(transparent)]
    Program(#[from] MachineError),
}
