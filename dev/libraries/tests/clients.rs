//! Checks that k clients of one server have k! orders, on plain tokio and through unmodified actor libraries.

use crate::common::explore;
use libraries::clients;
use std::future::Future;
use whippet_search::Reduction;

fn is_factorial<F>(up_to: usize, body: fn(usize) -> F)
where
    F: Future<Output = String> + 'static,
{
    let mut factorial = 1;
    for k in 2..=up_to {
        factorial *= k as u64;
        let (verdict, seen) = explore(Reduction::Optimal, move || body(k));
        assert_eq!((verdict.counters.executions, verdict.counters.blocked), (factorial, 0), "k = {k}");
        assert_eq!(seen.len() as u64, factorial, "each order has its own log");
        assert_eq!(verdict.counters.handler_runs, factorial, "nothing is run just to see what could have happened");
        assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
    }
}

#[test]
fn on_plain_tokio() {
    is_factorial(6, clients::plain);
}

#[test]
fn on_ractor() {
    is_factorial(6, clients::on_ractor::clients);
}

#[test]
fn on_kameo() {
    is_factorial(6, clients::on_kameo::clients);
}
