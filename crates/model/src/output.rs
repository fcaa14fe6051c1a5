//! Output of user code, captured step by step while an execution is shown.
//!
//! A search runs user code thousands of times, so what that code prints and logs is of no use there. When a finding is
//! replayed to show it, the driver of the search captures the output of each step on its thread, and the trace has it.

use std::cell::RefCell;
use std::sync::OnceLock;

thread_local! {
    /// The output of the current step; `None` if this thread does not capture output.
    static OUTPUT: RefCell<Option<Output>> = const { RefCell::new(None) };
}

/// The output of a step.
#[derive(Default)]
struct Output {
    lines: Vec<String>,
    /// `true` while code runs again that has run before.
    muted: bool,
}

impl Output {
    /// Adds what was printed since the last call, unless the output is muted.
    fn take_printed(&mut self) {
        if let Some(printed) = PRINTED.get() {
            let text = printed();
            if !self.muted {
                self.lines.extend(text.lines().map(Into::into));
            }
        }
    }
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

/// Adds a line to the output of the step that this thread executes. Returns `false` if no output is captured here, or
/// if it is muted: then the line is of no interest.
///
/// ```
/// use whippet_model::{add_output, capture_output};
/// assert!(!add_output("nobody listens"));
/// let ((), lines) = capture_output(|| drop(add_output("1 apple left")));
/// assert_eq!(lines, ["1 apple left"]);
/// ```
pub fn add_output(line: impl Into<String>) -> bool {
    OUTPUT.with_borrow_mut(|output| {
        let output = output.as_mut().filter(|output| !output.muted);
        output.map(|output| output.lines.push(line.into())).is_some()
    })
}

/// Returns `true` if this thread captures output.
///
/// ```
/// assert!(whippet_model::capture_output(whippet_model::captures_output).0);
/// ```
#[must_use]
pub fn captures_output() -> bool {
    OUTPUT.with_borrow(|output| output.as_ref().is_some_and(|output| !output.muted))
}

/// Mutes the output of this thread, or ends that. A machine that runs code again, because it cannot keep suspended code,
/// mutes what the code has written before.
///
/// ```
/// use whippet_model::{add_output, capture_output, mute_output};
/// let ((), lines) = capture_output(|| {
///     mute_output(true);
///     add_output("once more");
///     mute_output(false);
///     add_output("new");
/// });
/// assert_eq!(lines, ["new"]);
/// ```
#[inline]
pub fn mute_output(muted: bool) {
    OUTPUT.with_borrow_mut(|output| {
        if let Some(output) = output.as_mut().filter(|output| output.muted != muted) {
            output.take_printed();
            output.muted = muted;
        }
    });
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
    let outer = OUTPUT.replace(Some(Output::default()));
    let result = run();
    let mut output = OUTPUT.replace(outer).unwrap_or_default();
    output.take_printed();
    (result, output.lines)
}
