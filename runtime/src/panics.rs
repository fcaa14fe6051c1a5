//! Panics of user code: caught, never printed, with their message and location.

use crate::object::short_file;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// A panic that was caught.
pub(crate) struct Caught {
    pub(crate) payload: Box<dyn Any + Send>,
    pub(crate) message: String,
    pub(crate) place: Option<String>,
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Calls user code and catches its panic.
pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Caught> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let (message, place) = match LAST.take() {
            Some((message, place)) => (message, Some(place)),
            // `resume_unwind` bypasses the hook.
            None => (text(&*payload), None),
        };
        Caught { payload, message, place }
    })
}

/// Calls `work`; panics on this thread are stored instead of printed meanwhile.
pub(crate) fn quietly<R>(work: impl FnOnce() -> R) -> R {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                return before(info);
            }
            let place = info.location().map_or(String::new(), |at| format!("{}:{}", short_file(at.file()), at.line()));
            LAST.set(Some((text(info.payload()), place)));
        }));
    });
    let before = QUIET.replace(true);
    let result = work();
    QUIET.set(before);
    result
}

fn text(payload: &dyn Any) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}
