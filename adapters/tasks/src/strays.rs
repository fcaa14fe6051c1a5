//! Threads of the operating system that use what belongs to an execution. What they do cannot be explored, and must not pass
//! unseen: it is an error that says what and where.

use crate::object::{Action, place_text};
use crate::program::program_of;
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

thread_local! {
    /// What this thread does, outside of any execution.
    static LAST: Cell<Option<Action>> = const { Cell::new(None) };
}

/// What strays did, and to which program.
static FOUND: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());

fn found() -> MutexGuard<'static, Vec<(u64, String)>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This thread, which runs no execution, is about to do something.
pub(crate) fn about_to(action: Action) {
    LAST.set(Some(action));
}

/// What this thread does it does to something of this execution.
#[cold]
#[track_caller]
pub(crate) fn refuse(execution: u64) -> ! {
    let what = LAST.get().map_or_else(String::new, |action| format!(": it {action} at {}", place_text(action.place)));
    let text = format!(
        "whippet does not model threads of the operating system, and one uses what belongs to a test{what}; \
         use tokio::spawn instead, or hook the crate that starts the thread (--hook)"
    );
    found().push((program_of(execution), text.clone()));
    panic!("{text}");
}

/// Looks for strays while a program is explored.
pub(crate) struct Watch {
    threads: Option<usize>,
}

/// How long a stray may take to do something.
const PATIENCE: Duration = Duration::from_millis(100);

impl Watch {
    pub(crate) fn start() -> Watch {
        Watch { threads: threads() }
    }

    /// What a stray did to this program. If the search ended badly, a thread that still runs is given time to show
    /// why.
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

/// How many threads this process has, where the system tells.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}
