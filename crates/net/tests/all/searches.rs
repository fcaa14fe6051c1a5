//! Every search against enumeration, on random programs.

use crate::common::{FAMILIES, Family, enumerate, script};
use std::sync::Arc;
use whippet_model::Verdict;
use whippet_net::{Net, interleavings};
use whippet_search::{Options, Reduction, explore};

fn verdict(net: &Net, options: &Options) -> Verdict {
    explore(Arc::new(net.clone()), options, &()).unwrap_or_else(|error| panic!("{error}"))
}

/// How many programs of each family; `WHIPPET_RANDOM_PROGRAMS` says another number.
fn count() -> u64 {
    std::env::var("WHIPPET_RANDOM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

/// The programs of a family that enumeration can manage.
fn programs(family: Family) -> impl Iterator<Item = (Net, String)> {
    (0..count()).map(move |seed| {
        let most = 5 + seed as usize % 5;
        let script = script(family, seed, most);
        (Net::script("random", script.clone()), script.to_string())
    })
}

#[test]
fn each_trace_once() {
    for family in FAMILIES {
        for (net, text) in programs(family) {
            if interleavings(&net).unwrap() > 3_000 {
                continue;
            }
            let all = enumerate(&net);
            for reduction in [Reduction::Udpor, Reduction::Optimal, Reduction::Source] {
                let verdict = verdict(&net, &Options { reduction, ..Options::default() });
                let counters = verdict.counters;
                assert_eq!(counters.executions, all.traces.len() as u64, "{reduction} on\n{text}");
                if reduction != Reduction::Source {
                    assert_eq!(counters.blocked, 0, "{reduction} on\n{text}");
                }
                let deadlocks: Vec<_> = all.ends.iter().filter_map(|end| end.1).collect();
                for key in deadlocks {
                    assert!(verdict.findings.iter().any(|f| f.key == key), "{reduction} misses a deadlock of\n{text}");
                }
            }
        }
    }
}
