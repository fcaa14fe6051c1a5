//! Runs a program many times on the real tokio, with pauses at random points.

use crate::hooks::Hooks;
use crate::logs::Logs;
use crate::on_real::begin;
use real::runtime::{Builder, Runtime, RuntimeFlavor};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_reference::{Outcome, Program};

/// The outcomes of runs, and how often each was seen.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub outcomes: BTreeMap<Outcome, u64>,
    pub runs: u64,
    /// The runs that did not end.
    pub stuck: u64,
}

/// A run that takes longer than this is stuck.
const PATIENCE: Duration = Duration::from_secs(8);

/// A program with this number of stuck runs is not run again.
const MOST_STUCK: u64 = 2;

/// Makes a runtime for any number of programs.
///
/// # Panics
/// If threads cannot be started.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_time().build().expect("a runtime can be built")
}

/// Makes a runtime with one thread, which runs its tasks while a program is run.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
}

/// Runs a program as often as asked for.
#[must_use]
pub fn outcomes(runtime: &Runtime, program: &Arc<Program>, runs: u64, seed: u64) -> Observed {
    let mut observed = Observed::default();
    for run in 0..runs {
        let (outcome, ended) = once(runtime, program, seed.wrapping_add(run.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        *observed.outcomes.entry(outcome).or_default() += 1;
        observed.runs += 1;
        observed.stuck += u64::from(!ended);
        if observed.stuck == MOST_STUCK {
            break;
        }
    }
    observed
}

/// Runs a program once; the answer says also if it came to its end.
fn once(runtime: &Runtime, program: &Arc<Program>, seed: u64) -> (Outcome, bool) {
    let (logs, stress) = (Logs::default(), Arc::new(Stress::new(seed)));
    if runtime.handle().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return once_on_one_thread(runtime, program, &logs, stress);
    }
    let shared = {
        let _entered = runtime.enter();
        begin(program, &logs, stress.clone())
    };
    let ended = stress.wait();
    let outcome = logs.outcome();
    drop(shared);
    (outcome, ended)
}

fn once_on_one_thread(runtime: &Runtime, program: &Arc<Program>, logs: &Logs, stress: Arc<Stress>) -> (Outcome, bool) {
    let ended = runtime.block_on(async {
        let shared = begin(program, logs, stress.clone());
        let began = Instant::now();
        while stress.is_alive() && began.elapsed() < PATIENCE {
            real::time::sleep(Duration::from_millis(1)).await;
        }
        drop(shared);
        !stress.is_alive()
    });
    (logs.outcome(), ended)
}

/// The surroundings on the real tokio: pauses, and the number of tasks that are alive.
struct Stress {
    seed: u64,
    alive: Mutex<usize>,
    all_ended: Condvar,
}

thread_local! {
    /// The run that the random numbers of this thread belong to, and the last number.
    static RANDOM: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

impl Stress {
    fn new(seed: u64) -> Stress {
        Stress { seed, alive: Mutex::new(0), all_ended: Condvar::new() }
    }

    /// Waits until all tasks have ended, or gives up.
    fn wait(&self) -> bool {
        let alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.all_ended.wait_timeout_while(alive, PATIENCE, |alive| *alive > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn is_alive(&self) -> bool {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) > 0
    }

    fn random(&self) -> u64 {
        let (seed, last) = RANDOM.get();
        let thread = RANDOM.with(|random| std::ptr::from_ref(random) as u64);
        let last = if seed == self.seed { last } else { self.seed ^ thread.rotate_left(32) };
        let (next, mixed) = splitmix(last);
        RANDOM.set((self.seed, next));
        mixed
    }
}

fn splitmix(state: u64) -> (u64, u64) {
    let next = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (next ^ (next >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (next, mixed ^ (mixed >> 31))
}

impl Hooks for Stress {
    fn tick(&self) -> Duration {
        Duration::from_millis(20)
    }

    fn pauses(&self) -> bool {
        true
    }

    fn pause(&self) {
        let random = self.random();
        match random % 32 {
            0..8 => {}
            8..16 => std::thread::yield_now(),
            16..31 => spin(Duration::from_nanos(random / 32 % 20_000)),
            _ => std::thread::sleep(Duration::from_micros(200)),
        }
    }

    fn spawned(&self) {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn ended(&self) {
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        *alive -= 1;
        if *alive == 0 {
            self.all_ended.notify_all();
        }
    }
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
