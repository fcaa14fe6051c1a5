//! The messages between `cargo whippet` and the test processes that it starts.
//!
//! `cargo whippet` builds the user's tests against the shim of tokio and starts one process per test. It describes the
//! task of the process in a [`Session`], which is JSON in the environment variable [`SESSION`]. The process answers with
//! a [`Reply`] and, on the way, with its [`Progress`] and the [`Preliminary`] findings, all JSON in files that the
//! session names. They carry [`VERSION`]; a message of another version is an error on either side.
//!
//! A process may end before it can answer: user code may call `abort` or `exit`, or overflow the stack. Therefore it
//! writes the steps that it takes to a [`JournalFile`], which survives it.
//!
//! [`Recorder`] is the side of the test process.
//!
//! Without `cargo whippet`, a session is made from the environment: each field of [`Settings`] is the variable
//! `WHIPPET_` and its name in capitals, such as `WHIPPET_LIMIT_SECONDS=60` or `WHIPPET_FIRST_BUG=1`; `WHIPPET_REPLAY` is
//! the schedule to replay, and `WHIPPET_SERVE` asks for the explorer. No other variables are read.

mod duration;
mod files;
mod journal;
mod message;
mod progress;
mod recorder;
mod regressions;
mod reply;
mod session;
mod settings;
mod variables;

pub use duration::duration;
pub use files::Files;
pub use journal::{JournalFile, Recorded};
pub use message::{Error, VERSION};
pub use progress::{Attempt, Preliminary, Progress};
pub use recorder::Recorder;
pub use regressions::{KeptSchedule, Regression, RegressionState, Regressions, Rerun};
pub use reply::{Beyond, Described, Failure, Reason, Reply, Reported, Searched, TestKind, Unfolding};
pub use session::{Session, Work};
pub use settings::Settings;
pub use variables::given_settings;

/// The environment variable that holds the session of a test process.
pub const SESSION: &str = "WHIPPET_SESSION";

/// The environment variable that names a schedule to replay, in a run without `cargo whippet`.
pub const REPLAY: &str = "WHIPPET_REPLAY";

/// The environment variable that asks for the explorer, in a run without `cargo whippet`: `1`, or a port.
pub const SERVE: &str = "WHIPPET_SERVE";

/// The name of the file in memory that `cargo whippet` redirects the standard output of a test process to.
pub const STDOUT: &str = "whippet-stdout";

/// The same for standard error.
pub const STDERR: &str = "whippet-stderr";

/// The value of a setting that names a directory by which it is switched off.
pub const OFF: &str = "off";
