//! Cooperative budgets: tasks always have some left.

use std::future::Future;
use std::pin::Pin;
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

macro_rules! same_future {
    ($($name:ident: $make:ident;)*) => {$(
        /// The future itself.
        #[derive(Debug)]
        #[must_use = "futures do nothing unless polled"]
        pub struct $name<F>(F);

        pub fn $make<F: Future>(future: F) -> $name<F> {
            $name(future)
        }

        impl<F: Future> Future for $name<F> {
            type Output = F::Output;
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
                // It is pinned with us.
                unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
            }
        }
    )*};
}
same_future! { Unconstrained: unconstrained; Coop: cooperative; }
