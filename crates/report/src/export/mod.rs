//! Exports of a trace to formats that people have tools for.

mod chrome;
mod dot;
mod mermaid;
mod shiviz;

use crate::TraceFile;
use whippet_model::Trace;

/// A format in which a trace can be written.
///
/// ```
/// use whippet_report::TraceFormat;
/// assert_eq!("dot".parse(), Ok(TraceFormat::Dot));
/// assert!("svg".parse::<TraceFormat>().unwrap_err().contains("json, html, shiviz, dot, mermaid, chrome"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// The trace format of this crate: versioned JSON.
    Json,
    /// The HTML report.
    Html,
    /// A log with vector clocks for ShiViz.
    Shiviz,
    /// A Graphviz graph of happens-before.
    Dot,
    /// A Mermaid sequence diagram.
    Mermaid,
    /// Chrome's trace event format, which Perfetto reads too.
    Chrome,
}

impl TraceFormat {
    /// All formats with their names.
    ///
    /// ```
    /// use whippet_report::TraceFormat;
    /// assert!(TraceFormat::ALL.iter().all(|(name, format)| name.parse() == Ok(*format)));
    /// ```
    pub const ALL: [(&'static str, TraceFormat); 6] = [
        ("json", TraceFormat::Json),
        ("html", TraceFormat::Html),
        ("shiviz", TraceFormat::Shiviz),
        ("dot", TraceFormat::Dot),
        ("mermaid", TraceFormat::Mermaid),
        ("chrome", TraceFormat::Chrome),
    ];

    /// Returns the format that the ending of a file name stands for: `.json`, `.html`, `.shiviz` or `.log`, `.dot` or
    /// `.gv`, `.mmd` or `.mermaid`, `.trace`.
    ///
    /// ```
    /// use whippet_report::TraceFormat;
    /// assert_eq!(TraceFormat::of_file("bug.mmd"), Some(TraceFormat::Mermaid));
    /// assert_eq!(TraceFormat::of_file("bug"), None);
    /// ```
    #[must_use]
    pub fn of_file(name: &str) -> Option<TraceFormat> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending {
            "json" => TraceFormat::Json,
            "html" | "htm" => TraceFormat::Html,
            "shiviz" | "log" => TraceFormat::Shiviz,
            "dot" | "gv" => TraceFormat::Dot,
            "mmd" | "mermaid" => TraceFormat::Mermaid,
            "trace" => TraceFormat::Chrome,
            _ => return None,
        })
    }

    /// Writes a trace in this format.
    ///
    /// ```
    /// # let verdict = whippet::Checker::new("picky").explore(|sys| {
    /// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
    /// #     sys.send(picky, 2);
    /// # }).unwrap();
    /// use whippet_report::{TraceFile, TraceFormat};
    /// let trace = TraceFile::of_finding(&verdict.findings[0]);
    /// assert!(TraceFormat::Dot.write(&trace).starts_with("digraph trace {"));
    /// assert!(TraceFormat::Mermaid.write(&trace).starts_with("sequenceDiagram"));
    /// ```
    #[must_use]
    pub fn write(self, file: &TraceFile) -> String {
        match self {
            TraceFormat::Json => file.to_json(),
            TraceFormat::Html => crate::html(&file.finding.message, "", std::slice::from_ref(file)),
            TraceFormat::Shiviz => shiviz::write(&file.trace),
            TraceFormat::Dot => dot::write(&file.trace),
            TraceFormat::Mermaid => mermaid::write(&file.trace),
            TraceFormat::Chrome => chrome::write(&file.trace),
        }
    }
}

impl std::str::FromStr for TraceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceFormat, String> {
        let known = TraceFormat::ALL.iter().find(|(name, _)| *name == text);
        known.map(|&(_, format)| format).ok_or_else(|| {
            let names: Vec<_> = TraceFormat::ALL.iter().map(|(name, _)| *name).collect();
            format!("there is no format `{text}`; there are {}", names.join(", "))
        })
    }
}

/// Returns the name of the actor of an event.
fn actor(trace: &Trace, event: usize) -> &str {
    &trace.actors[trace.events[event].actor as usize].name
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use whippet_model::{TraceActor, TraceEvent};

    /// A client calls a server, which answers.
    fn call() -> Trace {
        let mut trace = Trace::default();
        trace.actors = ["the client", "server"].map(TraceActor::named).to_vec();
        let event = |actor, text: &str, from, causes: &[u32]| TraceEvent {
            actor,
            text: text.into(),
            from,
            sent_by: causes.first().copied(),
            causes: causes.to_vec(),
            ..TraceEvent::default()
        };
        trace.events = vec![
            event(0, "receives Go", None, &[]),
            event(1, "receives \"Get\"", Some(0), &[0]),
            event(0, "gets the reply 5", Some(1), &[1, 0]),
        ];
        trace
    }

    #[test]
    fn shiviz_has_vector_clocks() {
        expect![[r#"
            (?<host>\S*) (?<clock>{.*})\n(?<event>.*)

            the_client {"the_client":1}
            receives Go
            server {"server":1,"the_client":1}
            receives "Get"
            the_client {"server":1,"the_client":2}
            gets the reply 5
        "#]]
        .assert_eq(&shiviz::write(&call()));
    }

    #[test]
    fn dot_has_a_cluster_for_each_actor() {
        expect![[r#"
            digraph trace {
              node [shape=box, fontname="sans-serif"];
              subgraph cluster_0 { label="the client"; e0; e2; }
              subgraph cluster_1 { label="server"; e1; }
              e0 [label="1. receives Go"];
              e1 [label="2. receives \"Get\""];
              e2 [label="3. gets the reply 5"];
              e0 -> e1;
              e1 -> e2;
              e0 -> e2 [style=dashed];
            }
        "#]]
        .assert_eq(&dot::write(&call()));
    }

    #[test]
    fn mermaid_has_an_arrow_for_each_message() {
        expect![[r#"
            sequenceDiagram
              participant a0 as the client
              participant a1 as server
              Note over a0: 1. receives Go
              a0->>a1: 2. receives "Get"
              a1->>a0: 3. gets the reply 5
        "#]]
        .assert_eq(&mermaid::write(&call()));
    }

    #[test]
    fn chrome_has_slices_and_flows() {
        let value: serde_json::Value = serde_json::from_str(&chrome::write(&call())).unwrap();
        let of = |phase: &str| value["traceEvents"].as_array().unwrap().iter().filter(|e| e["ph"] == phase).count();
        assert_eq!((of("M"), of("X"), of("s"), of("f")), (2, 3, 2, 2), "two names, three steps, two messages");
    }
}
