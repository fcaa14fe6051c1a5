//! State shared by the workers of a search and the thread that waits for them: limits, progress, findings.
//!
//! It costs a search only a few plain loads and stores per step. The waiting thread wakes up a few times a second,
//! checks the time and sets each worker's poll flag ([`Control::ask`]). The worker then publishes its counters and
//! learns whether it has to stop. Each worker's [`Watchdog`] stores what the worker is currently doing, so that a
//! handler that never returns can be identified although its thread will never answer.

use crate::driver::findings::{Collector, Found};
use crate::driver::weights::Weights;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};
use whippet_model::{Algorithm, Branch, Choice, Counters, Estimate, LimitHit, Limits, Machine, Name};

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
    /// The number of complete executions of all attempts, counted only if it is limited.
    executions: AtomicU64,
    /// The refinements of the dependence relation that were known when the current attempt began.
    refinements: AtomicU64,
    workers: Mutex<Vec<Arc<Worker>>>,
    /// The limits that were hit, in the order in which they were noticed.
    hit: Mutex<Vec<LimitHit>>,
    stopped: AtomicBool,
    pub(crate) collector: Mutex<Collector>,
    /// The problems found by earlier attempts. They count only if a limit ends the last attempt.
    earlier: Mutex<Vec<Found>>,
    first: Mutex<Option<Vec<PathStep>>>,
    notes: Mutex<Vec<String>>,
    algorithm: Mutex<Option<Algorithm>>,
    may_miss: AtomicBool,
    confirming_covered: AtomicBool,
    no_explanations: AtomicBool,
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
            refinements: AtomicU64::new(0),
            workers: Mutex::default(),
            hit: Mutex::default(),
            stopped: AtomicBool::new(false),
            collector: Mutex::new(Collector::new(limits.findings)),
            earlier: Mutex::default(),
            first: Mutex::default(),
            notes: Mutex::default(),
            algorithm: Mutex::default(),
            may_miss: AtomicBool::new(false),
            confirming_covered: AtomicBool::new(false),
            no_explanations: AtomicBool::new(false),
            estimate: Mutex::default(),
            unstable: OnceLock::new(),
        }
    }

    /// Registers and returns a new worker of the search.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        self.register(Worker::new(self.limits.steps))
    }

    /// Registers and returns a worker that executes findings again.
    pub(crate) fn confirming_worker(&self) -> Arc<Worker> {
        self.register(Worker { confirms: true, ..Worker::new(self.limits.steps) })
    }

    /// Registers and returns a worker that looks for executions that explain a finding.
    pub(crate) fn explaining_worker(&self) -> Arc<Worker> {
        self.register(Worker { confirms: true, explains: true, ..Worker::new(self.limits.steps) })
    }

    /// Begins to confirm the findings of an attempt.
    pub(crate) fn begin_confirming(&self, covered: bool) {
        self.confirming_covered.store(covered, Ordering::Relaxed);
    }

    /// Returns `true` if the attempt whose findings are being confirmed covered everything.
    pub(crate) fn was_covered(&self) -> bool {
        self.confirming_covered.load(Ordering::Relaxed)
    }

    /// Gives up explaining findings, because code did not return in an order that no search has executed.
    pub(crate) fn stop_explaining(&self) {
        self.no_explanations.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if findings are to be explained by executions that pass.
    pub(crate) fn explains(&self) -> bool {
        !self.no_explanations.load(Ordering::Relaxed)
    }

    fn register(&self, worker: Worker) -> Arc<Worker> {
        let worker = Arc::new(worker);
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

    /// Returns the operation of a worker that has taken longer than the limit for a handler. Each is returned once.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        let now = Instant::now();
        lock(&self.workers).iter().find_map(|worker| worker.stuck(now, self.limits.handler))
    }

    /// Forgets the current workers: they are no longer watched.
    pub(crate) fn abandon_workers(&self) {
        lock(&self.workers).iter().for_each(|worker| worker.abandoned.store(true, Ordering::Relaxed));
    }

    /// Returns `true` if a limit was hit that ends the whole test, even if the search would have to start again.
    pub(crate) fn is_exhausted(&self) -> bool {
        lock(&self.hit).iter().any(|&hit| ends_the_test(hit))
    }

    /// Begins an attempt with this number of known refinements.
    pub(crate) fn begin_attempt(&self, refinements: u64) {
        self.refinements.store(refinements, Ordering::Relaxed);
    }

    /// Returns `true` if no refinement was learnt since the attempt began.
    pub(crate) fn is_settled(&self, refinements: u64) -> bool {
        self.refinements.load(Ordering::Relaxed) == refinements
    }

    /// Prepares for another attempt of the search, because the dependence relation was refined. Time and executions
    /// continue to count towards their limits; everything else begins anew.
    pub(crate) fn restart(&self) {
        lock(&self.workers).clear();
        let mut hit = lock(&self.hit);
        hit.retain(|&hit| ends_the_test(hit));
        self.stopped.store(!hit.is_empty(), Ordering::Release);
        drop(hit);
        let found = std::mem::replace(&mut *lock(&self.collector), Collector::new(self.limits.findings)).found();
        lock(&self.earlier).extend(found);
        *lock(&self.first) = None;
        lock(&self.notes).clear();
        *lock(&self.algorithm) = None;
        self.may_miss.store(false, Ordering::Relaxed);
        *lock(&self.estimate) = None;
        if let Some(unstable) = self.unstable.get() {
            unstable.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the problems found by earlier attempts.
    pub(crate) fn found_earlier(&self) -> Vec<Found> {
        lock(&self.earlier).clone()
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

    /// Records the algorithm that a reduction with several ones has chosen.
    pub(crate) fn set_algorithm(&self, algorithm: Algorithm) {
        *lock(&self.algorithm) = Some(algorithm);
    }

    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        *lock(&self.algorithm)
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

/// Returns `true` if a limit ends the whole test, and not only the current attempt.
fn ends_the_test(hit: LimitHit) -> bool {
    !matches!(hit, LimitHit::Steps | LimitHit::FirstBug)
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
    /// The ticks of the watchdog and the time at which they were last seen to change.
    seen: Mutex<(u64, Instant)>,
    /// Set if the worker executes findings again, after the search.
    confirms: bool,
    /// Set if it executes steps in other orders to explain a finding.
    explains: bool,
    /// Set if the worker is no longer watched, because its search was given up.
    abandoned: AtomicBool,
}

impl Worker {
    /// Creates a worker that no control knows.
    pub(crate) fn new(steps: usize) -> Worker {
        Worker {
            asked: AtomicBool::new(false),
            published: Mutex::default(),
            watchdog: Watchdog::new(steps),
            seen: Mutex::new((0, Instant::now())),
            confirms: false,
            explains: false,
            abandoned: AtomicBool::new(false),
        }
    }

    /// Returns the current operation if it has taken longer than `limit`.
    fn stuck(&self, now: Instant, limit: Duration) -> Option<Stuck> {
        let ticks = self.watchdog.ticks.load(Ordering::Acquire);
        let mut seen = lock(&self.seen);
        if seen.0 != ticks {
            *seen = (ticks, now);
            return None;
        }
        let is_stuck = ticks % 2 == 1 && now - seen.1 > limit && !self.abandoned.load(Ordering::Relaxed);
        is_stuck.then(|| Stuck { confirms: self.confirms, explains: self.explains, ..self.watchdog.stuck() })
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
    /// Undoing steps: destructors of user values.
    Rewinding,
    /// Comparing configurations: hashes of user values.
    Comparing,
    /// Describing steps: `Debug` of user values.
    Describing,
}

impl Doing {
    const ALL: [Doing; 7] = [
        Doing::SettingUp,
        Doing::Asking,
        Doing::Stepping,
        Doing::Ending,
        Doing::Rewinding,
        Doing::Comparing,
        Doing::Describing,
    ];
}

/// The operation that a worker is stuck in.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) doing: Doing,
    /// The path to the operation, including the step that is being executed.
    pub(crate) path: Vec<(Name, Branch)>,
    /// Set if the operation is part of executing a finding again.
    pub(crate) confirms: bool,
    /// Set if it is part of an order that was tried only to explain a finding.
    pub(crate) explains: bool,
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

    /// Calls `work`, which may run user code, at the end of a path of this length.
    #[inline(always)]
    pub(crate) fn during<T>(&self, doing: Doing, length: usize, work: impl FnOnce() -> T) -> T {
        self.enter(doing, length);
        let result = work();
        self.leave();
        result
    }

    /// Marks the beginning of user code, at the end of a path of this length.
    #[inline]
    fn enter(&self, doing: Doing, length: usize) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
        self.tick();
    }

    /// Marks the beginning of the destructors of a machine, wherever it is.
    pub(crate) fn begin_drop(&self) {
        self.enter(Doing::Rewinding, self.length.load(Ordering::Relaxed) as usize);
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
        Stuck { doing, path, confirms: false, explains: false }
    }
}

/// Locks a mutex and ignores poisoning: a worker that panicked has already been reported.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
