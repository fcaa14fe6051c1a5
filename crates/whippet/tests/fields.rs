//! Tests of field-level dependence: messages that touch different fields of one actor are not reordered.

use whippet::prelude::*;

#[derive(Clone, Debug)]
enum Msg {
    Register(u32),
    Visit,
    Report,
}

/// A registry of names that also counts visitors.
#[derive(Clone, Debug, Default)]
struct Registry<const FIELDS: bool> {
    names: Tracked<Vec<u32>>,
    visits: Tracked<u32>,
}

impl<const FIELDS: bool> Actor for Registry<FIELDS> {
    type Msg = Msg;
    const FIELDS: bool = FIELDS;

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Register(name) => self.names.push(name),
            Msg::Visit => *self.visits += 1,
            Msg::Report => {
                if self.names.len() == 2 {
                    cx.stop();
                }
            }
        }
    }

    fn accepts(&self, msg: &Msg) -> bool {
        !matches!(msg, Msg::Report) || *self.visits > 0
    }
}

fn program<const FIELDS: bool>(report: bool) -> impl Fn(&mut System) + Send + Sync {
    move |sys: &mut System| {
        let registry = sys.spawn(Registry::<FIELDS>::default());
        for name in [1, 2] {
            sys.send(registry, Msg::Register(name));
        }
        for _ in 0..2 {
            sys.send(registry, Msg::Visit);
        }
        if report {
            sys.send(registry, Msg::Report);
        }
    }
}

fn executions(checker: Checker, body: impl Fn(&mut System) + Send + Sync + 'static) -> u64 {
    let verdict = checker.explore(body).unwrap();
    assert!(verdict.findings.is_empty() && verdict.complete && verdict.counters.blocked == 0);
    verdict.counters.executions
}

#[test]
fn different_fields_commute() {
    assert_eq!(executions(Checker::new("whole"), program::<false>(false)), 24, "4! orders");
    assert_eq!(executions(Checker::new("fields"), program::<true>(false)), 4, "2! orders of each field");
}

#[test]
fn constraints_and_stops_count_too() {
    // The report waits for a visit and may stop the registry: every final state must still be reached.
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let verdicts = [
            Checker::new("whole").reduction(Reduction::Exhaustive).explore(program::<false>(true)).unwrap(),
            Checker::new("fields").reduction(reduction).explore(program::<true>(true)).unwrap(),
        ];
        let [all, fields] = verdicts.map(|verdict| {
            let mut left: Vec<String> = verdict.warnings.iter().map(|warning| warning.message.clone()).collect();
            left.sort();
            (verdict.counters.executions, left)
        });
        assert_eq!(all.1, fields.1, "the same messages can be left over");
        assert!(fields.0 < all.0, "{} against {}", fields.0, all.0);
    }
}
