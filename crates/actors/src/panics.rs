//! Catching panics of user code, with their message and place, and without noise on the terminal.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// A panic that was caught.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    /// Where, as `file:line`.
    pub(crate) place: Option<String>,
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Makes panics inside [`catch`] silent; all others are reported as before.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                return before(info);
            }
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
            CAUGHT.set(Some(Panic { message: text(info.payload()), place }));
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

/// Runs user code.
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Panic> {
    let outer = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    CATCHING.set(outer);
    result.map_err(|payload| CAUGHT.take().unwrap_or_else(|| Panic { message: text(&*payload), place: None }))
}

impl Panic {
    /// Whether it came from an assertion. The standard library does not say so of assertions that have a
    /// message of their own; then the line in the source does, where it can be read.
    pub(crate) fn is_assertion(&self) -> bool {
        self.message.starts_with("assertion ") || self.source_line().is_some_and(|line| line.contains("assert"))
    }

    fn source_line(&self) -> Option<String> {
        let (file, line) = self.place.as_ref()?.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        // Places are relative to the workspace, tests run in their package.
        let here = std::env::current_dir().ok()?;
        let text = here.ancestors().take(4).find_map(|dir| std::fs::read_to_string(dir.join(file)).ok())?;
        text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}
