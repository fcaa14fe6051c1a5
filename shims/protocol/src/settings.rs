//! The settings of a search.

use crate::OFF;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The settings of a search. Those that are not given have the defaults of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The name of the reduction.
    pub reduction: Option<String>,
    /// The name of the order: the rule by which the search selects the next actor.
    pub order: Option<String>,
    /// Uses sleep sets, with reductions for which they are optional.
    pub sleep_sets: bool,
    /// The seed of a search that samples.
    pub seed: Option<u64>,
    /// The number of executions of a search that samples.
    pub samples: Option<u64>,
    /// The number of executions after which the search stops.
    pub limit_executions: Option<u64>,
    /// The number of seconds after which the search stops.
    pub limit_seconds: Option<f64>,
    /// The length of an execution from which on there is no verdict.
    pub limit_steps: Option<usize>,
    /// The number of threads that share the search.
    pub workers: Option<usize>,
    /// The number of timers that may fire early in one execution.
    pub timers: Option<u64>,
    /// The longest stall of the runtime that an execution may need, as [`duration`](crate::duration) reads it.
    pub stall: Option<String>,
    /// The runtime on which a failure counts: `several` or `one` thread, or as the test has `declared`.
    pub threads: Option<String>,
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
    /// The directory for the pages that show findings, or a file whose name ends with `.html`; [`OFF`] for no page.
    pub html: Option<String>,
    /// The directory in which schedules of failures are kept and from which they are re-run; [`OFF`] for none.
    pub regressions: Option<String>,
}

impl Settings {
    /// Returns the file for the page of a test, where `usual` is the file without this setting. Returns `None` if no
    /// page is wanted.
    ///
    /// ```
    /// use whippet_protocol::Settings;
    /// let html = |text: &str| Settings { html: Some(text.into()), ..Settings::default() };
    /// assert_eq!(html("pages").page("target/bank.html".as_ref()).unwrap(), std::path::Path::new("pages/bank.html"));
    /// assert_eq!(html("off").page("target/bank.html".as_ref()), None);
    /// ```
    #[must_use]
    pub fn page(&self, usual: &Path) -> Option<PathBuf> {
        match &self.html {
            None => Some(usual.into()),
            Some(off) if off == OFF => None,
            Some(file) if Path::new(file).extension().is_some_and(|end| end == "html") => Some(file.into()),
            Some(directory) => Some(Path::new(directory).join(usual.file_name().unwrap_or_default())),
        }
    }
}
