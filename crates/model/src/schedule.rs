//! Schedules: the decisions that reproduce an execution, as versioned JSON.

use crate::{Branch, Name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that this build reads and writes.
///
/// ```
/// use whippet_model::{SCHEDULE_VERSION, Schedule};
/// assert_eq!(Schedule::default().to_value()["version"], SCHEDULE_VERSION);
/// ```
pub const SCHEDULE_VERSION: u32 = 1;

/// One decision.
///
/// ```
/// use whippet_model::{Branch, Decision, Name};
/// let branch = Branch::FIRST.with(0, 1).unwrap();
/// let decision = Decision::new(Name::ROOT.child(0), branch, "coin receives Flip, choosing 1");
/// assert_eq!(decision.branch.digit(0), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The stable name of the thread that acts.
    pub thread: Name,
    /// The branch it takes.
    pub branch: Branch,
    /// A description of the decision, for the reader and for detecting that the program has changed.
    pub text: String,
}

impl Decision {
    /// Creates a decision.
    ///
    /// ```
    /// use whippet_model::{Branch, Decision, Name};
    /// assert_eq!(Decision::new(Name::ROOT, Branch::FIRST, "starts").text, "starts");
    /// ```
    #[must_use]
    pub fn new(thread: Name, branch: Branch, text: impl Into<String>) -> Decision {
        Decision { thread, branch, text: text.into() }
    }
}

/// The decisions that reproduce an execution, and the program that they belong to.
///
/// ```
/// use whippet_model::{Branch, Decision, Name, Schedule};
/// let decision = Decision::new(Name::ROOT.child(0), Branch::FIRST, "client receives Start");
/// let settings = [("delivery".to_string(), "unordered".to_string())].into();
/// let schedule = Schedule::new("server", settings, vec![decision]);
/// assert_eq!(Schedule::from_json(&schedule.to_json()).unwrap(), schedule);
/// assert!(Schedule::from_json("{").unwrap_err().to_string().contains("line 1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Schedule {
    /// The program's name.
    pub program: String,
    /// Settings that must be the same on replay: parameters, the order of delivery.
    pub settings: BTreeMap<String, String>,
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// The test that runs the program, if it has another name.
    pub test: Option<String>,
}

/// A reason why a schedule file cannot be used.
///
/// ```
/// use whippet_model::{Schedule, ScheduleError};
/// let newer = Schedule::default().to_json().replace("\"version\": 1", "\"version\": 99");
/// let error = Schedule::from_json(&newer).unwrap_err();
/// assert!(matches!(error, ScheduleError::Version { found: 99 }));
/// assert!(error.to_string().ends_with("explore again to get a new one"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The file is not JSON, or not of the expected structure.
    #[error("this is no schedule, or a damaged one: {0}")]
    Damaged(#[from] serde_json::Error),
    /// The file was written by another version.
    #[error(
        "the schedule has format version {found}, this build reads version {SCHEDULE_VERSION}: explore again to get a new one"
    )]
    Version {
        /// The version in the file.
        found: u64,
    },
    /// The schedule belongs to another program.
    #[error("the schedule is for `{found}`, not for `{wanted}`")]
    Program {
        /// The program named in the file.
        found: String,
        /// The program to be replayed.
        wanted: String,
    },
    /// A decision cannot be executed: the program has changed or is not deterministic.
    #[error("step {step} of the schedule, «{text}», cannot be carried out: {why}")]
    Diverges {
        /// The number of the decision, counted from 1.
        step: usize,
        /// The recorded description of the decision.
        text: String,
        /// The difference from the recorded execution.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    version: u64,
    program: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    steps: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    name: String,
    #[serde(default, skip_serializing_if = "is_first")]
    branch: u64,
    text: String,
}

fn is_first(branch: &u64) -> bool {
    *branch == 0
}

const FORMAT: &str = "whippet schedule";

impl Schedule {
    /// Creates a schedule of a program.
    ///
    /// ```
    /// use whippet_model::Schedule;
    /// assert!(Schedule::new("server", Default::default(), vec![]).decisions.is_empty());
    /// ```
    #[must_use]
    pub fn new(program: impl Into<String>, settings: BTreeMap<String, String>, decisions: Vec<Decision>) -> Schedule {
        Schedule { program: program.into(), settings, decisions, test: None }
    }

    /// Sets the test that runs the program, if it has another name.
    ///
    /// ```
    /// use whippet_model::Schedule;
    /// let schedule = Schedule::new("8 of 9", Default::default(), vec![]).with_test("some_arrive".to_string());
    /// assert_eq!(Schedule::from_json(&schedule.to_json()).unwrap(), schedule);
    /// ```
    #[must_use]
    pub fn with_test(mut self, test: impl Into<Option<String>>) -> Schedule {
        self.test = test.into();
        self
    }

    /// Returns the schedule as a JSON value, for reports that contain it.
    ///
    /// ```
    /// let schedule = whippet_model::Schedule::new("server", Default::default(), vec![]);
    /// assert_eq!(schedule.to_value()["program"], "server");
    /// ```
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        let file = File {
            format: FORMAT.into(),
            version: u64::from(SCHEDULE_VERSION),
            program: self.program.clone(),
            settings: self.settings.clone(),
            test: self.test.clone(),
            steps: self
                .decisions
                .iter()
                .map(|d| Line { name: d.thread.to_string(), branch: d.branch.0, text: d.text.clone() })
                .collect(),
        };
        serde_json::to_value(file).expect("strings and numbers always serialise")
    }

    /// Returns the text of a schedule file.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.to_value()).expect("a value always serialises");
        text.push('\n');
        text
    }

    /// Parses the text of a schedule file. JSON errors include line and column.
    pub fn from_json(text: &str) -> Result<Schedule, ScheduleError> {
        // Check the version first: a newer format may have another structure.
        let value: serde_json::Value = serde_json::from_str(text)?;
        if value.get("format").and_then(|f| f.as_str()) == Some(FORMAT) {
            let found = value.get("version").and_then(serde_json::Value::as_u64).unwrap_or(0);
            if found != u64::from(SCHEDULE_VERSION) {
                return Err(ScheduleError::Version { found });
            }
        }
        let file: File = serde_json::from_str(text)?;
        if file.format != FORMAT {
            let why = format!("its format is «{}», not «{FORMAT}»", file.format);
            return Err(ScheduleError::Damaged(serde::de::Error::custom(why)));
        }
        let decisions = file
            .steps
            .into_iter()
            .map(|line| {
                let thread = line.name.parse::<Name>().map_err(|e| {
                    ScheduleError::Damaged(serde::de::Error::custom(format!("«{}» is no name: {e}", line.name)))
                })?;
                Ok(Decision { thread, branch: Branch(line.branch), text: line.text })
            })
            .collect::<Result<_, ScheduleError>>()?;
        Ok(Schedule { program: file.program, settings: file.settings, decisions, test: file.test })
    }
}
