//! The task that `cargo whippet` gives to a test process.

use crate::message::{Error, decode, encode};
use crate::{Files, REPLAY, SERVE, SESSION, Settings, variables};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// The task of a test process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Settings of the search and of the program.
    pub settings: Settings,
    /// The work to do, unless there is a schedule to replay.
    pub work: Work,
    /// Asks for the whole report of the search: see [`Reply::report`](crate::Reply::report).
    pub report: bool,
    /// The schedule to replay instead of a search.
    pub replay: Option<PathBuf>,
    /// Replays all decisions of the schedule but the last one, and describes them: see [`Reply::described`](crate::Reply::described).
    pub leave_out_last: bool,
    /// The process that waits for the answer. If it is gone, the search stops.
    pub parent: Option<u32>,
    /// The files for answers. Without them, the process only passes or fails.
    pub files: Option<Files>,
    /// The options that replay commands in a counterexample repeat, quoted for a shell.
    pub replay_options: String,
}

/// The work of a test process.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Searches the test.
    #[default]
    Search,
    /// Computes the unfolding of the test: see [`Reply::unfolding`](crate::Reply::unfolding).
    Unfold,
    /// Opens a page on which a person walks through the test, until the process is ended.
    Serve {
        /// The port; 0 means any free one.
        port: u16,
    },
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
    /// use whippet_protocol::{Session, VERSION};
    /// let newer = Session::default().to_text().replace(&format!("\"version\":{VERSION}"), "\"version\":99");
    /// let error = Session::from_text(&newer).unwrap_err().to_string();
    /// assert!(error.contains(&format!("(version 99 of their messages, expected {VERSION})")), "{error}");
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
        let settings = variables::settings(&variable)?;
        let work = variable(SERVE).map_or(Ok(Work::Search), |value| variables::serve(&value.to_string_lossy()))?;
        Ok(Session { settings, work, replay: variable(REPLAY).map(PathBuf::from), ..Session::default() })
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
        let error = |name: &str, value: &str| session(&[(name, value)]).unwrap_err().to_string();
        assert_eq!(error("WHIPPET_TIMERS", "many"), "WHIPPET_TIMERS=many is not understood: expected a number");
        assert_eq!(
            error("WHIPPET_LIMIT_SECONDS", "-1"),
            "WHIPPET_LIMIT_SECONDS=-1 is not understood: expected a number of seconds, e.g. 1.5"
        );
        assert_eq!(
            error("WHIPPET_FIRST_BUG", "yes"),
            "WHIPPET_FIRST_BUG=yes is not understood: expected 1 (on) or 0 (off)"
        );
        assert_eq!(error("WHIPPET_SERVE", "yes"), "WHIPPET_SERVE=yes is not understood: expected 1, or a port");
        let error = error("WHIPPET_REDUCTION", "best");
        assert!(error.starts_with("WHIPPET_REDUCTION=best is not understood: "), "{error}");
        assert!(error.contains("optimal"), "{error}");
    }

    #[test]
    fn the_session_goes_before_other_variables() {
        let given = Session { replay: Some("b.json".into()), ..Session::default() };
        let found = session(&[("WHIPPET_SESSION", &given.to_text()), ("WHIPPET_REPLAY", "a.json")]).unwrap();
        assert_eq!(found, given);
    }
}
