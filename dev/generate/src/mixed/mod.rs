//! Random programs that mix actors, futures, locks and shared variables, and a comparison of searches on them.
//!
//! A program consists of scripts. Each actor executes one script when it is started, and a script can run another one
//! concurrently as a future. Everything that a script reads, receives as an answer or obtains from its futures is
//! mixed into a number, the values it has *seen*. That number determines which conditional acts are skipped, the
//! values written and, at the end, the *result* of the actor.
//!
//! If the exhaustive search finds no data race, every search must find the same results, problems and traces, and
//! `optimal` must explore each trace exactly once. If it finds a data race, reductions are not justified any more.
//! The following must still hold: every search finds a race; it explores exactly the race-free traces, `optimal` each
//! of them once; it finds the problems at their ends; and it reports no problem that the exhaustive search does not
//! find.
//!
//! The full run, in which three programs in ten are too large for the comparison:
//!
//! ```text
//! WHIPPET_SEED=1 WHIPPET_PROGRAMS=15000 cargo test --release -p whippet-generate a_fixed_sample_of_mixed -- --nocapture
//! ```

mod judge;
mod stage;

pub use judge::{judge_mixed, mixed_settings};
pub use stage::Results;

use crate::Random;
use std::fmt;
use whippet_actors::{ActorProgram, System};

/// One action of a script.
///
/// ```
/// use whippet_generate::{Act, Mixed};
/// let kinds = (0..20).flat_map(|seed| Mixed::draw(seed).scripts).flatten();
/// assert!(kinds.into_iter().any(|act| matches!(act, Act::Mutex)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Acquires the re-entrant lock.
    Lock,
    /// Acquires the mutex.
    Mutex,
    /// Acquires the read–write lock for reading.
    ReadLock,
    /// Acquires the read–write lock for writing.
    WriteLock,
    /// Acquires a permit of the semaphore, which has two.
    Acquire,
    /// Releases the lock or permit acquired last.
    Free,
    /// Reads a variable.
    Read(usize),
    /// Writes a number computed from the values seen to a variable.
    Write(usize),
    /// Replaces a variable by a new one, for this script and for the futures that it starts later.
    Make(usize),
    /// Runs a script as a future.
    Fork(usize),
    /// Waits for the oldest future that has not been waited for.
    Wait,
    /// Waits for the oldest future that has not been waited for, or times out.
    WaitOrTimeout,
    /// Waits on the condition variable if the mutex was acquired last.
    WaitOn,
    /// Notifies one waiter of the condition variable.
    Notify,
    /// Sends a number to an actor, which mixes it into the values it has seen.
    Send(usize),
    /// Calls an actor, which replies with the values it has seen.
    Call(usize),
    /// Skips the next act if the values seen form an odd number.
    UnlessOdd,
}

/// A program: the first `actors` scripts belong to the actors, the others to futures.
///
/// ```
/// use whippet_generate::{Mixed, Results};
/// let (program, results) = (Mixed::draw(3), Results::default());
/// assert_eq!(program, Mixed::draw(3));
/// assert!(program.actors <= program.scripts.len());
/// let _test = program.test(&results);
/// let small = program.shrink(|smaller| smaller.actors > 0);
/// assert!(small.actors > 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The number of actors.
    pub actors: usize,
    /// The scripts of the actors and the futures.
    pub scripts: Vec<Vec<Act>>,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, script) in self.scripts.iter().enumerate() {
            let who = if k < self.actors { "actor" } else { "future" };
            writeln!(f, "  {who} {k}: {script:?}")?;
        }
        Ok(())
    }
}

impl Mixed {
    /// Generates the program of a seed.
    #[must_use]
    pub fn draw(seed: u64) -> Mixed {
        let mut random = Random::new(seed);
        let weights = &WEIGHTS[random.below(WEIGHTS.len())];
        let actors = 2 + random.below(2);
        let all = actors + 1 + random.below(2);
        let scripts = (0..all).map(|k| draw_script(&mut random, weights, k, actors, all)).collect();
        Mixed { actors, scripts }
    }

    /// Returns the program as native actors. The actors' results at the end of each execution are added to `results`.
    #[must_use]
    pub fn test(&self, results: &Results) -> ActorProgram {
        let (program, results) = (self.clone(), results.clone());
        ActorProgram::new("mixed", move |system: &mut System| stage::set_up(system, &program, &results))
    }

    /// Returns a program as small as possible that `fails` as well.
    #[must_use]
    pub fn shrink(mut self, fails: impl Fn(&Mixed) -> bool) -> Mixed {
        let mut places: Vec<(usize, usize)> = Vec::new();
        loop {
            places.clear();
            places.extend(self.scripts.iter().enumerate().flat_map(|(s, acts)| (0..acts.len()).map(move |a| (s, a))));
            let smaller = places.iter().find_map(|&(script, act)| {
                let mut smaller = self.clone();
                smaller.scripts[script].remove(act);
                fails(&smaller).then_some(smaller)
            });
            match smaller {
                Some(smaller) => self = smaller,
                None => return self,
            }
        }
    }
}

/// The relative frequencies of acts. Each row favours one kind of lock, because actors interfere only if they use the
/// same one. The columns in order: lock, mutex, read lock, write lock, permit, free, read, write, fork, wait, wait or
/// timeout, wait on, notify, send, call, condition, make.
const WEIGHTS: [[usize; 17]; 8] = [
    [9, 0, 0, 0, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 5, 5, 5, 4, 4, 1, 0, 0, 1, 1, 1, 0],
    [0, 0, 4, 5, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 2, 0, 0, 9, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 4, 3, 3, 3, 2, 0, 5, 5, 1, 0, 1, 0],
    [3, 3, 2, 2, 2, 4, 5, 5, 5, 4, 1, 2, 2, 2, 2, 2, 1],
    // Many acts that depend on the values read.
    [3, 0, 0, 0, 0, 2, 6, 6, 3, 2, 0, 0, 0, 2, 1, 6, 0],
    // Many private variables.
    [0, 5, 0, 0, 0, 3, 6, 6, 6, 3, 0, 0, 0, 1, 0, 2, 4],
];

fn draw_script(random: &mut Random, weights: &[usize], me: usize, actors: usize, all: usize) -> Vec<Act> {
    let mut acts = Vec::new();
    for _ in 0..2 + random.below(4) {
        acts.push(match random.weighted(weights) {
            0 => Act::Lock,
            1 => Act::Mutex,
            2 => Act::ReadLock,
            3 => Act::WriteLock,
            4 => Act::Acquire,
            5 => Act::Free,
            6 => Act::Read(random.below(2)),
            7 => Act::Write(random.below(2)),
            8 => {
                // Only later scripts, so that programs terminate.
                let first = (me + 1).max(actors);
                if first == all {
                    continue;
                }
                Act::Fork(first + random.below(all - first))
            }
            9 => Act::Wait,
            10 => Act::WaitOrTimeout,
            11 => Act::WaitOn,
            12 => Act::Notify,
            13 => Act::Send(random.below(actors)),
            14 => Act::Call(random.below(actors)),
            15 => Act::UnlessOdd,
            _ => Act::Make(random.below(2)),
        });
    }
    acts
}
