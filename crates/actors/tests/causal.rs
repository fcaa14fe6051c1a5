//! The orders in which one actor receives messages under causal delivery, compared with those expected.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_actors::{Actor, ActorProgram, Addr, Cx, Delivery, Inbox, System};
use whippet_model::{Machine, Program};

/// An actor that stores the numbers it receives. It takes numbers above 9 only after a 9.
#[derive(Clone, Debug, Default)]
struct Sink(Vec<u32>);

impl Actor for Sink {
    type Msg = u32;

    async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
        self.0.push(n);
    }

    fn accepts(&self, &n: &u32) -> bool {
        n <= 9 || self.0.contains(&9)
    }
}

/// Returns all orders in which the sink of a program receives its messages under causal delivery.
fn orders(body: impl Fn(&mut System, Addr<Sink>) + Send + Sync + 'static) -> Vec<Vec<u32>> {
    let orders = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = orders.clone();
    let test = ActorProgram::new("causal", move |system: &mut System| {
        let sink = system.spawn(Sink::default());
        body(system, sink);
        let seen = seen.clone();
        system.at_end(sink, move |sink| {
            seen.lock().unwrap().insert(sink.0.clone());
        });
    });
    explore(&mut test.delivery(Delivery::Causal).machine(&Default::default()).unwrap());
    let orders = orders.lock().unwrap();
    orders.iter().cloned().collect()
}

fn explore<M: Machine>(machine: &mut M) {
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    if choices.is_empty() {
        machine.final_problems(&mut Vec::new()).unwrap();
    }
    let depth = machine.depth();
    for choice in choices {
        machine.execute(choice).unwrap();
        explore(machine);
        machine.rewind(depth);
    }
}

/// Creates an actor that sends numbers as it begins.
fn sender(system: &mut System, sink: Addr<Sink>, numbers: &'static [u32]) {
    system.spawn_fn(async move |inbox: &mut Inbox<()>| numbers.iter().for_each(|&n| inbox.send(sink, n)));
}

#[test]
fn sends_of_unrelated_bodies_are_unordered() {
    let seen = orders(|system, sink| {
        sender(system, sink, &[1, 2]);
        sender(system, sink, &[3]);
    });
    assert_eq!(seen, [[1, 2, 3], [1, 3, 2], [3, 1, 2]]);
}

#[test]
fn sends_of_the_test_after_a_creation_are_unordered_with_those_of_the_new_body() {
    let seen = orders(|system, sink| {
        system.send(sink, 1);
        sender(system, sink, &[2]);
        system.send(sink, 3);
    });
    assert_eq!(seen, [[1, 2, 3], [1, 3, 2]]);
}

#[test]
fn sends_of_a_step_after_a_creation_are_unordered_with_those_of_the_new_body() {
    let seen = orders(|system, sink| {
        let creator = system.spawn_fn(async move |inbox: &mut Inbox<()>| {
            inbox.receive().await;
            inbox.send(sink, 1);
            inbox.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(sink, 2));
            inbox.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(sink, 3));
            inbox.send(sink, 4);
        });
        system.send(creator, ());
    });
    assert_eq!(seen, [[1, 2, 3, 4], [1, 2, 4, 3], [1, 3, 2, 4], [1, 3, 4, 2], [1, 4, 2, 3], [1, 4, 3, 2]]);
}

#[test]
fn a_message_orders_what_was_sent_before_it_and_nothing_after_it() {
    let seen = orders(|system, sink| {
        let relay = system.spawn_fn(async move |inbox: &mut Inbox<()>| {
            inbox.receive().await;
            inbox.send(sink, 3);
        });
        system.send(sink, 1);
        system.send(relay, ());
        system.send(sink, 2);
    });
    assert_eq!(seen, [[1, 2, 3], [1, 3, 2]]);
}

/// A check of several actors orders their steps for the search, but not their sends.
#[test]
fn a_check_of_several_actors_orders_no_sends() {
    #[derive(Clone, Debug)]
    struct Teller(Addr<Sink>);
    impl Actor for Teller {
        type Msg = u32;
        async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
            cx.send(self.0, n);
            cx.send(self.0, n + 1);
        }
    }
    let seen = orders(|system, sink| {
        let (one, other) = (system.spawn(Teller(sink)), system.spawn(Teller(sink)));
        sender(system, sink, &[0]);
        system.send(one, 1);
        system.send(other, 3);
        system.always((one, other), |_| ());
    });
    // The numbers 1 and 2, the numbers 3 and 4, and the number 0: 5!/(2! 2!) orders.
    assert_eq!(seen.len(), 30);
}

#[test]
fn settling_orders_later_sends_only() {
    let seen = orders(|system, sink| {
        sender(system, sink, &[11]);
        sender(system, sink, &[12]);
        system.finish_setup();
        system.send(sink, 9);
        system.send(sink, 13);
    });
    assert_eq!(seen, [[9, 11, 12, 13], [9, 12, 11, 13]]);
}
