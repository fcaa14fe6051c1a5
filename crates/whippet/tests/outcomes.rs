//! Results of executions, and states that have to be reachable.

use std::collections::BTreeSet;
use whippet::model::FindingKind;
use whippet::prelude::*;

#[derive(Clone, Debug, Default, Hash)]
struct Cell {
    value: u32,
    writes: u32,
}

impl Actor for Cell {
    type Msg = u32;
    const HASHES: Hashes<Self> = Hashes::of();
    async fn handle(&mut self, value: u32, _cx: &mut Cx<Self>) {
        self.value = value;
        self.writes += 1;
    }
}

fn last_write(sys: &mut System) {
    let cell = sys.spawn(Cell::default());
    (1..=3).for_each(|n| sys.send(cell, n));
    sys.outcome(cell, |cell| cell.value);
    sys.outcome(cell, |cell| cell.writes);
}

#[test]
fn every_search_lists_the_same_results() {
    for &reduction in Reduction::ALL {
        let checker = Checker::new("last write").reduction(reduction).samples(200).seed(1).partial_is_enough();
        let verdict = checker.explore(last_write).unwrap();
        let results: Vec<&str> = verdict.outcomes.iter().map(|outcome| outcome.message.as_str()).collect();
        assert_eq!(results, ["1", "2", "3", "3"], "{reduction}");
        // Each has a schedule, of the steps of this actor, and replays.
        for outcome in &verdict.outcomes {
            let replayed = whippet::search::replay(&checker.program(last_write), &outcome.schedule).unwrap();
            let shows = |p: &whippet::model::Problem| (p.kind, p.key) == (FindingKind::Outcome, outcome.key);
            assert!(replayed.problems.iter().any(shows), "{reduction}");
        }
        assert!(verdict.findings.is_empty() && verdict.warnings.is_empty());
    }
}

#[test]
fn results_are_listed_per_declaration() {
    let verdict = Checker::new("last write").explore(last_write).unwrap();
    let run = whippet::report::RunInfo::new("last write", &Default::default());
    let text = whippet::report::plain(&whippet::report::text(&run, &verdict, &[]));
    let listed: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("results at")).take(7).collect();
    assert_eq!(
        listed[1..4],
        ["  1  (in 2 of 6 executions)", "  2  (in 2 of 6 executions)", "  3  (in 2 of 6 executions)"]
    );
    assert!(listed[5].starts_with("results at") && listed[6] == "  3  (in 6 of 6 executions)", "{text}");
    assert_eq!(whippet::report::passing(&verdict), "every order was covered, in 6 executions; 4 results: 1, 2, 3, 3");
    let json = whippet::report::json(&run, &verdict);
    assert_eq!((&json["outcomes"][0]["message"], json["outcomes"].as_array().unwrap().len()), (&"1".into(), 4));
}

#[test]
fn results_that_differ_are_a_finding_if_the_test_says_so() {
    let failure = Checker::new("last write").try_check(|sys| {
        last_write(sys);
        sys.deterministic();
    });
    let failure = failure.unwrap_err().to_string();
    assert!(failure.contains("3 different ones: 1, 2, 3; this execution gives 2"), "{failure}");
    assert!(failure.ends_with("1 finding in 6 executions\n"), "one declaration has one result: {failure}");
}

#[test]
fn without_results_nothing_can_differ() {
    let error = Checker::new("nothing").try_check(System::deterministic).unwrap_err().to_string();
    assert!(error.contains("declare one with `System::outcome`"), "{error}");
}

#[test]
fn executions_with_a_finding_have_no_result() {
    let verdict = Checker::new("fails").explore(|sys| {
        let cell = sys.spawn(Cell::default());
        (1..=2).for_each(|n| sys.send(cell, n));
        sys.always(cell, |cell| assert!(cell.writes < 2 || cell.value == 2));
        sys.outcome(cell, |cell| cell.value);
    });
    let verdict = verdict.unwrap();
    assert_eq!((verdict.findings.len(), verdict.outcomes.len()), (1, 1));
    assert_eq!(verdict.outcomes[0].message, "2");
}

/// A state of several actors is reached in between, and in some orders only.
fn meet(wanted: u32) -> impl Fn(&mut System) + Send + Sync + 'static {
    move |sys| {
        let cells = [(); 2].map(|()| sys.spawn(Cell::default()));
        for cell in cells {
            (1..=2).for_each(|n| sys.send(cell, n));
        }
        let [a, b] = cells.map(|cell| cell.only(|cell| cell.value));
        sys.sometimes((a, b), move |(a, b)| a + b == wanted);
    }
}

#[test]
fn every_search_reaches_what_can_be_reached() {
    for &reduction in Reduction::ALL.iter().filter(|r| !matches!(r, Reduction::Transdpor | Reduction::Dcute)) {
        let checker = Checker::new("meet").reduction(reduction).samples(200).seed(1).partial_is_enough();
        let verdict = checker.explore(meet(4)).unwrap();
        assert!(verdict.findings.is_empty(), "{reduction}");
        let [reached] = &verdict.outcomes[..] else { panic!("{reduction}: {:?}", verdict.outcomes) };
        assert_eq!(reached.schedule.decisions.len(), 2, "{reduction}");
        let verdict = checker.explore(meet(5)).unwrap();
        let unreached = verdict.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>();
        // A sample proves nothing.
        assert_eq!(unreached, if verdict.complete { vec![FindingKind::Unreached] } else { vec![] }, "{reduction}");
    }
}

#[test]
fn an_unreached_state_has_no_schedule_to_replay() {
    let failure = Checker::new("meet").try_check(meet(9)).unwrap_err().to_string();
    assert!(
        failure.starts_with("unreached: `sometimes` never holds: no execution reaches such a state at "),
        "{failure}"
    );
    assert!(!failure.contains("replay:"), "{failure}");
}

/// A choice decides which field a handler changes, so its branches have different footprints.
#[test]
fn branches_that_touch_different_fields_are_all_explored() {
    #[derive(Clone, Debug, Default)]
    struct Pair {
        a: Tracked<u32>,
        b: Tracked<u32>,
    }
    impl Actor for Pair {
        type Msg = u32;
        const FIELDS: bool = true;
        async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
            match n {
                0 if cx.choose(2) == 0 => *self.a += 1,
                0 => *self.b += 1,
                1 => *self.b *= 2,
                _ => *self.a *= 3,
            }
        }
    }
    let results = |reduction| {
        let checker = Checker::new("pair").reduction(reduction);
        let verdict = checker.explore(|sys| {
            let pair = sys.spawn(Pair { a: Tracked::new(1), b: Tracked::new(1) });
            [0, 1, 2, 0].into_iter().for_each(|n| sys.send(pair, n));
            sys.outcome(pair, |pair| (*pair.a, *pair.b));
        });
        verdict.unwrap().outcomes.into_iter().map(|outcome| outcome.message).collect::<BTreeSet<_>>()
    };
    let wanted = results(Reduction::Exhaustive);
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Udpor] {
        assert_eq!(results(reduction), wanted, "{reduction}");
    }
}
