//! The terminal: shows the progress of the searches and handles Ctrl-C.

use crate::process::{Place, kill_all_and_exit};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time before progress is shown. Shorter runs show none.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit code after the second Ctrl-C.
const INTERRUPTED_AGAIN: i32 = 130;

/// A progress line on standard error, if that is a terminal, and a handler for Ctrl-C.
pub(crate) struct Watch<'a> {
    line: ProgressBar,
    place: &'a Place,
    start: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(place: &'a Place) -> Watch<'a> {
        listen(place.directory().to_path_buf());
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        line.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is correct"));
        Watch { line, place, start: Instant::now() }
    }

    /// Shows the progress of the running tests.
    pub(crate) fn tick(&self) {
        let running = self.place.progress();
        let Some((name, text)) = running.first().filter(|_| self.start.elapsed() >= PATIENCE) else { return };
        if self.line.is_hidden() {
            // The line stays hidden if standard error is not a terminal.
            self.line.set_draw_target(ProgressDrawTarget::stderr());
        }
        let more = if running.len() > 1 { format!(" (and {} more)", running.len() - 1) } else { String::new() };
        self.line.set_message(format!("{name}: {text}{more}"));
        self.line.tick();
    }

    /// Clears the line to make room for other output.
    pub(crate) fn hide(&self) {
        self.line.finish_and_clear();
        self.line.reset();
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Installs the handler for Ctrl-C. The first Ctrl-C asks the tests to stop, the second one kills them and ends this
/// process.
fn listen(directory: PathBuf) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    // Without a handler, Ctrl-C still ends the process; only the partial verdicts are lost.
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            kill_all_and_exit(&directory, INTERRUPTED_AGAIN);
        }
        Place::stop(&directory);
    });
}
