//! Random programs that mix actors, futures, locks and shared variables, and searches compared on them.
//!
//! A program has scripts. Each actor carries out one when it is started; a script may run another one beside it, as a
//! future. What a script reads, is answered and gets from its futures it adds to what it has *seen*, which decides
//! whether conditional acts are left out, what it writes and, at the end, what its actor has come to: the *result*.
//!
//! Where exhaustive search finds no data race, every search must find the same results and problems, and the same
//! traces, `optimal` each exactly once. Where it finds one, no reduction is justified any more. What is owed then: a race
//! is found; of the traces without a race none is missing, none is made up, and `optimal` still explores each once; so is
//! what is wrong at their ends; and no problem is told that exhaustive search does not know.
//!
//! The full number, of which three in ten are too large to be judged:
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
use whippet_actors::{System, Test};

/// What a script does at one point.
///
/// ```
/// use whippet_generate::{Act, Mixed};
/// let kinds = (0..20).flat_map(|seed| Mixed::draw(seed).scripts).flatten();
/// assert!(kinds.into_iter().any(|act| matches!(act, Act::Mutex)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Takes the re-entrant lock.
    Lock,
    /// Takes the mutex.
    Mutex,
    /// Takes the read–write lock for reading.
    ReadLock,
    /// Takes it for writing.
    WriteLock,
    /// Takes a permit of the semaphore, which has two.
    Acquire,
    /// Lets go of what was taken last.
    Free,
    /// Reads a variable.
    Read(usize),
    /// Writes what was seen to a variable.
    Write(usize),
    /// Makes a new variable in place of one, for itself and the futures that it runs from here on.
    Make(usize),
    /// Runs a script as a future.
    Fork(usize),
    /// Waits for the oldest future that it has not waited for.
    Wait,
    /// The same, or a time that is over.
    WaitOrTimeout,
    /// Waits on the condition variable, if the mutex is what was taken last.
    WaitOn,
    /// Notifies one who waits on it.
    Notify,
    /// Sends a number to an actor, which adds it to what it has seen.
    Send(usize),
    /// Asks an actor for what it has seen.
    Call(usize),
    /// Leaves out the next act if what was seen is odd.
    UnlessOdd,
}

/// A program: its scripts, of which the first ones are those of the actors.
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
    /// How many actors there are.
    pub actors: usize,
    /// What they and their futures do.
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
    /// The program of a seed.
    #[must_use]
    pub fn draw(seed: u64) -> Mixed {
        let mut random = Random::new(seed);
        let weights = &WEIGHTS[random.below(WEIGHTS.len())];
        let actors = 2 + random.below(2);
        let all = actors + 1 + random.below(2);
        let scripts = (0..all).map(|k| draw_script(&mut random, weights, k, actors, all)).collect();
        Mixed { actors, scripts }
    }

    /// The program as native actors; what they come to at the end of an execution is added to `results`.
    #[must_use]
    pub fn test(&self, results: &Results) -> Test {
        let (program, results) = (self.clone(), results.clone());
        Test::new("mixed", move |system: &mut System| stage::set_up(system, &program, &results))
    }

    /// A program as small as possible that `fails` too.
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

/// How likely each act is. Programs differ in what they lock with: two must want the same thing to get in each other's
/// way. In order: lock, mutex, read, write, permit, free, read, write, fork, wait, timeout, wait on, notify, send, call,
/// condition, make.
const WEIGHTS: [[usize; 17]; 8] = [
    [9, 0, 0, 0, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 5, 5, 5, 4, 4, 1, 0, 0, 1, 1, 1, 0],
    [0, 0, 4, 5, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 2, 0, 0, 9, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 4, 3, 3, 3, 2, 0, 5, 5, 1, 0, 1, 0],
    [3, 3, 2, 2, 2, 4, 5, 5, 5, 4, 1, 2, 2, 2, 2, 2, 1],
    // What is done depends on what was read.
    [3, 0, 0, 0, 0, 2, 6, 6, 3, 2, 0, 0, 0, 2, 1, 6, 0],
    // Variables of one's own.
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
                // Later scripts only, so that programs end.
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
