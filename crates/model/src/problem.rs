//! Problems of executions, findings of searches, and the descriptions of steps.

use crate::{Change, EventKind, MessageText, Name, Schedule, StateChange, Trace, TraceTouch};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The kinds of problems. The names are those used in the JSON report.
///
/// ```
/// use whippet_model::FindingKind;
/// assert_eq!(FindingKind::Deadlock.to_string(), "deadlock");
/// assert_eq!(serde_json::to_string(&FindingKind::Deadlock).unwrap(), "\"deadlock\"");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FindingKind {
    /// User code panicked.
    Panic,
    /// An assertion or a check in user code failed.
    Assertion,
    /// No step is enabled, and at least one actor is blocked.
    Deadlock,
    /// A message can never be received.
    Undeliverable,
    /// Two accesses to shared data that happens-before does not order, at least one of them a write.
    Race,
    /// The program ended in a state that its environment does not allow.
    Environment,
    /// A limit was hit: a handler that does not return, an execution with too many steps.
    Limit,
    /// No execution reached a state that the program requires to be reachable.
    Unreached,
    /// A result of an execution. As a finding: the results of executions differ, although the program declares that it
    /// is deterministic.
    Outcome,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FindingKind::Panic => "panic",
            FindingKind::Assertion => "assertion",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Undeliverable => "undeliverable",
            FindingKind::Race => "race",
            FindingKind::Environment => "environment",
            FindingKind::Limit => "limit",
            FindingKind::Unreached => "unreached",
            FindingKind::Outcome => "outcome",
        })
    }
}

/// An error in one execution, as reported by the machine.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Explain, FindingKind, Machine, Program};
/// # let program = ActorProgram::new("wrong", |sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
/// #     sys.send(picky, 2);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// # let mut enabled = Vec::new();
/// # machine.enabled(&mut enabled).unwrap();
/// // An actor that expected 1 received 2.
/// machine.execute(enabled[0]).unwrap();
/// let problem = machine.problem(0).unwrap();
/// assert_eq!((problem.kind, problem.steps.as_slice()), (FindingKind::Assertion, &[0][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The kind of problem.
    pub kind: FindingKind,
    /// A description of the problem, one or a few lines.
    pub message: String,
    /// The source position, as `file:line`.
    pub place: Option<String>,
    /// Identity of the problem: problems of different executions with the same key are the same problem, even if
    /// their messages differ. Stable across equivalent executions.
    pub key: Name,
    /// The steps that show the problem. Their pasts form the counterexample; no other step is relevant.
    pub steps: Vec<usize>,
    /// `true` if the problem is only a warning: the program may be correct.
    pub warning: bool,
    /// For a deadlock: who waits for whom.
    pub waits: Vec<WaitFor>,
    /// The stall of the runtime without which its timers would not have fired in this order, if there is one. Executions
    /// with shorter stalls are better counterexamples.
    pub stall: Option<Stall>,
    /// The weakest runtime on which this execution is possible, if the machine knows. Executions on one thread are
    /// better counterexamples.
    pub threads: Option<Threads>,
    /// For an outcome: the declaration whose result it is. Outcomes of one declaration exclude each other.
    pub declaration: Option<Name>,
}

/// The number of threads of a runtime for tasks.
///
/// ```
/// use whippet_model::Threads;
/// assert!(Threads::One < Threads::Several, "what one thread shows, several can show");
/// assert_eq!(Threads::Several.to_string(), "several");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Threads {
    /// One thread: tasks switch only where they wait.
    One,
    /// Several threads: tasks switch between any two operations.
    Several,
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Threads::One => "one",
            Threads::Several => "several",
        })
    }
}

/// The time for which a runtime has to stand still so that timers fire although other steps are possible.
///
/// ```
/// use std::time::Duration;
/// use whippet_model::Stall;
/// let stall = Stall { steps: vec![(0, Duration::from_millis(5)), (3, Duration::from_millis(7))] };
/// assert_eq!(stall.total(), Duration::from_millis(12));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// The steps in which the timers fire, each with the time that passes before it.
    pub steps: Vec<(usize, Duration)>,
}

impl Stall {
    /// Returns the total time.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|(_, time)| *time).sum()
    }
}

impl Problem {
    /// Creates an error that no step shows and that has no source position.
    ///
    /// ```
    /// use whippet_model::{FindingKind, Name, Problem};
    /// let problem = Problem::new(FindingKind::Panic, "no disk", Name::ROOT.mixed(7)).with_steps(vec![3]);
    /// assert_eq!((problem.message.as_str(), problem.place, problem.warning), ("no disk", None, false));
    /// ```
    #[must_use]
    pub fn new(kind: FindingKind, message: impl Into<String>, key: Name) -> Problem {
        let message = message.into();
        Problem {
            kind,
            message,
            place: None,
            key,
            steps: Vec::new(),
            warning: false,
            waits: Vec::new(),
            stall: None,
            threads: None,
            declaration: None,
        }
    }

    /// Creates an outcome: a result of an execution, which is not an error.
    ///
    /// ```
    /// use whippet_model::{FindingKind, Name, Problem};
    /// let declaration = Name::ROOT.mixed(1);
    /// let outcome = Problem::outcome("[1, 2]", declaration, declaration.mixed(12));
    /// assert_eq!((outcome.kind, outcome.warning), (FindingKind::Outcome, true));
    /// assert!(!outcome.is_error());
    /// ```
    #[must_use]
    pub fn outcome(value: impl Into<String>, declaration: Name, key: Name) -> Problem {
        let outcome = Problem::new(FindingKind::Outcome, value, key).with_warning(true);
        Problem { declaration: Some(declaration), ..outcome }
    }

    /// Returns `true` if this is neither a warning nor an outcome.
    ///
    /// ```
    /// use whippet_model::{FindingKind, Name, Problem};
    /// assert!(Problem::new(FindingKind::Panic, "no disk", Name::ROOT).is_error());
    /// ```
    #[must_use]
    pub fn is_error(&self) -> bool {
        !self.warning && self.declaration.is_none()
    }
}

crate::setters!(Problem {
    with_place => place: impl Into<Option<String>>,
    with_steps => steps: Vec<usize>,
    with_warning => warning: bool,
    with_waits => waits: Vec<WaitFor>,
    with_stall => stall: impl Into<Option<Stall>>,
    with_threads => threads: impl Into<Option<Threads>>,
});

/// The wait of one actor in a deadlock.
///
/// ```
/// use whippet_model::WaitFor;
/// let wait = WaitFor { actor: "client".into(), text: "waits for the reply of server".into(), on: vec!["server".into()] };
/// assert_eq!(wait.on, ["server"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WaitFor {
    /// The actor that waits, by its label.
    pub actor: String,
    /// The wait in words, without the actor: "waits for the reply of server".
    pub text: String,
    /// The actors that would have to act next, by their labels.
    pub on: Vec<String>,
}

/// A description of one step.
///
/// ```
/// use whippet_model::{Change, StepDescription};
/// let step = StepDescription::new("account", "receives Withdraw(5)")
///     .with_origin("from the test".to_string())
///     .with_changes(vec![Change::new("balance", "0", "-5")]);
/// assert_eq!(step.to_string(), "account receives Withdraw(5) from the test   [balance: 0 → -5]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepDescription {
    /// The actor: "account", "worker 2".
    pub actor: String,
    /// The action: "receives Withdraw(5)".
    pub action: String,
    /// The sender, and the source position of the send: "from the test (sent tests/t.rs:14)".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The kind of event.
    #[serde(default, skip_serializing_if = "EventKind::is_step")]
    pub kind: EventKind,
    /// The message or item that is received or sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageText>,
    /// The actor that sent the message, by its label. `None` if the test itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The source position of the send, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
    /// The source position of the step itself, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The time for which the runtime has to stall before the step: a timer fires in it although other steps were
    /// possible all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Duration>,
    /// The effects, one line each: "sends Get to server", "creates worker 3", "stops".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// The changes of the actor's state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The actor's state before and after the step, if the step changed it. Only traces have it.
    #[serde(skip)]
    pub state: Option<StateChange>,
    /// The objects that the step touches. Only traces have them.
    #[serde(skip)]
    pub touches: Vec<TraceTouch>,
    /// The source position at which the actor was created, as `file:line`. Only traces have it.
    #[serde(skip)]
    pub created_at: Option<String>,
}

crate::setters!(StepDescription {
    with_origin => origin: impl Into<Option<String>>,
    with_kind => kind: EventKind,
    with_message => message: impl Into<Option<MessageText>>,
    with_from => from: impl Into<Option<String>>,
    with_sent_at => sent_at: impl Into<Option<String>>,
    with_place => place: impl Into<Option<String>>,
    with_effects => effects: Vec<String>,
    with_changes => changes: Vec<Change>,
    with_state => state: impl Into<Option<StateChange>>,
    with_touches => touches: Vec<TraceTouch>,
    with_created_at => created_at: impl Into<Option<String>>,
});

impl StepDescription {
    /// Creates the description of a step: the actor, and what it does, without details.
    ///
    /// ```
    /// use whippet_model::StepDescription;
    /// assert_eq!(StepDescription::new("account", "stops").to_string(), "account stops");
    /// ```
    #[must_use]
    pub fn new(actor: impl Into<String>, action: impl Into<String>) -> StepDescription {
        StepDescription { actor: actor.into(), action: action.into(), ..StepDescription::default() }
    }

    /// Returns the changes of the actor's state as one line: "balance: 0 → -5, open: true → false".
    ///
    /// ```
    /// use whippet_model::{Change, StepDescription};
    /// let changes = vec![Change::new("balance", "0", "-5"), Change::new("open", "true", "false")];
    /// let step = StepDescription::new("account", "acts").with_changes(changes);
    /// assert_eq!(step.changes_text(), "balance: 0 → -5, open: true → false");
    /// ```
    #[must_use]
    pub fn changes_text(&self) -> String {
        self.changes.iter().map(Change::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for StepDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.actor, self.action)?;
        if let Some(origin) = &self.origin {
            write!(f, " {origin}")?;
        }
        if !self.changes.is_empty() {
            write!(f, "   [{}]", self.changes_text())?;
        }
        Ok(())
    }
}

/// An error in the program, with a schedule that reproduces it.
///
/// ```
/// let verdict = whippet::Checker::new("wrong").explore(|sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(picky, 1);
///     sys.send(picky, 2);
/// }).unwrap();
/// let finding = &verdict.findings[0];
/// assert_eq!(finding.executions, 1, "of two");
/// assert_eq!(finding.schedule.decisions.len(), finding.counterexample.len());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of error.
    pub kind: FindingKind,
    /// A description of the error.
    pub message: String,
    /// The source position, as `file:line`.
    pub place: Option<String>,
    /// Identity of the error: see [`Problem::key`].
    pub key: Name,
    /// The decisions that reproduce the error. No other decisions are needed.
    pub schedule: Schedule,
    /// The counterexample: a description of each step of the schedule.
    pub counterexample: Vec<StepDescription>,
    /// Number of executions in which the error was seen.
    pub executions: u64,
    /// The counterexample as data.
    pub trace: Trace,
    /// The events of the trace that show the error.
    pub events: Vec<u32>,
    /// For a deadlock: who waits for whom.
    pub waits: Vec<WaitFor>,
    /// The race that decides, with an execution in which it goes the other way and the error does not happen.
    pub decides: Option<Decides>,
    /// The weakest runtime on which an execution that was seen shows the error, if that is known. If the search is
    /// complete, no weaker one shows it.
    pub threads: Option<Threads>,
    /// For an outcome: see [`Problem::declaration`].
    pub declaration: Option<Name>,
}

/// The race that decides if an error happens.
///
/// ```
/// let verdict = whippet::Checker::new("first come").explore(|sys| {
///     let gate = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| {
///         let (first, second) = (inbox.receive().await, inbox.receive().await);
///         assert!(first < second);
///     });
///     sys.send(gate, 1);
///     sys.send(gate, 2);
/// }).unwrap();
/// let decides = verdict.findings[0].decides.as_ref().unwrap();
/// assert!(decides.text.contains("receives 1"), "{}", decides.text);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Decides {
    /// The event of the counterexample that came first, if it is part of it.
    pub first: Option<u32>,
    /// The event of the counterexample that came second, if it is part of it.
    pub second: Option<u32>,
    /// The consequence of the other order, in words.
    pub text: String,
    /// An execution in which the other order was taken and the error did not happen.
    pub passing: Trace,
}

crate::setters!(Decides {
    with_first => first: impl Into<Option<u32>>,
    with_second => second: impl Into<Option<u32>>,
    with_text => text: impl Into<String>,
    with_passing => passing: Trace,
});

impl Finding {
    /// Creates the finding of a problem that this schedule reproduces, without a trace.
    ///
    /// ```
    /// use whippet_model::{Finding, FindingKind, Name, Problem, Schedule};
    /// let problem = Problem::new(FindingKind::Panic, "no disk", Name::ROOT);
    /// let schedule = Schedule::new("files", Default::default(), vec![]);
    /// let finding = Finding::new(problem, schedule, vec![], 1);
    /// assert_eq!((finding.message.as_str(), finding.executions), ("no disk", 1));
    /// ```
    #[must_use]
    pub fn new(problem: Problem, schedule: Schedule, counterexample: Vec<StepDescription>, executions: u64) -> Finding {
        let Problem { kind, message, place, key, waits, threads, declaration, .. } = problem;
        let (trace, events) = (Trace::default(), Vec::new());
        Finding {
            kind,
            message,
            place,
            key,
            schedule,
            counterexample,
            executions,
            trace,
            events,
            waits,
            decides: None,
            threads,
            declaration,
        }
    }

    /// Returns the shortest time for which the runtime has to stall for the error to happen, if it has to.
    ///
    /// ```
    /// let verdict = whippet::Checker::new("wrong").explore(|sys| {
    ///     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(picky, 2);
    /// }).unwrap();
    /// assert_eq!(verdict.findings[0].stall(), None, "there are no timers");
    /// ```
    #[must_use]
    pub fn stall(&self) -> Option<Duration> {
        let stalls = self.counterexample.iter().filter_map(|step| step.stall);
        stalls.reduce(|one, other| one + other)
    }
}
