//! Prints the table of protocols in `docs/protocols.md`: executions of `optimal`, states of `stateful`, CPU seconds, and what is found.
//!
//! Run it: `cargo run --release -p whippet-subjects --example protocols`

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use whippet::report::Meter;
use whippet_model::Verdict;
use whippet_search::{Options, Reduction, explore};

/// Searches with more executions are not completed.
const MOST: u64 = 100_000;

fn main() {
    let faulty = [
        ("2pc", "hasty"),
        ("raft-election", "forgets-vote"),
        ("abd", "no-majority"),
        ("paxos", "own-value"),
        ("chain", "reads-anywhere"),
        ("crdt-counter", "adds"),
        ("work-queue", "repeats"),
        ("leases", "no-fencing"),
    ];
    println!("| protocol | version | executions, CPU s | states, CPU s | found |\n|---|---|---|---|---|");
    for (name, faulty) in faulty {
        for version in ["correct", faulty] {
            let (stateful, states_took) = timed(name, version, Reduction::Stateful);
            let (optimal, executions_took) = timed(name, version, Reduction::Optimal);
            let more = if optimal.complete { "" } else { "> " };
            let found =
                stateful.findings.first().map_or("–", |finding| finding.message.lines().next().unwrap_or("–"));
            println!(
                "| `{name}` | `{version}` | {more}{}, {executions_took:.2} | {}, {states_took:.2} | {found} |",
                optimal.counters.executions,
                stateful.counters.states.unwrap_or_default(),
            );
        }
    }
}

fn timed(name: &str, version: &str, reduction: Reduction) -> (Verdict, f64) {
    let subject = whippet_subjects::find(name).expect("it is a subject");
    let program = subject.program([("version", version)]).expect("it has this version");
    let mut options = Options::new(reduction);
    options.limits.executions = Some(MOST);
    let meter = Meter::start();
    let verdict = explore(Arc::new(program), &options, &()).expect("the search has a verdict");
    (verdict, meter.read().cpu_seconds)
}
