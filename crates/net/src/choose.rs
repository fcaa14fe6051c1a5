//! Choices of a process that the search makes.

use crate::op::{Answer, Op};
use crate::process::{located, perform};

/// Returns the index of one of the alternatives. Each of them is explored. The texts describe the alternatives in
/// counterexamples.
///
/// # Panics
///
/// Panics if there is no alternative.
///
/// ```
/// use whippet_net::{Net, choose};
/// let net = Net::new("coin", |net| {
///     net.process("player", async || assert_eq!(choose(&["heads", "tails"]).await, 0, "lost"));
/// });
/// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, 2);
/// assert!(verdict.findings[0].message.contains("lost"));
/// ```
#[track_caller]
pub fn choose(alternatives: &'static [&'static str]) -> impl Future<Output = usize> {
    located(async move {
        assert!(!alternatives.is_empty(), "a choice needs at least one alternative");
        match perform(Op::Choose { of: alternatives }).await.answer {
            Answer::Ready { k, .. } => k as usize,
            other => unreachable!("internal error: a choice is answered by {other:?}"),
        }
    })
}
