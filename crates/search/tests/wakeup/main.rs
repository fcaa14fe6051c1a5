//! Searches with dependence by footprints: wakeup trees and source sets.

pub(crate) mod threads;
pub(crate) mod touching;

use threads::{Op, Threads};
use touching::Touching;
use whippet_generate::{Setting, Size, answer, compare};
use whippet_model::Program;
use whippet_search::toy::Delivery;
use whippet_search::{Order, Reduction};

/// Checks that both searches agree with the exhaustive one. Returns the number of traces, or `None` if the program is
/// too large.
fn traces<P: Program + Clone + Send + 'static>(program: &P, order: Order, shown: &str) -> Option<usize> {
    let all = answer(program, &Setting::of(Reduction::Exhaustive), Some(Size { executions: 4_000, steps: 40 }));
    let all = all.unwrap()?;
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let setting = Setting { order, ..Setting::of(reduction) };
        let found = answer(program, &setting, None).unwrap_or_else(|f| panic!("{f}\n{shown}")).unwrap();
        if let Err(what) = compare(&all, &found, &setting) {
            panic!("{setting}: {what}\n{shown}");
        }
        assert_eq!(found.verdict.counters.executions, all.log.traces.len() as u64, "{setting}\n{shown}");
        if reduction == Reduction::Optimal {
            assert_eq!(found.verdict.algorithm, Some(whippet_model::Algorithm::WakeupTrees));
        }
    }
    Some(all.log.traces.len())
}

/// Returns the orders that need no knowledge of the program's text.
fn orders() -> Vec<Order> {
    Order::ALL.iter().copied().filter(|&order| order != Order::Stable).collect()
}

fn of_threads<const N: usize>(threads: [Vec<Op>; N]) -> Option<usize> {
    let program = Threads(threads.to_vec());
    let counts: Vec<_> = orders().iter().map(|&order| traces(&program, order, &program.to_string())).collect();
    counts.iter().all(|count| *count == counts[0]).then(|| counts[0].expect("it is small"))
}

#[test]
fn reads_and_writes() {
    use Op::{Read, Write};
    assert_eq!(of_threads([vec![Read(0)], vec![Read(0)]]), Some(1));
    assert_eq!(of_threads([vec![Write(0)], vec![Read(0)], vec![Read(0)]]), Some(4));
    assert_eq!(of_threads([vec![Write(0), Write(1)], vec![Read(0)], vec![Read(1)]]), Some(4));
}

#[test]
fn a_test_that_finds_nothing_comes_before_every_flag() {
    use Op::{Raise, Read, Test};
    // The flags are independent of each other, and each of them disables the branch in which the test finds nothing.
    assert_eq!(of_threads([vec![Read(0), Test(vec![0, 1])], vec![Raise(0)], vec![Raise(1)]]), Some(3));
}

#[test]
fn a_wait_takes_any_flag_that_is_there() {
    use Op::{Raise, Wait};
    assert_eq!(of_threads([vec![Wait(vec![0, 1])], vec![Raise(0)], vec![Raise(1)]]), Some(2));
    assert_eq!(of_threads([vec![Wait(vec![0, 1]), Raise(2)], vec![Raise(0), Wait(vec![2]), Raise(1)]]), Some(1));
}

#[test]
fn locks_that_deadlock() {
    use Op::{Lock, Unlock};
    let philosopher = |a, b| vec![Lock(a), Lock(b), Unlock(b), Unlock(a)];
    assert_eq!(of_threads([philosopher(0, 1), philosopher(1, 0)]), Some(3));
}

#[test]
fn random_threads() {
    let mut judged = 0;
    for seed in 0..600 {
        let program = threads::draw(seed);
        let order = orders()[seed as usize % orders().len()];
        judged += usize::from(traces(&program, order, &program.to_string()).is_some());
    }
    assert!(judged > 400, "only {judged} programs were small enough");
}

#[test]
fn random_actors() {
    let mut judged = 0;
    for seed in 0..150 {
        let delivery = [Delivery::Unordered, Delivery::Fifo, Delivery::Causal][seed as usize % 3];
        let program = whippet_generate::draw(seed).delivery(delivery);
        let order = orders()[seed as usize % orders().len()];
        judged += usize::from(traces(&Touching(program.clone()), order, &program.to_string()).is_some());
    }
    assert!(judged > 70, "only {judged} programs were small enough");
}
