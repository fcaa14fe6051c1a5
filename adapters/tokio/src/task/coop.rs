//! Cooperative budgets: tasks always have some left.

use std::future::Future;

pub fn has_budget_remaining() -> bool {
    true
}

pub async fn consume_budget() {}

pub fn unconstrained<F: Future>(future: F) -> F {
    future
}

pub fn cooperative<F: Future>(future: F) -> F {
    future
}
