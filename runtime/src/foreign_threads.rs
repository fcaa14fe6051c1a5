//! Foreign threads: threads of the operating system that use objects of an execution. Their operations cannot be
//! explored and must not go unnoticed: they are reported as an error with the operation and its location.

use crate::object::{Action, place_text};
use crate::program::program_of;
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

thread_local! {
    /// The current operation of this thread, outside any execution.
    static LAST: Cell<Option<Action>> = const { Cell::new(None) };
}

/// The errors found, with the number of the program.
static FOUND: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());

fn found() -> MutexGuard<'static, Vec<(u64, String)>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the next operation of this thread, which runs no execution.
pub(crate) fn about_to(action: Action) {
    LAST.set(Some(action));
}

/// The function that is told if several threads use an object outside of executions.
static TELL: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that is called with the error if several threads use an object outside of executions. The first one counts.
pub fn on_refusal(tell: fn(&str)) {
    let _ = TELL.set(tell);
}

/// Panics because this thread uses an object of `execution`, and records the error.
#[cold]
#[track_caller]
pub(crate) fn refuse(execution: u64) -> ! {
    let what = LAST.get().map_or_else(String::new, |action| format!(": it {action} at {}", place_text(action.place)));
    let text = format!(
        "whippet does not model threads of the operating system, and one uses what belongs to a test{what}; \
         use tokio::spawn instead, or hook the crate that starts the thread (--hook)"
    );
    match TELL.get().filter(|_| execution == 0) {
        Some(tell) => tell(&text),
        None => found().push((program_of(execution), text.clone())),
    }
    panic!("{text}");
}

/// Detects foreign threads while a program is explored.
pub(crate) struct Watch {
    threads: Option<usize>,
}

/// The maximum time to wait for an operation of a foreign thread.
const PATIENCE: Duration = Duration::from_millis(100);

impl Watch {
    pub(crate) fn start() -> Watch {
        Watch { threads: threads() }
    }

    /// Returns the error of a foreign thread that used this program. If the search ended `badly`, waits for threads
    /// that still run, because one of these may show the reason.
    pub(crate) fn misuse(&self, program: u64, badly: bool) -> Option<String> {
        for _ in 0..PATIENCE.as_millis() {
            let first = found().iter().find(|(of, _)| *of == program).map(|(_, text)| text.clone());
            if first.is_some() || !badly || threads() <= self.threads {
                return first;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

/// Returns the number of threads of this process, if the system provides it.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}
