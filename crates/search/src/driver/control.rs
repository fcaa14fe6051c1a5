//! State shared by the workers of a search and the thread that waits for them: limits, progress, findings.
//!
//! It costs a search only a few plain loads and stores per step. The waiting thread wakes up a few times a second,
//! checks the time and sets each worker's poll flag ([`Control::ask`]). The worker then publishes its counters and
//! learns whether it has to stop. Each worker's [`Watchdog`] stores what the worker is currently doing, so that a
//! handler that never returns can be identified although its thread will never answer.

mod saved;

use crate::driver::checkpoint::Saving;
use crate::driver::erased::AnyProgram;
use crate::driver::explore::ExecutionObserver;
use crate::driver::findings::{Collector, Found, Key};
use crate::driver::journal::Journal;
use crate::driver::outcomes::DeclaredOutcomes;
use crate::driver::watchdog::{Stuck, Watchdog};
use crate::driver::weights::Weights;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};
use whippet_model::{Algorithm, Branch, Counters, Estimate, LimitHit, Limits, Name, Profile};

/// One step of a path: the name of its event, the thread that acted, and the branch that it took.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// What the program declares about its outcomes.
    declared: OnceLock<DeclaredOutcomes>,
    /// Records the paths of the workers.
    journal: Option<Arc<dyn Journal>>,
    on_execution: Option<Arc<dyn ExecutionObserver>>,
    /// The problems that the observer was told of.
    told: Mutex<BTreeSet<Key>>,
    pub(crate) saving: Saving,
    /// The counters and weights of the checkpoint from which the search continues, and the time that it had taken.
    before: Mutex<(Counters, Weights)>,
    time_before: Duration,
}

impl Control {
    pub(crate) fn new(limits: &Limits) -> Control {
        Control::observed(limits, None, None)
    }

    /// Creates the state of a search whose workers record their paths and show their executions.
    pub(crate) fn observed(
        limits: &Limits,
        journal: Option<Arc<dyn Journal>>,
        on_execution: Option<Arc<dyn ExecutionObserver>>,
    ) -> Control {
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
            declared: OnceLock::new(),
            journal,
            on_execution,
            told: Mutex::default(),
            saving: Saving::default(),
            before: Mutex::default(),
            time_before: Duration::ZERO,
        }
    }

    /// Returns the number of executions before this process continued the search.
    pub(crate) fn executions_before(&self) -> u64 {
        lock(&self.before).0.executions
    }

    /// Registers and returns a new worker of the search.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        let number = lock(&self.workers).len();
        self.register(self.new_worker(number))
    }

    /// Creates a worker that records its path in the slot of this number.
    fn new_worker(&self, number: usize) -> Worker {
        let mut worker = Worker::new(self.limits.steps);
        worker.watchdog.slot = self.journal.as_ref().and_then(|journal| journal.slot(number)).unwrap_or_default();
        worker
    }

    /// Registers and returns a worker that executes findings again.
    pub(crate) fn confirming_worker(&self) -> Arc<Worker> {
        self.register(Worker { confirms: true, ..self.new_worker(0) })
    }

    /// Registers and returns a worker that looks for executions that explain a finding.
    pub(crate) fn explaining_worker(&self) -> Arc<Worker> {
        self.register(Worker { confirms: true, explains: true, ..self.new_worker(0) })
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
        // A search that was stopped before it began is not noticed otherwise until all workers are asked again.
        worker.asked.store(self.stopped.load(Ordering::Acquire), Ordering::Release);
        worker
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed() + self.time_before
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
        let (mut counters, weights, depth) = self.published();
        counters.unstable = self.unstable.get().map(|count| count.load(Ordering::Relaxed));
        let estimate = lock(&self.estimate).or_else(|| weights.estimate(counters.executions));
        (counters, depth, estimate)
    }

    /// Returns the sum of what the workers have published, in this process and before, and their greatest depth.
    fn published(&self) -> (Counters, Weights, usize) {
        let ((mut counters, mut weights), mut depth) = (*lock(&self.before), 0);
        for worker in lock(&self.workers).iter() {
            let published = lock(&worker.published);
            counters.add(&published.counters);
            depth = depth.max(published.depth);
            weights.add(&published.weights);
        }
        (counters, weights, depth)
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

    /// Begins an attempt to search a program.
    pub(crate) fn begin_attempt(&self, program: &dyn AnyProgram) {
        self.refinements.store(program.refinements(), Ordering::Relaxed);
        if let Some(journal) = &self.journal {
            journal.begin_attempt(&program.name(), &program.parameters());
        }
    }

    /// Returns the observer of complete executions, and the refinements that were known when the attempt began.
    #[inline]
    pub(crate) fn on_execution(&self) -> Option<(&dyn ExecutionObserver, u64)> {
        let observer = self.on_execution.as_deref()?;
        Some((observer, self.refinements.load(Ordering::Relaxed)))
    }

    /// Returns the problems that were found since the last call.
    pub(crate) fn newly_found(&self) -> Vec<Found> {
        let mut told = lock(&self.told);
        let new = |found: &Found| told.insert((found.problem.kind, found.problem.key));
        lock(&self.collector).found().into_iter().filter(new).collect()
    }

    /// Returns `true` if refinements were known when the attempt began.
    pub(crate) fn has_refinements(&self) -> bool {
        self.refinements.load(Ordering::Relaxed) != 0
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
        *lock(&self.before) = Default::default();
        self.saving.forget();
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

    /// Keeps what the program declares about its outcomes.
    pub(crate) fn declare(&self, profile: &Profile) {
        self.declared.get_or_init(|| DeclaredOutcomes::of(profile));
    }

    /// Returns what the program declares about its outcomes, if a machine of it was created.
    pub(crate) fn declared(&self) -> DeclaredOutcomes {
        self.declared.get().cloned().unwrap_or_default()
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
    pub(crate) fn stuck(&self, now: Instant, limit: Duration) -> Option<Stuck> {
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

/// Locks a mutex and ignores poisoning: a worker that panicked has already been reported.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
