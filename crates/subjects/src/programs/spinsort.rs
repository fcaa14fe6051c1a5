//! Sorting by a pipeline of fixed length (a program of the dCUTE study).
//!
//! The stages are created from the last to the first, then the source, which sends all values to the first stage at
//! once. A stage keeps the smallest value and forwards the larger one; the stage with `k` stages behind it forwards
//! at most `k` values.
//!
//! Scala: the body of the source starts immediately, without a message. Here the test sends its values.

use super::java_random::JavaRandom;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "spinsort",
    about: "a pipeline of fixed length that sorts what its source sends",
    parameters: &[Parameter::new("n", "4", Values::Number(1, 10), "number of values and stages"), VARIANT],
    reconstructed: None,
    body: |settings| {
        let n = settings.number("n");
        if settings.is_scala() { body(move |sys| scala(sys, n)) } else { body(move |sys| foundry(sys, n)) }
    },
};

fn values(n: usize) -> Vec<i32> {
    JavaRandom::list(9999, n, 1000)
}

#[derive(Clone, Debug, Hash)]
struct Stage {
    next: Option<Addr<Stage>>,
    mine: Option<i32>,
    /// The number of values that it may still forward.
    budget: usize,
}

#[derive(Clone, Debug, Hash)]
struct Value(i32);

impl Actor for Stage {
    type Msg = Value;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Value(value): Value, cx: &mut Cx<Self>) {
        let Some(mine) = self.mine else {
            self.mine = Some(value);
            return;
        };
        if let (Some(next), 1..) = (self.next, self.budget) {
            self.budget -= 1;
            self.mine = Some(mine.min(value));
            cx.send(next, Value(mine.max(value)));
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Source {
    first: Addr<Stage>,
    values: Vec<i32>,
}

#[derive(Clone, Debug, Hash)]
struct Start;

impl Actor for Source {
    type Msg = Start;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Start, cx: &mut Cx<Self>) {
        for &value in &self.values {
            cx.send(self.first, Value(value));
        }
    }
}

fn foundry(sys: &mut System, n: usize) {
    let mut next = sys.spawn(Stage { next: None, mine: None, budget: 0 });
    for budget in 1..n {
        next = sys.spawn(Stage { next: Some(next), mine: None, budget });
    }
    let source = sys.spawn(Source { first: next, values: values(n) });
    sys.send(source, Start);
}

fn scala(sys: &mut System, n: usize) {
    let mut next = None;
    for budget in 0..n {
        next = Some(sys.spawn(Stage { next, mine: None, budget }));
    }
    let first = next.expect("there is at least one stage");
    for value in values(n) {
        sys.send(first, Value(value));
    }
}
