//! Keeps the schedules of failures, to be executed first by later runs.

use crate::replay::Names;
use whippet_model::{FindingKind, Verdict};
use whippet_protocol::{Regressions, Session};

/// The number of findings of a test whose schedules are kept.
const MOST_KEPT: usize = 3;

/// Keeps the schedules of findings in the package of the test. Returns a line on it.
pub(crate) fn keep(session: &Session, names: Names<'_>, verdict: &Verdict) -> String {
    let Some(kept) = Regressions::of_this_process(&session.settings, names.program) else { return String::new() };
    let worth = verdict.findings.iter().filter(|finding| is_worth_keeping(finding.kind)).take(MOST_KEPT);
    let test = Some(names.test.to_string()).filter(|test| test != names.program);
    let files = worth.map(|finding| kept.keep(&finding.schedule.clone().with_test(test.clone())));
    match files.collect::<Result<Vec<_>, _>>().map(|files| files.into_iter().flatten().next()) {
        Ok(Some(file)) => {
            let directory =
                file.parent().unwrap_or(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("kept in {directory}/, to be re-run first: commit it, or set WHIPPET_REGRESSIONS=off\n")
        }
        Ok(None) => String::new(),
        Err(error) => format!("note: the schedule could not be kept in whippet-regressions: {error}\n"),
    }
}

/// Returns `true` if one schedule shows a finding of this kind, and soon.
fn is_worth_keeping(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Limit | FindingKind::Unreached | FindingKind::Outcome)
}
