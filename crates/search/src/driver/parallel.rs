//! Parallel search: one search divided among several workers.
//!
//! Each worker has its own machine, created in its own thread, and explores a part of the search tree. When a worker
//! has run out of work, a busy worker gives away its *shallowest* open choice, because the subtree below that choice
//! is likely to be large; so work rarely changes hands. A [`Subtree`] is the path from the root to it, which every
//! machine can execute. The explored executions do not depend on the worker that explores them, so the number of
//! executions and the findings are the same for any number of workers.

use crate::driver::control::{Control, lock};
use crate::driver::run::{Run, Stop};
use crate::driver::threads;
use crate::options::Options;
use crate::reductions::Reduction;
use crate::reductions::exhaustive::divisible::Levels;
use crate::reductions::revisit::Revisits;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use whippet_model::{Algorithm, Choice, Dependence, LimitHit, Machine, Program};

/// The work to be done at the end of the path to a subtree.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Work {
    /// Explore the subtree below this choice, which has this weight: see `weights.rs`.
    Choice(Choice, f64),
    /// Deliver this message, which the last step of the path sent, in place of an earlier step.
    Revisit {
        /// The step that the message replaces.
        at: u32,
        /// The handle of the message.
        message: u32,
        /// The weight of the subtree.
        weight: f64,
    },
}

/// A subtree of the search tree, to be explored by any worker.
#[derive(Debug)]
pub(crate) struct Subtree {
    /// The path to the subtree: its choices, each with a flag that is `true` if the choice is canonical.
    pub(crate) path: Vec<(Choice, bool)>,
    pub(crate) work: Work,
}

/// The recipient of subtrees that a search gives away. `()` never wants any and costs nothing.
pub(crate) trait Share {
    /// Returns `true` if it may ever want a subtree. Otherwise a search need not list choices that it may give away.
    fn may_want(&self) -> bool {
        true
    }

    /// Returns `true` if a worker is waiting for a subtree.
    fn wanted(&self) -> bool;
    fn give(&self, subtree: Subtree);
}

impl Share for () {
    #[inline]
    fn may_want(&self) -> bool {
        false
    }

    #[inline]
    fn wanted(&self) -> bool {
        false
    }

    fn give(&self, _: Subtree) {}
}

/// A search that can give away subtrees.
pub(crate) trait Divisible {
    /// Explores everything from the initial configuration on.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop>;

    /// Explores one subtree.
    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, subtree: Subtree, share: &impl Share) -> Result<(), Stop>;
}

/// The queue of subtrees that the workers share.
struct WorkQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    wanted: AtomicBool,
}

struct QueueState {
    subtrees: Vec<Subtree>,
    /// The number of workers, and the number of those that are waiting for a subtree.
    workers: usize,
    idle: usize,
    /// The reason why all workers have to stop.
    stop: Option<Stop>,
    over: bool,
}

impl WorkQueue {
    fn new(workers: usize) -> WorkQueue {
        let state = QueueState { subtrees: Vec::new(), workers, idle: 0, stop: None, over: false };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    /// Waits for the next subtree. Returns `None` if all work is done or the search was stopped.
    fn take(&self) -> Option<Subtree> {
        let mut state = lock(&self.state);
        state.idle += 1;
        loop {
            if state.idle == state.workers && state.subtrees.is_empty() {
                state.over = true;
                self.changed.notify_all();
            }
            if state.over {
                return None;
            }
            if let Some(subtree) = state.subtrees.pop() {
                state.idle -= 1;
                self.wanted.store(state.idle > state.subtrees.len(), Ordering::Relaxed);
                return Some(subtree);
            }
            self.wanted.store(true, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Stops all workers. The first reason is kept, but an error replaces a limit.
    fn stop(&self, why: Option<Stop>) {
        let mut state = lock(&self.state);
        state.over = true;
        if matches!((&state.stop, &why), (None, _) | (Some(Stop::Limit(_)), Some(Stop::Machine(_)))) {
            state.stop = why;
        }
        self.changed.notify_all();
    }
}

impl Share for &WorkQueue {
    #[inline]
    fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    fn give(&self, subtree: Subtree) {
        let mut state = lock(&self.state);
        state.subtrees.push(subtree);
        self.wanted.store(state.idle > state.subtrees.len(), Ordering::Relaxed);
        self.changed.notify_one();
    }
}

/// The maximum number of workers. More would take long to start, and each has a machine of its own.
const MOST_WORKERS: usize = 256;

/// Returns the number of workers that the options ask for, but at most [`MOST_WORKERS`].
pub(crate) fn workers(options: &Options) -> usize {
    match options.jobs {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        jobs => jobs,
    }
    .min(MOST_WORKERS)
}

/// Returns `true` if the options ask for several workers and this search can be divided among them.
pub(crate) fn applies<M: Machine>(run: &Run<'_, M>) -> bool {
    let options = run.options;
    if workers(options) == 1 {
        return false;
    }
    let divisible = match options.reduction {
        Reduction::Exhaustive => true,
        Reduction::Optimal => run.profile().dependence == Dependence::PerActor && !run.prunes(),
        _ => false,
    };
    if divisible && options.jobs > MOST_WORKERS {
        run.control.note(format!("{MOST_WORKERS} workers: {} are too many", options.jobs));
    }
    if !divisible && options.jobs > 1 {
        run.control.note("one worker: this search cannot be divided");
    }
    divisible
}

/// Runs a search in parallel. Requires that [`applies`] returned `true`.
pub(crate) fn search<P: Program + ?Sized>(program: &P, options: &Options, control: &Control) -> Result<(), Stop> {
    if options.reduction == Reduction::Optimal {
        control.set_algorithm(Algorithm::RevisitSearch);
    }
    let workers = workers(options);
    let queue = WorkQueue::new(workers);
    std::thread::scope(|scope| {
        for k in 0..workers {
            let queue = &queue;
            let work = move || {
                let guard = HaltOnPanic { queue, control };
                let done = Run::new(program, options, control).and_then(|mut run| work(&mut run, queue, k == 0));
                if let Err(stop) = done {
                    halt(queue, control, Some(stop));
                }
                std::mem::forget(guard);
            };
            threads::builder(options).spawn_scoped(scope, work).expect("the system gives us a thread");
        }
    });
    match queue.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).stop {
        Some(stop) => Err(stop),
        None => Ok(()),
    }
}

/// Stops the other workers if its own worker panics.
struct HaltOnPanic<'a> {
    queue: &'a WorkQueue,
    control: &'a Control,
}

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        halt(self.queue, self.control, None);
    }
}

/// Stops all workers, both those that wait for a subtree and those that are busy.
fn halt(queue: &WorkQueue, control: &Control, why: Option<Stop>) {
    control.stop(match why {
        Some(Stop::Limit(limit)) => limit,
        // A panic or an error leads to no verdict, so this limit is never shown.
        _ => LimitHit::Interrupted,
    });
    queue.stop(why);
}

/// Runs one worker. The first worker starts with the whole tree.
fn work<M: Machine>(run: &mut Run<'_, M>, queue: &WorkQueue, first: bool) -> Result<(), Stop> {
    match run.options.reduction {
        Reduction::Exhaustive => work_on(run, &mut Levels::default(), queue, first),
        _ => {
            let mut revisits = Revisits::new(run)?;
            work_on(run, &mut revisits, queue, first)
        }
    }
}

fn work_on<M: Machine>(
    run: &mut Run<'_, M>,
    search: &mut impl Divisible,
    queue: &WorkQueue,
    first: bool,
) -> Result<(), Stop> {
    if first {
        search.explore(run, &queue)?;
    }
    while let Some(subtree) = queue.take() {
        search.part(run, subtree, &queue)?;
    }
    Ok(())
}
