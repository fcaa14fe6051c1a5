//! Tests that parse and explore all programs in `examples/net`.

use std::path::Path;
use std::sync::Arc;
use whippet_model::FindingKind;
use whippet_net::Net;
use whippet_search::{Options, Reduction, explore};

/// The number of traces and of deadlocked traces for each file.
const KNOWN: [(&str, u64, u64); 4] =
    [("master-worker-deadlock", 2, 1), ("philosophers", 3, 1), ("polling", 14, 0), ("wait-deadlock", 1, 1)];

#[test]
fn example_files_have_known_traces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/net");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), KNOWN.len());
    for (file, (name, traces, deadlocks)) in files.iter().zip(KNOWN) {
        assert_eq!(file.file_stem().unwrap(), name);
        let net = Net::parse(name, &std::fs::read_to_string(file).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        for reduction in [Reduction::Udpor, Reduction::Optimal] {
            let verdict = explore(Arc::new(net.clone()), &Options::new(reduction), &()).unwrap();
            let deadlocked =
                verdict.findings.iter().filter(|f| f.kind == FindingKind::Deadlock).map(|f| f.executions).sum();
            assert_eq!((verdict.counters.executions, deadlocked), (traces, deadlocks), "{name}, {reduction}");
        }
    }
}

#[test]
fn parse_errors_have_line_and_column() {
    let check = |text: &str, place: (usize, usize), message: &str| {
        let error = Net::parse("wrong", text).unwrap_err();
        assert_eq!((error.line, error.column), place, "{error}");
        assert!(error.message.contains(message), "{error}");
    };
    check("", (1, 1), "no processes");
    check("# only a comment", (1, 1), "no processes");
    check("S0 W0\n\n  R0 Q", (3, 6), "expected one of: S0 send");
    check("S0 W1", (1, 4), "own earlier actions");
    check("S0 W7", (1, 4), "0 to 0");
    check("W0", (1, 1), "no earlier action");
    check("S0 L W1", (1, 6), "is not a communication");
    check("S0 W0,0", (1, 4), "listed twice");
    check("S0 Wx", (1, 4), "put `x=` before");
    check("a=S0 b=S0 Wc", (1, 11), "(it has `a`, `b`)");
    check("K0 U1", (1, 4), "has not requested the mutex that it unlocks");
    check("K0 U0 U0", (1, 7), "has not requested the mutex that it unlocks");
    check("MW0", (1, 1), "has not requested the mutex");
    check("S", (1, 1), "write `S0`");
    check("S0,1", (1, 1), "not a list");
    check("L1", (1, 1), "takes no number");
    check("S0 W", (1, 4), "specify what to wait for");
    check("S0 W?", (1, 4), "not a number or name");
    check("ä: S0 W1", (1, 7), "own earlier actions");
}

#[test]
fn master_worker_deadlock_message() {
    let text = include_str!("../../../../examples/net/master-worker-deadlock.net");
    let net = Net::parse("master-worker-deadlock", text).unwrap();
    assert!(whippet_net::interleavings(&net).unwrap() > 10_000);
    let options = Options::new(Reduction::Udpor);
    let verdict = explore(Arc::new(net), &options, &()).unwrap();
    assert_eq!(
        verdict.findings[0].message,
        "no process can continue\n  \
         master waits for its send on mailbox go (action 6); worker1 would receive there later (action 4)\n  \
         worker1 waits for its send on mailbox result (action 2); master would receive there later (action 8), \
         master's receive was matched with the send of worker2 (action 3)"
    );
}
