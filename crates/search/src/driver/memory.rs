//! The limit on memory: watches how much the process has grown since the search began.
//!
//! Whatever a search needs is counted: its own tables, the saved states of actors, messages, and cached results. The waiting
//! thread reads the size of the process a few times a second, so the search itself pays nothing.

use std::cell::Cell;

/// The growth of this process.
#[derive(Debug)]
pub(crate) struct MemoryWatch {
    limit: u64,
    at_start: u64,
    /// Set once the limit was exceeded, which is told once.
    exceeded: Cell<bool>,
}

impl MemoryWatch {
    /// Begins to watch this process.
    pub(crate) fn start(limit: usize) -> MemoryWatch {
        MemoryWatch { limit: limit as u64, at_start: resident().unwrap_or(0), exceeded: Cell::new(false) }
    }

    /// Returns `true` once, when the process has grown by more than the limit. Always returns `false` where the system does not
    /// tell the size of a process.
    pub(crate) fn exceeds(&self) -> bool {
        let grown = resident().unwrap_or(0).saturating_sub(self.at_start);
        grown > self.limit && !self.exceeded.replace(true)
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_once() {
        let (small, large) = (MemoryWatch::start(1 << 20), MemoryWatch::start(1 << 40));
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert_eq!((small.exceeds(), small.exceeds(), large.exceeds()), (true, false, false));
        drop(block);
    }
}
