//! A finding as text: one line that says what is wrong, and the steps of the counterexample.
//!
//! ```text
//! assertion: overdrawn: -5 at tests/bank.rs:15
//!   1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
//! ```

use crate::style::{CHANGE, FAINT, STRONG, styled};
use anstyle::Style;
use whippet_model::{Finding, StepDescription};

/// Describes a finding in one line: its kind, message and place.
///
/// ```
/// # let verdict = whippet::Checker::new("picky").explore(|sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
/// #     sys.send(picky, 2);
/// # }).unwrap();
/// let line = whippet_report::headline(&verdict.findings[0]);
/// assert!(line.contains(": not mine at "), "{line}");
/// ```
#[must_use]
pub fn headline(finding: &Finding) -> String {
    headline_in(Style::new(), finding, "")
}

/// Like [`headline`], with the kind in the given style and with additional text.
pub(crate) fn headline_in(style: Style, finding: &Finding, more: &str) -> String {
    let mut line = format!("{} {}", styled(style, format_args!("{}:", finding.kind)), finding.message);
    let place = finding.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
    // Insert both after the first line if the message has several lines.
    let end = line.find('\n').unwrap_or(line.len());
    line.insert_str(end, &format!("{place}{more}"));
    line
}

/// Formats the steps of a counterexample: numbered, one line each, with the effects of each step below it. The text
/// contains colours.
///
/// ```
/// let step = whippet_model::StepDescription {
///     actor: "account".into(),
///     action: "receives Withdraw(5)".into(),
///     changes: vec!["balance: 0 → -5".into()],
///     effects: vec!["sends Overdrawn to teller".into()],
///     ..Default::default()
/// };
/// assert_eq!(
///     whippet_report::plain(&whippet_report::counterexample(&[step])),
///     "  1. account receives Withdraw(5)   [balance: 0 → -5]\n     sends Overdrawn to teller\n",
/// );
/// ```
#[must_use]
pub fn counterexample(steps: &[StepDescription]) -> String {
    let width = steps.len().to_string().len();
    let mut text = String::new();
    for (i, step) in steps.iter().enumerate() {
        text += &format!("  {:>width$}. {} {}", i + 1, styled(STRONG, &step.actor), step.action);
        if let Some(origin) = &step.origin {
            text += &format!(" {origin}");
        }
        if !step.changes.is_empty() {
            text += &format!("   {}", styled(CHANGE, format_args!("[{}]", step.changes.join(", "))));
        }
        text.push('\n');
        for effect in &step.effects {
            for line in effect.lines() {
                text += &format!("  {:width$}  {}\n", "", styled(FAINT, line));
            }
        }
    }
    text
}
