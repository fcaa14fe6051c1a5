//! Confirms findings: replays each of them in a new process before it is reported.
//!
//! Executions of one process may influence each other through statics, files and the like. A finding that only the
//! state left by other executions causes does not appear in a new process. It is no finding: the test is not
//! deterministic, and there is no verdict on it.

use crate::process::{Ended, Outcome, Place, Process, Work};
use whippet_protocol::Reported;
use whippet_report::Exit;

/// The number of findings that are confirmed. More are not shown anyway.
const MOST: usize = 20;

/// The advice for a test that is not deterministic.
const ADVICE: &str = "\
The executions of a search run in one process, so something that outlives an execution must have changed: a `static`, a
`OnceLock`, a `thread_local!` or a lazily built value of this crate or of a library, a file, or an environment variable;
or a value differs from run to run: an address, the id of a thread, and, elsewhere than on Linux, the time or a random
number. Create such state anew in the body of the test, or pass it in. The schedule of the finding is kept, in case you
want to look at it.";

impl Process<'_> {
    /// Replays the findings of a test. Those that do not appear again make the test one without a verdict, unless
    /// others do.
    pub(crate) fn confirm(&self, place: &Place, mut ended: Ended) -> Ended {
        let replayable = |finding: &&Reported| !finding.limit && finding.schedule.is_some();
        let beyond = ended.reply.beyond.take();
        let others = beyond.iter().flat_map(|beyond| &beyond.findings);
        let mut unconfirmed = Vec::new();
        for finding in ended.findings.iter().chain(others).filter(replayable).take(MOST) {
            if let Err(reason) = self.confirm_one(place, finding) {
                unconfirmed.push((finding.clone(), reason));
            }
        }
        // The counterexamples are one text: without one of its findings, it would be wrong.
        let is_doubtful = |finding: &Reported| unconfirmed.iter().any(|(other, _)| other == finding);
        ended.reply.beyond = beyond.filter(|beyond| !beyond.findings.iter().any(is_doubtful));
        if unconfirmed.is_empty() {
            return ended;
        }
        let said: String = unconfirmed.iter().map(|(finding, reason)| told(finding, reason)).collect();
        ended.findings.retain(|finding| !unconfirmed.iter().any(|(other, _)| other == finding));
        if ended.findings.is_empty() {
            let others = Ended { exit: Some(Exit::NoVerdict), ..ended };
            return Ended { text: format!("{said}{ADVICE}\n"), ..others };
        }
        ended.text = format!("{said}{ADVICE}\n\n{}", ended.text);
        ended
    }

    /// Replays a finding in a new process. The error says what happened instead.
    fn confirm_one(&self, place: &Place, finding: &Reported) -> Result<Outcome, String> {
        let Some(file) = &finding.schedule else { return Err("its schedule could not be saved".into()) };
        let outcome = self.replay(place, Work::Replay(file))?;
        if let Some(reason) = &outcome.killed {
            return Err(reason.clone());
        }
        let Some(reply) = &outcome.reply else { return Err(format!("its process ended by {}", outcome.status)) };
        if reply.findings.iter().any(|found| (&found.kind, &found.place) == (&finding.kind, &finding.place)) {
            return Ok(outcome);
        }
        Err(match (&reply.findings.first(), &reply.failure) {
            (Some(other), _) => format!("it shows «{}» instead", other.headline()),
            (None, Some(failure)) => failure.text.clone(),
            (None, None) => "it ends well".into(),
        })
    }

    /// Returns the text of a finding that is reported while the search goes on, if it is confirmed.
    pub(crate) fn confirmed_text(&self, place: &Place, finding: &Reported) -> Option<String> {
        let outcome = self.confirm_one(place, finding).ok()?;
        let mut text = outcome.reply?.failure?.text;
        if let Some(file) = &finding.schedule {
            text += &format!("  replay: {}\n", self.replay_command(file));
        }
        Some(text)
    }

    /// Returns the command that replays a schedule.
    pub(crate) fn replay_command(&self, file: &std::path::Path) -> String {
        format!("cargo whippet replay {} {}", file.display(), self.binary.options).trim_end().to_string()
    }
}

fn told(finding: &Reported, reason: &str) -> String {
    let file = finding.schedule.as_ref().map_or_else(String::new, |file| format!(" ({})", file.display()));
    let finding = finding.headline();
    format!(
        "not deterministic: «{finding}» was found, but not again when its schedule{file} was replayed in a new process: \
         {reason}\n"
    )
}
