//! Compares the findings of every search, order and conflict rule on ABS programs with those of exhaustive search.

use std::sync::Arc;
use whippet_abs::{AbsProgram, ConflictRule, Marks};
use whippet_model::{FindingKind, Verdict};
use whippet_search::{Options, Order, Reduction, SearchError, explore};

const RUNNING: &str = include_str!("../../subjects/running.abs");
const EXAMPLES: [&str; 7] =
    ["bank.abs", "bounded_buffer.abs", "chat.abs", "dht.abs", "election.abs", "mail.abs", "philosophers.abs"];

fn program(text: &str, tasks: ConflictRule) -> Arc<AbsProgram> {
    Arc::new(AbsProgram::parse("test.abs", text).unwrap_or_else(|e| panic!("{e}")).conflict_rule(tasks))
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../examples/abs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn found(verdict: &Verdict) -> Vec<(FindingKind, Option<String>)> {
    assert!(verdict.complete);
    let mut found: Vec<_> = verdict.findings.iter().map(|finding| (finding.kind, finding.place.clone())).collect();
    found.sort();
    found
}

/// Returns the searches that miss nothing, with several options.
fn searches() -> Vec<Options> {
    let plain = |reduction| Options::new(reduction);
    let mut all = vec![
        plain(Reduction::Stateful),
        plain(Reduction::Stateful).with_breadth_first(true),
        plain(Reduction::Exhaustive).with_jobs(2),
        plain(Reduction::Udpor),
    ];
    for order in [Order::Default, Order::Stable, Order::Lca] {
        for reduction in [Reduction::Source, Reduction::Optimal] {
            all.push(plain(reduction).with_order(order));
        }
        all.push(plain(Reduction::Persistent).with_order(order).with_sleep(true));
    }
    all
}

#[test]
fn all_searches_agree_on_examples() {
    for name in EXAMPLES {
        let text = example(name);
        let exhaustive = Options::new(Reduction::Exhaustive);
        let truth = found(&explore(program(&text, ConflictRule::Fields), &exhaustive, &()).unwrap());
        for options in searches() {
            for tasks in [ConflictRule::Fields, ConflictRule::Actors] {
                let verdict = explore(program(&text, tasks), &options, &()).unwrap();
                let Options { reduction, order, .. } = options;
                assert_eq!(found(&verdict), truth, "{name}, {reduction}, {order}, {tasks:?}");
                let takes_order = !matches!(reduction, Reduction::Exhaustive | Reduction::Stateful);
                assert_eq!(verdict.counters.unstable.is_some(), takes_order && order == Order::Stable);
            }
        }
    }
}

/// Returns the number of executions of the running example; the paper's numbers are 10, 6 and 2.
#[track_caller]
fn executions(reduction: Reduction, order: Order, tasks: ConflictRule) -> u64 {
    let options = Options::new(reduction).with_order(order);
    explore(program(RUNNING, tasks), &options, &()).unwrap().counters.executions
}

#[test]
fn selection_with_persistent_and_transdpor() {
    assert_eq!(executions(Reduction::Transdpor, Order::Fifo, ConflictRule::Actors), 10);
    let all = [Reduction::Dcute, Reduction::Persistent, Reduction::Transdpor, Reduction::Source, Reduction::Optimal];
    for reduction in all {
        assert_eq!(executions(reduction, Order::Stable, ConflictRule::Actors), 6, "{reduction}");
        for marks in [Marks::Literal, Marks::Persisting] {
            assert_eq!(executions(reduction, Order::Stable, ConflictRule::Marks(marks)), 2, "{reduction}, {marks:?}");
        }
    }
    for reduction in [Reduction::Source, Reduction::Optimal, Reduction::Udpor] {
        assert_eq!(executions(reduction, Order::Default, ConflictRule::Fields), 2, "{reduction}");
    }
    assert_eq!(executions(Reduction::Udpor, Order::Default, ConflictRule::Actors), 6);
}

#[test]
fn marks_report_a_caveat() {
    let options = Options::new(Reduction::Persistent).with_order(Order::Stable);
    let verdict = explore(program(RUNNING, ConflictRule::Marks(Marks::Literal)), &options, &()).unwrap();
    assert!(verdict.notes.iter().any(|note| note.contains("may miss")), "{:?}", verdict.notes);
    assert_eq!((verdict.counters.blocked, verdict.counters.unstable), (3, Some(0)));
}

#[test]
fn unsupported_combinations_are_refused() {
    let waits = example("bank.abs");
    for (text, tasks, reduction, part) in [
        (RUNNING, ConflictRule::Fields, Reduction::Dcute, "choose `optimal`"),
        (&*waits, ConflictRule::Actors, Reduction::Transdpor, "choose `optimal`"),
        (RUNNING, ConflictRule::Marks(Marks::Literal), Reduction::Udpor, "choose the reduction `optimal`"),
    ] {
        let options = Options::new(reduction);
        match explore(program(text, tasks), &options, &()) {
            Err(SearchError::Unsupported(why)) => assert!(why.contains(part), "{reduction}: {why}"),
            other => panic!("{reduction}: {other:?}"),
        }
    }
}

/// A chain of tasks that wait for each other, each with a thread that the search tries everywhere else.
#[test]
fn a_long_chain_of_blocked_tasks_keeps_to_the_limits() {
    let text = "interface A { Unit m(); } class A implements A { Unit m() { A next = new A(); Fut<Unit> f = next!m(); f.get; } }
        { A a = new A(); a!m(); }";
    let mut options = Options::default();
    options.limits.steps = 4_000;
    options.limits.time = Some(std::time::Duration::from_secs(1));
    let program = AbsProgram::parse("chain.abs", text).unwrap();
    let verdict = explore(program.into(), &options, &()).unwrap();
    assert!(!verdict.complete && verdict.findings.iter().any(|finding| finding.kind == FindingKind::Limit));
}
