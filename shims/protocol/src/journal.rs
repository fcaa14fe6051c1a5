//! The file in which a test process records its steps, so that they are known even if it ends without an answer.
//!
//! The file is a shared mapping: recording a step costs a few stores, and what was stored survives the process,
//! whatever ends it. The first word is the state of the test, the second the number of words per worker; then follows
//! the memory of the workers, as [`whippet_search::Journal`] describes it.

use crate::Attempt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use whippet_search::{Journal, LastPath, journal_words};

/// The words before the memory of the workers.
const HEAD: usize = 2;

/// The states of a test.
const RUNNING: u64 = 1;
const ANSWERED: u64 = 2;

/// The journal of this process.
#[derive(Debug)]
pub struct JournalFile {
    words: &'static [AtomicU64],
    per_worker: usize,
    attempt: PathBuf,
}

impl JournalFile {
    /// Creates the journal for this number of workers and for executions of this length. `attempt` is the file for
    /// the program that is being searched. Returns `None` if the file cannot be created or mapped: then nothing is
    /// recorded. A process that searches several programs uses the same memory for all of them.
    #[must_use]
    pub fn create(file: &Path, attempt: &Path, workers: usize, steps: usize) -> Option<JournalFile> {
        let per_worker = journal_words(steps);
        let words = memory(file, workers, per_worker)?;
        words[0].store(RUNNING, Ordering::Relaxed);
        words[1].store(per_worker as u64, Ordering::Relaxed);
        Some(JournalFile { words, per_worker, attempt: attempt.into() })
    }

    /// Records that the test has answered: whatever ends the process now is of no interest.
    pub fn answered(&self) {
        self.words[0].store(ANSWERED, Ordering::Relaxed);
    }
}

impl Journal for JournalFile {
    fn begin_attempt(&self, program: &str, parameters: &[(String, String)]) {
        let attempt = Attempt { program: program.into(), parameters: parameters.to_vec() };
        // Without it, a crash is reported without its steps.
        let _ = attempt.write(&self.attempt);
    }

    fn slot(&self, worker: usize) -> Option<&'static [AtomicU64]> {
        self.words[HEAD..].chunks_exact(self.per_worker).nth(worker)
    }
}

/// The journal of a process that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// `true` if a test began and did not answer.
    pub unanswered: bool,
    /// The last path of each worker.
    pub paths: Vec<LastPath>,
}

impl Recorded {
    /// Reads the journal of a process that has ended. It is empty if the file is missing.
    ///
    /// ```
    /// assert!(!whippet_protocol::Recorded::read("nowhere".as_ref()).unanswered);
    /// ```
    #[must_use]
    pub fn read(file: &Path) -> Recorded {
        let bytes = std::fs::read(file).unwrap_or_default();
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect();
        let [state, per_worker, workers @ ..] = &words[..] else { return Recorded::default() };
        let Some(per_worker) = usize::try_from(*per_worker).ok().filter(|&words| words > 0) else {
            return Recorded::default();
        };
        let paths = workers.chunks_exact(per_worker).filter_map(LastPath::read).collect();
        Recorded { unanswered: *state == RUNNING, paths }
    }
}

/// A file and its mapping.
type Mapped = (PathBuf, &'static [AtomicU64]);

/// The files that this process has mapped.
static MAPPED: Mutex<Vec<Mapped>> = Mutex::new(Vec::new());

/// Returns the mapping of a file, with no path in it.
fn memory(file: &Path, workers: usize, per_worker: usize) -> Option<&'static [AtomicU64]> {
    let words = HEAD + workers * per_worker;
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = mapped.iter().rfind(|(known, _)| known == file).map(|&(_, memory)| memory);
    if let Some(memory) = known.filter(|memory| memory.len() >= words) {
        // A slot whose first word is 0 has no path.
        memory[HEAD..].chunks_exact(per_worker).for_each(|slot| slot[0].store(0, Ordering::Relaxed));
        return Some(memory);
    }
    let memory = map(file, words, known.is_none())?;
    mapped.push((file.into(), memory));
    Some(memory)
}

/// Fills a file with this many words, all zero, and maps it. The mapping stays until the process ends, so a file that
/// is already mapped must not be truncated.
#[cfg(unix)]
fn map(file: &Path, words: usize, truncate: bool) -> Option<&'static [AtomicU64]> {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let bytes = words * size_of::<u64>();
    let mut open = std::fs::File::options().read(true).write(true).create(true).truncate(truncate).open(file).ok()?;
    // The space is allocated now: a store to a mapped page for which the disk has no room would end the process.
    open.write_all(&vec![0; bytes]).ok()?;
    // SAFETY: the arguments describe a new mapping of an open file of this length; the kernel chooses its address.
    let address = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, open.as_raw_fd(), 0)
    };
    // SAFETY: the mapping has this many words, begins at a page, is never unmapped, and is only used as atomics.
    (address != libc::MAP_FAILED).then(|| unsafe { std::slice::from_raw_parts(address.cast(), words) })
}

#[cfg(not(unix))]
fn map(_: &Path, _: usize, _: bool) -> Option<&'static [AtomicU64]> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_can_be_read_at_any_time() {
        let file = std::env::temp_dir().join(format!("whippet-journal-{}", std::process::id()));
        let attempt = file.with_extension("attempt");
        let journal = JournalFile::create(&file, &attempt, 2, 10).unwrap();
        assert_eq!(Recorded::read(&file), Recorded { unanswered: true, paths: Vec::new() });
        journal.begin_attempt("bank", &[("learnt".into(), "a".into())]);
        assert_eq!(Attempt::read(&attempt).unwrap().program, "bank");
        let slot = journal.slot(1).unwrap();
        // One step, in which the process is.
        for (word, value) in slot.iter().zip([3, 1, 7, 0]) {
            word.store(value, Ordering::Relaxed);
        }
        let recorded = Recorded::read(&file);
        assert_eq!((recorded.paths.len(), recorded.paths[0].in_step), (1, true));
        journal.answered();
        assert!(!Recorded::read(&file).unanswered);
        assert!(journal.slot(2).is_none());
        // Another search of the process begins with the same memory; one with more workers needs a new mapping.
        let second = JournalFile::create(&file, &attempt, 1, 10).unwrap();
        assert!(std::ptr::eq(second.words, journal.words));
        assert_eq!(Recorded::read(&file), Recorded { unanswered: true, paths: Vec::new() });
        let third = JournalFile::create(&file, &attempt, 3, 10).unwrap();
        third.slot(2).unwrap().iter().zip([3, 1, 7, 0]).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        assert_eq!(Recorded::read(&file).paths.len(), 1);
        std::fs::remove_file(&file).unwrap();
        std::fs::remove_file(&attempt).unwrap();
    }

    #[test]
    fn without_room_there_is_no_journal() {
        assert!(JournalFile::create("/nowhere/journal".as_ref(), "".as_ref(), 1, 10).is_none());
        if Path::new("/dev/full").exists() {
            assert!(map("/dev/full".as_ref(), 10, true).is_none());
        }
    }
}
