//! One thread: can a runtime with a single thread show an execution?
//!
//! On such a runtime, tasks switch only where they wait. A task that is polled runs until it finds a wait that is not
//! ready. A task that has yielded goes on only when no other task is ready: tokio defers its waker until its queue is empty, so tasks that
//! are woken meanwhile run first, too; then all tasks that have yielded are ready. (Tokio also wakes them after 61 polls. Executions that need
//! this are said to need several threads.) Nothing more is assumed: any task that is ready may be polled next. Blocking tasks
//! and threads run beside the one thread. Timers fire between polls.
//!
//! # The question
//!
//! An execution stands for all orders of its independent operations (its trace), and the search covers the traces of a
//! runtime with any number of threads. An execution on one thread is one of these orders. So a problem shows on one
//! thread if and only if, for some trace that shows it, some order keeps to the rules above. The search therefore stays as
//! it is, and each execution with a problem is examined:
//!
//! 1. It is run again, and its operations are logged ([`Log`]): the steps, and the merged events, which belong to polls
//!    of other tasks than the step that they are part of. Causes and conflicts say what must come before what.
//! 2. The operations of a task between two waits can only come one after the other. If these groups cannot be put into
//!    an order, several threads are needed ([`Trace::is_cyclic`]).
//!    Tasks that call each other's wakers share memory that is not seen: which of their operations are independent is not known, so these
//!    keep the order in which they happened.
//! 3. Otherwise the rules are played ([`Trace::search`]), depth first: a turn polls one task, which goes through its
//!    operations as long as its waits are ready. A turn that comes to an operation which has to come after one of another
//!    task is impossible. If too many turns were tried, the answer is "one thread", so that the problem counts.

use crate::execution::{CLOCK, DUE, Execution, NONE};
use crate::merging::{MergedEvents, is_merged, merged_event_of};
use crate::object::Action;
use crate::points::Point;
use crate::system::SHOWN;
use crate::task::{BLOCKING, State, THREAD, Task};
use crate::waiting::{Wait, WaitTarget};
use rustc_hash::FxHashSet;
use whippet_model::{Access, Machine, Threads, Touch};

/// The most turns that are tried, and the most operations of an execution that is examined.
const MOST_TURNS: usize = 20_000;
const MOST_OPERATIONS: usize = 1_500;

/// Tag bit in a list of causes: the timer that fires in this step, not what its task does then.
const FIRED: u32 = 1 << 30;

/// The point of a task at which an operation happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Start {
    /// In the middle of a poll.
    Amid,
    /// At a wait that completes when it is ready.
    Waits,
    /// At a wait in which the task has yielded to others.
    Yields,
    /// At several waits, of which one is a yield: it may complete at any time.
    Anytime,
    /// At a wait that this operation completes by itself, because a timer fires.
    Fires,
    /// At a wait that goes on: a timer fires, and no task runs.
    Beside,
    /// In the middle of a poll: a timer fires, which one thread notices only between polls.
    Never,
}

/// An operation of an execution.
#[derive(Debug)]
struct Logged {
    task: u32,
    /// Its number as a cause, or [`NONE`] for the creation of a task.
    cause: u32,
    start: Start,
    reasons: Reasons<u32>,
    /// The number of its task's poll.
    poll: u32,
    /// For the call of a waker: its task, and the number of operations in the poll that this task is in the middle of.
    wakes: Option<(u32, u32)>,
}

/// The alternative reasons why a task is runnable. For each one, all of its operations must have happened.
#[derive(Debug)]
struct Reasons<T> {
    /// Those that a poll finds: the task goes on in the same poll if there is one already.
    found: Vec<Vec<T>>,
    /// Calls of its waker, and aborts: the task has to wait for these in any case.
    wakes: Vec<Vec<T>>,
}

impl<T> Default for Reasons<T> {
    fn default() -> Reasons<T> {
        Reasons { found: Vec::new(), wakes: Vec::new() }
    }
}

/// The operations of an execution, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct Log {
    list: Vec<Logged>,
    /// The tasks, each with the number of the operation that has created it.
    created: Vec<(u32, usize)>,
    /// The time before the newest step.
    time: u64,
}

/// Logs that task `number` takes a step. Requires that the step has not begun.
#[inline]
pub(crate) fn log_step(x: &mut Execution, number: u32) {
    if x.log.is_some() {
        log_start(x, number);
    }
}

#[cold]
fn log_start(x: &mut Execution, number: u32) {
    let task = &x.tasks[number as usize];
    let start = match task.state {
        State::Blocked if !task.polling.is_blocked => Start::Waits,
        _ => Start::Amid,
    };
    let logged = Logged {
        task: number,
        cause: x.step,
        start,
        reasons: reasons(x, task),
        poll: task.polling.number,
        wakes: None,
    };
    let (time, repeated) = (x.clock.now, task.polling.repeated);
    if let Some(log) = &mut x.log {
        log.time = time;
        log.push(logged, repeated);
    }
}

/// Returns the reasons why a task is runnable, without yields and without timers that are not due.
fn reasons(x: &Execution, task: &Task) -> Reasons<u32> {
    let mut all = Reasons::default();
    let known = |steps: &[u32]| steps.iter().copied().filter(|&step| step != NONE).collect::<Vec<u32>>();
    if !matches!(task.state, State::Blocked) {
        all.found.push(known(&task.before()));
        return all;
    }
    all.wakes.extend(task.cancelled().into_iter().chain(task.interrupts.woken).map(|step| known(&[step])));
    for wait in task.live_waits() {
        match &wait.on {
            WaitTarget::Yield if wait.action.point == Point::Begins => all.found.push(known(&task.before())),
            WaitTarget::Timer(due) if *due <= x.clock.now => {
                let step = x.clock.reached(*due);
                all.found.push(if step == NONE { Vec::new() } else { vec![FIRED | step] });
            }
            WaitTarget::Object(source, key) => {
                // Something else could have completed a contested wait before, so that has no causes.
                if let Some(ready) = source.ready(*key) {
                    let mut causes = vec![ready.since];
                    source.causes(*key, &mut causes);
                    // The poll has found this wait not ready, before the task made it ready itself.
                    let is_own = task.past.after.first() == Some(&ready.since);
                    let found = if is_own && task.has_seen(wait) { &mut all.wakes } else { &mut all.found };
                    found.push(known(&causes));
                }
            }
            WaitTarget::Yield | WaitTarget::Timer(_) => {}
        }
    }
    all
}

/// Logs what the newest step does at the wait of its task.
#[inline]
pub(crate) fn log_action(x: &mut Execution, number: u32, action: &Action) {
    if x.log.is_some() {
        log_end(x, number, action);
    }
}

#[cold]
fn log_end(x: &mut Execution, number: u32, action: &Action) {
    let fired = x.log.as_ref().is_some_and(|log| log.time < x.clock.now);
    let yields = |wait: &Wait| matches!(wait.on, WaitTarget::Yield) && wait.action.point != Point::Begins;
    let task = &x.tasks[number as usize];
    let has_yielded = task.live_waits().any(yields);
    // In another order of the trace, another wait of the task may be ready before.
    let is_alone = task.live_waits().count() == 1;
    let newest = x.log.as_mut().and_then(|log| log.list.last_mut()).expect("the step was logged");
    newest.start = match (newest.start, action.point) {
        (Start::Waits, Point::LetsTimerFire | Point::TimerIsTooLate) => Start::Beside,
        (Start::Waits, _) if fired => Start::Fires,
        (Start::Waits, _) if is_alone && has_yielded => Start::Yields,
        (Start::Waits, _) if has_yielded => Start::Anytime,
        (_, Point::LetsTimerFire) => Start::Never,
        (start, _) => start,
    };
}

impl Log {
    /// Adds the creation of task number `child` by `task`.
    pub(crate) fn spawned(&mut self, task: u32, child: u32, (poll, repeated): (u32, bool)) {
        if task != NONE {
            self.created.push((child, self.list.len()));
            self.push(
                Logged { task, cause: NONE, start: Start::Amid, reasons: Reasons::default(), poll, wakes: None },
                repeated,
            );
        }
    }

    /// Adds the call of a waker of task `woken` by `task`. `amid` is the poll that the woken task is in the middle of, if any. The task has
    /// registered its waker in an earlier poll, and found there what the caller has changed since: that is memory which is not seen.
    pub(crate) fn wakes(&mut self, task: u32, woken: u32, amid: Option<u32>, (poll, repeated): (u32, bool)) {
        let of_poll = |logged: &&Logged| logged.task == woken && Some(logged.poll) == amid;
        let unfinished = self.list.iter().rev().filter(of_poll).count() as u32;
        let (start, reasons, wakes) = (Start::Amid, Reasons::default(), Some((woken, unfinished)));
        self.push(Logged { task, cause: NONE, start, reasons, poll, wakes }, repeated);
    }

    /// Adds an operation. A poll that is `repeated` to find out which waits are still polled does nothing, unless one of
    /// these has become ready after it was polled: then the task was woken, and goes on with its next turn.
    fn push(&mut self, mut logged: Logged, repeated: bool) {
        let last = || self.list.iter().rev().find(|other| other.task == logged.task).map(|other| other.poll);
        if repeated && logged.start == Start::Amid && last() != Some(logged.poll) {
            logged.start = Start::Waits;
            logged.reasons = Reasons { found: Vec::new(), wakes: vec![Vec::new()] };
        }
        self.list.push(logged);
    }

    /// Returns a number for each of `count` tasks that is the same for tasks which share memory that is not seen: they call each other's
    /// wakers.
    fn groups(&self, count: usize) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..count).collect();
        for logged in &self.list {
            let Some((woken, _)) = logged.wakes else { continue };
            let (one, other) = (groups[logged.task as usize], groups[woken as usize]);
            groups.iter_mut().filter(|group| **group == one).for_each(|group| *group = other);
        }
        groups
    }

    /// Adds a merged event.
    pub(crate) fn merged(&mut self, task: u32, cause: u32, (poll, repeated): (u32, bool)) {
        self.push(Logged { task, cause, start: Start::Amid, reasons: Reasons::default(), poll, wakes: None }, repeated);
    }

    /// Records that the newest merged event completes a wait, which these operations made ready.
    pub(crate) fn takes(&mut self, causes: &[u32]) {
        if let Some(newest) = self.list.last_mut() {
            newest.start = Start::Waits;
            newest.reasons = Reasons::default();
            newest.reasons.found.push(causes.iter().copied().filter(|&cause| cause != NONE).collect());
        }
    }
}

/// One operation of a trace.
#[derive(Debug)]
struct Operation {
    /// Its number in the order of the execution.
    number: usize,
    start: Start,
    /// For each task, the number of its operations that must come before this one.
    needs: Vec<u32>,
    /// The reasons why its task is runnable, as pairs of a task and the number of its operations.
    reasons: Reasons<(usize, u32)>,
}

impl Operation {
    /// Returns the beginning of a task's first poll, after the operation that has created the task.
    fn begin(number: usize, tasks: usize, creator: Option<(usize, u32)>) -> Operation {
        let mut needs = vec![0; tasks];
        creator.iter().for_each(|&(task, count)| needs[task] = count);
        let reasons = Reasons { found: vec![creator.into_iter().collect()], wakes: Vec::new() };
        Operation { number, start: Start::Waits, needs, reasons }
    }
}

/// Returns `true` if two footprints are in conflict on the clock, and if they are on other objects.
fn conflicts(one: &[Touch], other: &[Touch]) -> (bool, bool) {
    let (mut clock, mut others) = (false, false);
    for a in one {
        for b in other.iter().filter(|b| a.object == b.object) {
            if a.access == Access::Write || a.access != b.access {
                let is_clock = [CLOCK, DUE, SHOWN].contains(&a.object);
                clock |= is_clock;
                others |= !is_clock;
            }
        }
    }
    (clock, others)
}

/// Returns the operation that has created a task, as the task that did it and the number of its operations.
fn creator(log: &Log, places: &[(usize, usize)], task: usize) -> Option<(usize, u32)> {
    let (_, by) = log.created.iter().find(|(child, _)| *child as usize == task)?;
    places.get(*by).map(|&(task, index)| (task, index as u32 + 1))
}

/// The operations of an execution, by task.
#[derive(Debug)]
pub(crate) struct Trace {
    tasks: Vec<Vec<Operation>>,
    /// `true` for tasks that run beside the one thread.
    beside: Vec<bool>,
    /// The task and the index there of each step.
    steps: Vec<(usize, usize)>,
}

/// A point in an order of the operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    /// The number of operations of each task that have happened.
    done: Vec<u32>,
    /// The tasks that have yielded and are ready, because the queue was empty since.
    released: Vec<bool>,
}

/// The state of the search for an order.
struct Tried {
    seen: FxHashSet<Moment>,
    turns: usize,
    /// The operations that have to happen, by task.
    wanted: Vec<u32>,
}

impl Trace {
    /// Returns the trace of an execution that `machine` has run and logged. Returns `None` if it is too long.
    pub(crate) fn of<M: Machine>(log: &Log, machine: &M, merged: &MergedEvents, kinds: &[&str]) -> Option<Trace> {
        if log.list.len() > MOST_OPERATIONS {
            return None;
        }
        let count = kinds.len();
        let mut tasks: Vec<Vec<Operation>> = (0..count).map(|_| Vec::new()).collect();
        // The stamps of the operations of each task, in ascending order, with their numbers in the task.
        let mut stamps: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count];
        let mut steps: Vec<(usize, usize)> = Vec::new();
        // A step in which a timer fires and its task runs has two operations.
        let mut split: Vec<bool> = Vec::new();
        let mut merges: Vec<(usize, usize)> = Vec::new();
        let mut places: Vec<(usize, usize)> = Vec::new();
        let groups = log.groups(count);
        for (number, logged) in log.list.iter().enumerate() {
            let task = logged.task as usize;
            let (mut needs, mut stamp) = (vec![0; count], 0);
            if logged.cause != NONE {
                let row;
                (stamp, row) = merged.row(logged.cause)?;
                for (other, needed) in needs.iter_mut().enumerate() {
                    let last = row.get(other).copied().unwrap_or(0).max(0) as u32;
                    let before = stamps[other].partition_point(|&(stamp, _)| stamp <= last);
                    *needed = before.checked_sub(1).map_or(0, |at| stamps[other][at].1 + 1);
                }
            }
            // Those of the part in which a timer fires.
            let mut to_fire = needs.clone();
            if logged.cause != NONE && !is_merged(logged.cause) {
                let at = steps.len();
                for (earlier, &(other, index)) in steps.iter().enumerate() {
                    let (clock, others) = conflicts(machine.touches(earlier), machine.touches(at));
                    let fires = index - usize::from(split[earlier]);
                    if clock {
                        to_fire[other] = to_fire[other].max(fires as u32 + 1);
                        needs[other] = needs[other].max(fires as u32 + 1);
                    }
                    if others {
                        needs[other] = needs[other].max(index as u32 + 1);
                    }
                }
            }
            if tasks[task].is_empty() {
                tasks[task].push(Operation::begin(number, count, creator(log, &places, task)));
            }
            let place = |cause: u32| {
                if is_merged(cause) {
                    return merges
                        .get(merged_event_of(cause))
                        .map(|&(task, index): &(usize, usize)| (task, index as u32 + 1));
                }
                let at = (cause & !FIRED) as usize;
                let &(task, index) = steps.get(at)?;
                let fires = usize::from(cause & FIRED != 0 && split[at]);
                Some((task, (index - fires) as u32 + 1))
            };
            let placed = |all: &[Vec<u32>]| {
                all.iter().map(|all| all.iter().filter_map(|&cause| place(cause)).collect()).collect()
            };
            if let Some((woken, unfinished)) = logged.wakes {
                let woken = woken as usize;
                if tasks[woken].is_empty() {
                    tasks[woken].push(Operation::begin(number, count, creator(log, &places, woken)));
                }
                needs[woken] = needs[woken].max((tasks[woken].len() as u32).saturating_sub(unfinished));
            }
            let mut reasons = Reasons { found: placed(&logged.reasons.found), wakes: placed(&logged.reasons.wakes) };
            let mut start = logged.start;
            if start == Start::Fires {
                to_fire[task] = tasks[task].len() as u32;
                let fires = Operation { number, start: Start::Beside, needs: to_fire, reasons: Reasons::default() };
                tasks[task].push(fires);
                start = Start::Waits;
                reasons.found.push(vec![(task, tasks[task].len() as u32)]);
            }
            if logged.wakes.is_none() {
                for (other, needed) in needs.iter_mut().enumerate().filter(|(other, _)| groups[*other] == groups[task])
                {
                    *needed = (*needed).max(tasks[other].len() as u32);
                }
            }
            needs[task] = tasks[task].len() as u32;
            if logged.cause != NONE {
                stamps[task].push((stamp, tasks[task].len() as u32));
            }
            let this = (task, tasks[task].len());
            places.push(this);
            match logged.cause {
                NONE => {}
                cause if is_merged(cause) => merges.push(this),
                _ => {
                    steps.push(this);
                    split.push(logged.start == Start::Fires);
                }
            }
            tasks[task].push(Operation { number, start, needs, reasons });
        }
        let beside = kinds.iter().map(|&kind| kind == THREAD || kind == BLOCKING).collect();
        Some(Trace { tasks, beside, steps })
    }

    /// Returns the weakest runtime that shows everything up to these steps, and the tasks `ended` to their end.
    pub(crate) fn needs(&self, shown: &[usize], ended: &[u32]) -> Threads {
        let mut wanted: Vec<u32> = vec![0; self.tasks.len()];
        for &(task, index) in shown.iter().filter_map(|&at| self.steps.get(at)) {
            wanted[task] = wanted[task].max(index as u32 + 1);
        }
        for &task in ended {
            wanted[task as usize] = self.tasks[task as usize].len() as u32;
        }
        self.close(&mut wanted);
        if self.is_cyclic(&wanted) {
            return Threads::Several;
        }
        let mut tried = Tried { seen: FxHashSet::default(), turns: 0, wanted };
        let start = Moment { done: vec![0; self.tasks.len()], released: vec![false; self.tasks.len()] };
        // The order of what runs beside the one thread is not searched exhaustively.
        let fits = self.search(&start, &mut tried) || self.beside.contains(&true);
        if fits { Threads::One } else { Threads::Several }
    }

    /// Adds everything that has to happen before the wanted operations.
    fn close(&self, wanted: &mut [u32]) {
        loop {
            let before = wanted.to_vec();
            for (task, operations) in self.tasks.iter().enumerate() {
                for operation in &operations[..wanted[task] as usize] {
                    for (wanted, &needed) in wanted.iter_mut().zip(&operation.needs) {
                        *wanted = (*wanted).max(needed);
                    }
                }
            }
            if before == wanted {
                return;
            }
        }
    }

    /// Returns the end of the group of operations that begins at `from` and that nothing can interrupt.
    fn group_end(&self, task: usize, from: usize) -> usize {
        let operations = &self.tasks[task];
        let is_alone = self.beside[task] || operations[from].start == Start::Beside;
        let rest = operations[from + 1..].iter();
        let amid =
            rest.take_while(|operation| !is_alone && matches!(operation.start, Start::Amid | Start::Never)).count();
        from + 1 + amid
    }

    /// Returns `true` if the groups of operations that contain wanted ones cannot be put into an order.
    fn is_cyclic(&self, wanted: &[u32]) -> bool {
        let mut done: Vec<u32> = vec![0; self.tasks.len()];
        loop {
            let mut moved = false;
            for task in 0..self.tasks.len() {
                while (done[task] as usize) < self.tasks[task].len() {
                    let from = done[task] as usize;
                    let to = self.group_end(task, from);
                    let mut then = done.clone();
                    if !(from..to).all(|index| self.goes_through(&mut then, task, index)) {
                        break;
                    }
                    done = then;
                    moved = true;
                }
            }
            if done.iter().zip(wanted).all(|(done, wanted)| done >= wanted) {
                return false;
            }
            if !moved {
                return true;
            }
        }
    }

    /// Performs an operation in the middle of a group, if only operations that run beside the one thread have to come
    /// before. Returns `false` if others have to.
    fn goes_through(&self, done: &mut [u32], task: usize, index: usize) -> bool {
        let needs = &self.tasks[task][index].needs;
        let is_possible = |done: &[u32], needs: &[u32]| done.iter().zip(needs).all(|(done, need)| done >= need);
        while !is_possible(done, needs) {
            let next = |other: usize| self.tasks[other].get(done[other] as usize);
            let can_go = |&other: &usize| {
                other != task && self.beside[other] && next(other).is_some_and(|next| is_possible(done, &next.needs))
            };
            // The ones that this operation needs come first.
            let needed = (0..self.tasks.len()).filter(|&other| done[other] < needs[other]).find(can_go);
            let Some(other) = needed.or_else(|| (0..self.tasks.len()).find(can_go)) else { return false };
            done[other] += 1;
        }
        done[task] = index as u32 + 1;
        true
    }

    fn next(&self, at: &Moment, task: usize) -> Option<&Operation> {
        self.tasks[task].get(at.done[task] as usize)
    }

    fn is_possible(&self, at: &Moment, operation: &Operation) -> bool {
        operation.needs.iter().zip(&at.done).all(|(need, done)| done >= need)
    }

    /// Returns `true` if a poll finds the wait before an operation ready.
    fn is_ready(&self, at: &Moment, operation: &Operation) -> bool {
        has_one(at, &operation.reasons.found)
    }

    /// Returns `true` if a task that waits before an operation is to be polled.
    fn is_woken(&self, at: &Moment, operation: &Operation) -> bool {
        self.is_ready(at, operation) || has_one(at, &operation.reasons.wakes)
    }

    /// Returns `true` if a task of the one thread is ready to be polled.
    fn is_queued(&self, at: &Moment, task: usize) -> bool {
        !self.beside[task]
            && self.next(at, task).is_some_and(|next| match next.start {
                Start::Beside | Start::Anytime | Start::Fires | Start::Never => false,
                Start::Yields => at.released[task] || self.is_woken(at, next),
                Start::Amid | Start::Waits => self.is_woken(at, next),
            })
    }

    /// Returns `true` if the queue of the one thread is not empty.
    fn is_any_queued(&self, at: &Moment) -> bool {
        (0..self.tasks.len()).any(|task| self.is_queued(at, task))
    }

    /// Searches for an order of the wanted operations that one thread allows. Returns `true` also if too many turns were
    /// tried.
    fn search(&self, at: &Moment, tried: &mut Tried) -> bool {
        if at.done.iter().zip(&tried.wanted).all(|(done, wanted)| done >= wanted) {
            return true;
        }
        if !tried.seen.insert(at.clone()) {
            return false;
        }
        tried.turns += 1;
        if tried.turns > MOST_TURNS {
            return true;
        }
        let mut turns: Vec<usize> = (0..self.tasks.len()).filter(|&task| self.can_begin(at, task)).collect();
        turns.sort_by_key(|&task| self.next(at, task).map(|next| next.number));
        turns.into_iter().any(|task| {
            let after = self.turn(at, task, &tried.wanted);
            after.is_some_and(|after| self.search(&after, tried))
        })
    }

    /// Returns `true` if a turn of a task may begin.
    fn can_begin(&self, at: &Moment, task: usize) -> bool {
        let Some(next) = self.next(at, task).filter(|next| self.is_possible(at, next)) else { return false };
        if self.beside[task] {
            return true;
        }
        match next.start {
            Start::Beside | Start::Anytime | Start::Fires => true,
            Start::Never => false,
            Start::Yields => self.is_queued(at, task) || !self.is_any_queued(at),
            Start::Amid | Start::Waits => self.is_woken(at, next),
        }
    }

    /// Returns the point after a turn of `task`, if the turn is possible.
    fn turn(&self, at: &Moment, task: usize, wanted: &[u32]) -> Option<Moment> {
        let mut at = at.clone();
        let start = self.next(&at, task)?.start;
        if start == Start::Yields && !self.is_queued(&at, task) {
            let yielded = |task| self.next(&at, task).is_some_and(|next| next.start == Start::Yields);
            at.released = (0..self.tasks.len()).map(yielded).collect();
        }
        at.done[task] += 1;
        if self.beside[task] || start == Start::Beside {
            return Some(at);
        }
        at.released[task] = false;
        while let Some(next) = self.next(&at, task) {
            if at.done.iter().zip(wanted).all(|(done, wanted)| done >= wanted) {
                return Some(at);
            }
            let goes_on = match next.start {
                Start::Amid => true,
                Start::Waits => self.is_ready(&at, next),
                Start::Yields | Start::Anytime | Start::Fires | Start::Beside => false,
                Start::Never => return None,
            };
            if !goes_on {
                break;
            }
            let index = at.done[task] as usize;
            if !self.goes_through(&mut at.done, task, index) {
                return None;
            }
        }
        Some(at)
    }
}

/// Returns `true` if all operations of one of the alternatives have happened.
fn has_one(at: &Moment, alternatives: &[Vec<(usize, u32)>]) -> bool {
    alternatives.iter().any(|all| all.iter().all(|&(task, count)| at.done[task] >= count))
}
