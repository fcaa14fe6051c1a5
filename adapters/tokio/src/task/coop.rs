//! Cooperative budgets: tasks always have some left.

use std::future::Future;
use std::task::{Context, Poll};

/// What [`poll_proceed`] gives.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending(());

impl RestoreOnPending {
    pub fn made_progress(&self) {}
}

pub fn poll_proceed(_: &mut Context<'_>) -> Poll<RestoreOnPending> {
    Poll::Ready(RestoreOnPending(()))
}

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
