//! Comparison of the states of native actors.

use whippet_actors::{Actor, Cx, Hashes, Inbox, System, Test};
use whippet_model::{Choice, Comparison, Machine, Program};
use whippet_search::{Options, Reduction, StepSize, explore};

fn enabled<M: Machine>(machine: &mut M) -> Vec<Choice> {
    let mut choices = Vec::new();
    machine.enabled(&mut choices);
    choices
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
    for how in [Comparison::Canonical, Comparison::Ordered] {
        let test = Test::new("a child", |system: &mut System| {
            let parent = system.spawn(Parent);
            system.send(parent, 1);
        });
        let mut machine = test.machine().unwrap();
        let start = machine.fingerprint(how).unwrap();
        for _ in 0..2 {
            let choice = enabled(&mut machine)[0];
            machine.execute(choice).unwrap();
        }
        let end = machine.fingerprint(how).unwrap();
        assert_ne!(start, end);
        machine.rewind(0);
        assert_eq!(machine.fingerprint(how).unwrap(), start);
    }
}

/// With big steps, the states of configurations with a single choice are not compared.
#[test]
fn a_stateful_search_with_big_steps_passes_over_the_steps_of_a_new_actor() {
    let test = Test::new("children", |system: &mut System| {
        let parent = system.spawn(Parent);
        system.send(parent, 1);
        system.send(parent, 2);
    });
    let options = Options { reduction: Reduction::Stateful, step: StepSize::Big, ..Options::default() };
    let verdict = explore(test.into(), &options, &()).unwrap();
    assert!(verdict.complete && verdict.findings.is_empty());
}
