//! Parallel search: one search divided among several workers.
//!
//! Each worker has its own machine, created in its own thread, and explores a part of the search tree. When a worker
//! has run out of work, a busy worker gives away its *shallowest* open choice, because the subtree below that choice
//! is likely to be large; so tasks rarely change hands. A task is the path from the root to its subtree, which every
//! machine can execute. The explored executions do not depend on the worker that explores them, so the number of
//! executions and the findings are the same for any number of workers.

use crate::control::{Control, lock};
use crate::levels::Levels;
use crate::options::{Options, Reduction};
use crate::revisit::Revisits;
use crate::run::{Run, Stop};
use crate::{optimal, threads};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use whippet_model::{Choice, LimitHit, Machine, Program, Relation};

/// The work to be done at the end of a task's path.
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
pub(crate) struct Task {
    /// The path to the subtree: its choices, each with a flag that is `true` if the choice is canonical.
    pub(crate) path: Vec<(Choice, bool)>,
    pub(crate) work: Work,
}

/// The recipient of tasks that a search gives away. `()` never wants any and costs nothing.
pub(crate) trait Share {
    /// Returns `true` if a worker is waiting for a task.
    fn wanted(&self) -> bool;
    fn give(&self, task: Task);
}

impl Share for () {
    #[inline]
    fn wanted(&self) -> bool {
        false
    }

    fn give(&self, _: Task) {}
}

/// A search that can give away subtrees as tasks.
pub(crate) trait Divisible {
    /// Explores everything from the initial configuration on.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop>;

    /// Explores the subtree of one task.
    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, task: Task, share: &impl Share) -> Result<(), Stop>;
}

/// The queue of tasks that the workers share.
struct Hub {
    desk: Mutex<Desk>,
    bell: Condvar,
    wanted: AtomicBool,
}

struct Desk {
    tasks: Vec<Task>,
    /// The number of workers, and the number of those that are waiting for a task.
    workers: usize,
    idle: usize,
    /// The reason why all workers have to stop.
    stop: Option<Stop>,
    over: bool,
}

impl Hub {
    fn new(workers: usize) -> Hub {
        let desk = Desk { tasks: Vec::new(), workers, idle: 0, stop: None, over: false };
        Hub { desk: Mutex::new(desk), bell: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    /// Waits for the next task. Returns `None` if all work is done or the search was stopped.
    fn take(&self) -> Option<Task> {
        let mut desk = lock(&self.desk);
        desk.idle += 1;
        loop {
            if desk.idle == desk.workers && desk.tasks.is_empty() {
                desk.over = true;
                self.bell.notify_all();
            }
            if desk.over {
                return None;
            }
            if let Some(task) = desk.tasks.pop() {
                desk.idle -= 1;
                self.wanted.store(desk.idle > desk.tasks.len(), Ordering::Relaxed);
                return Some(task);
            }
            self.wanted.store(true, Ordering::Relaxed);
            desk = self.bell.wait(desk).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Stops all workers. The first reason is kept, but an error replaces a limit.
    fn stop(&self, why: Option<Stop>) {
        let mut desk = lock(&self.desk);
        desk.over = true;
        if matches!((&desk.stop, &why), (None, _) | (Some(Stop::Limit(_)), Some(Stop::Machine(_)))) {
            desk.stop = why;
        }
        self.bell.notify_all();
    }
}

impl Share for &Hub {
    #[inline]
    fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    fn give(&self, task: Task) {
        let mut desk = lock(&self.desk);
        desk.tasks.push(task);
        self.wanted.store(desk.idle > desk.tasks.len(), Ordering::Relaxed);
        self.bell.notify_one();
    }
}

/// Returns the number of workers that the options ask for.
pub(crate) fn workers(options: &Options) -> usize {
    match options.jobs {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        jobs => jobs,
    }
}

/// Returns `true` if the options ask for several workers and this search can be divided among them.
pub(crate) fn applies<M: Machine>(machine: &M, options: &Options, control: &Control) -> bool {
    if workers(options) == 1 {
        return false;
    }
    let divisible = match options.reduction {
        Reduction::Exhaustive => true,
        Reduction::Optimal => machine.relation() == Relation::SameActor && machine.leaves_out().is_none(),
        _ => false,
    };
    if !divisible && options.jobs > 1 {
        control.note("one worker: this search is not shared");
    }
    divisible
}

/// Runs a search in parallel. Requires that [`applies`] returned `true`.
pub(crate) fn search<P: Program>(program: &P, options: &Options, control: &Control) -> Result<(), Stop> {
    if options.reduction == Reduction::Optimal {
        control.note(optimal::REVISIT);
    }
    let workers = workers(options);
    let hub = Hub::new(workers);
    std::thread::scope(|scope| {
        for k in 0..workers {
            let hub = &hub;
            let work = move || {
                let guard = Guard { hub, control };
                let done = control.set_up(program).map_err(Stop::from).and_then(|machine| {
                    let mut run = Run::new(machine, options, control);
                    work(&mut run, hub, k == 0)
                });
                if let Err(stop) = done {
                    halt(hub, control, Some(stop));
                }
                std::mem::forget(guard);
            };
            threads::builder(options).spawn_scoped(scope, work).expect("the system gives us a thread");
        }
    });
    match hub.desk.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).stop {
        Some(stop) => Err(stop),
        None => Ok(()),
    }
}

/// Stops the other workers if its own worker panics.
struct Guard<'a> {
    hub: &'a Hub,
    control: &'a Control,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        halt(self.hub, self.control, None);
    }
}

/// Stops all workers, both those that wait for a task and those that are busy.
fn halt(hub: &Hub, control: &Control, why: Option<Stop>) {
    control.stop(match why {
        Some(Stop::Limit(limit)) => limit,
        // A panic or an error leads to no verdict, so this limit is never shown.
        _ => LimitHit::Interrupted,
    });
    hub.stop(why);
}

/// Runs one worker. The first worker starts with the whole tree.
fn work<M: Machine>(run: &mut Run<'_, M>, hub: &Hub, first: bool) -> Result<(), Stop> {
    match run.options.reduction {
        Reduction::Exhaustive => work_on(run, &mut Levels::default(), hub, first),
        _ => {
            let mut revisits = Revisits::new(run)?;
            work_on(run, &mut revisits, hub, first)
        }
    }
}

fn work_on<M: Machine>(run: &mut Run<'_, M>, search: &mut impl Divisible, hub: &Hub, first: bool) -> Result<(), Stop> {
    if first {
        search.explore(run, &hub)?;
    }
    while let Some(task) = hub.take() {
        search.part(run, task, &hub)?;
    }
    Ok(())
}
