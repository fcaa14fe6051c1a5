//! Output of user code, captured step by step while an execution is shown.
//!
//! A search runs user code thousands of times, so what that code prints and logs is of no use there. When a finding is
//! replayed to show it, the driver of the search captures the output of each step on its thread, and the trace has it.

use std::cell::RefCell;
use std::sync::OnceLock;

thread_local! {
    /// The lines of the current step; `None` if this thread does not capture output.
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// A function that returns the text that was printed since its last call.
type Printed = Box<dyn Fn() -> String + Send + Sync>;

static PRINTED: OnceLock<Printed> = OnceLock::new();

/// Sets the function that returns what the process has printed to standard output since the last call, for processes
/// whose standard output is redirected. Only the first one counts.
///
/// ```
/// use std::sync::Mutex;
/// let printed = Mutex::new(vec!["after", "before"]);
/// whippet_model::set_printed(move || printed.lock().unwrap().pop().unwrap_or_default().to_string());
/// assert_eq!(whippet_model::capture_output(|| 1), (1, vec!["after".to_string()]));
/// ```
pub fn set_printed(printed: impl Fn() -> String + Send + Sync + 'static) {
    // Several searches of one process share it.
    let _ = PRINTED.set(Box::new(printed));
}

/// Adds a line to the output of the step that this thread executes. Returns `false` if no output is captured here: then
/// the line is of no interest.
///
/// ```
/// use whippet_model::{add_output, capture_output};
/// assert!(!add_output("nobody listens"));
/// let ((), lines) = capture_output(|| drop(add_output("1 apple left")));
/// assert_eq!(lines, ["1 apple left"]);
/// ```
pub fn add_output(line: impl Into<String>) -> bool {
    LINES.with_borrow_mut(|lines| lines.as_mut().map(|lines| lines.push(line.into())).is_some())
}

/// Returns `true` if this thread captures output.
///
/// ```
/// assert!(whippet_model::capture_output(whippet_model::captures_output).0);
/// ```
#[must_use]
pub fn captures_output() -> bool {
    LINES.with_borrow(Option::is_some)
}

/// Runs a function and returns its output, line by line.
///
/// ```
/// use whippet_model::{add_output, capture_output};
/// let (sum, lines) = capture_output(|| {
///     add_output("adding");
///     1 + 2
/// });
/// assert_eq!((sum, lines), (3, vec!["adding".to_string()]));
/// ```
pub fn capture_output<T>(run: impl FnOnce() -> T) -> (T, Vec<String>) {
    if let Some(printed) = PRINTED.get() {
        printed();
    }
    let outer = LINES.replace(Some(Vec::new()));
    let result = run();
    let mut lines = LINES.replace(outer).unwrap_or_default();
    if let Some(printed) = PRINTED.get() {
        lines.extend(printed().lines().map(Into::into));
    }
    (result, lines)
}
