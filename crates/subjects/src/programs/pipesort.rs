//! Sorting by a pipeline that grows (a modified program of the dCUTE study).
//!
//! The source sends `Feed` messages to itself: on each, it pushes the next value into the first stage, which it
//! creates on the first `Feed`. A stage keeps the smallest value it has received and pushes the larger one to its
//! successor, which it creates when first needed.

use super::java_random::JavaRandom;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "pipesort",
    about: "a pipeline that sorts and grows as values come",
    parameters: &[Parameter::new("n", "4", Values::Number(1, 10), "number of values")],
    reconstructed: None,
    body: |settings| {
        let n = settings.number("n");
        body(move |sys| {
            let source = sys.spawn(Source { values: JavaRandom::list(9999, n, 1000), first: None });
            sys.send(source, Feed(n));
        })
    },
};

#[derive(Clone, Debug, Hash)]
struct Source {
    values: Vec<i32>,
    first: Option<Addr<Stage>>,
}

/// The number of values left to feed.
#[derive(Clone, Debug, Hash)]
struct Feed(usize);

impl Actor for Source {
    type Msg = Feed;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Feed(left): Feed, cx: &mut Cx<Self>) {
        if left == 0 {
            return;
        }
        let first = *self.first.get_or_insert_with(|| cx.spawn(Stage::default()));
        cx.send(first, Push(self.values[self.values.len() - left]));
        cx.send(cx.this(), Feed(left - 1));
    }
}

#[derive(Clone, Debug, Default, Hash)]
struct Stage {
    mine: Option<i32>,
    next: Option<Addr<Stage>>,
}

#[derive(Clone, Debug, Hash)]
struct Push(i32);

impl Actor for Stage {
    type Msg = Push;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Push(value): Push, cx: &mut Cx<Self>) {
        let Some(mine) = self.mine else {
            self.mine = Some(value);
            return;
        };
        let next = *self.next.get_or_insert_with(|| cx.spawn(Stage::default()));
        self.mine = Some(mine.min(value));
        cx.send(next, Push(mine.max(value)));
    }
}
