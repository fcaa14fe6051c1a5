//! Search in parts: one search divided among several workers, or saved and continued later.
//!
//! Each worker has its own machine, created in its own thread, and explores a part of the search tree. When a worker
//! has run out of work, a busy worker gives away its *shallowest* open choice, because the subtree below that choice
//! is likely to be large; so work rarely changes hands. A [`Part`] is the path from the root to it in stable names,
//! which every machine can execute. The explored executions do not depend on the worker that explores them, so the
//! number of executions and the findings are the same for any number of workers.
//!
//! To save the search (`checkpoint.rs`), every worker stops between two steps and adds its open parts to a list. When all have
//! arrived, the list and the counters are consistent: each execution is either counted or below an open part.

use crate::driver::checkpoint::Open;
use crate::driver::control::{Control, lock};
use crate::driver::parts::{Part, PartTree};
use crate::driver::run::{Run, Stop};
use crate::driver::threads;
use crate::options::Options;
use crate::reductions::Reduction;
use crate::reductions::exhaustive::divisible::Levels;
use crate::reductions::parsimonious;
use crate::reductions::revisit::Revisits;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use whippet_model::{Algorithm, Dependence, LimitHit, Machine, Program};

/// The other workers, as a search sees them. `()` stands for none, and costs nothing.
pub(crate) trait Share {
    /// Returns `true` if it may ever want something. Otherwise a search need not list choices that it may give away.
    fn may_want(&self) -> bool {
        true
    }

    /// Returns `true` if something is wanted from this worker. A search asks between two steps, when each of its open
    /// choices is part of its own state.
    fn wanted(&self) -> bool;

    /// Gives away a part, or tells what is open, or both.
    fn serve<M: Machine>(&self, search: &mut impl Divisible, run: &mut Run<'_, M>) -> Result<(), Stop>;
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

    fn serve<M: Machine>(&self, _: &mut impl Divisible, _: &mut Run<'_, M>) -> Result<(), Stop> {
        Ok(())
    }
}

/// A search whose open state is a list of parts.
pub(crate) trait Divisible {
    /// Explores a part. The machine is in any configuration.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part, share: &impl Share) -> Result<(), Stop>;

    /// Removes and returns an open part that is likely to be large, unless nothing would remain.
    fn give<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<Option<Part>, Stop>;

    /// Adds all open parts to a list. The search goes on afterwards. The machine may be moved.
    fn open_parts<M: Machine>(&mut self, run: &mut Run<'_, M>, open: &mut PartTree) -> Result<(), Stop>;
}

/// The parts that the workers share.
struct WorkQueue<'a> {
    control: &'a Control,
    state: Mutex<QueueState>,
    changed: Condvar,
    wanted: AtomicBool,
}

struct QueueState {
    /// The parts that were given away.
    given: Vec<Part>,
    /// The parts with which the search began.
    initial: PartTree,
    /// The number of workers, and the number of those that are waiting for a part.
    workers: usize,
    idle: usize,
    /// The open parts of the workers that have stopped to save the search, the number of these workers, and the number
    /// of times that the search was saved.
    collected: PartTree,
    arrived: usize,
    rounds: u64,
    /// The reason why all workers have to stop.
    stop: Option<Stop>,
    over: bool,
}

impl QueueState {
    /// Returns the number of parts that wait for a worker.
    fn waiting(&self) -> usize {
        self.given.len() + self.initial.len()
    }
}

impl<'a> WorkQueue<'a> {
    fn new(workers: usize, initial: PartTree, control: &'a Control) -> WorkQueue<'a> {
        let state = QueueState {
            given: Vec::new(),
            initial,
            workers,
            idle: 0,
            collected: PartTree::default(),
            arrived: 0,
            rounds: 0,
            stop: None,
            over: false,
        };
        WorkQueue { control, state: Mutex::new(state), changed: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    /// Waits for the next part. Returns `None` if all work is done or the search was stopped.
    fn take(&self) -> Option<Part> {
        let mut state = lock(&self.state);
        state.idle += 1;
        loop {
            if state.idle == state.workers && state.waiting() == 0 {
                state.over = true;
                self.changed.notify_all();
            }
            if state.over {
                return None;
            }
            if self.control.saving.is_requested() {
                if state.arrived + state.idle == state.workers {
                    self.save(&mut state);
                    continue;
                }
            } else if let Some(part) = { state.given.pop() }.or_else(|| state.initial.pop()) {
                state.idle -= 1;
                self.wanted.store(state.idle > state.waiting(), Ordering::Relaxed);
                return Some(part);
            } else {
                self.wanted.store(true, Ordering::Relaxed);
            }
            state = self.wait(state);
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, QueueState>) -> MutexGuard<'s, QueueState> {
        self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds the open parts of a worker, which has published its counters, and waits until all workers have done so.
    fn arrive(&self, open: &PartTree) {
        let mut state = lock(&self.state);
        state.collected.append(open);
        state.arrived += 1;
        let round = state.rounds;
        if state.arrived + state.idle == state.workers {
            self.save(&mut state);
        }
        while state.rounds == round && !state.over {
            state = self.wait(state);
        }
    }

    /// Saves the search, in which all workers have stopped, and lets them go on.
    fn save(&self, state: &mut QueueState) {
        let mut open = std::mem::take(&mut state.collected);
        open.append(&state.initial);
        state.given.iter().for_each(|part| open.add(part));
        self.control.save(Open::Parts(open));
        state.arrived = 0;
        state.rounds += 1;
        self.changed.notify_all();
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

impl Share for &WorkQueue<'_> {
    #[inline]
    fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) || self.control.saving.is_requested()
    }

    #[cold]
    fn serve<M: Machine>(&self, search: &mut impl Divisible, run: &mut Run<'_, M>) -> Result<(), Stop> {
        if self.control.saving.is_requested() {
            let mut open = PartTree::default();
            search.open_parts(run, &mut open)?;
            run.publish();
            self.arrive(&open);
            // What was saved is not done again here if the search stops now.
            run.check_limits()?;
        }
        if self.wanted.load(Ordering::Relaxed)
            && let Some(part) = search.give(run)?
        {
            let mut state = lock(&self.state);
            state.given.push(part);
            self.wanted.store(state.idle > state.waiting(), Ordering::Relaxed);
            self.changed.notify_one();
        }
        Ok(())
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

/// Returns `true` if this search can be divided, and the options ask for several workers or it is to be saved.
pub(crate) fn applies<M: Machine>(run: &Run<'_, M>) -> bool {
    let options = run.options;
    if workers(options) == 1 && !run.control.saving.is_wanted() {
        return false;
    }
    let divisible = match options.reduction {
        Reduction::Exhaustive => true,
        Reduction::Parsimonious => !run.prunes(),
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
    let initial = match control.saving.begin() {
        None => PartTree::everything(),
        Some(Open::Parts(open)) => open,
        Some(_) => return Err(Stop::unsupported("this search cannot continue another kind of search")),
    };
    let queue = WorkQueue::new(workers, initial, control);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let queue = &queue;
            let work = move || {
                let guard = HaltOnPanic { queue, control };
                let done = Run::new(program, options, control).and_then(|mut run| work(&mut run, queue));
                if let Err(stop) = done {
                    halt(queue, control, Some(stop));
                }
                std::mem::forget(guard);
            };
            threads::builder(options).spawn_scoped(scope, work).expect("the system gives us a thread");
        }
    });
    control.saving.end();
    match queue.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).stop {
        Some(stop) => Err(stop),
        None => Ok(()),
    }
}

/// Stops the other workers if its own worker panics.
struct HaltOnPanic<'a> {
    queue: &'a WorkQueue<'a>,
    control: &'a Control,
}

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        halt(self.queue, self.control, None);
    }
}

/// Stops all workers, both those that wait for a subtree and those that are busy.
fn halt(queue: &WorkQueue<'_>, control: &Control, why: Option<Stop>) {
    control.stop(match why {
        Some(Stop::Limit(limit)) => limit,
        // A panic or an error leads to no verdict, so this limit is never shown.
        _ => LimitHit::Interrupted,
    });
    queue.stop(why);
}

/// Runs one worker.
fn work<M: Machine>(run: &mut Run<'_, M>, queue: &WorkQueue<'_>) -> Result<(), Stop> {
    match run.options.reduction {
        Reduction::Exhaustive => work_on(run, &mut Levels::default(), queue),
        Reduction::Parsimonious => {
            let mut search = parsimonious::Search::new(run.machine());
            work_on(run, &mut search, queue)
        }
        _ => {
            let mut revisits = Revisits::new(run)?;
            work_on(run, &mut revisits, queue)
        }
    }
}

fn work_on<M: Machine>(run: &mut Run<'_, M>, search: &mut impl Divisible, queue: &WorkQueue<'_>) -> Result<(), Stop> {
    while let Some(part) = queue.take() {
        run.check_limits()?;
        search.explore(run, &part, &queue)?;
        // A worker that waits is saved with what it has published.
        run.publish();
    }
    Ok(())
}
