//! Two producers and one consumer: the simplest race.
//!
//! Each producer, once started, sends `k` numbers. The consumer keeps either all of them in order of arrival, as the
//! digits of one number, or only their sum, in which case a stateful search finds equal states.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "producers",
    about: "two producers send k messages each to one consumer",
    parameters: &[
        Parameter::new("k", "3", Values::Number(1, 8), "number of messages that each sends"),
        Parameter::new("keep", "all", Values::OneOf(&["all", "sum"]), "what the consumer keeps"),
    ],
    reconstructed: None,
    body: |settings| {
        let (k, all) = (settings.number("k"), settings.text("keep") == "all");
        body(move |sys| {
            let consumer = sys.spawn(Consumer { all, kept: 0 });
            let producers = [0, 1].map(|id| sys.spawn(Producer { consumer, first: id * k, k }));
            for producer in producers {
                sys.send(producer, Start);
            }
        })
    },
};

#[derive(Clone, Debug, Hash)]
struct Consumer {
    all: bool,
    kept: u64,
}

#[derive(Clone, Debug, Hash)]
struct Item(usize);

impl Actor for Consumer {
    type Msg = Item;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Item(item): Item, _: &mut Cx<Self>) {
        // Two producers of at most eight items each: 16 hexadecimal digits.
        self.kept = if self.all { self.kept << 4 } else { self.kept } + item as u64;
    }
}

#[derive(Clone, Debug, Hash)]
struct Producer {
    consumer: Addr<Consumer>,
    first: usize,
    k: usize,
}

#[derive(Clone, Debug, Hash)]
struct Start;

impl Actor for Producer {
    type Msg = Start;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Start, cx: &mut Cx<Self>) {
        for item in self.first..self.first + self.k {
            cx.send(self.consumer, Item(item));
        }
    }
}
