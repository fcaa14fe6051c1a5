//! The parts of a trace file: the program, the finding and the explanation of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use whippet_model::{FindingKind, Trace, WaitFor};

/// Returns waits with the actors of a trace.
pub(crate) fn traced_waits(trace: &Trace, waits: &[WaitFor]) -> Vec<TracedWait> {
    let number = |label: &String| trace.actors.iter().position(|actor| actor.name == *label).map(|at| at as u32);
    let traced = waits.iter().filter_map(|wait| {
        let on = wait.on.iter().filter_map(number).collect();
        Some(TracedWait { actor: number(&wait.actor)?, text: wait.text.clone(), on })
    });
    traced.collect()
}

/// Returns a cycle of actors that wait for each other, if there is one.
pub(crate) fn cycle(waits: &[TracedWait]) -> Vec<u32> {
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
    /// The kind of error; `None`, in JSON "none", if the execution has no error.
    #[serde(with = "kind_or_none")]
    pub kind: Option<FindingKind>,
    /// `true` if it is only a warning: the program may be correct.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
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

/// The kind of a finding as text, or "none".
mod kind_or_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use whippet_model::FindingKind;

    pub(super) fn serialize<S: Serializer>(kind: &Option<FindingKind>, serializer: S) -> Result<S::Ok, S::Error> {
        match kind {
            Some(kind) => kind.serialize(serializer),
            None => serializer.serialize_str("none"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FindingKind>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "none" {
            return Ok(None);
        }
        FindingKind::deserialize(de::value::StringDeserializer::new(text)).map(Some)
    }
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
