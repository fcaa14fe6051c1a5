//! Whippet, through its public API, with one worker and all checks on.

use std::sync::Arc;
use std::time::Duration;
use whippet::Delivery;
use whippet::search::{Options, Reduction, explore};
use whippet_bench::{Counts, Workload};

/// Searches to the end, or for at most `longest`.
pub(crate) fn run(workload: Workload, reduction: Reduction, longest: Option<Duration>) -> Result<Counts, String> {
    let (subject, settings, delivery) = subject(workload);
    let settings = settings.iter().map(|(name, value)| (*name, value.as_str()));
    let subject = whippet_subjects::find(subject).map_err(|error| error.to_string())?;
    let program = subject.program(settings).map_err(|error| error.to_string())?.delivery(delivery);
    // As with the other tools, each delivery is a step.
    let mut options = Options::new(reduction).with_jobs(1).with_put_off_idle(false);
    options.limits.time = longest;
    let verdict = explore(Arc::new(program), &options, &()).map_err(|error| error.to_string())?;
    assert!(verdict.findings.is_empty(), "{workload} has no bugs, but: {:?}", verdict.findings);
    let stateful = reduction == Reduction::Stateful;
    Ok(Counts {
        executions: (!stateful).then_some(verdict.counters.executions),
        states: verdict.counters.states,
        transitions: verdict.counters.transitions,
        complete: verdict.complete,
    })
}

/// Returns the subject, its settings and the delivery of its messages.
fn subject(workload: Workload) -> (&'static str, Vec<(&'static str, String)>, Delivery) {
    let unordered = Delivery::Unordered;
    match workload {
        Workload::Pi(workers) => ("pi", vec![("workers", workers.to_string())], unordered),
        Workload::Registry(workers) => ("registry", vec![("workers", workers.to_string())], unordered),
        Workload::Fib(n) => ("fib", vec![("n", n.to_string())], unordered),
        Workload::Producers { k, fifo, sum } => {
            let keep = if sum { "sum" } else { "all" };
            let delivery = if fifo { Delivery::Fifo } else { unordered };
            ("producers", vec![("k", k.to_string()), ("keep", keep.into())], delivery)
        }
        Workload::Leader(n) => ("leader", vec![("n", n.to_string())], unordered),
        Workload::Chameneos(meetings) => ("chameneos", vec![("meetings", meetings.to_string())], unordered),
    }
}
