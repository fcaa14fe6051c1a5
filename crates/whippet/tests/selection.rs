//! Tests of the selection of native actors and messages from sample executions: the order `stable`, and marks.

use whippet::model::{ConflictRule, Marks, Verdict};
use whippet::prelude::*;

/// A registry with a field for workers and one for others; workers register when they are told to.
#[derive(Clone, Debug, Default)]
struct Registry {
    others: Tracked<u32>,
    workers: Tracked<Vec<u32>>,
}

#[derive(Clone, Debug)]
enum Register {
    Other,
    Worker(u32),
}

impl Actor for Registry {
    type Msg = Register;
    const FIELDS: bool = true;

    async fn handle(&mut self, msg: Register, _cx: &mut Cx<Self>) {
        match msg {
            Register::Other => *self.others += 1,
            Register::Worker(id) => self.workers.push(id),
        }
    }
}

#[derive(Clone, Debug)]
struct Worker(u32);

impl Actor for Worker {
    type Msg = Addr<Registry>;

    async fn handle(&mut self, registry: Addr<Registry>, cx: &mut Cx<Self>) {
        cx.send(registry, Register::Worker(self.0));
    }
}

fn workers(sys: &mut System) {
    let registry = sys.spawn(Registry::default());
    sys.send(registry, Register::Other);
    for id in 0..3 {
        let worker = sys.spawn(Worker(id));
        sys.send(worker, registry);
    }
}

fn explore(reduction: Reduction, order: Order, rule: ConflictRule) -> Verdict {
    Checker::new("workers").reduction(reduction).order(order).conflict_rule(rule).explore(workers).unwrap()
}

#[test]
fn stable_actors_go_first_and_marks_leave_out_what_commutes() {
    for reduction in [Reduction::Persistent, Reduction::Transdpor, Reduction::Source, Reduction::Optimal] {
        let count = |order, tasks| explore(reduction, order, tasks).counters.executions;
        assert_eq!(count(Order::Stable, ConflictRule::Actors), 24, "4! orders at the registry, by {reduction}");
        for marks in [Marks::Literal, Marks::Persisting] {
            let marked = count(Order::Stable, ConflictRule::Marks(marks));
            assert!((6..24).contains(&marked), "{marked} executions of {reduction} with {marks:?}");
        }
    }
    assert_eq!(
        explore(Reduction::Optimal, Order::Default, ConflictRule::Fields).counters.executions,
        6,
        "3! orders of one field"
    );
    assert_eq!(explore(Reduction::Udpor, Order::Default, ConflictRule::Fields).counters.executions, 6);
}

#[test]
fn nobody_can_send_to_the_workers_but_they_can_to_the_registry() {
    let stable = explore(Reduction::Persistent, Order::Stable, ConflictRule::Actors).counters;
    assert_eq!(stable.unstable, Some(0), "a worker, and at the end the registry, is stable");
    let registry_first = explore(Reduction::Persistent, Order::Fifo, ConflictRule::Actors).counters;
    assert!(
        stable.executions < registry_first.executions,
        "{} against {}",
        stable.executions,
        registry_first.executions
    );
}

#[test]
fn the_reader_is_told_what_this_rests_on() {
    let notes = explore(Reduction::Persistent, Order::Stable, ConflictRule::Marks(Marks::Literal)).notes.join("\n");
    assert!(
        notes.contains("marks on messages may miss") && notes.contains("affects only the order of the search"),
        "{notes}"
    );
    let notes = explore(Reduction::Optimal, Order::Default, ConflictRule::Fields).notes.join("\n");
    assert!(!notes.contains("sample"), "{notes}");
}
