//! Progress display on the terminal, and interruption by Ctrl-C or a request to terminate.

use crate::checkpoint::Keeper;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use whippet_report::{grouped, guess};
use whippet_search::{Checkpoints, Observer, Progress};

/// The time before progress is shown; shorter searches show none.
const SHOW_AFTER: Duration = Duration::from_secs(2);

/// The exit code after a second interruption.
const INTERRUPTED_AGAIN: i32 = 130;

/// A progress line on standard error, if that is a terminal, and a Ctrl-C handler.
pub(crate) struct ProgressDisplay {
    line: ProgressBar,
    /// The current activity, printed before the numbers.
    label: RefCell<String>,
    interrupted: &'static AtomicBool,
    /// Saves the search.
    keeper: Option<Arc<Keeper>>,
}

impl ProgressDisplay {
    /// Creates a progress display with this label.
    pub(crate) fn new(label: impl Into<String>) -> ProgressDisplay {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        line.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is correct"));
        ProgressDisplay { line, label: RefCell::new(label.into()), interrupted: interruptions(), keeper: None }
    }

    /// Sets what saves the search.
    pub(crate) fn saving(mut self, keeper: Option<Arc<Keeper>>) -> ProgressDisplay {
        self.keeper = keeper;
        self
    }

    /// Changes the label.
    pub(crate) fn rename(&self, label: String) {
        self.label.replace(label);
    }

    /// Removes the line to make room for other output, until the next text is shown.
    pub(crate) fn hide(&self) {
        self.line.finish_and_clear();
        self.line.reset();
    }

    /// Shows this text immediately.
    pub(crate) fn show(&self, text: String) {
        if self.line.is_hidden() {
            // This target draws nothing if standard error is not a terminal.
            self.line.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.line.set_message(text);
        self.line.tick();
    }
}

impl Observer for ProgressDisplay {
    fn progress(&self, progress: &Progress) {
        if progress.elapsed >= SHOW_AFTER {
            self.show(format!("{}{}", self.label.borrow(), describe(progress)));
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn checkpoints(&self) -> Option<Arc<dyn Checkpoints>> {
        self.keeper.clone().map(|keeper| keeper as Arc<dyn Checkpoints>)
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Formats the progress: `12,345 executions · 61,000/s · depth 23 · 3 % of about 360,000 ± 20,000`.
fn describe(progress: &Progress) -> String {
    let executions = progress.counters.executions;
    let rate = executions as f64 / progress.elapsed.as_secs_f64();
    let mut text = format!("{} executions · {}/s", grouped(executions), grouped(rate as u64));
    if let Some(states) = progress.counters.states {
        text += &format!(" · {} states", grouped(states));
    }
    text += &format!(" · depth {}", progress.depth);
    if let Some(estimate) = &progress.estimate {
        let share = 100.0 * estimate.seen.unwrap_or(executions) as f64 / estimate.total.max(1.0);
        text += &format!(" · {:.0} % of {}", share.min(100.0), guess(estimate));
    }
    text
}

/// Returns the flag that Ctrl-C sets. A second Ctrl-C ends the process, in case the flag is not polled.
pub(crate) fn interruptions() -> &'static AtomicBool {
    static FLAG: OnceLock<AtomicBool> = OnceLock::new();
    static HANDLER: OnceLock<()> = OnceLock::new();
    let flag = FLAG.get_or_init(AtomicBool::default);
    HANDLER.get_or_init(|| {
        let raise = move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED_AGAIN);
            }
        };
        // Without this handler Ctrl-C still ends the process, but without a partial verdict.
        let _ = ctrlc::set_handler(raise);
    });
    flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use whippet_model::{Counters, Estimate};

    #[test]
    fn progress_in_one_line() {
        let mut counters = Counters::default();
        counters.executions = 12_000;
        let mut progress = Progress::new(counters, 23, Duration::from_secs(4));
        assert_eq!(describe(&progress), "12,000 executions · 3,000/s · depth 23");
        progress.estimate = Some(Estimate::new(360_000.0, 20_000.0));
        let wanted = "12,000 executions · 3,000/s · depth 23 · 3 % of about 360,000 ± 20,000";
        assert_eq!(describe(&progress), wanted);
    }
}
