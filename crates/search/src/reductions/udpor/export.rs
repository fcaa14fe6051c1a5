//! Export of a program's unfolding, for inspection.

use crate::driver::control::Control;
use crate::driver::erased::AnyProgram;
use crate::driver::explore::{SearchError, no_verdict, wait};
use crate::driver::run::{Run, Stop};
use crate::driver::threads;
use crate::options::Options;
use crate::reductions::udpor;
use crate::reductions::udpor::unfolding::Unfolding;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use whippet_model::{LimitHit, MachineError, Program, is_set, ones};

/// An event of an unfolding: a step together with everything that happens before it.
///
/// ```
/// use whippet_net::Net;
/// use whippet_search::{Options, unfold};
/// // Two processes request the same mutex: either is first, and then the other one follows.
/// let net = Net::parse("two", "a: Km\nb: Km").unwrap();
/// let unfolded = unfold(net.into(), &Options::default()).unwrap();
/// let first: Vec<_> = unfolded.events.iter().filter(|event| event.causes.is_empty()).collect();
/// assert_eq!((unfolded.events.len(), first.len()), (4, 2));
/// assert!(first.iter().all(|event| event.conflicts.len() == 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnfoldedEvent {
    /// A description of the step.
    pub text: String,
    /// The events directly before it.
    pub causes: Vec<usize>,
    /// The events with which it is in immediate conflict, that is, not through an event before it.
    pub conflicts: Vec<usize>,
}

/// All events of a program, each after its causes: see [`unfold`].
///
/// ```
/// use whippet_search::{Unfolded, UnfoldedEvent};
/// let event = |text: &str, causes| UnfoldedEvent { text: text.into(), causes, conflicts: vec![] };
/// let unfolded = Unfolded { program: "ping".into(), events: vec![event("ping", vec![]), event("pong", vec![0])] };
/// assert!(unfolded.to_dot().contains("e0 -> e1;"));
/// assert!(unfolded.to_json().contains("\"text\": \"pong\",\n      \"causes\": [\n        0\n      ],\n      \"conflicts\": []"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfolded {
    /// The program's name.
    pub program: String,
    /// The events.
    pub events: Vec<UnfoldedEvent>,
}

/// Unfolds a program: returns all its events, with causality and conflict. All events are kept in memory, so this is
/// for small programs. The `limits` of the options apply.
///
/// ```
/// use whippet_net::Net;
/// use whippet_search::{Options, unfold};
/// let net = Net::parse("independent", "a: L\nb: L").unwrap();
/// let unfolded = unfold(net.into(), &Options::default()).unwrap();
/// assert_eq!(unfolded.events.len(), 2, "one event each: nothing makes their order matter");
/// ```
pub fn unfold<P: Program + Send + 'static>(program: Arc<P>, options: &Options) -> Result<Unfolded, SearchError> {
    unfold_any(program, options)
}

fn unfold_any(program: Arc<dyn AnyProgram + Send>, options: &Options) -> Result<Unfolded, SearchError> {
    let control = Arc::new(Control::new(&options.limits));
    let name = program.name();
    let answer = {
        let (options, control) = (options.clone(), control.clone());
        threads::start(&options.clone(), move || {
            let mut run = Run::new(&*program as &dyn AnyProgram, &options, &control)?;
            Ok(events(&udpor::unfold(&mut run)?))
        })
    };
    let limit = options.limits.handler;
    match wait(&answer, options, &control, &(), &|_| {}) {
        Ok(Ok(events)) => Ok(Unfolded { program: name, events }),
        Ok(Err(Stop::Machine(error))) => Err(error.into()),
        Ok(Err(Stop::Limit(why))) => Err(SearchError::Unsupported(match why {
            LimitHit::FirstBug => "a whole unfolding does not stop at the first finding: leave that out".into(),
            why => format!("the unfolding is larger than {why} allows: raise it, or unfold a smaller program"),
        })),
        Err(stuck) => {
            no_verdict(&stuck, options)?;
            let why = format!("code of the program did not return within {limit:?}: explore it to see which");
            Err(SearchError::Program(MachineError::Misuse(why)))
        }
    }
}

fn events(unfolding: &Unfolding) -> Vec<UnfoldedEvent> {
    // No event was removed, so the numbers are in the order of creation.
    let ids = 0..unfolding.len() as u32;
    ids.map(|id| {
        let past = || ones(unfolding.past(id));
        let direct = |&cause: &usize| past().all(|other| !is_set(unfolding.past(other as u32), cause as u32));
        UnfoldedEvent {
            text: unfolding.text(id).unwrap_or_default().to_string(),
            causes: past().filter(direct).collect(),
            conflicts: unfolding.direct(id).map(|other| other as usize).collect(),
        }
    })
    .collect()
}

impl Unfolded {
    /// Returns a graph for Graphviz: arrows are causes, dashed lines are conflicts.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph {} {{\n  node [shape=box];\n", quoted(&self.program));
        for (id, event) in self.events.iter().enumerate() {
            let _ = writeln!(out, "  e{id} [label={}];", quoted(&event.text));
        }
        for (id, event) in self.events.iter().enumerate() {
            for cause in &event.causes {
                let _ = writeln!(out, "  e{cause} -> e{id};");
            }
            for other in event.conflicts.iter().filter(|&&other| other < id) {
                let _ = writeln!(out, "  e{other} -> e{id} [dir=none, style=dashed, constraint=false];");
            }
        }
        out.push_str("}\n");
        out
    }

    /// Returns JSON: `{"format": "whippet unfolding", "version": 1, "program", "events": [{"text", "causes",
    /// "conflicts"}]}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (format, version) = ("whippet unfolding", 1);
        let file = File { format, version, program: &self.program, events: &self.events };
        serde_json::to_string_pretty(&file).expect("there are no maps with other keys than texts") + "\n"
    }
}

/// The JSON form of an unfolding.
#[derive(Serialize)]
struct File<'a> {
    format: &'a str,
    version: u32,
    program: &'a str,
    events: &'a [UnfoldedEvent],
}

/// Returns a text in quotation marks, escaped for Graphviz.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
