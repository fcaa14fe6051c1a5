//! One execution: its tasks, the step being taken, and the footprint of that step. [`crate::current`] is the way to it.
//!
//! Each part has a struct of its own: [`Tasks`], [`Record`] (the step being taken), [`Merging`], [`Clock`], [`Names`],
//! [`Counters`], [`Learning`], [`Ending`] and [`Untaken`].

use crate::clock::Clock;
use crate::current::{Facts, with_current, with_facts};
use crate::ending::{Ending, Untaken};
use crate::hand_polls::{ForeignWakers, HANDS};
use crate::life::Lives;
use crate::merging::{Merging, cause_of, is_merged, merged_event_of};
use crate::names::Names;
use crate::object::Place;
use crate::one_thread::Log;
use crate::passing::PendingGrant;
use crate::record::Record;
use crate::refinements::{Learning, SharedRefinements};
use crate::stack::Stacks;
use crate::task::{Past, State, Task};
use crate::tasks::Tasks;
use crate::waiting::Wait;
use smallvec::SmallVec;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use whippet_model::{Branch, Name, Touch};

/// Sentinel: no step, no task.
pub(crate) const NONE: u32 = u32::MAX;

/// A list of causes: steps and, tagged with a bit, merged events.
pub type Steps = SmallVec<[u32; 4]>;

/// One execution, from its start to the current step.
pub(crate) struct Execution {
    /// The part that can be read while the execution is in use.
    pub(crate) facts: Rc<Facts>,
    pub(crate) tasks: Tasks,
    /// Stacks that no task uses.
    pub(crate) stacks: Stacks,
    /// The number of the step being taken.
    pub(crate) step: u32,
    pub(crate) record: Record,
    pub(crate) merging: Merging,
    /// Waits that can complete as merged events: see [`crate::passing::pass`].
    pub(crate) pending_grants: Vec<PendingGrant>,
    pub(crate) counters: Counters,
    pub(crate) clock: Clock,
    pub(crate) ending: Ending,
    pub(crate) learning: Learning,
    pub(crate) names: Names,
    pub(crate) untaken: Untaken,
    pub(crate) wakes: ForeignWakers,
    /// `true` if a task has spun: see `spinning.rs`; and the number of steps in a row that only such tasks have taken.
    pub(crate) spinning: bool,
    pub(crate) idle_steps: u32,
    /// The number of times that such a task has made the clock advance.
    pub(crate) waited_for_time: u32,
    /// Reused memory for lists of steps.
    pub(crate) scratch: Vec<u32>,
    /// The log of all operations, if it is wanted.
    pub(crate) log: Option<Box<Log>>,
}

/// Counters of an execution.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Polls of waiters.
    pub(crate) polls: u32,
    /// Registered waits; the newest one has this number.
    pub(crate) waits: u32,
    /// Unbiased selects.
    pub(crate) selects: u32,
    /// Merged events of the running task since it was resumed.
    pub(crate) merged: u32,
    /// Random words that were drawn while no task was running.
    pub(crate) drawn: u64,
}

thread_local! {
    static WAKING: Cell<u32> = const { Cell::new(NONE) };
}

impl Execution {
    pub(crate) fn new(facts: Rc<Facts>, shared: SharedRefinements, keeps_untaken: bool) -> Execution {
        let learning = Learning::new(shared, facts.refinements.is_marked(HANDS));
        Execution {
            tasks: Tasks::default(),
            stacks: Stacks::default(),
            step: NONE,
            record: Record::new(),
            merging: Merging::new(facts.refinements.is_ordered()),
            facts,
            pending_grants: Vec::new(),
            counters: Counters::default(),
            clock: Clock::default(),
            ending: Ending::default(),
            learning,
            names: Names::default(),
            untaken: Untaken::new(keeps_untaken),
            wakes: ForeignWakers::default(),
            spinning: false,
            idle_steps: 0,
            waited_for_time: 0,
            scratch: Vec::new(),
            log: None,
        }
    }

    /// Resets the execution to its beginning and reuses its memory. Requires that its tasks were removed; keeps its
    /// merged events, which are those of the steps to be replayed.
    pub(crate) fn renew(&mut self, id: u64) {
        self.facts.renew(id);
        self.tasks.renew();
        (self.step, self.merging.next) = (NONE, 0);
        self.pending_grants.clear();
        self.counters = Counters::default();
        self.clock = Clock::default();
        self.ending = Ending::default();
        self.names.renew();
        self.untaken.sent.clear();
        self.wakes = ForeignWakers::default();
        (self.spinning, self.idle_steps, self.waited_for_time) = (false, 0, 0);
    }

    /// Returns the number of the running task, or [`NONE`].
    #[inline]
    pub(crate) fn running(&self) -> u32 {
        self.facts.running()
    }

    /// Returns the running task.
    #[inline]
    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.facts.running() as usize]
    }

    /// Marks the running task as done. Returns the waits that it leaves, to be dropped where the execution is not in
    /// use.
    #[must_use]
    pub(crate) fn task_ends(&mut self) -> Vec<Wait> {
        self.tasks.end(self.facts.running());
        let task = self.task();
        if task.waits.is_empty() { Vec::new() } else { std::mem::take(&mut task.waits) }
    }

    /// Returns `true` if some execution has [marked](SharedRefinements::mark) the name.
    #[inline]
    pub(crate) fn is_marked(&self, name: Name) -> bool {
        self.facts.refinements.is_marked(name)
    }

    /// Learns a name: see [`SharedRefinements::mark`]. Returns `true` if the machine did not know it.
    pub(crate) fn mark(&mut self, name: Name) -> bool {
        self.learning.mark(&self.facts.refinements, name)
    }

    /// Returns `true` if the footprint of the running step is recorded.
    #[inline]
    pub(crate) fn notes(&self) -> bool {
        self.step != NONE && !self.facts.is_over() && !self.record.known
    }

    /// Adds a touch of the running task: to its event or, if it has a merged event since, to the newest of these.
    #[inline]
    pub(crate) fn touch(&mut self, touch: Touch) {
        if self.facts.is_over() || self.record.known {
            return;
        }
        if self.tasks.get(self.running() as usize).is_some_and(|task| task.past.in_merged) {
            self.merging.events.touch(self.running(), touch);
        } else if self.step != NONE && !self.record.touches.contains(&touch) {
            self.record.touches.push(touch);
        }
    }

    /// Records a merged event of task `number`, which happens after the task's previous operation and after `causes`.
    /// The names `apart` are learnt if it needs a step of its own.
    #[inline]
    pub(crate) fn merge(&mut self, number: u32, causes: &[u32], apart: impl IntoIterator<Item = Name>) {
        let task = &mut *self.tasks[number as usize];
        task.past.in_merged = true;
        self.counters.merged += 1;
        task.polling.moments.act();
        if !self.merging.events.are_ordered() || self.facts.is_over() {
            return;
        }
        if !self.record.known {
            // The task's last merged event happens after all steps in `task.past.after`.
            let last = std::slice::from_ref(&task.past.last_merged);
            let before = if task.past.last_merged == NONE { &task.past.after[..] } else { last };
            self.merging.events.push(self.step.wrapping_add(1), number, before, causes, apart);
        }
        task.past.last_merged = cause_of(self.merging.next);
        if let Some(log) = &mut self.log {
            log.merged(number, task.past.last_merged, (task.polling.number, task.polling.repeated));
        }
        self.merging.next += 1;
    }

    /// Learns that the merged receive of the running task needs a step of its own, because the task now performs an
    /// operation that only a step can perform. Does nothing unless the task has such a merged receive.
    pub(crate) fn tell_taking_apart(&mut self) {
        let Past { taking, last_merged, .. } = self.task().past;
        if !taking || self.record.known || self.facts.is_over() {
            return;
        }
        if self.merging.events.are_ordered() {
            for &name in self.merging.events.apart(merged_event_of(last_merged)) {
                self.learning.mark(&self.facts.refinements, name);
            }
        } else {
            self.learning.order(&self.facts.refinements);
        }
    }

    #[inline]
    pub(crate) fn cause(&mut self, cause: u32) {
        if cause == NONE || cause == self.step || self.record.known {
            return;
        }
        self.merging.events.newest_step_after(cause);
        if !is_merged(cause) && !self.record.causes.contains(&cause) {
            self.record.causes.push(cause);
        }
    }

    /// Orders the running step after everything that task `number` has done so far.
    pub(crate) fn cause_all(&mut self, number: usize) {
        if !self.record.known {
            for k in 0..self.tasks[number].past.after.len() {
                self.cause(self.tasks[number].past.after[k]);
            }
            self.cause(self.tasks[number].past.last_merged);
        }
    }

    /// Implements [`choose`](crate::choose). A choice that a [`Branch`] cannot hold ends the run without a verdict.
    pub(crate) fn choose(&mut self, ways: u32) -> u32 {
        let k = self.record.arities.len();
        if ways < 2 {
            return 0;
        }
        if k >= Branch::DIGITS || ways >= Branch::VALUES {
            self.ending.misuse.get_or_insert_with(|| too_many_ways(k, ways));
            return 0;
        }
        self.tell_taking_apart();
        self.record.arities.push(ways);
        self.record.branch.digit(k).min(ways - 1)
    }
}

/// Returns the error for a choice that is not explored: the run ends without a verdict.
fn too_many_ways(made: usize, ways: u32) -> String {
    format!(
        "one step of a task makes choice number {} among {ways} branches; at most {} choices in one step, each among fewer \
         than {} branches, are explored\n  usual cause: a `select!` without `biased` that is polled many times without \
         waiting: add `biased;`, or let the task wait in between",
        made + 1,
        Branch::DIGITS,
        Branch::VALUES
    )
}

/// The name of the clock.
pub(crate) const CLOCK: Name = Name(0x434c_4f43_4b00_0001);

/// The name that every step touches once a timer depends on no other step being possible.
pub(crate) const IDLE: Name = Name::IDLE;

/// The name of the set of waiting timers: only the earliest of these may fire.
pub(crate) const DUE: Name = Name(0x434c_4f43_4b00_0002);

/// Runs `work`, which calls the waker of a wait of task `number`, without marking that task as woken: the readiness of
/// its waits is checked instead.
pub(crate) fn waking<R>(number: u32, work: impl FnOnce() -> R) -> R {
    let before = WAKING.replace(number);
    let result = work();
    WAKING.set(before);
    result
}

impl Execution {
    /// Logs that the running task calls a waker of another one, if this execution is logged.
    fn log_wake(&mut self, woken: u32) {
        let running = self.running();
        if running == NONE || running == woken || self.log.is_none() {
            return;
        }
        let poll = |task: &Task| (task.polling.number, task.polling.repeated);
        let of_running = poll(&self.tasks[running as usize]);
        let target = &self.tasks[woken as usize];
        let amid = (!matches!(target.state, State::Blocked)).then_some(target.polling.number);
        if let Some(log) = &mut self.log {
            log.wakes(running, woken, amid, of_running);
        }
    }
}

/// Records that task `task` was woken, if it belongs to the current execution (`is_of` returns `true` for its id).
pub(crate) fn woken(is_of: impl Fn(u64) -> bool, task: u32) {
    if WAKING.get() == task || !with_facts(|facts| is_of(facts.id()) && !facts.is_over()).unwrap_or(false) {
        return;
    }
    with_current(|x| {
        if x.running() != NONE {
            x.tell_taking_apart();
        }
        x.log_wake(task);
        let step = x.step;
        let task = &mut x.tasks[task as usize];
        task.interrupts.woken = Some(step);
        x.record.enables.push(task.name);
    });
}

/// Panics because the program does something that is not modelled: the run ends without a verdict.
#[track_caller]
pub fn misuse(text: String) -> ! {
    with_current(|x| x.ending.misuse.get_or_insert_with(|| text.clone()).len());
    panic!("{text}");
}

/// The most tasks that may live at a time. Each has a stack, which takes two of the areas of memory that the operating system
/// grants a process (65,530 on Linux), and several machines may work at a time.
const MOST_TASKS: usize = 10_000;

/// Ends the run without a verdict if too many tasks live. It looks at each thousandth task, so that this costs nothing.
fn check_number_of_tasks() {
    let living = with_current(|x| {
        let all = x.tasks.len();
        if all < MOST_TASKS || !all.is_multiple_of(MOST_TASKS / 10) {
            return 0;
        }
        x.tasks.iter().filter(|task| !matches!(task.state, State::Done)).count()
    });
    if living.is_some_and(|living| living >= MOST_TASKS) {
        misuse(format!(
            "{MOST_TASKS} tasks live at the same time, and whippet has room for no more: use fewer of them in tests that are explored"
        ));
    }
}

/// Returns the number and the name of the task that is added next.
#[inline]
pub(crate) fn next_task() -> (u32, Name) {
    check_number_of_tasks();
    let next = with_current(|x| {
        let number = x.tasks.len() as u32;
        if x.running() == NONE {
            return (number, Name::ROOT.child(number));
        }
        x.tell_taking_apart();
        let task = x.task();
        task.children += 1;
        (number, task.name.child(task.children))
    });
    next.expect("tasks are created in executions")
}

/// Adds a new task to the current execution.
pub(crate) fn add_task(life: Arc<dyn Lives>, place: Place, on_exit: Option<Box<dyn FnOnce()>>) {
    let added = with_current(|x| {
        let mut task = x.tasks.unused();
        let creator = x.tasks.get(x.running() as usize).map(|task| &task.past);
        let (after, merged) = creator.map_or((&[][..], NONE), |past| (&past.after, past.last_merged));
        task.renew(x.facts.id(), life, place, on_exit, after, merged);
        x.tasks.add(task);
        let (creator, child) = (x.running(), x.tasks.len() as u32 - 1);
        let poll =
            x.tasks.get(creator as usize).map_or((0, false), |task| (task.polling.number, task.polling.repeated));
        if let Some(log) = &mut x.log {
            log.spawned(creator, child, poll);
        }
    });
    added.expect("tasks are created in executions");
}
