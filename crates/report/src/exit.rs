//! What a verdict means to whoever started the process.

use whippet_model::Verdict;

/// How a process ends that was asked for a verdict. Scripts rely on the numbers.
///
/// ```
/// use whippet_report::Exit;
/// let verdict = whippet::Whippet::new("holds").explore(|_sys| {}).unwrap();
/// assert_eq!(Exit::of(&verdict), Exit::Holds);
/// assert_eq!(Exit::NoVerdict.code(), 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Searched to the end, nothing found.
    Holds = 0,
    /// Something was found.
    Found = 1,
    /// Misuse, or the search ended short of a verdict.
    NoVerdict = 2,
}

impl Exit {
    /// What a verdict amounts to. Warnings do not count.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Exit {
        match verdict {
            Verdict { findings, .. } if !findings.is_empty() => Exit::Found,
            Verdict { complete: true, .. } => Exit::Holds,
            _ => Exit::NoVerdict,
        }
    }

    /// The number for the operating system.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}
