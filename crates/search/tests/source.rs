//! Source sets with sleep sets on actors: each trace once; blocked executions are counted separately.

use whippet_generate::{Setting, Size, answer, compare, draw};
use whippet_search::toy::{Delivery, Program};
use whippet_search::{Order, Reduction};

const DELIVERIES: [Delivery; 3] = [Delivery::Unordered, Delivery::Fifo, Delivery::Causal];

/// Compares source sets with the exhaustive search. Returns `false` if the program is too large.
fn agrees(program: &Program, order: Order) -> bool {
    let Some(all) = answer(program, &Setting::of(Reduction::Exhaustive), Some(Size::default())).unwrap() else {
        return false;
    };
    let setting = Setting { order, ..Setting::of(Reduction::Source) };
    let found = answer(program, &setting, None).unwrap_or_else(|f| panic!("{f}\n{program}")).unwrap();
    if let Err(what) = compare(&all, &found, &setting) {
        panic!("{setting}: {what}\n{program}");
    }
    assert_eq!(found.verdict.counters.executions, all.log.traces.len() as u64, "{setting}\n{program}");
    true
}

#[test]
fn random_programs() {
    let mut judged = 0;
    let orders: Vec<Order> = Order::ALL.iter().copied().filter(|&order| order != Order::Stable).collect();
    for seed in 0..300u64 {
        let program = draw(seed).delivery(DELIVERIES[seed as usize % 3]);
        judged += usize::from(agrees(&program, orders[seed as usize % orders.len()]));
    }
    assert!(judged > 150, "only {judged} programs were small enough");
}
