//! The few colours of reports, each with one meaning.

use anstyle::{AnsiColor, Style};
use std::fmt;

pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const CHANGE: Style = AnsiColor::Cyan.on_default();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();

/// Returns `text` in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, "{style}{text}{style:#}"))
}

/// Returns a text without its colours.
///
/// ```
/// assert_eq!(whippet_report::plain("\u{1b}[1mbold\u{1b}[0m"), "bold");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
