//! Chrome's trace event format: a thread for each actor, a slice for each event, a flow for each message. Time is the
//! number of the step, one step per millisecond.

use super::actor;
use serde_json::{Value, json};
use whippet_model::Trace;

pub(super) fn write(trace: &Trace) -> String {
    let name = |(k, actor): (usize, &whippet_model::TraceActor)| json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": k, "args": { "name": actor.name } });
    let mut events: Vec<Value> = trace.actors.iter().enumerate().map(name).collect();
    for (at, event) in trace.events.iter().enumerate() {
        let (tid, start) = (event.actor, at * 1000);
        let effects: Vec<_> = event.effects.iter().map(|effect| &effect.text).collect();
        let args = json!({ "step": at + 1, "actor": actor(trace, at), "sent_at": event.sent_at, "effects": effects });
        events.push(
            json!({ "ph": "X", "name": event.text, "pid": 1, "tid": tid, "ts": start, "dur": 900, "args": args }),
        );
        if let Some(cause) = event.sent_by.map(|cause| cause as usize) {
            let flow = |phase: &str, tid: u32, ts: usize| json!({ "ph": phase, "bp": "e", "name": "message", "cat": "message", "id": at, "pid": 1, "tid": tid, "ts": ts });
            events.push(flow("s", trace.events[cause].actor, cause * 1000 + 899));
            events.push(flow("f", tid, start));
        }
    }
    json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string()
}
