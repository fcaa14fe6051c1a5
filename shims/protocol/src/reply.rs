//! The answer of a test process.

use crate::Regression;
use crate::message::{self, Error, decode, encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use whippet_model::MachineError;
use whippet_search::SearchError;

/// The kind of a test.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestKind {
    /// A test that uses neither tokio nor Whippet.
    #[default]
    Plain,
    /// A test of tokio tasks.
    Tokio,
    /// A test of native actors.
    Native,
}

/// The answer of a test process. A test that uses neither tokio nor Whippet gives none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The kind of the test.
    pub kind: TestKind,
    /// `true` if a future ran in one order only, without a search.
    pub one_order: bool,
    /// `true` if several futures ran so, one after the other. What one leaves behind is gone when the next begins.
    #[serde(default)]
    pub several_runs: bool,
    /// The result of the search, if there was one.
    pub search: Option<Searched>,
    /// The description of a failure.
    pub failure: Option<Failure>,
    /// The findings of the search or of the replay.
    pub findings: Vec<Reported>,
    /// The findings that need more threads than the test's runtime has. They do not fail it.
    pub beyond: Option<Beyond>,
    /// The steps of a schedule, if they were asked for.
    pub described: Option<Described>,
    /// The warnings of the search.
    pub warnings: Vec<Reported>,
    /// Doubts about the test itself: see [`whippet_report::doubts`].
    pub doubts: Vec<String>,
    /// The kept schedules that were re-run before the search.
    pub regressions: Vec<Regression>,
    /// The page that shows the findings.
    pub page: Option<PathBuf>,
    /// The report of the search as JSON, if it was asked for.
    pub report: Option<Value>,
    /// The unfolding, if it was asked for.
    pub unfolding: Option<Unfolding>,
}

/// Findings of a test on a runtime with one thread that only a runtime with several threads can show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// The text to show, with the counterexamples.
    pub text: String,
    /// The findings.
    pub findings: Vec<Reported>,
}

/// The unfolding of a test: all its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfolding {
    /// The graph in the language of Graphviz.
    pub dot: String,
    /// The events as JSON.
    pub json: String,
}

/// A finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The name of its kind.
    pub kind: String,
    /// The message, one or a few lines.
    pub message: String,
    /// The source position, as `file:line`.
    pub place: Option<String>,
    /// The file with its schedule, if that could be written.
    pub schedule: Option<PathBuf>,
    /// `true` if no replay can confirm the finding: a limit that an execution exceeded, or what holds for all executions
    /// together.
    pub limit: bool,
    /// The weakest runtime that shows it, `one` or `several` threads, if that is known.
    #[serde(default)]
    pub threads: Option<String>,
}

impl Reported {
    /// Returns the first line of the finding.
    ///
    /// ```
    /// let place = Some("src/lib.rs:3".to_string());
    /// let finding = whippet_protocol::Reported { kind: "panic".into(), message: "no\nmore".into(), place, ..Default::default() };
    /// assert_eq!(finding.headline(), "panic: no at src/lib.rs:3");
    /// ```
    #[must_use]
    pub fn headline(&self) -> String {
        let place = self.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        format!("{}: {}{place}", self.kind, self.message.lines().next().unwrap_or_default())
    }
}

/// The steps of a schedule that ends with a step of which nothing is known but who takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The schedule with descriptions, as JSON.
    pub schedule: String,
    /// The steps, as text.
    pub steps: String,
    /// The number of steps before the last one.
    pub before: usize,
    /// The name of the actor that takes the last step, if it is known before the actor acts.
    pub actor: Option<String>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The number of executions.
    pub executions: u64,
    /// The duration of the search.
    pub seconds: f64,
    /// `true` if no limit ended the search early.
    pub complete: bool,
    /// The number of findings.
    pub findings: usize,
    /// The number of steps, where a common beginning of executions counts once.
    pub transitions: u64,
    /// `true` if the test accepts a search that a limit has ended early.
    pub partial_is_enough: bool,
    /// The estimated number of executions in all, as a text, if the search is not complete.
    pub estimate: Option<String>,
}

/// The reason for which a test does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `true` if there is no verdict on the test: misuse, or an operation that is not modelled.
    pub no_verdict: bool,
    /// The reason why there is none, if it is one that hooks may remove.
    pub reason: Option<Reason>,
    /// The text to show.
    pub text: String,
}

/// A reason why there is no verdict that hooks in further crates may remove.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Tasks share memory that is not observed.
    SharedMemory,
    /// Threads of the operating system take part.
    Threads,
    /// An execution did not repeat.
    Nondeterminism,
    /// A task was suspended while it held a lock that is not observed.
    LockHeld,
}

impl Failure {
    /// Creates the failure of a test in which something was found.
    pub fn found(text: impl Into<String>) -> Failure {
        Failure { no_verdict: false, reason: None, text: text.into() }
    }

    /// Creates the failure of a test on which there is no verdict.
    pub fn no_verdict(text: impl Into<String>, reason: Option<Reason>) -> Failure {
        Failure { no_verdict: true, reason, text: text.into() }
    }
}

impl From<&SearchError> for Failure {
    fn from(error: &SearchError) -> Failure {
        let reason = match error {
            SearchError::Program(MachineError::UnseenMemory(_)) => Some(Reason::SharedMemory),
            SearchError::Program(MachineError::UnseenThreads(_)) => Some(Reason::Threads),
            SearchError::Program(MachineError::Nondeterministic(_)) => Some(Reason::Nondeterminism),
            _ => None,
        };
        Failure::no_verdict(error.to_string(), reason)
    }
}

/// The beginning of the line on standard output that has the reply of a process that cannot write files.
const REPLY_LINE: &str = "whippet reply: ";

impl Reply {
    /// Adds the reply of a later search of the same test.
    ///
    /// ```
    /// use whippet_protocol::{Reply, Searched};
    /// let searched = |executions| Searched { executions, complete: true, ..Searched::default() };
    /// let first = Reply { search: Some(searched(2)), ..Reply::default() };
    /// let both = first.followed_by(Reply { search: Some(searched(3)), ..Reply::default() });
    /// assert_eq!(both.search, Some(searched(5)));
    /// ```
    #[must_use]
    pub fn followed_by(mut self, later: Reply) -> Reply {
        self.search = match (self.search, later.search) {
            (Some(first), Some(second)) => Some(Searched {
                executions: first.executions + second.executions,
                seconds: first.seconds + second.seconds,
                complete: first.complete && second.complete,
                findings: first.findings + second.findings,
                transitions: first.transitions + second.transitions,
                partial_is_enough: first.partial_is_enough || second.partial_is_enough,
                estimate: first.estimate.or(second.estimate),
            }),
            (first, second) => first.or(second),
        };
        self.one_order |= later.one_order;
        self.several_runs |= later.several_runs;
        self.failure = self.failure.or(later.failure);
        self.findings.extend(later.findings);
        self.warnings.extend(later.warnings);
        self.regressions.extend(later.regressions);
        // A test that searches several programs is not to be doubted because of one of them.
        self.doubts.clear();
        self.described = later.described.or(self.described);
        self.page = self.page.or(later.page);
        self.report = later.report.or(self.report);
        self.unfolding = self.unfolding.or(later.unfolding);
        self.beyond = self.beyond.or(later.beyond);
        self
    }

    /// Writes the reply to its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        message::write(file, self)
    }

    /// Reads the reply of a process that has ended, or `None` if it did not write one.
    ///
    /// # Errors
    ///
    /// If the reply is damaged or of another version.
    pub fn read(file: &Path) -> Result<Option<Reply>, Error> {
        // A device such as /dev/full may have no end.
        if !file.is_file() {
            return Ok(None);
        }
        std::fs::read_to_string(file).map_or(Ok(None), |text| decode(&text).map(Some))
    }

    /// Returns the reply as a line for standard output, for a process that cannot write files.
    ///
    /// ```
    /// use whippet_protocol::Reply;
    /// let reply = Reply { one_order: true, ..Reply::default() };
    /// let output = format!("some output{}more", reply.to_line());
    /// assert_eq!(Reply::in_output(&output).unwrap(), (Some(reply), "some output\nmore".into()));
    /// ```
    #[must_use]
    pub fn to_line(&self) -> String {
        format!("\n{REPLY_LINE}{}\n", encode(self))
    }

    /// Returns the reply in the standard output of a process, if there is one, and the output without it.
    ///
    /// # Errors
    ///
    /// If the reply is damaged or of another version.
    pub fn in_output(output: &str) -> Result<(Option<Reply>, String), Error> {
        let Some((before, rest)) = output.split_once(&format!("\n{REPLY_LINE}")) else {
            return Ok((None, output.into()));
        };
        let (text, after) = rest.split_once('\n').unwrap_or((rest, ""));
        Ok((Some(decode(text)?), format!("{before}\n{after}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_of_another_version_is_refused() {
        let file = std::env::temp_dir().join(format!("whippet-protocol-{}", std::process::id()));
        let reply = Reply { one_order: true, ..Reply::default() };
        reply.write(&file).unwrap();
        assert_eq!(Reply::read(&file).unwrap(), Some(reply));
        std::fs::write(&file, "{\"version\": 9, \"message\": \"of another form\"}").unwrap();
        assert!(matches!(Reply::read(&file), Err(Error::Version { found: 9 })));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(Reply::read(&file).unwrap(), None);
    }
}
