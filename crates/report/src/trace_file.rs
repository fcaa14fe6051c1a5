//! The trace file: one finding with its trace, as versioned JSON. `docs/trace-format.md` describes the fields.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use whippet_model::{Finding, FindingKind, Trace};

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
        let number = |label: &String| trace.actors.iter().position(|actor| actor.name == *label).map(|at| at as u32);
        let waits = finding.waits.iter().filter_map(|wait| {
            let on = wait.on.iter().filter_map(number).collect();
            Some(TracedWait { actor: number(&wait.actor)?, text: wait.text.clone(), on })
        });
        let waits: Vec<TracedWait> = waits.collect();
        let decides = finding.decides.as_ref();
        TraceFile {
            format: TRACE_FORMAT.into(),
            version: TRACE_VERSION,
            program: TracedProgram {
                name: finding.schedule.program.clone(),
                parameters: finding.schedule.settings.clone(),
            },
            finding: TracedFinding {
                kind: finding.kind,
                message: finding.message.clone(),
                place: finding.place.clone(),
                events: finding.events.clone(),
                cycle: cycle(&waits),
                waits,
            },
            race: decides.and_then(|decides| {
                Some(DecidingRace { first: decides.first?, second: decides.second?, text: decides.text.clone() })
            }),
            passing: decides.map(|decides| Passing { trace: decides.passing.clone(), text: decides.text.clone() }),
            sources: Vec::new(),
            replay: None,
            schedule: finding.schedule.to_value(),
            trace,
        }
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

    /// Adds excerpts of the source files that the trace mentions. `read` returns the text of a file, or `None` if it
    /// cannot be read.
    ///
    /// ```
    /// # let verdict = whippet::Checker::new("picky").explore(|sys| {
    /// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
    /// #     sys.send(picky, 2);
    /// # }).unwrap();
    /// use whippet_report::TraceFile;
    /// let file = TraceFile::of_finding(&verdict.findings[0]).with_sources(|_file| Some("fn main() {}\n".repeat(100)));
    /// assert!(file.sources.iter().all(|excerpt| excerpt.lines.len() < 20));
    /// ```
    #[must_use]
    pub fn with_sources(mut self, read: impl Fn(&str) -> Option<String>) -> TraceFile {
        let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let passing = self.passing.iter().flat_map(|passing| &passing.trace.events);
        let events = self.trace.events.iter().chain(passing);
        let places = events.flat_map(|event| [&event.place, &event.sent_at]).chain([&self.finding.place]);
        for place in places.flatten() {
            if let Some((file, line)) = place.rsplit_once(':')
                && let Ok(line) = line.parse()
            {
                wanted.entry(file.to_string()).or_default().insert(line);
            }
        }
        for (file, lines) in wanted {
            let Some(text) = read(&file) else { continue };
            let text: Vec<&str> = text.lines().collect();
            let mut excerpts: Vec<(u32, u32)> = Vec::new();
            for line in lines.into_iter().filter(|&line| line >= 1 && line as usize <= text.len()) {
                let (first, last) = (line.saturating_sub(AROUND).max(1), (line + AROUND).min(text.len() as u32));
                match excerpts.last_mut() {
                    Some(before) if before.1 + 1 >= first => before.1 = last,
                    _ => excerpts.push((first, last)),
                }
            }
            self.sources.extend(excerpts.into_iter().map(|(first, last)| Excerpt {
                file: file.clone(),
                first,
                lines: text[first as usize - 1..last as usize].iter().map(ToString::to_string).collect(),
            }));
        }
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

/// The number of lines before and after a line that are part of its excerpt.
const AROUND: u32 = 5;

/// Returns a cycle of actors that wait for each other, if there is one.
fn cycle(waits: &[TracedWait]) -> Vec<u32> {
    let next = |actor: u32| waits.iter().find(|wait| wait.actor == actor).map_or(&[][..], |wait| &wait.on);
    for wait in waits {
        // Follows the first wait of each actor; a longer search is not worth it for a picture.
        let mut path = vec![wait.actor];
        while let Some(&actor) = next(path[path.len() - 1]).first() {
            if let Some(from) = path.iter().position(|&other| other == actor) {
                return path.split_off(from);
            }
            path.push(actor);
        }
    }
    Vec::new()
}

/// The wait of one actor in a deadlock.
///
/// ```
/// let wait = whippet_report::TracedWait { actor: 0, text: "waits for the reply of server".into(), on: vec![1] };
/// assert_eq!(serde_json::to_value(&wait).unwrap()["for"][0], 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedWait {
    /// The actor that waits.
    pub actor: u32,
    /// The wait in words, without the actor.
    pub text: String,
    /// The actors that would have to act next.
    #[serde(rename = "for", default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<u32>,
}

/// The program of a trace.
///
/// ```
/// let program = whippet_report::TracedProgram::default();
/// assert!(program.parameters.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedProgram {
    /// Its name.
    pub name: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// The finding of a trace.
///
/// ```
/// # let verdict = whippet::Checker::new("picky").explore(|sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
/// #     sys.send(picky, 2);
/// # }).unwrap();
/// let file = whippet_report::TraceFile::of_finding(&verdict.findings[0]);
/// assert_eq!(file.finding.events, [0], "the first step shows it");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedFinding {
    /// The kind of error.
    pub kind: FindingKind,
    /// A description of the error.
    pub message: String,
    /// The source position, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The events that show the error.
    #[serde(default)]
    pub events: Vec<u32>,
    /// For a deadlock: who waits for whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<TracedWait>,
    /// The actors of a cycle of waits, if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<u32>,
}

/// Two events whose order decides.
///
/// ```
/// let race = whippet_report::DecidingRace { first: 2, second: 6, text: "…".into() };
/// assert!(race.first < race.second);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingRace {
    /// The event that came first.
    pub first: u32,
    /// The event that came second.
    pub second: u32,
    /// The consequence of the other order, in words.
    pub text: String,
}

/// An execution without the error.
///
/// ```
/// let passing = whippet_report::Passing::default();
/// assert!(passing.trace.events.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passing {
    /// Its trace.
    #[serde(flatten)]
    pub trace: Trace,
    /// The difference in words.
    pub text: String,
}

/// Some lines of a source file.
///
/// ```
/// let excerpt = whippet_report::Excerpt { file: "src/lib.rs".into(), first: 10, lines: vec!["fn main() {}".into()] };
/// assert_eq!(excerpt.lines.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The file, as in the places of the trace.
    pub file: String,
    /// The number of the first line, counted from 1.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
}
