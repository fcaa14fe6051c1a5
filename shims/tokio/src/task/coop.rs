//! Cooperative budgets. The shim does not count them: tasks always have budget left.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The result of [`poll_proceed`].
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
        /// A wrapper that only forwards to its future.
        #[derive(Debug)]
        #[must_use = "futures do nothing unless polled"]
        pub struct $name<F>(F);

        pub fn $make<F: Future>(future: F) -> $name<F> {
            $name(future)
        }

        impl<F: Future> Future for $name<F> {
            type Output = F::Output;
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
                // SAFETY: the field is structurally pinned.
                unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
            }
        }
    )*};
}
same_future! { Unconstrained: unconstrained; Coop: cooperative; }
