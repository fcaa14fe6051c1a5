//! Cooperative budgets: a poll in which 128 operations were ready has to wait before the next one.
//!
//! Only code that asks for the budget uses it up, and is pending when it is exhausted. The operations of the shim do neither: other tasks may come
//! in between any two of them, so nothing would be gained.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use whippet_runtime::{budget, set_budget};

/// The result of [`poll_proceed`]. When it is dropped, it restores the budget, unless progress was made.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending {
    before: std::cell::Cell<Option<u8>>,
}

impl RestoreOnPending {
    pub fn made_progress(&self) {
        self.before.set(None);
    }
}

impl Drop for RestoreOnPending {
    fn drop(&mut self) {
        if let Some(before) = self.before.get() {
            set_budget(Some(before));
        }
    }
}

pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let before = budget();
    if before == Some(0) {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    set_budget(before.map(|rest| rest - 1));
    Poll::Ready(RestoreOnPending { before: std::cell::Cell::new(before) })
}

pub fn has_budget_remaining() -> bool {
    budget() != Some(0)
}

pub async fn consume_budget() {
    poll_fn(|cx| poll_proceed(cx).map(|proceeds| proceeds.made_progress())).await;
}

/// Defines a wrapper of a future.
macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident: $make:ident, |$inner:ident, $cx:ident| $poll:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[must_use = "futures do nothing unless polled"]
        pub struct $name<F>(F);

        pub fn $make<F: Future>(future: F) -> $name<F> {
            $name(future)
        }

        impl<F: Future> Future for $name<F> {
            type Output = F::Output;
            fn poll(self: Pin<&mut Self>, $cx: &mut Context<'_>) -> Poll<F::Output> {
                // SAFETY: the field is structurally pinned.
                let $inner = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
                $poll
            }
        }
    };
}

/// Sets the budget when it is dropped.
struct Restore(Option<u8>);

impl Drop for Restore {
    fn drop(&mut self) {
        set_budget(self.0);
    }
}

wrapper! {
    /// A future that is polled without a limit.
    Unconstrained: unconstrained, |inner, cx| {
        let _restore = Restore(budget());
        set_budget(None);
        inner.poll(cx)
    }
}

wrapper! {
    /// A future that uses up the budget.
    Coop: cooperative, |inner, cx| {
        let proceeds = ready!(poll_proceed(cx));
        let answer = inner.poll(cx);
        if answer.is_ready() {
            proceeds.made_progress();
        }
        answer
    }
}
