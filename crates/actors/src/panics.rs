//! Catching panics of user code, with their message and location, without printing them to the terminal.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// A caught panic.
#[derive(Clone, Debug)]
pub(crate) struct CaughtPanic {
    pub(crate) message: String,
    /// The location, as `file:line`.
    pub(crate) place: Option<String>,
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<CaughtPanic>> = const { RefCell::new(None) };
}

/// Installs a panic hook that keeps panics inside [`catch`] silent; all others are reported as before.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                return before(info);
            }
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
            CAUGHT.set(Some(CaughtPanic { message: text(info.payload()), place }));
        }));
    });
}

fn text(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    }
}

/// Runs user code and catches its panics.
#[inline(always)]
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    let outer = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    CATCHING.set(outer);
    result.map_err(|payload| CAUGHT.take().unwrap_or_else(|| CaughtPanic { message: text(&*payload), place: None }))
}

impl CaughtPanic {
    /// Returns `true` if the panic came from an assertion, as far as its message shows. An `assert!` with a custom
    /// message is not recognized.
    pub(crate) fn is_assertion(&self) -> bool {
        self.message.starts_with("assertion ")
    }
}

impl fmt::Display for CaughtPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.place.iter().try_for_each(|place| write!(f, " at {place}"))
    }
}
