//! The messages between `cargo whippet` and the test processes that it starts.
//!
//! `cargo whippet` builds the user's tests against the shim of tokio and starts one process per test. It describes the
//! task of the process in a [`Session`], which is JSON in the environment variable [`SESSION`]. The process answers with
//! a [`Reply`] and, on the way, with its [`Progress`], both JSON in files that the session names. All three carry
//! [`VERSION`]; a message of another version is an error on either side.
//!
//! Without `cargo whippet`, a session is made from the environment: each field of [`Settings`] is the variable
//! `WHIPPET_` and its name in capitals, such as `WHIPPET_LIMIT_SECONDS=60` or `WHIPPET_FIRST_BUG=1`; `WHIPPET_REPLAY` is
//! the schedule to replay. No other variables are read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The version of the messages. It changes whenever one of them changes.
pub const VERSION: u32 = 1;

/// The environment variable that holds the session of a test process.
pub const SESSION: &str = "WHIPPET_SESSION";

/// The environment variable that names a schedule to replay, in a run without `cargo whippet`.
pub const REPLAY: &str = "WHIPPET_REPLAY";

/// Former names of settings, which are still understood in the environment.
const FORMER: [(&str, &str); 5] = [
    ("workers", "WHIPPET_JOBS"),
    ("leaked_tasks", "WHIPPET_LEFT_BEHIND"),
    ("unreceived", "WHIPPET_UNTAKEN"),
    ("preempt_everywhere", "WHIPPET_DEEP"),
    ("random", "WHIPPET_BESIDE"),
];

/// The task of a test process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Settings of the search and of the program.
    pub settings: Settings,
    /// The schedule to replay instead of a search.
    pub replay: Option<PathBuf>,
    /// The files for answers. Without them, the process only passes or fails.
    pub files: Option<Files>,
    /// The options that replay commands in a counterexample repeat, quoted for a shell.
    pub replay_options: String,
}

/// The settings of a search. Those that are not given have the defaults of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The name of the reduction.
    pub reduction: Option<String>,
    /// The number of executions after which the search stops.
    pub limit_executions: Option<u64>,
    /// The number of seconds after which the search stops.
    pub limit_seconds: Option<f64>,
    /// The length from which on an execution is a finding.
    pub limit_steps: Option<usize>,
    /// The number of threads that share the search.
    pub workers: Option<usize>,
    /// The number of timers that may fire early in one execution.
    pub timers: Option<u64>,
    /// The number of random executions in addition to the search.
    pub random: Option<u64>,
    /// Stops the search at its first finding.
    pub first_bug: bool,
    /// Reports tasks that are still blocked when the test ends.
    pub leaked_tasks: bool,
    /// Reports messages that are never received.
    pub unreceived: bool,
    /// Adds a scheduling point before every operation.
    pub preempt_everywhere: bool,
    /// Makes every operation a step of its own.
    pub no_merge: bool,
    /// Runs one execution, with the tasks in turn, instead of a search.
    pub once: bool,
}

/// The files through which a test process and `cargo whippet` communicate while the test runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The file for the [`Reply`].
    pub reply: PathBuf,
    /// The file for the [`Progress`].
    pub progress: PathBuf,
    /// The search stops as soon as this file exists.
    pub stop: PathBuf,
    /// The directory for the schedules of findings.
    pub schedules: PathBuf,
}

/// The answer of a test process. A test that does not use tokio gives none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// `true` if a future ran in one order only, without a search.
    pub one_order: bool,
    /// The result of the search, if there was one.
    pub search: Option<Searched>,
    /// The description of a failure.
    pub failure: Option<Failure>,
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
}

/// The reason for which a test does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `true` if there is no verdict on the test: misuse, or an operation that is not modelled.
    pub no_verdict: bool,
    /// The text to show.
    pub text: String,
}

/// The progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of executions so far.
    pub executions: u64,
    /// The duration so far.
    pub seconds: f64,
    /// The length of the current execution.
    pub depth: usize,
    /// The estimated number of executions in all, as a text.
    pub estimate: Option<String>,
}

/// The reason for which a message cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The other side has another version.
    #[error(
        "`cargo whippet` and the shim of tokio in this build do not fit together (version {found} of their messages, \
         expected {VERSION}): install the command again with `cargo install cargo-whippet`, and remove any patch of tokio"
    )]
    Version {
        /// The version of the message.
        found: u32,
    },
    /// The message is not JSON of the expected form.
    #[error("a message between `cargo whippet` and a test is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// The file cannot be written.
    #[error("cannot write {file}: {error}")]
    Write {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// An environment variable has a value that its setting cannot have.
    #[error("{variable}={value} is not understood: {reason}")]
    Variable {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The problem with the value.
        reason: String,
    },
}

/// A message as it is written: with its version.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    message: T,
}

fn encode<T: Serialize>(message: &T) -> String {
    serde_json::to_string(&Envelope { version: VERSION, message }).expect("the messages have no maps with other keys")
}

fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    // The version comes first: a message of another version may have another form.
    let envelope: Envelope<Value> = serde_json::from_str(text)?;
    match envelope.version {
        VERSION => Ok(serde_json::from_value(envelope.message)?),
        found => Err(Error::Version { found }),
    }
}

fn write<T: Serialize>(file: &Path, message: &T) -> Result<(), Error> {
    std::fs::write(file, encode(message)).map_err(|error| Error::Write { file: file.into(), error })
}

impl Session {
    /// Returns the value of the environment variable [`SESSION`] for this session.
    ///
    /// ```
    /// use whippet_protocol::Session;
    /// let session = Session { replay: Some("bug.json".into()), ..Session::default() };
    /// assert_eq!(Session::from_text(&session.to_text()).unwrap(), session);
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        encode(self)
    }

    /// Parses the value of the environment variable [`SESSION`].
    ///
    /// ```
    /// let newer = whippet_protocol::Session::default().to_text().replace("\"version\":1", "\"version\":9");
    /// let error = whippet_protocol::Session::from_text(&newer).unwrap_err().to_string();
    /// assert!(error.contains("do not fit together (version 9 of their messages, expected 1)"), "{error}");
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is damaged or of another version.
    pub fn from_text(text: &str) -> Result<Session, Error> {
        decode(text)
    }

    /// Returns the session of this process.
    ///
    /// # Errors
    ///
    /// If a variable has a value that is not understood.
    pub fn of_this_process() -> Result<Session, Error> {
        Session::of_variables(|name| std::env::var_os(name))
    }

    /// Returns the session that these environment variables describe.
    ///
    /// ```
    /// use whippet_protocol::Session;
    /// let variable = |name: &str| (name == "WHIPPET_LIMIT_SECONDS").then(|| "60".into());
    /// let session = Session::of_variables(variable).unwrap();
    /// assert_eq!(session.settings.limit_seconds, Some(60.0));
    /// ```
    ///
    /// # Errors
    ///
    /// If a variable has a value that is not understood.
    pub fn of_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Session, Error> {
        if let Some(text) = variable(SESSION) {
            return Session::from_text(&text.to_string_lossy());
        }
        let mut settings = Settings::default();
        let Ok(Value::Object(fields)) = serde_json::to_value(&settings) else { unreachable!("settings have fields") };
        for (field, default) in fields {
            let name = format!("WHIPPET_{}", field.to_uppercase());
            let former = FORMER.iter().find(|(now, _)| *now == field).map_or("", |(_, former)| former);
            let given = [name.as_str(), former].into_iter().find_map(|name| Some((name.to_string(), variable(name)?)));
            if let Some((variable, value)) = given {
                settings = settings.with(&field, &default, &value.to_string_lossy()).map_err(|error| {
                    Error::Variable { variable, value: value.to_string_lossy().into_owned(), reason: error.to_string() }
                })?;
            }
        }
        Ok(Session { settings, replay: variable(REPLAY).map(PathBuf::from), ..Session::default() })
    }
}

impl Settings {
    /// Sets the field of this name. Flags are set by any value but `0` and `false`.
    fn with(&self, field: &str, default: &Value, text: &str) -> serde_json::Result<Settings> {
        let value = match default {
            Value::Bool(_) => Value::Bool(!["0", "false"].contains(&text)),
            _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.into())),
        };
        let mut all: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        all.insert(field.into(), value);
        serde_json::from_value(Value::Object(all))
    }
}

impl Reply {
    /// Writes the reply to its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        write(file, self)
    }

    /// Reads the reply of a process that has ended, or `None` if it did not write one.
    ///
    /// # Errors
    ///
    /// If the reply is damaged or of another version.
    pub fn read(file: &Path) -> Result<Option<Reply>, Error> {
        std::fs::read_to_string(file).map_or(Ok(None), |text| decode(&text).map(Some))
    }
}

impl Progress {
    /// Writes the progress to its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        write(file, self)
    }

    /// Reads the progress of a process that may be writing it: a message that is not complete is `None`.
    #[must_use]
    pub fn read(file: &Path) -> Option<Progress> {
        decode(&std::fs::read_to_string(file).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(variables: &[(&str, &str)]) -> Result<Session, Error> {
        Session::of_variables(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn every_setting_is_a_variable() {
        let session = session(&[
            ("WHIPPET_REDUCTION", "source"),
            ("WHIPPET_LIMIT_EXECUTIONS", "7"),
            ("WHIPPET_LIMIT_SECONDS", "1.5"),
            ("WHIPPET_FIRST_BUG", "1"),
            ("WHIPPET_ONCE", "false"),
            ("WHIPPET_REPLAY", "a.json"),
            ("WHIPPET_DEEP", "1"),
            ("WHIPPET_JOBS", "2"),
        ])
        .unwrap();
        let settings = Settings {
            reduction: Some("source".into()),
            limit_executions: Some(7),
            limit_seconds: Some(1.5),
            workers: Some(2),
            first_bug: true,
            preempt_everywhere: true,
            ..Settings::default()
        };
        assert_eq!((session.settings, session.replay), (settings, Some("a.json".into())));
    }

    #[test]
    fn wrong_values_are_named() {
        let error = session(&[("WHIPPET_TIMERS", "many")]).unwrap_err().to_string();
        assert!(error.starts_with("WHIPPET_TIMERS=many is not understood: "), "{error}");
    }

    #[test]
    fn the_session_goes_before_other_variables() {
        let given = Session { replay: Some("b.json".into()), ..Session::default() };
        let found = session(&[("WHIPPET_SESSION", &given.to_text()), ("WHIPPET_REPLAY", "a.json")]).unwrap();
        assert_eq!(found, given);
    }

    #[test]
    fn a_reply_of_another_version_is_refused() {
        let file = std::env::temp_dir().join(format!("whippet-protocol-{}", std::process::id()));
        let reply = Reply { one_order: true, ..Reply::default() };
        reply.write(&file).unwrap();
        assert_eq!(Reply::read(&file).unwrap(), Some(reply));
        std::fs::write(&file, "{\"version\": 2, \"message\": \"of another form\"}").unwrap();
        assert!(matches!(Reply::read(&file), Err(Error::Version { found: 2 })));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(Reply::read(&file).unwrap(), None);
    }
}
