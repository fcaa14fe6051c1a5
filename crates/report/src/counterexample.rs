//! A finding as text: one line that says what is wrong, and the steps of the counterexample.
//!
//! ```text
//! assertion: overdrawn: -5 at tests/bank.rs:15
//!   1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
//! ```

use crate::style::{CHANGE, FAINT, STRONG, styled};
use crate::{grouped, time};
use anstyle::Style;
use whippet_model::{Finding, Repeat, StepDescription, Threads};

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
    if let Some(stall) = finding.stall() {
        line += &format!("\n  needs the runtime to stall for {}{}", time(stall), stalled_steps(finding));
    }
    if finding.threads == Some(Threads::Several) {
        line += "\n  needs a runtime with several threads";
    }
    line
}

/// Returns the steps before which the runtime has to stall: " at step 3", or " in total, at steps 3 and 5".
fn stalled_steps(finding: &Finding) -> String {
    let stalled = finding.counterexample.iter().enumerate().filter(|(_, step)| step.stall.is_some());
    let steps: Vec<String> = stalled.map(|(at, _)| grouped(at as u64 + 1)).collect();
    match &steps[..] {
        [] => String::new(),
        [step] => format!(" at step {step}"),
        [steps @ .., last] => format!(" in total, at steps {} and {last}", steps.join(", ")),
    }
}

/// The ways to look at a finding again.
///
/// ```
/// use whippet_report::Links;
/// let links = Links::replay("cargo test picky").with_page("target/whippet/picky.html");
/// assert_eq!(links.to_string(), "  replay: cargo test picky\n  look at it: target/whippet/picky.html\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Links {
    /// The command that replays the finding.
    pub replay: Option<String>,
    /// The HTML report.
    pub page: Option<String>,
}

impl Links {
    /// Creates links with a command that replays the finding.
    #[must_use]
    pub fn replay(command: impl Into<String>) -> Links {
        Links { replay: Some(command.into()), page: None }
    }

    /// Sets the path of the HTML report.
    #[must_use]
    pub fn with_page(mut self, path: impl Into<String>) -> Links {
        self.page = Some(path.into());
        self
    }

    /// Returns the links in lines of their own, with their names in the given style.
    pub(crate) fn text(&self, style: Style) -> String {
        let named = [("replay:", &self.replay), ("look at it:", &self.page)];
        let lines = named.iter().filter_map(|(name, link)| link.as_ref().map(|link| (name, link)));
        lines.map(|(name, link)| format!("  {} {link}\n", styled(style, name))).collect()
    }
}

impl std::fmt::Display for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::plain(&self.text(Style::new())))
    }
}

/// Formats the steps of a counterexample: numbered, one line each, with the effects of each step below it. Long
/// repetitions are folded. The text contains colours.
///
/// ```
/// use whippet_model::{Change, StepDescription};
/// let step = StepDescription::new("account", "receives Withdraw(5)")
///     .with_changes(vec![Change::new("balance", "0", "-5")])
///     .with_effects(vec!["sends Overdrawn to teller".into()]);
/// assert_eq!(
///     whippet_report::plain(&whippet_report::counterexample(&[step])),
///     "  1. account receives Withdraw(5)   [balance: 0 → -5]\n     sends Overdrawn to teller\n",
/// );
/// ```
#[must_use]
pub fn counterexample(steps: &[StepDescription]) -> String {
    let width = steps.len().to_string().len();
    let mut text = String::new();
    let said: Vec<_> = steps.iter().map(|step| (&step.actor, &step.action)).collect();
    let repeats = Repeat::find(&said);
    for (i, step) in steps.iter().enumerate() {
        // The first round of a repetition is shown, the others are folded.
        let folded = |repeat: &&Repeat| (repeat.first + repeat.period..=repeat.last).contains(&(i as u32));
        if let Some(repeat) = repeats.iter().find(folded) {
            if i as u32 == repeat.first + repeat.period {
                let (from, to) = (grouped(i as u64 + 1), grouped(u64::from(repeat.last) + 1));
                let rounds = if repeat.period == 1 { "step".into() } else { format!("{} steps", repeat.period) };
                let line = format!("steps {from}–{to} repeat the {rounds} before");
                text += &format!("  {:>width$}  {}\n", "…", styled(FAINT, line));
            }
            continue;
        }
        text += &format!("  {:>width$}. {} {}", i + 1, styled(STRONG, &step.actor), step.action);
        if let Some(origin) = &step.origin {
            text += &format!(" {origin}");
        }
        if !step.changes.is_empty() {
            text += &format!("   {}", styled(CHANGE, format_args!("[{}]", step.changes_text())));
        }
        if let Some(stall) = step.stall {
            text += &format!(" after a stall of {}", time(stall));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_repetition_is_folded_after_its_first_round() {
        let step = |actor: &str| StepDescription::new(actor, "receives Tick");
        let mut steps = vec![step("start")];
        steps.extend((0..2_000).map(|k| step(["ping", "pong"][k % 2])));
        steps.push(step("end"));
        let text = crate::plain(&counterexample(&steps));
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let wanted = [
            "1. start receives Tick",
            "2. ping receives Tick",
            "3. pong receives Tick",
            "…  steps 4–2,001 repeat the 2 steps before",
            "2002. end receives Tick",
        ];
        assert_eq!(lines, wanted);
    }
}
