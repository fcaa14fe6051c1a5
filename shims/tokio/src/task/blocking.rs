//! Where tasks may block: on threads of their own, and in `block_in_place`. Elsewhere tokio panics, and so does the shim.

use whippet_runtime::{pop_local, push_local, with_local};

/// A part of a task in which it may block, or may not.
pub(crate) struct Region(());

/// Its address is the key under which a task stores whether it may block.
static KEY: u8 = 0;

fn key() -> usize {
    (&raw const KEY).addr()
}

impl Region {
    pub(crate) fn enter(may_block: bool) -> Region {
        push_local(key(), may_block);
        Region(())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let _: Option<bool> = pop_local(key());
    }
}

/// Returns `true` if the running code may block. Outside executions, it always may.
pub(crate) fn may_block() -> bool {
    let Some(is_thread) = whippet_runtime::is_thread() else { return true };
    with_local(key(), |may: Option<&bool>| may.copied().unwrap_or(is_thread))
}

/// Panics as tokio does if a task blocks that other tasks share a thread with.
#[track_caller]
pub(crate) fn check_blocking() {
    assert!(
        may_block(),
        "Cannot block the current thread from within a runtime. This happens because a function attempted to block the current thread \
         while the thread is being used to drive asynchronous tasks."
    );
}

/// Runs a function that may block.
#[track_caller]
pub fn block_in_place<R>(work: impl FnOnce() -> R) -> R {
    assert!(
        may_block() || whippet_runtime::declares_threads(),
        "can call blocking only when running on the multi-threaded runtime"
    );
    let _region = Region::enter(true);
    work()
}
