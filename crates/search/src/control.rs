//! What the workers of a search and the one who waits for them share: limits, progress, findings.
//!
//! Nothing here costs a search more than a few plain loads and stores per step. The one who waits wakes up a few times a
//! second, looks at the clock and raises a worker's hand ([`Worker::ask`]); the worker then publishes
//! what it has counted and hears whether to stop. What a worker is doing right now is in its [`Watch`], so
//! that a handler that never ends can be named although its thread will never answer.

use crate::collect::Collector;
use crate::weights::Weights;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};
use whippet_model::{Branch, Choice, Counters, Estimate, LimitHit, Limits, Machine, MachineError, Name, Program};

/// One step of a path: who acted, which way, and the name of what happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Taken {
    pub(crate) event: Name,
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
}

/// Everything that the workers of one search share.
#[derive(Debug)]
pub(crate) struct Control {
    limits: Limits,
    began: Instant,
    /// Complete executions, counted only where they are limited.
    executions: AtomicU64,
    workers: Mutex<Vec<Arc<Worker>>>,
    /// The limits that were hit, in the order in which they were noticed first.
    hit: Mutex<Vec<LimitHit>>,
    stopped: AtomicBool,
    pub(crate) collector: Mutex<Collector>,
    first: Mutex<Option<Vec<Taken>>>,
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

    /// A new worker.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        let worker = Arc::new(Worker::new(self.limits.steps));
        lock(&self.workers).push(worker.clone());
        worker
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long until the limit on time, if there is one.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|time| time.saturating_sub(self.elapsed()))
    }

    /// Another execution is complete: is it one too many?
    pub(crate) fn executed(&self) -> Result<(), LimitHit> {
        let Some(most) = self.limits.executions else { return Ok(()) };
        let before = self.executions.fetch_add(1, Ordering::Relaxed);
        if before + 1 >= most {
            // Whoever takes another step hears of it; if nobody does, everything was covered.
            self.stop(LimitHit::Executions);
        }
        if before >= most { Err(LimitHit::Executions) } else { Ok(()) }
    }

    /// Tells all workers to stop at their next step.
    pub(crate) fn stop(&self, why: LimitHit) {
        let mut hit = lock(&self.hit);
        if !hit.contains(&why) {
            hit.push(why);
        }
        drop(hit);
        self.stopped.store(true, Ordering::Release);
        self.ask();
    }

    /// Records a limit that does not end the search: an execution that was too long.
    pub(crate) fn passed(&self, what: LimitHit) {
        let mut hit = lock(&self.hit);
        if !hit.contains(&what) {
            hit.push(what);
        }
    }

    /// Why the workers are told to stop.
    pub(crate) fn stopped(&self) -> Option<LimitHit> {
        if !self.stopped.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.hit).iter().copied().find(|&hit| hit != LimitHit::Steps)
    }

    pub(crate) fn limits_hit(&self) -> Vec<LimitHit> {
        lock(&self.hit).clone()
    }

    /// A search that covered everything in spite of a limit reached with its last step takes it back.
    pub(crate) fn covered(&self) {
        lock(&self.hit).retain(|&hit| hit == LimitHit::Steps);
    }

    /// Asks all workers to publish what they have counted.
    pub(crate) fn ask(&self) {
        for worker in lock(&self.workers).iter() {
            worker.asked.store(true, Ordering::Release);
        }
    }

    /// What all workers have counted, as far as they have published it, and how deep they are.
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

    /// A new machine. Its set-up is user code, too, and may not end.
    pub(crate) fn set_up<P: Program>(&self, program: &P) -> Result<P::Machine, MachineError> {
        let worker = self.worker();
        worker.watch.enter(Doing::SettingUp, 0);
        let machine = program.machine();
        worker.watch.leave();
        machine
    }

    /// What a worker has been doing for longer than a handler may take.
    pub(crate) fn stuck(&self, seen: &mut Vec<(u64, Instant)>) -> Option<Stuck> {
        let workers = lock(&self.workers);
        let now = Instant::now();
        for (i, worker) in workers.iter().enumerate() {
            let ticks = worker.watch.ticks.load(Ordering::Acquire);
            match seen.get_mut(i) {
                Some(known) if known.0 == ticks => {
                    if ticks % 2 == 1 && now - known.1 > self.limits.handler {
                        return Some(worker.watch.stuck());
                    }
                }
                Some(known) => *known = (ticks, now),
                None => seen.push((ticks, now)),
            }
        }
        None
    }

    /// Whether the first complete execution is still to be kept.
    pub(crate) fn keep_first(&self, path: impl FnOnce() -> Vec<Taken>) {
        let mut first = lock(&self.first);
        if first.is_none() {
            *first = Some(path());
        }
    }

    pub(crate) fn first(&self) -> Option<Vec<Taken>> {
        lock(&self.first).clone()
    }

    /// Something the reader of the verdict must know. Said once however often it is noted.
    pub(crate) fn note(&self, text: impl Into<String>) {
        let text = text.into();
        let mut notes = lock(&self.notes);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// The same of what the search may miss even if it comes to its end.
    pub(crate) fn note_missing(&self, text: impl Into<String>) {
        self.note(text);
        self.may_miss.store(true, Ordering::Relaxed);
    }

    pub(crate) fn may_miss(&self) -> bool {
        self.may_miss.load(Ordering::Relaxed)
    }

    /// Where configurations without a stable actor are counted.
    pub(crate) fn unstable(&self) -> Arc<AtomicU64> {
        self.unstable.get_or_init(Arc::default).clone()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = lock(&self.notes).clone();
        notes.sort();
        notes
    }

    /// The guess of a search that has its own, instead of the one made from weights.
    pub(crate) fn guess(&self, estimate: Estimate) {
        *lock(&self.estimate) = Some(estimate);
    }
}

/// What one worker publishes.
#[derive(Debug, Default)]
struct Published {
    counters: Counters,
    depth: usize,
    weights: Weights,
}

/// One worker, as the others see it.
#[derive(Debug)]
pub(crate) struct Worker {
    asked: AtomicBool,
    published: Mutex<Published>,
    pub(crate) watch: Watch,
}

impl Worker {
    fn new(steps: usize) -> Worker {
        Worker { asked: AtomicBool::new(false), published: Mutex::default(), watch: Watch::new(steps) }
    }

    /// Whether somebody wants to know; asked before every step.
    #[inline]
    pub(crate) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Publishes what has been counted.
    pub(crate) fn publish(&self, counters: &Counters, depth: usize, weights: &Weights) {
        self.asked.store(false, Ordering::Relaxed);
        *lock(&self.published) = Published { counters: *counters, depth, weights: *weights };
    }
}

/// The code of the user's program that a worker may be in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It makes a machine.
    SettingUp,
    /// It asks actors what they accept.
    Asking,
    /// It takes a step, checks after it included.
    Stepping,
    /// It looks at what an execution has come to.
    Ending,
}

impl Doing {
    const ALL: [Doing; 4] = [Doing::SettingUp, Doing::Asking, Doing::Stepping, Doing::Ending];
}

/// What a worker does not get out of.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) doing: Doing,
    /// The way there, with the step that is being taken.
    pub(crate) path: Vec<(Name, Branch)>,
}

/// What a worker is doing: an odd number of ticks means that it is inside the user's program.
#[derive(Debug)]
pub(crate) struct Watch {
    ticks: AtomicU64,
    doing: AtomicU8,
    /// How long the way there is.
    length: AtomicU64,
    /// Thread and branch of each step, piece by piece: most executions are short.
    path: Vec<OnceLock<Box<[[AtomicU64; 2]; PIECE]>>>,
}

/// How much of a path is kept for the rare handler that does not end.
const LONGEST_PATH: usize = 1 << 16;
const PIECE: usize = 256;

impl Watch {
    fn new(steps: usize) -> Watch {
        let mut path = Vec::new();
        path.resize_with(steps.min(LONGEST_PATH).div_ceil(PIECE), OnceLock::new);
        Watch { ticks: AtomicU64::new(0), doing: AtomicU8::new(0), length: AtomicU64::new(0), path }
    }

    /// The step `choice` begins.
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

    /// From here on the user's program runs, at the end of a way of this length.
    #[inline]
    pub(crate) fn enter(&self, doing: Doing, length: usize) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
        self.tick();
    }

    /// It has come back.
    #[inline]
    pub(crate) fn leave(&self) {
        self.tick();
    }

    /// Only the worker itself writes, so that a plain load and store will do.
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

/// Locks; a worker that panicked has been reported already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
