//! A journal of the paths that workers are on, kept in memory that outlives the process.
//!
//! User code may end the process in the middle of a step: by `abort`, by a stack overflow, by `process::exit`. Then no
//! verdict can be written any more. If the memory of the journal is a shared mapping of a file, another process can
//! still read which steps led there.

use crate::driver::watchdog::Doing;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use whippet_model::{Branch, Name};

/// Memory that survives the process, for the paths of the workers of a search. See [`Observer::journal`].
///
/// ```
/// use std::sync::{Arc, Mutex, atomic::AtomicU64};
/// use whippet_actors::{ActorProgram, Inbox};
/// use whippet_search::{Journal, LastPath, Observer, Options, explore};
///
/// /// A journal in plain memory; a real one is a file.
/// #[derive(Debug)]
/// struct Words(&'static [AtomicU64]);
/// impl Journal for Words {
///     fn begin_attempt(&self, _program: &str, _parameters: &[(String, String)]) {}
///     fn slot(&self, worker: usize) -> Option<&'static [AtomicU64]> {
///         (worker == 0).then_some(self.0)
///     }
/// }
/// struct Watcher(Arc<Words>);
/// impl Observer for Watcher {
///     fn journal(&self) -> Option<Arc<dyn Journal>> {
///         Some(self.0.clone())
///     }
/// }
///
/// let words: &'static [AtomicU64] = Vec::leak((0..64).map(|_| AtomicU64::new(0)).collect());
/// let program = ActorProgram::new("two messages", |sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
///     sys.send(sink, 1);
///     sys.send(sink, 2);
/// });
/// explore(Arc::new(program), &Options::default(), &Watcher(Arc::new(Words(words)))).unwrap();
/// let words: Vec<u64> = words.iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
/// assert!(LastPath::read(&words).unwrap().path.len() <= 2);
/// ```
///
/// [`Observer::journal`]: crate::Observer::journal
pub trait Journal: Send + Sync + fmt::Debug {
    /// Records that a search of this program begins, or begins again, with these parameters.
    fn begin_attempt(&self, program: &str, parameters: &[(String, String)]);

    /// Returns the memory for the path of a worker. Without memory, the path is not recorded.
    fn slot(&self, worker: usize) -> Option<&'static [AtomicU64]>;
}

/// The words of a slot before its path: the operation, and the length of the path.
const HEAD: usize = 2;

/// Returns the number of words that a slot needs for paths of this length.
///
/// ```
/// assert_eq!(whippet_search::journal_words(10), 22);
/// ```
#[must_use]
pub fn journal_words(steps: usize) -> usize {
    HEAD + 2 * steps
}

/// Records the operation at the end of a path.
#[inline]
pub(crate) fn enter(slot: &[AtomicU64], doing: Doing, length: usize) {
    if let [operation, steps, ..] = slot {
        steps.store(length as u64, Ordering::Relaxed);
        operation.store(doing as u64 + 1, Ordering::Relaxed);
    }
}

/// Records a step of a path.
#[inline]
pub(crate) fn step(slot: &[AtomicU64], at: usize, thread: Name, branch: Branch) {
    if let Some([first, second, ..]) = slot.get(HEAD + 2 * at..) {
        first.store(thread.0, Ordering::Relaxed);
        second.store(branch.0, Ordering::Relaxed);
    }
}

/// The last path of a worker, read from a slot of a [`Journal`].
///
/// ```
/// use whippet_search::LastPath;
/// assert_eq!(LastPath::read(&[0; 8]), None, "no worker used this slot");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastPath {
    /// The thread and branch of each step.
    pub path: Vec<(Name, Branch)>,
    /// `true` if the last step had begun and not ended.
    pub in_step: bool,
    /// The code that ran at the end of the path.
    pub during: &'static str,
    /// `false` if the path was too long for its slot, so that its end is missing.
    pub whole: bool,
}

impl LastPath {
    /// Reads a slot. Returns `None` if no worker has used it.
    #[must_use]
    pub fn read(slot: &[u64]) -> Option<LastPath> {
        let (&operation, &length) = (slot.first()?, slot.get(1)?);
        let doing = *Doing::ALL.get(usize::try_from(operation.checked_sub(1)?).ok()?)?;
        let path: Vec<(Name, Branch)> = slot[HEAD..]
            .chunks_exact(2)
            .take(usize::try_from(length).ok()?)
            .map(|pair| (Name(pair[0]), Branch(pair[1])))
            .collect();
        let whole = path.len() as u64 == length;
        let in_step = doing == Doing::Stepping && whole && !path.is_empty();
        Some(LastPath { path, in_step, during: during(doing), whole })
    }
}

fn during(doing: Doing) -> &'static str {
    match doing {
        Doing::SettingUp => "the setup of the test",
        Doing::Asking => "`accepts` or a receive filter",
        Doing::Stepping => "a step",
        Doing::Ending => "the end of an execution",
        Doing::Rewinding => "destructors after an execution",
        Doing::Comparing => "`Hash` of a value",
        Doing::Describing => "`Debug` of a value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_was_written() {
        let slot: Vec<AtomicU64> = (0..journal_words(2)).map(|_| AtomicU64::new(0)).collect();
        let read = || LastPath::read(&slot.iter().map(|word| word.load(Ordering::Relaxed)).collect::<Vec<_>>());
        assert_eq!(read(), None);
        for at in 0..3 {
            step(&slot, at, Name(10 + at as u64), Branch(at as u64));
            enter(&slot, Doing::Stepping, at + 1);
            let last = read().unwrap();
            assert_eq!((last.path.len(), last.in_step, last.whole), ((at + 1).min(2), at < 2, at < 2));
        }
        assert_eq!(read().unwrap().path, [(Name(10), Branch(0)), (Name(11), Branch(1))]);
        enter(&slot, Doing::Ending, 1);
        let last = read().unwrap();
        assert_eq!((last.path.len(), last.in_step, last.during), (1, false, "the end of an execution"));
    }
}
