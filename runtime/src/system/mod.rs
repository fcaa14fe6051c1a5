//! What the operating system answers to tasks: the time, random bytes, the end of a sleep.
//!
//! Code that runs in a task asks for these through `std` and through other crates, and both end in functions of the C
//! library. The shim of tokio defines those functions (`shims/tokio/src/system.rs`), for the whole test binary. They ask
//! this module first, and the real library if it does not answer: outside executions, that is for the search, its
//! watchdog, progress and time limits, `cargo whippet`, the test harness, and for threads that are not the search's own.
//!
//! # Time
//!
//! The clocks show the real time at which the program was created ([`System`]), plus the virtual time of
//! the execution. The former is a setting of schedules, so a replay in another process shows the same time.
//!
//! Reading a clock adds a read of [`SHOWN`] to the footprint of the running step or merged event. Steps in which the
//! clock advances write it. So a step that reads the clock depends on the timers that fire beside it, and both orders
//! are explored. Unlike [`crate::now`], this is *no scheduling point*: the call comes from arbitrary code of any
//! library, for example from the inside of a lock or of a logger, or from a panic, and a task that is suspended there may
//! hold what others need to go on. So a timer does not fire between an operation of a task and the reads of the clock that
//! follow it. No outcome is lost but those in which the operation itself takes the time: in any order in which a
//! timer fires between the operation o and the read r, exchange o and the timer. r shows the same, and so does
//! everything after it; only what depends on the order of o and the timer can tell the difference.
//!
//! Each look at a clock shows a later time than the one before, by a nanosecond at least: programs rely on computing taking time. These
//! nanoseconds depend on the order of looks in different tasks; that is explored only as far as the order of other operations is.
//! Virtual time stands still while a task runs, so a task that waits for a time by asking again and again would never end.
//! Therefore each read beyond [`PATIENCE`] in a row advances the clock, by more each time. Computing takes time.
//!
//! A thread that sleeps in a task advances the clock by the length of its sleep, and does not sleep. Timers that are due by
//! then fire late, as they do on the real runtime, whose thread is blocked. If a task has started threads of the
//! operating system, it may be waiting for one of these, so then it also sleeps.
//!
//! # Random bytes
//!
//! Each task has a stream of its own, which depends on nothing but the task's name. So the bytes are the same in each execution, whatever
//! other tasks do. Values that a thread keeps from one use to the next, such as the state of a generator, are
//! exchanged whenever another task runs: see `variables.rs`.

mod variables;

use crate::current::{try_with_current, with_facts};
use crate::execution::NONE;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use whippet_model::{Name, Touch};

pub use variables::{Destructor, is_variable, take_destructor};
pub(crate) use variables::{OwnVariables, enter, leave};

/// The name of the time that clocks show.
pub(crate) const SHOWN: Name = Name(0x434c_4f43_4b00_0004);

/// The number of times that a task may read the clock in a row before this advances the clock.
const PATIENCE: u32 = 1_000;

/// The state of the system at the beginning of each execution of a program.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// The time since 1970.
    wall: Duration,
    /// The time of the monotonic clock.
    monotonic: Duration,
    /// `true` if an execution has read a clock.
    read: AtomicBool,
    /// `true` if a task may be waiting for a thread of the operating system.
    has_threads: AtomicBool,
}

impl System {
    /// Returns the present state.
    pub(crate) fn now() -> System {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        System { wall, monotonic: monotonic(), ..System::default() }
    }

    /// Returns the state at a time that [`System::text`] has written.
    pub(crate) fn of(text: &str) -> Option<System> {
        let (wall, monotonic) = text.split_once('+')?;
        let nanoseconds = |text: &str| text.parse().ok().map(Duration::from_nanos);
        Some(System {
            wall: nanoseconds(wall)?,
            monotonic: nanoseconds(monotonic)?,
            read: AtomicBool::new(true),
            ..System::default()
        })
    }

    /// Makes sleeps of tasks take real time from now on.
    pub(crate) fn keep_sleeping(&self) {
        self.has_threads.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if a task may be waiting for a thread of the operating system.
    pub(crate) fn may_have_threads(&self) -> bool {
        self.has_threads.load(Ordering::Relaxed)
    }

    /// Returns the time as text, if an execution has read a clock.
    pub(crate) fn text(&self) -> Option<String> {
        let text = || format!("{}+{}", self.wall.as_nanos(), self.monotonic.as_nanos());
        self.read.load(Ordering::Relaxed).then(text)
    }
}

#[cfg(target_os = "linux")]
fn monotonic() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) } != 0;
    if failed { Duration::ZERO } else { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) }
}

/// Elsewhere, tasks read the real clocks.
#[cfg(not(target_os = "linux"))]
fn monotonic() -> Duration {
    Duration::ZERO
}

/// A clock of the operating system.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SystemClock {
    /// The time since 1970.
    Wall,
    /// The time since some moment, such as the start of the computer.
    Monotonic,
}

/// Returns the time that a clock of the system shows to the running task, or `None` outside executions.
#[must_use]
pub fn system_time(clock: SystemClock) -> Option<Duration> {
    // Nobody reads the clock while the execution is lent: that is code of this crate.
    let shown = try_with_current(|x| {
        let reads = x.clock.reads.saturating_add(1);
        x.clock.reads = reads;
        if reads > PATIENCE {
            let more = u64::from(reads - PATIENCE) * 1_000;
            x.advances_by(more);
        }
        x.touch(Touch::read(SHOWN));
        x.clock.looks += 1;
        x.clock.now + x.clock.looks
    })?;
    let base = with_facts(|facts| {
        let system = &facts.system;
        if !system.read.load(Ordering::Relaxed) {
            system.read.store(true, Ordering::Relaxed);
        }
        match clock {
            SystemClock::Wall => system.wall,
            SystemClock::Monotonic => system.monotonic,
        }
    })?;
    Some(base.saturating_add(Duration::from_nanos(shown)))
}

/// Records that a thread of the operating system is started. If a task starts it, sleeps take real time from now on.
pub fn starts_thread() {
    with_facts(|facts| facts.system.keep_sleeping());
}

/// Advances the clock by the time that the running task sleeps. Returns `true` if it need not sleep; outside executions,
/// `false`.
#[must_use]
pub fn sleeps(time: Duration) -> bool {
    let advanced = try_with_current(|x| x.advances_by(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
    advanced.is_some() && with_facts(|facts| !facts.system.has_threads.load(Ordering::Relaxed)).unwrap_or(false)
}

/// Fills `bytes` with random bytes of the running task. Returns `false` outside executions, where it does nothing.
#[must_use]
pub fn random_bytes(bytes: &mut [u8]) -> bool {
    let stream = try_with_current(|x| {
        let (running, words) = (x.running(), bytes.len().div_ceil(8) as u64);
        // Outside its tasks, an execution has a stream too.
        let (name, drawn) = match x.tasks.get_mut(running as usize).filter(|_| running != NONE) {
            Some(task) => (task.name, &mut task.own.drawn),
            None => (Name::ROOT, &mut x.counters.drawn),
        };
        let from = *drawn;
        *drawn += words;
        (name.mixed(RANDOM), from)
    });
    let Some((name, from)) = stream else { return false };
    for (k, chunk) in bytes.chunks_mut(8).enumerate() {
        let word = name.mixed(from.wrapping_add(k as u64).wrapping_add(1)).0;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
    true
}

/// The salt of random bytes.
const RANDOM: u64 = 0x5241_4e44_4f4d_0001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_written_and_read() {
        let now = System::now();
        assert_eq!(now.text(), None, "no execution has read the clock");
        now.read.store(true, Ordering::Relaxed);
        let text = now.text().unwrap();
        let again = System::of(&text).unwrap();
        assert_eq!((again.wall, again.monotonic, again.text()), (now.wall, now.monotonic, Some(text)));
        assert!(System::of("12").is_none() && System::of("a+b").is_none());
    }

    #[test]
    fn outside_executions_the_system_answers() {
        let mut bytes = [0; 3];
        assert!(!random_bytes(&mut bytes) && !sleeps(Duration::ZERO) && bytes == [0; 3]);
        assert_eq!(system_time(SystemClock::Wall), None);
    }
}
