//! Conversion of panics in user code to [`Op::Failed`] operations.

use crate::op::Op;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs user code and converts a panic to [`Op::Failed`]. Caught panics are not printed.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Op> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
                PLACE.with(|p| p.replace(place));
            } else {
                before(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.map_err(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_string()))
            .unwrap_or_else(|| "panic without a message".into());
        Op::Failed { message, place: PLACE.take() }
    })
}
