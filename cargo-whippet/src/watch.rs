//! The terminal: shows the progress of the searches and handles Ctrl-C and other requests to end.

use crate::process::Place;
use crate::running;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time before progress is shown. Shorter runs show none.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit code after Ctrl-C during the build, or after the second one.
const INTERRUPTED_AGAIN: i32 = 130;

/// A progress line on standard error, if that is a terminal.
pub(crate) struct Watch<'a> {
    line: ProgressBar,
    place: &'a Place,
    start: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(place: &'a Place) -> Watch<'a> {
        *SEARCHING.lock().unwrap_or_else(PoisonError::into_inner) = Some(place.directory().to_path_buf());
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

/// The directory of the searches that are running, if any.
static SEARCHING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Installs the handler for Ctrl-C, SIGTERM and SIGHUP. During the search, the first of them asks the tests to stop, so
/// that their results so far are reported; the second one kills them and ends this process.
pub(crate) fn listen() {
    // Without a handler, Ctrl-C still ends the process; only the partial verdicts are lost.
    let _ = ctrlc::set_handler(|| {
        let directory = SEARCHING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match &directory {
            Some(directory) if !running::is_stopped() => {
                running::stop();
                Place::stop(directory);
            }
            _ => running::kill_all_and_exit(directory.as_deref(), INTERRUPTED_AGAIN),
        }
    });
}
