//! A log for ShiViz, which takes the parser expression from the first line of a file, and from the second one the
//! expression that separates executions, which is empty.

use serde_json::{Map, Value};
use whippet_model::Trace;

/// The expression by which ShiViz reads the log.
const EXPRESSION: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

pub(super) fn write(trace: &Trace) -> String {
    let host = |actor: usize| trace.actors[actor].name.replace(char::is_whitespace, "_");
    let mut clocks: Vec<Vec<u64>> = Vec::with_capacity(trace.events.len());
    let mut last = vec![None; trace.actors.len()];
    let mut text = format!("{EXPRESSION}\n\n");
    for (at, event) in trace.events.iter().enumerate() {
        let own = event.actor as usize;
        let mut clock = vec![0; trace.actors.len()];
        for cause in event.causes.iter().map(|&cause| cause as usize).chain(last[own]) {
            clock.iter_mut().zip(&clocks[cause]).for_each(|(mine, &theirs): (&mut u64, _)| *mine = (*mine).max(theirs));
        }
        clock[own] += 1;
        last[own] = Some(at);
        let shown: Map<String, Value> =
            (0..clock.len()).filter(|&k| clock[k] > 0).map(|k| (host(k), clock[k].into())).collect();
        text += &format!("{} {}\n{}\n", host(own), Value::Object(shown), event.text.replace('\n', " "));
        clocks.push(clock);
    }
    text
}
