//! One search on several cores.
//!
//! Each worker has its own machine, built in its own thread, and explores a part of the tree. A worker with
//! nothing left to do waits; one that has something then gives away its *shallowest* open choice, which is
//! most likely to have much below it: few parts change hands. A part is told as the way to it, and goes
//! the same way on every machine. What is explored does not depend on who explores it, so executions and
//! findings are the same for any number of workers.

use crate::control::{Control, lock};
use crate::levels::Levels;
use crate::options::{Options, Reduction};
use crate::revisit::Revisits;
use crate::run::{Run, Stop};
use crate::{optimal, threads};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use whippet_model::{Choice, LimitHit, Machine, Program, Relation};

/// What is to be done at the end of a task's path.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Work {
    /// Take this choice, which stands for this part of the tree.
    Choice(Choice, f64),
    /// Put this message of the last step in the place of an earlier one.
    Revisit {
        /// The step whose place it takes.
        at: u32,
        /// The message's handle.
        message: u32,
        /// The part of the tree that this stands for.
        weight: f64,
    },
}

/// A part of the tree.
#[derive(Debug)]
pub(crate) struct Task {
    /// The way to it: the choices, and which of them are canonical.
    pub(crate) path: Vec<(Choice, bool)>,
    pub(crate) work: Work,
}

/// Where a search gives parts away. `()` never wants any and costs nothing.
pub(crate) trait Share {
    /// Whether somebody waits for something to do.
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

/// A search of which parts can be given away.
pub(crate) trait Divisible {
    /// Explores everything from the first configuration on.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop>;

    /// Explores one part.
    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, task: Task, share: &impl Share) -> Result<(), Stop>;
}

/// Where workers meet.
struct Hub {
    desk: Mutex<Desk>,
    bell: Condvar,
    wanted: AtomicBool,
}

struct Desk {
    tasks: Vec<Task>,
    /// How many workers there are, and how many of them have nothing to do.
    workers: usize,
    idle: usize,
    /// Why everybody has to stop.
    stop: Option<Stop>,
    over: bool,
}

impl Hub {
    fn new(workers: usize) -> Hub {
        let desk = Desk { tasks: Vec::new(), workers, idle: 0, stop: None, over: false };
        Hub { desk: Mutex::new(desk), bell: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    /// The next task, or `None` when everybody is done.
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

    /// Sends everybody home; the first reason counts, and an error counts more than a limit.
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

/// How many workers are asked for.
pub(crate) fn workers(options: &Options) -> usize {
    match options.jobs {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        jobs => jobs,
    }
}

/// Whether a search is to be shared by several workers, and can be.
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

/// Runs a search to which several workers [apply](applies).
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

/// Tells the others if its worker panics.
struct Guard<'a> {
    hub: &'a Hub,
    control: &'a Control,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        halt(self.hub, self.control, None);
    }
}

/// Stops everybody, wherever they are.
fn halt(hub: &Hub, control: &Control, why: Option<Stop>) {
    control.stop(match why {
        Some(Stop::Limit(limit)) => limit,
        // There will be no verdict in which this would show.
        _ => LimitHit::Interrupted,
    });
    hub.stop(why);
}

/// What one worker does; the first one begins with the whole tree.
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
