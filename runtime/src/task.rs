//! Tasks: futures that are polled on stacks of their own, so that any call can suspend the task in the middle of a
//! poll.

use crate::current::with_running;
use crate::execution::{NONE, Steps};
use crate::hand_polls::Unfounded;
use crate::life::Lives;
use crate::object::{Action, Place};
use crate::spinning::Rounds;
use crate::stack::Stack;
use crate::system::OwnVariables;
use crate::waiting::{Wait, WaitTarget};
use crate::waker::waker;
use corosensei::{Coroutine, Yielder};
use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::task::Waker;
use whippet_model::{Name, Touch};

/// The state of a task.
pub(crate) enum State {
    /// Not begun.
    Fresh,
    /// Suspended before this event.
    Event(Action),
    /// In the middle of a poll, about to check its waits; `first` if they were not checked since they were
    /// registered. See [`Execution::looks_first`].
    Looking { first: bool },
    /// Blocked until one of its waits is ready, a waker is called, or the task is aborted.
    Blocked,
    /// Suspended permanently, in the middle of a poll that no runtime shows: see
    /// [`Ending::impossible`](crate::ending::Ending::impossible).
    Abandoned,
    /// Finished.
    Done,
}

/// A task of an execution. Its memory is reused for later tasks.
pub(crate) struct Task {
    pub(crate) name: Name,
    pub(crate) label: Label,
    pub(crate) place: Place,
    pub(crate) body: Body,
    pub(crate) state: State,
    pub(crate) waits: Vec<Wait>,
    /// The wait that is allowed to complete; 0 for none.
    pub(crate) grant: u32,
    /// The number of its waits that can complete without an event: see [`crate::passing::pass`].
    pub(crate) pending_grants: u32,
    pub(crate) polling: Polling,
    pub(crate) selects: Selects,
    pub(crate) interrupts: Interrupts,
    pub(crate) past: Past,
    /// The number of real locks that it holds.
    pub(crate) held: i32,
    /// The number of objects and tasks that it has created.
    pub(crate) children: u32,
    /// The number of its steps.
    pub(crate) steps: u32,
    pub(crate) waker: Waker,
    pub(crate) locals: Vec<(usize, Box<dyn Any>)>,
    /// What it has for itself of the thread's variables.
    pub(crate) own: OwnVariables,
    /// Its newest steps, if they repeat.
    pub(crate) rounds: Rounds,
}

/// The code of a task, and the means to run it.
pub(crate) struct Body {
    /// The future that it runs or has run; `None` while it runs.
    pub(crate) life: Option<Arc<dyn Lives>>,
    pub(crate) on_exit: Option<Box<dyn FnOnce()>>,
    /// The coroutine of a task that is suspended.
    pub(crate) coroutine: Option<Coroutine<(), (), (), Stack>>,
    pub(crate) yielder: *const Yielder<(), ()>,
}

/// The current poll of a task.
#[derive(Default)]
pub(crate) struct Polling {
    /// The number of the poll.
    pub(crate) number: u32,
    /// `true` if it repeats the previous one, to find out which waits are still polled.
    pub(crate) repeated: bool,
    /// `true` if it is exact ([`Execution::is_exact`](crate::execution::Execution::is_exact)); `exact_next` if the next
    /// one is.
    pub(crate) exact: bool,
    pub(crate) exact_next: bool,
    pub(crate) moments: Moments,
    /// Set if the running event has already requested the item that is awaited next; `true` if that was ready.
    pub(crate) asks: Option<bool>,
    /// The reads of such requests, which count if the task waits for other objects too.
    pub(crate) asked_looks: Vec<Touch>,
    /// The reads that found waits not ready.
    pub(crate) probes: Vec<Touch>,
    /// The range of waiters that a select polled, if it certainly waits for all of these.
    pub(crate) asked: (u32, u32),
    /// `true` if an event followed the registration of a wait.
    pub(crate) dirty: bool,
    /// `true` if the task is blocked in the middle of a poll, where an abort has no effect.
    pub(crate) is_blocked: bool,
    /// The waits that have answered "pending" although they were ready.
    pub(crate) unfounded: Unfounded,
    /// The number of operations that may still be ready in this poll, for code that asks for it; `None` if there is no limit.
    pub(crate) budget: Option<u8>,
}

/// The budget of a poll in tokio.
const BUDGET: u8 = 128;

/// The time of a task within its polls. A moment is the time between two operations: a poll begins a new one, and so does
/// each event or merged event in it. A wait stores the moment in which it was last polled
/// ([`Wait::polled`](crate::waiting::Wait::polled)), which says if anything has happened since.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    now: u32,
    /// The first moment of the current poll. A repeated poll belongs to the one that it repeats; `repeat` is then the
    /// moment in which it began, and otherwise the same.
    poll: u32,
    repeat: u32,
    /// The moment of the last check that is a step of its own, or of the beginning of the poll.
    check: u32,
}

impl Moments {
    /// Returns the current moment.
    #[inline]
    pub(crate) fn now(self) -> u32 {
        self.now
    }

    /// Begins a poll.
    fn begin_poll(&mut self, repeats: bool) {
        if !repeats {
            self.now += 1;
            self.poll = self.now;
        }
        (self.repeat, self.check) = (self.now, self.now);
    }

    /// Ends the current moment by an operation.
    #[inline]
    pub(crate) fn act(&mut self) {
        self.now += 1;
    }

    /// Ends the current moment by the completion of a wait that was granted: the poll goes on as if it had begun here.
    #[inline]
    pub(crate) fn complete(&mut self) {
        if self.check == self.now {
            self.check += 1;
        }
        self.now += 1;
    }

    /// Records a check that is a step of its own.
    #[inline]
    pub(crate) fn check(&mut self) {
        self.check = self.now;
    }

    /// Returns `true` if the poll has acted since its last check.
    #[inline]
    pub(crate) fn has_acted(self) -> bool {
        self.now > self.check
    }

    /// Returns the moment before the current one, for a wait that was checked by the operation that ended it.
    pub(crate) fn before(self) -> u32 {
        self.now.saturating_sub(1)
    }

    /// Returns the moment of a wait that is polled now, and was polled before at `last`: if the current poll is repeated,
    /// something that happened between the original poll of the wait and the repetition still counts.
    #[inline]
    pub(crate) fn again(self, last: u32) -> u32 {
        if self.poll <= last && last < self.repeat { last } else { self.now }
    }

    /// Returns `true` if `moment` belongs to the current poll, and something has happened since.
    #[inline]
    pub(crate) fn is_earlier(self, moment: u32) -> bool {
        self.poll <= moment && moment < self.now
    }
}

/// The selects and joins that a task polls.
#[derive(Default)]
pub(crate) struct Selects {
    /// The number of those whose polls are exact.
    pub(crate) composite: u32,
    /// The number of all.
    pub(crate) inside: u32,
    /// Those that are polled for the first time; `true` if any of their branches may be polled first.
    pub(crate) around: Vec<(Place, bool)>,
    /// The unbiased ones, and their branches.
    pub(crate) path: SelectPath,
}

/// The unbiased `select!`s around a waiter, outermost first, as pairs of a select and one of its branches.
pub(crate) type SelectPath = [(u32, u32); 3];

/// Reasons for a blocked task to continue other than its waits.
#[derive(Default)]
pub(crate) struct Interrupts {
    /// The step that called its waker.
    pub(crate) woken: Option<u32>,
    /// The step that aborted it.
    pub(crate) aborted: Option<u32>,
    /// `true` if the task is resumed only to be dropped after an abort.
    pub(crate) cancelling: bool,
}

/// The causes of the next operation of a task.
pub(crate) struct Past {
    /// The steps that happen before it.
    pub(crate) after: Steps,
    /// The task's last merged event since its last step, as a cause, or [`NONE`].
    pub(crate) last_merged: u32,
    /// `true` if the current operation belongs to that merged event; `taking` if the event receives an item: see
    /// [`crate::passing::pass`].
    pub(crate) in_merged: bool,
    pub(crate) taking: bool,
}

impl Task {
    /// Returns an unused task.
    #[track_caller]
    pub(crate) fn none() -> Task {
        Task {
            name: Name::ROOT,
            label: Label { kind: MAIN, number: 0 },
            place: Location::caller(),
            body: Body { life: None, on_exit: None, coroutine: None, yielder: std::ptr::null() },
            state: State::Done,
            waits: Vec::new(),
            grant: 0,
            pending_grants: 0,
            polling: Polling::default(),
            selects: Selects::default(),
            interrupts: Interrupts::default(),
            past: Past { after: Steps::new(), last_merged: NONE, in_merged: false, taking: false },
            held: 0,
            children: 0,
            steps: 0,
            waker: Waker::noop().clone(),
            locals: Vec::new(),
            own: OwnVariables::default(),
            rounds: Rounds::default(),
        }
    }

    /// Reinitializes this memory, which was [cleared](Task::clear), for a task that has not begun.
    pub(crate) fn renew(
        &mut self,
        id: u64,
        life: Arc<dyn Lives>,
        place: Place,
        on_exit: Option<Box<dyn FnOnce()>>,
        after: &[u32],
        last_merged: u32,
    ) {
        let end = life.end();
        (self.name, self.waker) = (end.name(), waker(id, end.number()));
        self.label = Label { kind: end.object.kind, number: end.object.number };
        (self.place, self.body.life, self.body.on_exit) = (place, Some(life), on_exit);
        self.state = State::Fresh;
        (self.grant, self.pending_grants, self.held, self.children, self.steps) = (0, 0, 0, 0, 0);
        self.polling.renew();
        self.rounds.clear();
        (self.selects.composite, self.selects.inside, self.selects.path) = (0, 0, SelectPath::default());
        self.interrupts = Interrupts::default();
        (self.past.last_merged, self.past.in_merged, self.past.taking) = (last_merged, false, false);
        self.past.after.clear();
        after.iter().for_each(|&step| self.past.after.push(step));
    }

    /// Drops everything that the task holds.
    pub(crate) fn clear(&mut self) {
        (self.body.life, self.body.on_exit, self.body.coroutine) = (None, None, None);
        self.waits.clear();
        self.selects.around.clear();
        self.polling.probes.clear();
        self.polling.asked_looks.clear();
        self.locals.clear();
        self.own.clear();
    }

    /// Returns a panic that no other task has observed, with its location and step.
    pub(crate) fn unseen_panic(&self) -> Option<(String, Option<String>, u32)> {
        self.body.life.as_ref()?.end().unseen_panic()
    }

    /// Returns `true` if every waiter that the finished poll has polled is certainly still awaited.
    pub(crate) fn waits_for_sure(&self) -> bool {
        let (from, to) = self.polling.asked;
        if from < to {
            return self.live_waits().all(|wait| (from + 1..=to).contains(&wait.polled.order));
        }
        !self.polling.dirty && self.live_waits().nth(1).is_none()
    }

    /// Removes a wait, if it exists. The caller drops it where the execution is not in use: its object and its waker
    /// may be the user's.
    pub(crate) fn take_wait(&mut self, id: u32) -> Option<Removed> {
        let at = self.waits.iter().position(|wait| wait.id == id)?;
        let wait = &mut self.waits[at];
        let removed = (std::mem::replace(&mut wait.on, WaitTarget::Yield), wait.foreign.take());
        // The order of polling is given by `Polled::order`, not by the position. Usually the last entry is removed, and
        // none moves.
        let last = self.waits.len() - 1;
        if at < last {
            self.waits.swap(at, last);
        }
        self.waits.truncate(last);
        Some(removed)
    }

    /// Returns the causes of its next operation: the steps in `after`, followed by its last merged event.
    pub(crate) fn before(&self) -> Steps {
        let merged = self.past.last_merged;
        match self.past.after[..] {
            [step] if merged == NONE => Steps::from_buf_and_len([step; 4], 1),
            [step] => Steps::from_buf_and_len([step, merged, 0, 0], 2),
            [one, other] if merged != NONE => Steps::from_buf_and_len([one, other, merged, 0], 3),
            _ => self.past.after.iter().copied().chain(Some(merged).filter(|&merged| merged != NONE)).collect(),
        }
    }

    /// Returns the step that aborted it, if the abort ends its wait.
    pub(crate) fn cancelled(&self) -> Option<u32> {
        self.interrupts.aborted.filter(|_| !self.polling.is_blocked)
    }

    /// Returns the waits that its last poll polled, or that are polled only after a wake.
    pub(crate) fn live_waits(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| self.is_live(wait))
    }

    /// Returns `true` if the current poll has found the wait not ready, and something has happened in it since.
    pub(crate) fn has_seen(&self, wait: &Wait) -> bool {
        self.polling.moments.is_earlier(wait.polled.moment)
    }

    pub(crate) fn is_live(&self, wait: &Wait) -> bool {
        wait.polled.poll == self.polling.number || wait.foreign.is_some()
    }
}

impl Polling {
    /// Begins a poll; `again` if it repeats the previous one.
    pub(crate) fn begin(&mut self, again: bool) {
        self.number += 1;
        self.repeated = again;
        self.moments.begin_poll(again);
        self.exact = std::mem::take(&mut self.exact_next);
        self.dirty = false;
        if !again {
            self.unfounded.clear();
            self.budget = Some(BUDGET);
        }
        self.asked = (0, 0);
        self.probes.clear();
    }

    fn renew(&mut self) {
        self.unfounded.clear();
        (self.number, self.repeated, self.exact, self.exact_next) = (0, false, false, false);
        (self.moments, self.asks, self.dirty, self.is_blocked) = (Moments::default(), None, false, false);
    }
}

/// The parts of a removed wait that may be the user's.
pub(crate) type Removed = (WaitTarget, Option<Waker>);

/// The name of a task in counterexamples: "main", "task 3".
#[derive(Copy, Clone)]
pub(crate) struct Label {
    pub(crate) kind: &'static str,
    /// Its number among the tasks of its kind.
    pub(crate) number: u32,
}

impl Label {
    pub(crate) fn is_main(self) -> bool {
        self.kind == MAIN
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_main() { f.write_str(MAIN) } else { write!(f, "{} {}", self.kind, self.number) }
    }
}

/// The kind of tasks that represent threads.
pub const THREAD: &str = "thread";

/// Returns the task to clear away next when an execution is over. Threads may borrow from older tasks, which wait for
/// them, so the newest thread comes first. Tasks that hold a real lock follow, because others may need it while they
/// unwind.
pub(crate) fn next_to_clear(tasks: &[Box<Task>]) -> Option<usize> {
    let left = |task: &Task| !matches!(task.state, State::Done);
    let first = tasks.iter().position(|task| left(task))?;
    let thread = tasks.iter().rposition(|task| left(task) && task.label.kind == THREAD);
    let holder = || tasks.iter().position(|task| left(task) && task.held > 0);
    thread.or_else(holder).or(Some(first))
}

/// Adds `more` to the number of real locks that the running task holds.
pub fn holds(more: i32) {
    with_running(|x| x.task().held += more);
}

/// The kind of the task that runs the test's body.
pub(crate) const MAIN: &str = "main";

/// The kind of tasks that run blocking functions.
pub const BLOCKING: &str = "blocking task";

/// Returns `true` if the running task represents a thread of its own, and `None` if no task runs.
#[must_use]
pub fn is_thread() -> Option<bool> {
    with_running(|x| [THREAD, BLOCKING].contains(&x.task().label.kind))
}

/// Returns the name of the running task.
#[must_use]
pub fn task_name() -> Option<Name> {
    with_running(|x| x.task().name)
}

/// Returns the rest of the budget of the running poll; `None` if there is no limit.
#[must_use]
pub fn budget() -> Option<u8> {
    with_running(|x| x.task().polling.budget).flatten()
}

/// Sets the rest of the budget of the running poll.
pub fn set_budget(rest: Option<u8>) {
    with_running(|x| x.task().polling.budget = rest);
}
