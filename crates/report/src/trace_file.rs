//! The trace file: one finding with its trace, as versioned JSON. `docs/trace-format.md` describes the fields.

use crate::read_source;
use crate::sources::Excerpt;
use crate::traced::{DecidingRace, Passing, TracedFinding, TracedProgram, cycle, traced_waits};
use serde::{Deserialize, Serialize};
use whippet_model::{Decides, Finding, Problem, Schedule, Trace};

/// The value of the field `format` of a trace file.
///
/// ```
/// assert_eq!(whippet_report::TRACE_FORMAT, "whippet trace");
/// ```
pub const TRACE_FORMAT: &str = "whippet trace";

/// The version of the trace files that this build writes. Fields may be added without a new version.
///
/// ```
/// assert_eq!(whippet_report::TRACE_VERSION, 1);
/// ```
pub const TRACE_VERSION: u32 = 1;

/// One finding with its trace.
///
/// ```
/// # let verdict = whippet::Checker::new("picky").explore(|sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
/// #     sys.send(picky, 2);
/// # }).unwrap();
/// use whippet_report::TraceFile;
/// let file = TraceFile::of_finding(&verdict.findings[0]);
/// assert_eq!(TraceFile::from_json(&file.to_json()).unwrap(), file);
/// assert_eq!(file.trace.events[0].text, "receives 2");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    format: String,
    version: u32,
    /// The program that was run.
    pub program: TracedProgram,
    /// The error that the trace shows.
    pub finding: TracedFinding,
    /// The trace.
    #[serde(flatten)]
    pub trace: Trace,
    /// The race that decides: without this order, the error does not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<DecidingRace>,
    /// The nearest execution without the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Passing>,
    /// Excerpts of the source files that the trace mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Excerpt>,
    /// The command that replays the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The decisions that reproduce the execution.
    pub schedule: serde_json::Value,
}

/// The reason why a trace file cannot be read.
///
/// ```
/// let error = whippet_report::TraceFile::from_json("{").unwrap_err();
/// assert!(error.to_string().contains("line 1"), "{error}");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// The text is not JSON, or a field has the wrong type.
    #[error("this is not a trace file: {0}")]
    Damaged(#[from] serde_json::Error),
    /// The file has another format or version.
    #[error("expected format `{TRACE_FORMAT}` version {TRACE_VERSION}, found `{format}` version {version}")]
    Other {
        /// The format of the file.
        format: String,
        /// The version of the file.
        version: u32,
    },
}

impl TraceFile {
    /// Creates the trace file of a finding, without sources and without a replay command.
    #[must_use]
    pub fn of_finding(finding: &Finding) -> TraceFile {
        let trace = finding.trace.clone();
        let waits = traced_waits(&trace, &finding.waits);
        let file = TraceFile {
            format: TRACE_FORMAT.into(),
            version: TRACE_VERSION,
            program: TracedProgram {
                name: finding.schedule.program.clone(),
                parameters: finding.schedule.settings.clone(),
            },
            finding: TracedFinding {
                kind: Some(finding.kind),
                warning: false,
                message: finding.message.clone(),
                place: finding.place.clone(),
                events: finding.events.clone(),
                cycle: cycle(&waits),
                waits,
            },
            race: None,
            passing: None,
            sources: Vec::new(),
            replay: None,
            schedule: finding.schedule.to_value(),
            trace,
        };
        file.with_decides(finding.decides.as_ref())
    }

    /// Creates the trace file of an execution, with the problem that it shows, if any.
    ///
    /// ```
    /// use whippet_model::{Schedule, Trace};
    /// use whippet_report::TraceFile;
    /// let file = TraceFile::of_execution(&Schedule::default(), Trace::default(), None);
    /// assert_eq!(serde_json::to_value(&file).unwrap()["finding"]["kind"], "none");
    /// assert_eq!(TraceFile::from_json(&file.to_json()).unwrap(), file);
    /// ```
    #[must_use]
    pub fn of_execution(schedule: &Schedule, trace: Trace, problem: Option<&Problem>) -> TraceFile {
        let waits = problem.map_or_else(Vec::new, |problem| traced_waits(&trace, &problem.waits));
        let message = problem.map_or_else(|| "no problem in this execution".to_owned(), |p| p.message.clone());
        TraceFile {
            format: TRACE_FORMAT.into(),
            version: TRACE_VERSION,
            program: TracedProgram { name: schedule.program.clone(), parameters: schedule.settings.clone() },
            finding: TracedFinding {
                kind: problem.map(|problem| problem.kind),
                warning: problem.is_some_and(|problem| problem.warning),
                message,
                place: problem.and_then(|problem| problem.place.clone()),
                events: problem.map_or_else(Vec::new, |p| p.steps.iter().map(|&at| at as u32).collect()),
                cycle: cycle(&waits),
                waits,
            },
            race: None,
            passing: None,
            sources: Vec::new(),
            replay: None,
            schedule: schedule.to_value(),
            trace,
        }
    }

    /// Returns a file for each problem of a replayed execution, or one without a problem.
    ///
    /// ```
    /// use whippet_model::{Schedule, Trace};
    /// let files = whippet_report::TraceFile::of_replay(&Schedule::default(), &Trace::default(), &[]);
    /// assert_eq!(files.len(), 1);
    /// ```
    #[must_use]
    pub fn of_replay(schedule: &Schedule, trace: &Trace, problems: &[Problem]) -> Vec<TraceFile> {
        let problems = problems.iter().map(Some).chain(problems.is_empty().then_some(None));
        let file = |problem| TraceFile::of_execution(schedule, trace.clone(), problem).with_sources(read_source);
        problems.map(file).collect()
    }

    /// Sets the command that replays the finding.
    ///
    /// ```
    /// # let verdict = whippet::Checker::new("picky").explore(|sys| {
    /// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
    /// #     sys.send(picky, 2);
    /// # }).unwrap();
    /// let file = whippet_report::TraceFile::of_finding(&verdict.findings[0]).with_replay("cargo test picky");
    /// assert_eq!(file.replay.as_deref(), Some("cargo test picky"));
    /// ```
    #[must_use]
    pub fn with_replay(mut self, command: impl Into<String>) -> TraceFile {
        self.replay = Some(command.into());
        self
    }

    /// Sets the decision that matters, with an execution that passes; nothing happens if it is not known, or if the
    /// trace shows no error.
    ///
    /// ```
    /// use whippet_model::{Decides, Schedule, Trace};
    /// use whippet_report::TraceFile;
    /// let file = TraceFile::of_execution(&Schedule::default(), Trace::default(), None);
    /// assert_eq!(file.clone().with_decides(Some(&Decides::default())), file, "it passes itself");
    /// ```
    #[must_use]
    pub fn with_decides(mut self, decides: Option<&Decides>) -> TraceFile {
        if let Some(decides) = decides.filter(|_| self.finding.kind.is_some() && !self.finding.warning) {
            let text = &decides.text;
            let both = decides.first.zip(decides.second);
            self.race = both.map(|(first, second)| DecidingRace { first, second, text: text.clone() });
            self.passing = Some(Passing { trace: decides.passing.clone(), text: text.clone() });
        }
        self
    }

    /// Marks the finding as a warning: the program may be correct.
    ///
    /// ```
    /// use whippet_model::{Schedule, Trace};
    /// let file = whippet_report::TraceFile::of_execution(&Schedule::default(), Trace::default(), None).as_warning();
    /// assert!(file.finding.warning);
    /// ```
    #[must_use]
    pub fn as_warning(mut self) -> TraceFile {
        self.finding.warning = true;
        self
    }

    /// Returns the file as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers always serialise") + "\n"
    }

    /// Reads a trace file.
    pub fn from_json(text: &str) -> Result<TraceFile, TraceFileError> {
        let file: TraceFile = serde_json::from_str(text)?;
        if (&*file.format, file.version) != (TRACE_FORMAT, TRACE_VERSION) {
            return Err(TraceFileError::Other { format: file.format, version: file.version });
        }
        Ok(file)
    }
}
