//! The messages of a test process before its answer.

use crate::Reported;
use crate::message::{Error, decode, write};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The findings that are known while the search goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preliminary {
    /// The findings. Those that were written first stay first.
    pub findings: Vec<Reported>,
}

/// The program that is being searched: what the schedule of an unfinished execution needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The name of the program.
    pub program: String,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
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

impl Preliminary {
    /// Writes the findings to their file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        write(file, self)
    }

    /// Reads the findings so far.
    #[must_use]
    pub fn read(file: &Path) -> Preliminary {
        std::fs::read_to_string(file).ok().and_then(|text| decode(&text).ok()).unwrap_or_default()
    }
}

impl Attempt {
    /// Writes the attempt to its file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        write(file, self)
    }

    /// Reads the attempt, if a search has begun.
    #[must_use]
    pub fn read(file: &Path) -> Option<Attempt> {
        decode(&std::fs::read_to_string(file).ok()?).ok()
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
