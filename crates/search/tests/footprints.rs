//! Persistent sets with dependence by footprints: fields of actors, mailboxes and mutexes.

use whippet_generate::{Random, Setting, Size, answer, compare, draw};
use whippet_model::{MachineError, Program};
use whippet_net::{Action, Net, Script};
use whippet_search::toy::{Delivery, Granularity};
use whippet_search::{Order, Reduction, SearchError, explore};

use Action::{Lock, MutexTest, MutexWait, Receive, Send, Test, Unlock, Wait};

const ORDERS: [Order; 5] = [Order::Fifo, Order::Lca, Order::Hdm, Order::Hms, Order::Sgr];

/// Compares persistent sets with the exhaustive search. Returns the number of traces, or `None` if the program is too
/// large.
fn judged<P: Program + Clone + std::marker::Send + 'static>(program: &P, text: &str) -> Option<usize> {
    let size = Size { executions: 2_000, steps: 40 };
    let all = answer(program, &Setting::of(Reduction::Exhaustive), Some(size)).unwrap()?;
    for order in ORDERS {
        for sleep in [false, true] {
            let setting = Setting { order, sleep, ..Setting::of(Reduction::Persistent) };
            let found = answer(program, &setting, None).unwrap_or_else(|f| panic!("{f}\n{text}")).unwrap();
            if let Err(what) = compare(&all, &found, &setting) {
                panic!("{setting}: {what}\n{text}");
            }
        }
    }
    Some(all.log.traces.len())
}

fn net(processes: Vec<Vec<Action>>) -> (Net, String) {
    let script = Script::new(processes).unwrap();
    (Net::script("net", script.clone()), script.to_string())
}

#[test]
fn backtracking_with_sleep_sets_loses_nothing_of_the_programs_on_which_it_is_known_to() {
    let programs = [
        vec![vec![Receive(1), Send(0)], vec![Receive(1), Send(0)], vec![Receive(0), Receive(1)]],
        vec![vec![Send(0), Send(1), Send(1)], vec![Send(1), Receive(1)], vec![Send(1), Send(0)]],
        vec![vec![Lock(1), Lock(0)], vec![Lock(1), Lock(0)], vec![Lock(1), Unlock(1), Lock(1)]],
    ];
    for processes in programs {
        let (net, text) = net(processes);
        assert!(judged(&net, &text).is_some_and(|traces| traces >= 12), "{text}");
    }
}

/// Returns one more action for a process, if the one drawn makes sense.
fn action(dice: &mut Random, before: &[Action]) -> Option<Action> {
    let requests = (0..before.len()).filter(|&k| matches!(before[k], Send(_) | Receive(_))).collect::<Vec<_>>();
    let x = dice.below(2);
    let locked =
        |x| before.iter().filter(|a| **a == Lock(x)).count() > before.iter().filter(|a| **a == Unlock(x)).count();
    match dice.below(8) {
        0 | 1 => Some(Send(x)),
        2 | 3 => Some(Receive(x)),
        4 if !requests.is_empty() => Some(Test(requests)),
        5 if !requests.is_empty() => Some(Wait(requests)),
        6 if locked(x) => Some([Unlock(x), MutexTest(vec![x]), MutexWait(vec![x])][dice.below(3)].clone()),
        6 | 7 => Some(Lock(x)),
        _ => None,
    }
}

#[test]
fn random_mailbox_programs() {
    let mut count = 0;
    for seed in 0..400 {
        let mut dice = Random::new(seed);
        let mut processes = vec![Vec::new(); 2 + dice.below(2)];
        for _ in 0..5 + dice.below(4) {
            let process = dice.below(processes.len());
            let next = action(&mut dice, &processes[process]);
            processes[process].extend(next);
        }
        let (net, text) = net(processes);
        count += usize::from(judged(&net, &text).is_some());
    }
    assert!(count > 100, "only {count} programs were small enough");
}

#[test]
fn random_actor_programs_with_footprints() {
    let mut count = 0;
    for seed in 0..300 {
        let mut program = draw(seed);
        program.granularity =
            if program.delivery == Delivery::Unordered { Granularity::Fields } else { Granularity::Footprint };
        count += usize::from(judged(&program, &program.to_string()).is_some());
        program.granularity = Granularity::Footprint;
        count += usize::from(judged(&program, &program.to_string()).is_some());
    }
    assert!(count > 100, "only {count} programs were small enough");
}

#[test]
fn searches_for_plain_actors_say_what_to_use_instead() {
    let (net, _) = net(vec![vec![Send(0)], vec![Send(0)]]);
    for reduction in [Reduction::Dcute, Reduction::Transdpor] {
        let options = Setting::of(reduction).options();
        let error = explore(std::sync::Arc::new(net.clone()), &options, &()).unwrap_err();
        assert!(!matches!(error, SearchError::Program(MachineError::Misuse(_))));
        assert!(error.to_string().contains("choose `optimal`, `source` or `persistent`"), "{error}");
    }
}
