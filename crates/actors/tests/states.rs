//! Comparison of the states of native actors.

use whippet_actors::{Actor, ActorProgram, Cx, Delivery, Hashes, Inbox, Recipient, System};
use whippet_model::{Choice, Machine, Program, Remembered, StateComparison};
use whippet_search::{Options, Reduction, StepSize, explore};

fn enabled<M: Machine>(machine: &mut M) -> Vec<Choice> {
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    choices
}

/// An actor that passes numbers on and remembers how many; the second is followed by a 0.
#[derive(Clone, Debug, Hash)]
struct Relay(Recipient<u32>, u32);

impl Actor for Relay {
    type Msg = u32;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
        cx.send(self.0, n);
        self.1 += 1;
        if self.1 == 2 {
            cx.send(self.0, 0);
        }
    }
}

/// An actor that creates a child for each number and sends the number to it.
#[derive(Clone, Debug, Hash)]
struct Parent;

impl Actor for Parent {
    type Msg = u32;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
        let child = cx.spawn_fn(async |inbox: &mut Inbox<u32>| {
            loop {
                inbox.receive().await;
            }
        });
        cx.send(child, n);
    }
}

#[test]
fn steps_of_a_new_actor_can_be_undone_between_comparisons() {
    for how in [StateComparison::Canonical, StateComparison::Ordered] {
        let test = ActorProgram::new("a child", |system: &mut System| {
            let parent = system.spawn(Parent);
            system.send(parent, 1);
        });
        let mut machine = test.machine(&Default::default()).unwrap();
        let start = machine.fingerprint().unwrap().of_configuration(how).unwrap();
        for _ in 0..2 {
            let choice = enabled(&mut machine)[0];
            machine.execute(choice).unwrap();
        }
        let end = machine.fingerprint().unwrap().of_configuration(how).unwrap();
        assert_ne!(start, end);
        machine.rewind(0);
        assert_eq!(machine.fingerprint().unwrap().of_configuration(how).unwrap(), start);
    }
}

/// With big steps, the states of configurations with a single choice are not compared.
#[test]
fn a_stateful_search_with_big_steps_passes_over_the_steps_of_a_new_actor() {
    let test = ActorProgram::new("children", |system: &mut System| {
        let parent = system.spawn(Parent);
        system.send(parent, 1);
        system.send(parent, 2);
    });
    let options = Options::new(Reduction::Stateful).with_step(StepSize::Big);
    let verdict = explore(test.into(), &options, &()).unwrap();
    assert!(verdict.complete && verdict.findings.is_empty());
}

/// Two numbers reach the last actor in the order in which the relay has passed them on, and one order is wrong.
#[test]
fn states_with_different_orders_of_delivery_differ() {
    let body = |system: &mut System| {
        let last = system.spawn_fn(async |inbox: &mut Inbox<u32>| {
            inbox.receive_if(|&n| n == 0).await;
            assert!(inbox.receive().await == 1, "overtaken");
        });
        let relay = system.spawn(Relay(last, 0));
        for n in [1, 2] {
            system.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(relay, n));
        }
    };
    agree(body, [Delivery::Fifo, Delivery::Causal]);
}

/// An actor that sends a 1 to the last actor and a message to another, in the order in which it is told, and then a 0 to
/// the last actor.
#[derive(Clone, Debug, Hash)]
struct Teller(Recipient<u32>, Recipient<()>, u32);

impl Actor for Teller {
    type Msg = bool;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, number: bool, cx: &mut Cx<Self>) {
        if number {
            cx.send(self.0, 1);
        } else {
            cx.send(self.1, ());
        }
        self.2 += 1;
        if self.2 == 2 {
            cx.send(self.0, 0);
        }
    }
}

/// The 2 of the actor that was told may overtake the 1 only if the 1 was sent afterwards.
#[test]
fn states_in_which_actors_know_of_different_messages_differ() {
    let body = |system: &mut System| {
        let last = system.spawn_fn(async |inbox: &mut Inbox<u32>| {
            inbox.receive_if(|&n| n == 0).await;
            assert!(inbox.receive().await == 1, "overtaken");
        });
        let told = system.spawn_fn(async move |inbox: &mut Inbox<()>| {
            inbox.receive().await;
            inbox.receive().await;
            inbox.send(last, 2);
        });
        let teller = system.spawn(Teller(last, told, 0));
        for number in [true, false] {
            system.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(teller, number));
        }
        system.send(told, ());
    };
    agree(body, [Delivery::Causal]);
}

/// Asserts that exhaustive and stateful searches have one finding.
fn agree(body: impl Fn(&mut System) + Copy + Send + Sync + 'static, deliveries: impl IntoIterator<Item = Delivery>) {
    for delivery in deliveries {
        for (reduction, comparison) in [
            (Reduction::Exhaustive, StateComparison::Canonical),
            (Reduction::Stateful, StateComparison::Canonical),
            (Reduction::Stateful, StateComparison::Ordered),
            (Reduction::Stateful, StateComparison::BassetActor(Remembered::Nothing)),
            (Reduction::Stateful, StateComparison::BassetActor(Remembered::Sender)),
            (Reduction::Stateful, StateComparison::BassetJpf(Remembered::Message)),
        ] {
            let options = Options::new(reduction).with_comparison(comparison);
            let verdict = explore(ActorProgram::new("order", body).delivery(delivery).into(), &options, &()).unwrap();
            assert_eq!(verdict.findings.len(), 1, "{delivery}, {reduction}, {comparison:?}");
        }
    }
}
