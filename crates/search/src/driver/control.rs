//! State shared by the workers of a search and the thread that waits for them: limits, progress, findings.
//!
//! It costs a search only a few plain loads and stores per step. The waiting thread wakes up a few times a second,
//! checks the time and sets each worker's poll flag ([`Control::ask`]). The worker then publishes its counters and
//! learns whether it has to stop. Each worker's [`Watchdog`] stores what the worker is currently doing, so that a
//! handler that never returns can be identified although its thread will never answer.

use crate::driver::findings::Collector;
use crate::driver::weights::Weights;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};
use whippet_model::{Branch, Choice, Counters, Estimate, LimitHit, Limits, Machine, MachineError, Name, Program};

/// One step of a path: the name of its event, the thread that acted, and the branch that it took.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PathStep {
    pub(crate) event: Name,
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
}

/// State shared by all workers of one search.
#[derive(Debug)]
pub(crate) struct Control {
    limits: Limits,
    began: Instant,
    /// The number of complete executions, counted only if it is limited.
    executions: AtomicU64,
    workers: Mutex<Vec<Arc<Worker>>>,
    /// The limits that were hit, in the order in which they were noticed.
    hit: Mutex<Vec<LimitHit>>,
    stopped: AtomicBool,
    pub(crate) collector: Mutex<Collector>,
    first: Mutex<Option<Vec<PathStep>>>,
    notes: Mutex<Vec<String>>,
    may_miss: AtomicBool,
    estimate: Mutex<Option<Estimate>>,
    /// See [`Counters::unstable`].
    unstable: OnceLock<Arc<AtomicU64>>,
}

impl Control {
    pub(crate) fn new(limits: &Limits) -> Control {
        Control {
            limits: limits.clone(),
            began: Instant::now(),
            executions: AtomicU64::new(0),
            workers: Mutex::default(),
            hit: Mutex::default(),
            stopped: AtomicBool::new(false),
            collector: Mutex::new(Collector::new(limits.findings)),
            first: Mutex::default(),
            notes: Mutex::default(),
            may_miss: AtomicBool::new(false),
            estimate: Mutex::default(),
            unstable: OnceLock::new(),
        }
    }

    /// Registers and returns a new worker.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        let worker = Arc::new(Worker::new(self.limits.steps));
        lock(&self.workers).push(worker.clone());
        worker
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the time left until the limit on time, if there is one.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|time| time.saturating_sub(self.elapsed()))
    }

    /// Counts a complete execution. Returns an error if it exceeds the limit on executions.
    pub(crate) fn executed(&self) -> Result<(), LimitHit> {
        let Some(most) = self.limits.executions else { return Ok(()) };
        let before = self.executions.fetch_add(1, Ordering::Relaxed);
        if before + 1 >= most {
            // A worker that takes another step will stop. If no worker does, the search has covered everything.
            self.stop(LimitHit::Executions);
        }
        if before >= most { Err(LimitHit::Executions) } else { Ok(()) }
    }

    /// Makes all workers stop at their next step.
    pub(crate) fn stop(&self, why: LimitHit) {
        let mut hit = lock(&self.hit);
        if !hit.contains(&why) {
            hit.push(why);
        }
        drop(hit);
        self.stopped.store(true, Ordering::Release);
        self.ask();
    }

    /// Records a limit that does not stop the search: an execution was too long.
    pub(crate) fn passed(&self, what: LimitHit) {
        let mut hit = lock(&self.hit);
        if !hit.contains(&what) {
            hit.push(what);
        }
    }

    /// Returns the reason why the workers have to stop, if they have to.
    pub(crate) fn stopped(&self) -> Option<LimitHit> {
        if !self.stopped.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.hit).iter().copied().find(|&hit| hit != LimitHit::Steps)
    }

    pub(crate) fn limits_hit(&self) -> Vec<LimitHit> {
        lock(&self.hit).clone()
    }

    /// Removes the limits that were reached with the last step of a search that nevertheless covered everything.
    pub(crate) fn covered(&self) {
        lock(&self.hit).retain(|&hit| hit == LimitHit::Steps);
    }

    /// Asks all workers to publish their counters.
    pub(crate) fn ask(&self) {
        for worker in lock(&self.workers).iter() {
            worker.asked.store(true, Ordering::Release);
        }
    }

    /// Returns the sum of the counters that the workers have published, their greatest depth, and the estimated size.
    pub(crate) fn counted(&self) -> (Counters, usize, Option<Estimate>) {
        let (mut counters, mut depth, mut weights) = (Counters::default(), 0, Weights::default());
        for worker in lock(&self.workers).iter() {
            let published = lock(&worker.published);
            counters.add(&published.counters);
            depth = depth.max(published.depth);
            weights.add(&published.weights);
        }
        counters.unstable = self.unstable.get().map(|count| count.load(Ordering::Relaxed));
        let estimate = lock(&self.estimate).or_else(|| weights.estimate(counters.executions));
        (counters, depth, estimate)
    }

    /// Creates a machine while the watchdog is active: set-up code is user code, too, and may not return.
    pub(crate) fn set_up<P: Program>(&self, program: &P) -> Result<P::Machine, MachineError> {
        let worker = self.worker();
        worker.watchdog.enter(Doing::SettingUp, 0);
        let machine = program.machine();
        worker.watchdog.leave();
        machine
    }

    /// Returns the operation of a worker that has taken longer than the limit for a handler. `seen` stores the ticks
    /// of each worker and the time at which they last changed, from one call to the next.
    pub(crate) fn stuck(&self, seen: &mut Vec<(u64, Instant)>) -> Option<Stuck> {
        let workers = lock(&self.workers);
        let now = Instant::now();
        for (i, worker) in workers.iter().enumerate() {
            let ticks = worker.watchdog.ticks.load(Ordering::Acquire);
            match seen.get_mut(i) {
                Some(known) if known.0 == ticks => {
                    if ticks % 2 == 1 && now - known.1 > self.limits.handler {
                        return Some(worker.watchdog.stuck());
                    }
                }
                Some(known) => *known = (ticks, now),
                None => seen.push((ticks, now)),
            }
        }
        None
    }

    /// Stores the path of the first complete execution, unless it is already stored.
    pub(crate) fn keep_first(&self, path: impl FnOnce() -> Vec<PathStep>) {
        let mut first = lock(&self.first);
        if first.is_none() {
            *first = Some(path());
        }
    }

    pub(crate) fn first(&self) -> Option<Vec<PathStep>> {
        lock(&self.first).clone()
    }

    /// Adds a note for the reader of the verdict, unless it has already been added.
    pub(crate) fn note(&self, text: impl Into<String>) {
        let text = text.into();
        let mut notes = lock(&self.notes);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// Adds a note about executions that the search may miss even if it completes.
    pub(crate) fn note_missing(&self, text: impl Into<String>) {
        self.note(text);
        self.may_miss.store(true, Ordering::Relaxed);
    }

    pub(crate) fn may_miss(&self) -> bool {
        self.may_miss.load(Ordering::Relaxed)
    }

    /// Returns the counter of configurations that have no stable actor.
    pub(crate) fn unstable(&self) -> Arc<AtomicU64> {
        self.unstable.get_or_init(Arc::default).clone()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = lock(&self.notes).clone();
        notes.sort();
        notes
    }

    /// Sets an estimate by the search itself, which replaces the one computed from weights.
    pub(crate) fn guess(&self, estimate: Estimate) {
        *lock(&self.estimate) = Some(estimate);
    }
}

/// Data that a worker publishes.
#[derive(Debug, Default)]
struct Published {
    counters: Counters,
    depth: usize,
    weights: Weights,
}

/// A worker, as the other threads see it.
#[derive(Debug)]
pub(crate) struct Worker {
    asked: AtomicBool,
    published: Mutex<Published>,
    pub(crate) watchdog: Watchdog,
}

impl Worker {
    fn new(steps: usize) -> Worker {
        Worker { asked: AtomicBool::new(false), published: Mutex::default(), watchdog: Watchdog::new(steps) }
    }

    /// Returns `true` if the poll flag is set. Called before every step.
    #[inline]
    pub(crate) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Publishes the counters and clears the poll flag.
    pub(crate) fn publish(&self, counters: &Counters, depth: usize, weights: &Weights) {
        self.asked.store(false, Ordering::Relaxed);
        *lock(&self.published) = Published { counters: *counters, depth, weights: *weights };
    }
}

/// The kind of user code that a worker may be running.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Creating a machine.
    SettingUp,
    /// Asking actors what they accept.
    Asking,
    /// Executing a step, including the checks after it.
    Stepping,
    /// Checking the end of an execution.
    Ending,
}

impl Doing {
    const ALL: [Doing; 4] = [Doing::SettingUp, Doing::Asking, Doing::Stepping, Doing::Ending];
}

/// The operation that a worker is stuck in.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) doing: Doing,
    /// The path to the operation, including the step that is being executed.
    pub(crate) path: Vec<(Name, Branch)>,
}

/// The current operation of a worker. An odd number of ticks means that the worker is inside user code.
#[derive(Debug)]
pub(crate) struct Watchdog {
    ticks: AtomicU64,
    doing: AtomicU8,
    /// The length of the path to the operation.
    length: AtomicU64,
    /// The thread and branch of each step, allocated in pieces because most executions are short.
    path: Vec<OnceLock<Box<[[AtomicU64; 2]; PIECE]>>>,
}

/// The longest path that is stored for the rare case that a handler does not return.
const LONGEST_PATH: usize = 1 << 16;
const PIECE: usize = 256;

impl Watchdog {
    fn new(steps: usize) -> Watchdog {
        let mut path = Vec::new();
        path.resize_with(steps.min(LONGEST_PATH).div_ceil(PIECE), OnceLock::new);
        Watchdog { ticks: AtomicU64::new(0), doing: AtomicU8::new(0), length: AtomicU64::new(0), path }
    }

    /// Marks the beginning of the step `choice`.
    #[inline]
    pub(crate) fn begin<M: Machine>(&self, machine: &M, choice: Choice) {
        let depth = machine.depth();
        if let Some(piece) = self.path.get(depth / PIECE) {
            let piece = piece.get_or_init(|| Box::new(std::array::from_fn(|_| Default::default())));
            let [thread, branch] = &piece[depth % PIECE];
            thread.store(machine.thread(choice.what).0, Ordering::Relaxed);
            branch.store(choice.branch.0, Ordering::Relaxed);
        }
        self.enter(Doing::Stepping, depth + 1);
    }

    /// Marks the beginning of user code, at the end of a path of this length.
    #[inline]
    pub(crate) fn enter(&self, doing: Doing, length: usize) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
        self.tick();
    }

    /// Marks the end of user code.
    #[inline]
    pub(crate) fn leave(&self) {
        self.tick();
    }

    /// Increments the ticks. Only the worker itself writes them, so a plain load and store are enough.
    #[inline]
    fn tick(&self) {
        self.ticks.store(self.ticks.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    fn stuck(&self) -> Stuck {
        let doing = Doing::ALL[usize::from(self.doing.load(Ordering::Relaxed))];
        let length = self.length.load(Ordering::Relaxed) as usize;
        let known = self.path.iter().filter_map(OnceLock::get).flat_map(|piece| piece.iter()).take(length);
        let path = known.map(|[t, b]| (Name(t.load(Ordering::Relaxed)), Branch(b.load(Ordering::Relaxed)))).collect();
        Stuck { doing, path }
    }
}

/// Locks a mutex and ignores poisoning: a worker that panicked has already been reported.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
