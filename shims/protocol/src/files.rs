//! The files through which `cargo whippet` and a test process communicate.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The files through which a test process and `cargo whippet` communicate while the test runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The file for the [`Reply`](crate::Reply).
    pub reply: PathBuf,
    /// The file for the [`Progress`](crate::Progress).
    pub progress: PathBuf,
    /// The search stops as soon as this file exists.
    pub stop: PathBuf,
    /// The file for the [`Preliminary`](crate::Preliminary) findings.
    pub found: PathBuf,
    /// The file for the [`JournalFile`](crate::JournalFile).
    pub journal: PathBuf,
    /// The file for the [`Attempt`](crate::Attempt).
    pub attempt: PathBuf,
    /// The directory for the schedules of findings.
    pub schedules: PathBuf,
    /// The beginning of the names of schedules: package, target and test.
    pub stem: String,
}

impl Files {
    /// Returns the file for the schedule of the finding with this number, counted from 0.
    ///
    /// ```
    /// # let files = whippet_protocol::Files::in_directories("run".as_ref(), "schedules".as_ref(), "bank.bank.two");
    /// assert_eq!(files.schedule(0), std::path::Path::new("schedules/bank.bank.two-1.json"));
    /// ```
    #[must_use]
    pub fn schedule(&self, number: usize) -> PathBuf {
        self.schedules.join(format!("{}-{}.json", self.stem, number + 1))
    }

    /// Names the files of a test with this stem: those for answers in the directory `run`, those that are kept in the
    /// directory `schedules`.
    ///
    /// ```
    /// let files = whippet_protocol::Files::in_directories("run".as_ref(), "schedules".as_ref(), "bank.bank.two");
    /// assert_eq!(files.reply, std::path::Path::new("run/bank.bank.two.reply"));
    /// ```
    #[must_use]
    pub fn in_directories(run: &Path, schedules: &Path, stem: &str) -> Files {
        let file = |end: &str| run.join(format!("{stem}.{end}"));
        Files {
            reply: file("reply"),
            progress: file("progress"),
            stop: run.join("stop"),
            found: file("found"),
            journal: file("journal"),
            attempt: file("attempt"),
            schedules: schedules.into(),
            stem: stem.into(),
        }
    }

    /// Removes the files through which one process answers, so that those of another do not mix with them.
    pub fn remove_answers(&self) {
        for file in [&self.reply, &self.progress, &self.found, &self.journal, &self.attempt] {
            // It need not exist.
            let _ = std::fs::remove_file(file);
        }
    }
}
