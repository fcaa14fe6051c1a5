//! A Graphviz graph: a cluster for each actor, an edge for each immediate predecessor.

use whippet_model::Trace;

pub(super) fn write(trace: &Trace) -> String {
    let mut text = String::from("digraph trace {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (k, actor) in trace.actors.iter().enumerate() {
        let own = (0..trace.events.len()).filter(|&at| trace.events[at].actor as usize == k);
        let nodes: String = own.map(|at| format!(" e{at};")).collect();
        if !nodes.is_empty() {
            text += &format!("  subgraph cluster_{k} {{ label={};{nodes} }}\n", quoted(&actor.name));
        }
    }
    for (at, event) in trace.events.iter().enumerate() {
        text += &format!("  e{at} [label={}];\n", quoted(&format!("{}. {}", at + 1, event.text)));
    }
    for (at, event) in trace.events.iter().enumerate() {
        for &cause in &event.causes {
            let style = if event.sent_by == Some(cause) { "" } else { " [style=dashed]" };
            text += &format!("  e{cause} -> e{at}{style};\n");
        }
    }
    text + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
