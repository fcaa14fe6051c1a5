//! The errors and failures of a test.

use std::fmt;
use whippet_search::{ReplayError, SearchError};

/// The reason why no verdict was reached.
///
/// ```
/// use whippet::{CheckError, prelude::*};
/// let error = Checker::new("broken").explore(|_sys| panic!("no configuration")).unwrap_err();
/// assert!(matches!(error, CheckError::Search(_)));
/// assert!(error.to_string().starts_with("the body of the test panicked: no configuration at "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The program cannot be explored with these options.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The schedule to replay does not fit the program.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// An environment variable has a value that is not understood, or `cargo whippet` is of another version.
    #[error("{why}")]
    Environment {
        /// The variable and the reason.
        why: String,
    },
    /// The schedule to replay cannot be read.
    #[error("cannot replay {path}: {why}")]
    File {
        /// The file that `WHIPPET_REPLAY` names.
        path: String,
        /// The reason.
        why: String,
    },
}

/// The failure of a test: its message is what a failing test shows.
///
/// ```
/// use whippet::{CheckFailure, prelude::*};
/// let failure: CheckFailure = Checker::new("wrong").try_check(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(reader, 2);
/// }).unwrap_err();
/// assert!(failure.to_string().starts_with("assertion: "));
/// assert!(failure.to_string().contains("1. actor receives 2 from the test"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailure {
    pub(crate) message: String,
}

/// Prints the message as it is, so that a test that returns a `CheckFailure` shows it in a readable form.
impl fmt::Debug for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<CheckError> for CheckFailure {
    fn from(error: CheckError) -> CheckFailure {
        CheckFailure { message: error.to_string() }
    }
}
