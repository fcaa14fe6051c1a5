//! The exit status of a process that returns a verdict.

use whippet_model::Verdict;

/// The exit status of a process that was asked for a verdict. Scripts rely on the numbers.
///
/// ```
/// use whippet_report::Exit;
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// assert_eq!(Exit::of(&verdict), Exit::Holds);
/// assert_eq!(Exit::NoVerdict.code(), 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The search was complete and found nothing.
    Holds = 0,
    /// The search found a problem.
    Found = 1,
    /// Misuse, or an incomplete search without findings.
    NoVerdict = 2,
}

impl Exit {
    /// Returns the exit status for a verdict. Warnings do not count.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Exit {
        match verdict {
            Verdict { findings, .. } if !findings.is_empty() => Exit::Found,
            Verdict { complete: true, .. } => Exit::Holds,
            _ => Exit::NoVerdict,
        }
    }

    /// Returns the number for the operating system.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}
