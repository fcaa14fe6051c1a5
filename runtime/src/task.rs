//! Tasks: futures that are polled on stacks of their own, so that any call can suspend the task in the middle of a
//! poll.

use crate::events;
use crate::execution::{self, Execution, NONE, Select, Steps};
use crate::grant::{arm_timers, forget_hopes, forget_stale, pass};
use crate::life::{Exit, Lives};
use crate::object::{Action, Part, Place};
use crate::panics;
use crate::stack::Stack;
use crate::waiting::{On, Wait};
use crate::waker::waker;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
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
    /// Finished.
    Done,
}

/// A task of an execution. Its memory is reused for later tasks.
pub(crate) struct Task {
    pub(crate) name: Name,
    pub(crate) label: Label,
    pub(crate) place: Place,
    /// The future that it runs or has run; `None` while it runs.
    life: Option<Arc<dyn Lives>>,
    on_exit: Option<Box<dyn FnOnce()>>,
    /// The coroutine that runs it, if it has begun. Boxed because it is borrowed while the task's code accesses the
    /// task.
    coroutine: Box<Option<Coroutine<(), (), (), Stack>>>,
    yielder: *const Yielder<(), ()>,
    pub(crate) state: State,
    pub(crate) waits: Vec<Wait>,
    /// The number of the current poll.
    pub(crate) poll: u32,
    /// The wait that is allowed to complete; 0 for none.
    pub(crate) grant: u32,
    pub(crate) composite: u32,
    /// The number of selects and joins being polled.
    pub(crate) inside: u32,
    /// `true` if the current poll repeats the previous one, to find out which waits are still polled.
    pub(crate) repeated: bool,
    /// `true` if the current poll is exact ([`Execution::is_exact`]); `exact_next` if the next one is.
    pub(crate) exact: bool,
    pub(crate) exact_next: bool,
    /// `true` if the current poll has acted since its last check of a wait.
    pub(crate) acted: bool,
    /// Set if the running event has already requested the item that is awaited next; `true` if that was ready.
    pub(crate) asks: Option<bool>,
    /// The reads of such requests, which count if the task waits for other objects too.
    pub(crate) asked_looks: Vec<Touch>,
    /// The selects and joins being polled for the first time; `true` if any of their branches may be polled first.
    pub(crate) around: Vec<(Place, bool)>,
    pub(crate) path: Select,
    /// The reads of the current poll that found waits not ready.
    pub(crate) probes: Vec<Touch>,
    /// The range of leaves that a select polled in the current poll, if it certainly waits for all of these.
    pub(crate) asked: (u32, u32),
    /// `true` if an event followed the registration of a wait in the current poll.
    pub(crate) dirty: bool,
    pub(crate) woken: Option<u32>,
    pub(crate) aborted: Option<u32>,
    /// `true` if the task is resumed only to be dropped after an abort.
    pub(crate) cancelling: bool,
    /// The task's last merged event since its last step, as a cause, or [`NONE`].
    pub(crate) last_aside: u32,
    /// `true` if the current operation belongs to that merged event; `taking` if the event receives an item: see
    /// [`pass`].
    pub(crate) in_aside: bool,
    pub(crate) taking: bool,
    /// The number of its waits that can complete without an event: see [`pass`].
    pub(crate) hopes: u32,
    /// `true` if it is blocked in the middle of a poll, where an abort has no effect.
    pub(crate) in_poll: bool,
    /// The number of real locks that it holds.
    held: i32,
    pub(crate) children: u32,
    pub(crate) steps: u32,
    /// The steps that happen before its next operation.
    pub(crate) after: Steps,
    pub(crate) waker: Waker,
    pub(crate) locals: Vec<(usize, Box<dyn Any>)>,
}

impl Task {
    /// Returns an unused task.
    #[track_caller]
    pub(crate) fn none() -> Task {
        Task {
            name: Name::ROOT,
            label: Label { kind: MAIN, number: 0 },
            place: Location::caller(),
            life: None,
            on_exit: None,
            coroutine: Box::new(None),
            yielder: std::ptr::null(),
            state: State::Done,
            waits: Vec::new(),
            poll: 0,
            grant: 0,
            composite: 0,
            inside: 0,
            repeated: false,
            exact: false,
            exact_next: false,
            acted: false,
            asks: None,
            asked_looks: Vec::new(),
            around: Vec::new(),
            path: Select::default(),
            probes: Vec::new(),
            asked: (0, 0),
            dirty: false,
            woken: None,
            aborted: None,
            cancelling: false,
            last_aside: NONE,
            in_aside: false,
            taking: false,
            hopes: 0,
            in_poll: false,
            held: 0,
            children: 0,
            steps: 0,
            after: Steps::new(),
            waker: Waker::noop().clone(),
            locals: Vec::new(),
        }
    }

    /// Reinitializes this memory for a task that has not begun.
    pub(crate) fn renew(
        &mut self,
        id: u64,
        life: Arc<dyn Lives>,
        place: Place,
        on_exit: Option<Box<dyn FnOnce()>>,
        after: &[u32],
        last_aside: u32,
    ) {
        let end = life.end();
        (self.name, self.waker) = (end.name(), waker(id, end.number()));
        self.label = Label { kind: end.object.kind, number: end.object.number };
        (self.place, self.life, self.on_exit) = (place, Some(life), on_exit);
        self.state = State::Fresh;
        (self.poll, self.grant, self.composite, self.path) = (0, 0, 0, Select::default());
        (self.inside, self.repeated, self.acted) = (0, false, false);
        (self.exact, self.exact_next) = (false, false);
        (self.last_aside, self.in_aside, self.taking) = (last_aside, false, false);
        self.asks = None;
        (self.dirty, self.hopes, self.in_poll, self.held) = (false, 0, false, 0);
        (self.woken, self.aborted, self.cancelling) = (None, None, false);
        (self.children, self.steps) = (0, 0);
        self.after.clear();
        after.iter().for_each(|&step| self.after.push(step));
    }

    /// Drops everything that the task holds.
    pub(crate) fn clear(&mut self) {
        (self.life, self.on_exit, *self.coroutine) = (None, None, None);
        self.waits.clear();
        self.around.clear();
        self.probes.clear();
        self.asked_looks.clear();
        self.locals.clear();
    }

    /// Returns a panic that no other task has observed, with its location and step.
    pub(crate) fn unseen_panic(&self) -> Option<(String, Option<String>, u32)> {
        self.life.as_ref()?.end().unseen_panic()
    }

    /// Returns `true` if every leaf that the finished poll has polled is certainly still awaited.
    fn waits_for_sure(&self) -> bool {
        let (from, to) = self.asked;
        if from < to {
            return self.live_waits().all(|wait| (from + 1..=to).contains(&wait.order));
        }
        !self.dirty && self.live_waits().nth(1).is_none()
    }

    /// Returns the waker of a future between the task and a leaf, if it differs from the task's own.
    pub(crate) fn foreign(&self, cx: &Context<'_>) -> Option<Waker> {
        (!cx.waker().will_wake(&self.waker)).then(|| cx.waker().clone())
    }

    pub(crate) fn drop_wait(&mut self, id: u32) {
        if let Some(at) = self.waits.iter().position(|wait| wait.id == id) {
            // The order of polling is given by `Wait::order`, not by the position. Usually the last entry is removed,
            // and none moves.
            let last = self.waits.len() - 1;
            if at < last {
                self.waits.swap(at, last);
            }
            self.waits.truncate(last);
        }
    }

    /// Returns the causes of its next operation: the steps in `after`, followed by its last merged event.
    pub(crate) fn before(&self) -> Steps {
        let aside = self.last_aside;
        match self.after[..] {
            [step] if aside == NONE => Steps::from_buf_and_len([step; 4], 1),
            [step] => Steps::from_buf_and_len([step, aside, 0, 0], 2),
            [one, other] if aside != NONE => Steps::from_buf_and_len([one, other, aside, 0], 3),
            _ => self.after.iter().copied().chain(Some(aside).filter(|&aside| aside != NONE)).collect(),
        }
    }

    /// Returns the step that aborted it, if the abort ends its wait.
    pub(crate) fn cancelled(&self) -> Option<u32> {
        self.aborted.filter(|_| !self.in_poll)
    }

    /// Returns the waits that its last poll polled, or that are polled only after a wake.
    pub(crate) fn live_waits(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| self.is_live(wait))
    }

    pub(crate) fn is_live(&self, wait: &Wait) -> bool {
        wait.poll == self.poll || wait.foreign.is_some()
    }
}

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
    if let Some(x) = execution::running() {
        x.task().held += more;
    }
}

/// The kind of the task that runs the test's body.
pub(crate) const MAIN: &str = "main";

/// Suspends the running task. Returns when it is resumed.
pub(crate) fn suspend() {
    let yielder = execution::running().expect("only a running task stops").task().yielder;
    // SAFETY: the yielder lives on the task's own stack, below this frame, as long as the task runs.
    unsafe { (*yielder).suspend(()) };
}

/// Suspends the running task permanently, because its execution is impossible. It unwinds when the execution is
/// cleared.
pub(crate) fn abandon() -> ! {
    while !events::is_over() {
        suspend();
    }
    std::panic::resume_unwind(Box::new("an impossible execution was given up"))
}

/// Runs task `number` until it is suspended again.
pub(crate) fn resume(x: *mut Execution, number: u32) {
    // SAFETY: the machine passes its live execution. The coroutine is boxed apart from the task and used by this function
    // alone, so that its borrow does not overlap with those of the task's code, which accesses the execution too.
    let coroutine = unsafe {
        (*x).running = number;
        (&mut (*x).able)[number as usize] = None;
        forget_hopes(&mut *x, number);
        let coroutine = &raw mut *(&mut (*x).tasks)[number as usize].coroutine;
        &mut *coroutine
    };
    let begun = coroutine.get_or_insert_with(|| {
        // SAFETY: the execution lives, and nothing of it is borrowed here.
        let stack = unsafe { (*x).stacks.take() };
        Coroutine::with_stack(stack, |yielder: &Yielder<(), ()>, ()| {
            execution::running().expect("it runs").task().yielder = yielder;
            run();
        })
    });
    if let CoroutineResult::Return(()) = begun.resume(()) {
        let stack = coroutine.take().expect("it has begun").into_stack();
        // SAFETY: the task has ended, and nothing of the execution is borrowed here.
        unsafe { (*x).stacks.give_back(stack) };
    }
    // SAFETY: as above.
    unsafe { (*x).running = NONE };
}

/// Runs a task from its beginning to its end.
fn run() {
    let x = execution::running().expect("it runs");
    let life = x.task().life.take().expect("a task begins once");
    let on_exit = x.task().on_exit.take();
    // No other task can observe the end if the handle is dropped before the task begins.
    let known = Arc::strong_count(&life) > 1;
    if x.deep {
        let place = x.task().place;
        events::event(Action::plain("begins", place));
    }
    // SAFETY: this is the task itself, which calls it when it no longer polls its future.
    let give_up = || unsafe { life.give_up() };
    let driven = panics::catch(|| {
        // SAFETY: only this task uses the future, which stays in its allocation until it is dropped.
        let driven =
            if begins() { drive(unsafe { Pin::new_unchecked(&mut *life.body()) }, false) } else { Driven::Cancelled };
        give_up();
        driven
    });
    if driven.is_err() {
        drop(panics::catch(give_up));
    }
    let x = execution::running().expect("it runs");
    let (name, place) = (x.task().name, x.task().place);
    let tail = life.end().object.part(Part::Tail);
    let apart = x.task().label.is_main() || on_exit.is_some() || known && events::is_learnt(name);
    // Case 2 of the lemma in `asides.rs`.
    let apart = apart || known && events::stands_out(tail, &[tail]) || x.every_event;
    if apart && !events::is_over() {
        events::event(Action::plain("ends", place));
    }
    if events::is_over() {
        return;
    }
    let x = execution::running().expect("it runs");
    let step = x.step;
    x.panicked |= driven.is_err();
    x.task_ends();
    let before = x.task().before();
    x.record.ended.push(x.running);
    if x.task().label.is_main() {
        x.main_done = true;
        events::write(execution::CLOCK);
    }
    if apart {
        events::write(tail);
        events::enables(tail, life.end().object.part(Part::Item));
    } else {
        events::enables_aside(tail);
    }
    let exit = driven.map(|driven| match driven {
        Driven::Finished => Exit::Finished,
        Driven::Cancelled => Exit::Cancelled,
    });
    life.end().come(step, before, exit);
    x.task().life = Some(life);
    if let Some(on_exit) = on_exit {
        on_exit();
    }
}

enum Driven {
    Finished,
    Cancelled,
}

/// Begins the running task. The beginning is an event if some execution aborts the task, because the abort may come
/// first. Returns `false` if it does.
fn begins() -> bool {
    let x = execution::running().expect("it runs");
    let name = x.task().name;
    if x.muted || !x.groups.is_marked(name) {
        return !x.muted;
    }
    let (place, waker) = (x.task().place, x.task().waker.clone());
    let (mut leaf, mut cx) = (crate::Leaf::new(), Context::from_waker(&waker));
    while leaf.poll(&mut cx, || (On::Yield, Action::plain("begins", place))).is_pending() {
        stop(execution::running().expect("it runs"), false);
        let x = execution::running().expect("it runs");
        if x.muted || x.task().cancelling {
            return false;
        }
    }
    true
}

/// Polls a future to completion and suspends the task whenever it waits. With `in_poll`, this happens inside a poll.
fn drive(mut future: Pin<&mut dyn Future<Output = ()>>, in_poll: bool) -> Driven {
    let waker = execution::running().expect("it runs").task().waker.clone();
    let mut cx = Context::from_waker(&waker);
    let mut again = false;
    loop {
        {
            let task = execution::running().expect("it runs").task();
            task.poll += 1;
            (task.repeated, task.acted) = (again, false);
            task.exact = std::mem::take(&mut task.exact_next);
            task.dirty = false;
            task.asked = (0, 0);
            task.probes.clear();
        }
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(()) => {
                execution::running().expect("it runs").attach_probes();
                return Driven::Finished;
            }
            Poll::Pending => {}
        }
        let x = execution::running().expect("it runs");
        if x.muted {
            return Driven::Cancelled;
        }
        x.task().probes.clear();
        // Futures that were polled may be alive and no longer awaited. If it is not certain which waits are still
        // awaited, a second poll shows it.
        let ask = !again && !x.task().waits_for_sure();
        again = ask;
        if ask {
            continue;
        }
        stop(x, in_poll);
        let x = execution::running().expect("it runs");
        if x.muted || x.task().cancelling && !in_poll {
            return Driven::Cancelled;
        }
        x.task().waits.iter_mut().for_each(|wait| wait.looked = false);
    }
}

/// Blocks the running task until one of its waits completes, or the execution is over.
fn stop(x: &mut Execution, in_poll: bool) {
    x.task().in_poll |= in_poll;
    if x.waits_for_several(x.running as usize) {
        x.attach_asked_looks();
    }
    x.task().asked_looks.clear();
    block(x);
    if !pass(x) {
        if x.looks_first(x.running as usize) {
            x.task().state = State::Looking { first: true };
        } else {
            arm_timers(x);
        }
        suspend();
    }
    if in_poll {
        execution::running().expect("it runs").task().in_poll = false;
    }
}

/// Marks the running task as blocked.
fn block(x: &mut Execution) {
    let task = x.task();
    task.state = State::Blocked;
    forget_stale(task);
    // Only the earliest timer may fire.
    if x.clock.used && x.task().live_waits().any(|wait| matches!(wait.on, On::Timer(_))) {
        x.touch(Touch::add(execution::DUE));
    }
}

/// Blocks inside the current poll, as blocking calls do. Returns `false` if the execution is over.
pub fn wait_here(on: &On, action: Action) -> bool {
    let Some(x) = execution::running() else { return x_ready(on) };
    if x.muted {
        return false;
    }
    let mut leaf = crate::Leaf::new();
    let waker = x.task().waker.clone();
    let mut cx = Context::from_waker(&waker);
    // The waits registered by the current poll do not count until it is over; they are registered again then.
    x.task().poll += 1;
    loop {
        if leaf.poll(&mut cx, || (on.clone(), action)).is_ready() {
            execution::running().expect("it runs").task().dirty = true;
            return true;
        }
        let x = execution::running().expect("it runs");
        if x.muted {
            return false;
        }
        stop(x, true);
    }
}

fn x_ready(on: &On) -> bool {
    matches!(on, On::Source(source, key) if source.ready(*key).is_some())
}

/// Runs a future to completion inside the current poll, as `block_on` does. Returns `None` if the execution is over.
pub fn block_on_here<F: Future>(future: F) -> Option<F::Output> {
    let mut output = None;
    {
        let future = std::pin::pin!(async { output = Some(future.await) });
        drive(future, true);
    }
    output
}

/// Returns the name of the running task.
#[must_use]
pub fn task_name() -> Option<Name> {
    execution::running().map(|x| x.task().name)
}

/// Calls `work` with the newest value that the running task stores under `key`.
pub fn with_local<T: 'static, R>(key: usize, work: impl FnOnce(Option<&T>) -> R) -> R {
    let found = execution::running().and_then(|x| {
        let locals = &x.task().locals;
        locals.iter().rev().find(|(k, _)| *k == key).map(|(_, value)| std::ptr::from_ref(&**value))
    });
    // SAFETY: the value is in a box of its own, which stays until its scope ends, after `work` has returned. Nested calls
    // share the value; nothing writes to it meanwhile.
    work(found.and_then(|value| unsafe { (*value).downcast_ref::<T>() }))
}

/// Stores a value under `key` in the running task.
pub fn push_local<T: 'static>(key: usize, value: T) {
    if let Some(x) = execution::running() {
        x.task().locals.push((key, Box::new(value)));
    }
}

/// Removes and returns the newest value under `key`.
#[must_use]
pub fn pop_local<T: 'static>(key: usize) -> Option<T> {
    let locals = &mut execution::running()?.task().locals;
    let at = locals.iter().rposition(|(k, _)| *k == key)?;
    locals.remove(at).1.downcast().ok().map(|value| *value)
}
