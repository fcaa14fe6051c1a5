//! The JSON report for scripts: one versioned object.

use crate::RunInfo;
use serde::Serialize;
use serde::de::Error;
use serde_json::{Map, Value};
use whippet_model::{
    Algorithm, Estimate, Events, Finding, FindingKind, LimitHit, Schedule, ScheduleError, StepDescription, Verdict,
};

/// The version of the object that this build writes. Fields may be added without a new version.
///
/// ```
/// use whippet_report::{REPORT_VERSION, RunInfo, json};
/// # let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// let report = json(&RunInfo::new("holds", &whippet_search::Options::default()), &verdict);
/// assert_eq!(report["version"], REPORT_VERSION);
/// ```
pub const REPORT_VERSION: u32 = 1;

/// The value of the object's field `format`.
///
/// ```
/// use whippet_report::{FORMAT, RunInfo, json};
/// # let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// let report = json(&RunInfo::new("holds", &whippet_search::Options::default()), &verdict);
/// assert_eq!(report["format"], FORMAT);
/// ```
pub const FORMAT: &str = "whippet report";

/// The fields of the report, in the order in which they are written.
#[derive(Serialize)]
struct ReportJson<'a> {
    format: &'static str,
    version: u32,
    subject: &'a str,
    parameters: Map<String, Value>,
    reduction: &'static str,
    order: &'static str,
    sleep: bool,
    rule: &'static str,
    delivery: Option<&'a str>,
    seed: u64,
    executions: u64,
    blocked: u64,
    transitions: u64,
    handler_runs: u64,
    /// Counted only by searches that compare states.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<u64>,
    /// Counted only by the unfolding search.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Events>,
    /// Counted only with the order `stable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    unstable: Option<u64>,
    depth: usize,
    findings: Vec<FindingJson<'a>>,
    warnings: Vec<FindingJson<'a>>,
    /// The results that the program declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<FindingJson<'a>>,
    complete: bool,
    limits: &'a [LimitHit],
    notes: &'a [String],
    /// The algorithm, if the reduction chose one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<Algorithm>,
    may_miss: bool,
    estimate: Option<Estimate>,
    seconds: f64,
    cpu_seconds: f64,
    peak_memory_bytes: u64,
}

/// A finding or a warning.
#[derive(Serialize)]
struct FindingJson<'a> {
    kind: FindingKind,
    message: &'a str,
    place: Option<&'a str>,
    /// The weakest runtime for tasks that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<String>,
    executions: u64,
    #[serde(rename = "story")]
    counterexample: &'a [StepDescription],
    schedule: Value,
}

impl<'a> ReportJson<'a> {
    fn new(run: &'a RunInfo, verdict: &'a Verdict) -> ReportJson<'a> {
        let counters = &verdict.counters;
        ReportJson {
            format: FORMAT,
            version: REPORT_VERSION,
            subject: &run.subject,
            parameters: run.parameters.iter().map(|(name, text)| (name.clone(), typed(text))).collect(),
            reduction: run.reduction.name(),
            order: run.order.name(),
            sleep: run.sleep,
            rule: run.rule.name(),
            delivery: run.delivery.as_deref(),
            seed: run.seed,
            executions: counters.executions,
            blocked: counters.blocked,
            transitions: counters.transitions,
            handler_runs: counters.handler_runs,
            states: counters.states,
            events: counters.events,
            unstable: counters.unstable,
            depth: counters.depth,
            findings: verdict.findings.iter().map(FindingJson::new).collect(),
            warnings: verdict.warnings.iter().map(FindingJson::new).collect(),
            outcomes: verdict.outcomes.iter().map(FindingJson::new).collect(),
            complete: verdict.complete,
            limits: &verdict.limits,
            notes: &verdict.notes,
            algorithm: verdict.algorithm,
            may_miss: verdict.may_miss,
            estimate: verdict.estimate,
            seconds: verdict.time.as_secs_f64(),
            cpu_seconds: run.usage.cpu_seconds,
            peak_memory_bytes: run.usage.peak_memory_bytes,
        }
    }
}

impl<'a> FindingJson<'a> {
    fn new(finding: &'a Finding) -> FindingJson<'a> {
        FindingJson {
            kind: finding.kind,
            message: &finding.message,
            place: finding.place.as_deref(),
            threads: finding.threads.map(|threads| threads.to_string()),
            executions: finding.executions,
            counterexample: &finding.counterexample,
            schedule: finding.schedule.to_value(),
        }
    }
}

/// Returns the report as one JSON object.
///
/// ```
/// use whippet_report::{RunInfo, json};
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// let run = RunInfo::new("holds", &whippet_search::Options::default()).with_parameter("workers", "4");
/// let report = json(&run, &verdict);
/// assert_eq!((&report["executions"], &report["complete"]), (&1.into(), &true.into()));
/// assert_eq!(report["parameters"]["workers"], 4);
/// ```
#[must_use]
pub fn json(run: &RunInfo, verdict: &Verdict) -> Value {
    serde_json::to_value(ReportJson::new(run, verdict)).expect("strings and numbers always serialise")
}

/// Returns the report as the text of a file, with its fields in order of importance.
///
/// ```
/// use whippet_report::{RunInfo, json_text};
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// let text = json_text(&RunInfo::new("holds", &whippet_search::Options::default()), &verdict);
/// assert!(text.starts_with("{\n  \"format\": \"whippet report\",\n  \"version\": 1,\n  \"subject\": \"holds\""));
/// ```
#[must_use]
pub fn json_text(run: &RunInfo, verdict: &Verdict) -> String {
    let object = ReportJson::new(run, verdict);
    let mut text = serde_json::to_string_pretty(&object).expect("strings and numbers always serialise");
    text.push('\n');
    text
}

/// Converts the value of a parameter to a number or a boolean if it is one.
fn typed(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    text.parse::<bool>().map_or_else(|_| text.into(), Value::from)
}

/// Returns the schedule in the text of a file, which is either a schedule or a report. In a report, `which` selects the
/// finding, counted from 1; the numbers of warnings follow those of the findings.
///
/// ```
/// use whippet_report::{RunInfo, json_text, schedule_in};
/// # let verdict = whippet::Checker::new("picky").explore(|sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert_eq!(inbox.receive().await, 1));
/// #     sys.send(picky, 2);
/// # }).unwrap();
/// let report = json_text(&RunInfo::new("picky", &whippet_search::Options::default()), &verdict);
/// let schedule = &verdict.findings[0].schedule;
/// assert_eq!(schedule_in(&report, 1).unwrap(), *schedule);
/// assert_eq!(schedule_in(&schedule.to_json(), 1).unwrap(), *schedule);
/// assert!(schedule_in(&report, 2).unwrap_err().to_string().contains("none with number 2"));
/// ```
pub fn schedule_in(text: &str, which: usize) -> Result<Schedule, ScheduleError> {
    let value: Value = serde_json::from_str(text)?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Schedule::from_json(text);
    }
    let version = value.get("version").and_then(Value::as_u64).unwrap_or(0);
    if version != u64::from(REPORT_VERSION) {
        return Err(ScheduleError::Version { found: version });
    }
    let list = |name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let all = [list("findings"), list("warnings")].concat();
    let schedule = which.checked_sub(1).and_then(|i| all.get(i)).and_then(|finding| finding.get("schedule"));
    match schedule {
        Some(schedule) => Schedule::from_json(&schedule.to_string()),
        None => {
            let why = format!("this report has {} findings and warnings, none with number {which}", all.len());
            Err(ScheduleError::Damaged(Error::custom(why)))
        }
    }
}
