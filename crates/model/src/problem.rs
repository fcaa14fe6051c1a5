//! What can be wrong with a program, and the words that tell of it.

use crate::{Name, Schedule};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of problems. The names are those of the JSON report.
///
/// ```
/// use whippet_model::Kind;
/// assert_eq!(Kind::Deadlock.to_string(), "deadlock");
/// assert_eq!(serde_json::to_string(&Kind::Deadlock).unwrap(), "\"deadlock\"");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// User code panicked.
    Panic,
    /// An assertion or a check of the user's failed.
    Assertion,
    /// Nothing can happen any more, and somebody waits.
    Deadlock,
    /// A message can never be taken.
    Undeliverable,
    /// Two accesses to shared data that nothing orders, one of them a write.
    Race,
    /// The program ended in a state that its environment does not allow.
    Environment,
    /// A limit was hit: a handler that does not end, an execution that is too long.
    Limit,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Panic => "panic",
            Kind::Assertion => "assertion",
            Kind::Deadlock => "deadlock",
            Kind::Undeliverable => "undeliverable",
            Kind::Race => "race",
            Kind::Environment => "environment",
            Kind::Limit => "limit",
        })
    }
}

/// One thing wrong with one execution, as its machine sees it.
///
/// ```
/// # use whippet_actors::{Inbox, Test};
/// # use whippet_model::{Kind, Machine, Program};
/// # let program = Test::new("wrong", |sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
/// #     sys.send(picky, 2);
/// # });
/// # let mut machine = program.machine().unwrap();
/// # let mut enabled = Vec::new();
/// # machine.enabled(&mut enabled);
/// // An actor that wanted 1 got 2.
/// machine.execute(enabled[0]).unwrap();
/// let problem = machine.problem(0).unwrap();
/// assert_eq!((problem.kind, problem.steps.as_slice()), (Kind::Assertion, &[0][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind it is.
    pub kind: Kind,
    /// What went wrong, in a line or a few.
    pub message: String,
    /// Where, as `file:line`.
    pub place: Option<String>,
    /// What makes it the same problem when other executions show it: stable across equivalent
    /// executions, whatever the message says.
    pub key: Name,
    /// The steps that show it. Their pasts are its story; all other steps could not have mattered.
    pub steps: Vec<usize>,
    /// It is worth saying, but the program may be right.
    pub warning: bool,
}

/// What one step did, in words.
///
/// ```
/// let step = whippet_model::StepText {
///     actor: "account".into(),
///     action: "receives Withdraw(5)".into(),
///     origin: Some("from the test".into()),
///     changes: vec!["balance: 0 → -5".into()],
///     ..Default::default()
/// };
/// assert_eq!(step.to_string(), "account receives Withdraw(5) from the test   [balance: 0 → -5]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepText {
    /// Who acted: "account", "worker 2".
    pub actor: String,
    /// What it did or took: "receives Withdraw(5)".
    pub action: String,
    /// Who it came from, and where it was sent: "from the test (sent tests/t.rs:14)".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What followed, a line each: "sends Get to server", "creates worker 3", "stops".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What changed in the actor's state: "balance: 0 → -5".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl fmt::Display for StepText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.actor, self.action)?;
        if let Some(origin) = &self.origin {
            write!(f, " {origin}")?;
        }
        if !self.changes.is_empty() {
            write!(f, "   [{}]", self.changes.join(", "))?;
        }
        Ok(())
    }
}

/// One thing wrong with the program, with the schedule that shows it.
///
/// ```
/// let verdict = whippet::Whippet::new("wrong").explore(|sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(picky, 1);
///     sys.send(picky, 2);
/// }).unwrap();
/// let finding = &verdict.findings[0];
/// assert_eq!(finding.executions, 1, "of two");
/// assert_eq!(finding.schedule.decisions.len(), finding.story.len());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind it is.
    pub kind: Kind,
    /// What went wrong.
    pub message: String,
    /// Where, as `file:line`.
    pub place: Option<String>,
    /// See [`Problem::key`].
    pub key: Name,
    /// The decisions that reproduce it, and no others.
    pub schedule: Schedule,
    /// What those decisions lead to, step by step.
    pub story: Vec<StepText>,
    /// In how many executions it was seen.
    pub executions: u64,
}
