//! Detects a test process that is blocked: none of its threads runs, and none will.
//!
//! All tasks of an exploration share one thread. If a task is suspended while it holds a lock that the shim does not see,
//! and another one takes that lock, this thread blocks forever. The process cannot report that itself, so it is observed
//! from here.

use std::fs;
use std::time::{Duration, Instant};

/// The time after which a process that does not run is taken for blocked.
const PATIENCE: Duration = Duration::from_secs(10);

/// The CPU time in ticks of the system, usually 10 ms, that threads which only watch may take in that time.
const WATCHING: u64 = 10;

/// The beginning of the reason for which a blocked process is killed.
const LOCK_HELD: &str = "lock held over a scheduling point";

/// The advice on it.
pub(crate) const ADVICE: &str = "a task was probably suspended while it held a lock that whippet does not see, and another \
     task, or the destructor of one, wants that lock: hook the crate of the lock (`--hook crate`), or release it before operations on tokio's \
     types. If the test waits for another process, it cannot be explored";

/// Observes one process.
pub(crate) struct Idle {
    since: Instant,
    cpu: u64,
}

impl Idle {
    pub(crate) fn new() -> Idle {
        Idle { since: Instant::now(), cpu: 0 }
    }

    /// Returns the reason for which the process should be killed, if it is blocked.
    pub(crate) fn reason(&mut self, id: u32) -> Option<String> {
        let (cpu, runs) = activity(id)?;
        if runs || cpu > self.cpu + WATCHING {
            *self = Idle { since: Instant::now(), cpu };
        }
        let blocked = self.since.elapsed() >= PATIENCE;
        blocked.then(|| format!("{LOCK_HELD}: its process was blocked for {} s", PATIENCE.as_secs()))
    }
}

/// Returns the CPU time of a process in ticks, and `true` if one of its threads is running or could run; `None` if the
/// system does not tell.
fn activity(id: u32) -> Option<(u64, bool)> {
    let (cpu, _) = parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    let threads = fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten();
    // A thread may end between its listing and the reading of its state: it is left out.
    let mut states = threads.filter_map(|thread| parse(&fs::read_to_string(thread.path().join("stat")).ok()?));
    Some((cpu, states.any(|(_, state)| state != 'S')))
}

/// Parses the CPU time and the state of a process or a thread. The name before them may contain anything.
fn parse(stat: &str) -> Option<(u64, char)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((number(11)? + number(12)?, fields.first()?.chars().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_thread() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 12 30 0 0 20 0 1 0 99 0 0";
        assert_eq!(parse(stat), Some((42, 'S')));
        assert_eq!(parse("nonsense"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_runs_while_threads_come_and_go() {
        let id = std::process::id();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200).for_each(|_| std::thread::spawn(|| ()).join().unwrap()));
            assert!((0..200).all(|_| activity(id).is_some_and(|(_, runs)| runs)));
        });
        assert_eq!(Idle::new().reason(id), None);
    }
}
