//! Outcomes: what the results of the executions of a program say about it.
//!
//! A machine reports a result of an execution like a problem, with a declaration ([`Problem::declaration`]). So the collector
//! keeps the shortest execution with each result, and `confirm.rs` replays it. Here are the findings about all of them:
//! results that differ although the program declares that it is deterministic, and expected ones that were never seen.

use crate::driver::confirm::schedule;
use crate::driver::erased::AnyProgram;
use whippet_model::{Decides, Finding, FindingKind, Problem, Profile};

/// The number of results that the message about a difference lists.
const MOST_LISTED: usize = 5;

/// What a program declares about its outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeclaredOutcomes {
    expected: Vec<Problem>,
    deterministic: bool,
}

impl DeclaredOutcomes {
    pub(crate) fn of(profile: &Profile) -> DeclaredOutcomes {
        DeclaredOutcomes { expected: profile.expected.clone(), deterministic: profile.deterministic }
    }

    /// Returns a finding for each expected outcome that is not among these.
    pub(crate) fn unreached(&self, program: &dyn AnyProgram, outcomes: &[Finding]) -> Vec<Finding> {
        let missing = self.expected.iter().filter(|wanted| outcomes.iter().all(|seen| seen.key != wanted.key));
        missing.map(|wanted| Finding::new(wanted.clone(), schedule(program, &[], &[]), Vec::new(), 0)).collect()
    }

    /// Sorts the outcomes by declaration, and returns a finding for each declaration of a deterministic program that has
    /// several.
    pub(crate) fn differences(&self, outcomes: &mut [Finding]) -> Vec<Finding> {
        outcomes
            .sort_by_cached_key(|o| (o.place.clone(), o.declaration, o.schedule.decisions.len(), o.message.clone()));
        let groups = outcomes.chunk_by(|one, other| one.declaration == other.declaration);
        groups.filter(|group| self.deterministic && group.len() > 1).map(difference).collect()
    }
}

/// Returns the finding that the results of one declaration differ. Its counterexample is an execution with the second
/// result, beside which the first one stands.
fn difference(outcomes: &[Finding]) -> Finding {
    let (first, second) = (&outcomes[0], &outcomes[1]);
    let mut values: Vec<&str> = outcomes.iter().map(|outcome| outcome.message.as_str()).take(MOST_LISTED).collect();
    if outcomes.len() > MOST_LISTED {
        values.push("…");
    }
    let mut finding = second.clone();
    finding.declaration = None;
    finding.kind = FindingKind::Outcome;
    finding.message = format!(
        "the result depends on the order of messages: {} different ones: {}; this execution gives {}",
        outcomes.len(),
        values.join(", "),
        second.message
    );
    let text = format!("another order gives {}", first.message);
    finding.decides = Some(Decides::default().with_text(text).with_passing(first.trace.clone()));
    finding
}
