//! Tasks: futures polled on stacks of their own, so that any call can stop in the middle of a poll.

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

/// Where a task stands.
pub(crate) enum State {
    /// Not begun.
    Fresh,
    /// Before this event.
    Event(Action),
    /// In the middle of a poll, about to look at its waits; `first` if no look has been taken since they were registered.
    /// See [`Execution::looks_first`].
    Looking { first: bool },
    /// Waiting for one of its waits, a wake from elsewhere, or an abort.
    Blocked,
    /// Over.
    Done,
}

/// A task of an execution. When that is over, another one begins in the same memory.
pub(crate) struct Task {
    pub(crate) name: Name,
    pub(crate) label: Label,
    pub(crate) place: Place,
    /// What it runs or has run; not here while it does.
    life: Option<Arc<dyn Lives>>,
    on_exit: Option<Box<dyn FnOnce()>>,
    /// How it runs, if it has begun. Apart: it is in use while the task's code reaches the task.
    coroutine: Box<Option<Coroutine<(), (), (), Stack>>>,
    yielder: *const Yielder<(), ()>,
    pub(crate) state: State,
    pub(crate) waits: Vec<Wait>,
    /// The number of the current poll.
    pub(crate) poll: u32,
    /// The wait that may take now; 0 for none.
    pub(crate) grant: u32,
    pub(crate) composite: u32,
    /// The number of selects and joins being polled.
    pub(crate) inside: u32,
    /// The current poll repeats the one before, to see what the task waits for.
    pub(crate) repeated: bool,
    /// The current poll has acted since its last look.
    pub(crate) acted: bool,
    /// The running event has asked for what is waited for next, and whether that was ready.
    pub(crate) asks: Option<bool>,
    /// The looks of events that asked for something, which count if the task waits for something else too.
    pub(crate) asked_looks: Vec<Touch>,
    /// The selects and joins being polled for the first time, and whether any of their branches may be the first asked.
    pub(crate) around: Vec<(Place, bool)>,
    pub(crate) path: Select,
    /// What the current poll has looked at in vain.
    pub(crate) probes: Vec<Touch>,
    /// The leaves that a select asked in the current poll, from one to another, if it is sure that it waits for them.
    pub(crate) asked: (u32, u32),
    /// Whether an event followed the registration of a wait in the current poll.
    pub(crate) dirty: bool,
    pub(crate) woken: Option<u32>,
    pub(crate) aborted: Option<u32>,
    /// Resumed to be dropped, because of the abort.
    pub(crate) cancelling: bool,
    /// The aside that comes before what it does next, as a cause, or [`NONE`].
    pub(crate) last_aside: u32,
    /// Whether what it does now belongs to that, and whether it has taken something so: see [`pass`].
    pub(crate) in_aside: bool,
    pub(crate) taking: bool,
    /// How many of its waits would let it go on without an event: see [`pass`].
    pub(crate) hopes: u32,
    /// Whether it waits in the middle of a poll, where no abort reaches it.
    pub(crate) in_poll: bool,
    /// How many real locks it holds.
    held: i32,
    pub(crate) children: u32,
    pub(crate) steps: u32,
    /// The steps that come before what it does next.
    pub(crate) after: Steps,
    pub(crate) waker: Waker,
    pub(crate) locals: Vec<(usize, Box<dyn Any>)>,
}

impl Task {
    /// Memory for a task.
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

    /// A task that has not begun.
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
        (self.last_aside, self.in_aside, self.taking) = (last_aside, false, false);
        self.asks = None;
        (self.dirty, self.hopes, self.in_poll, self.held) = (false, 0, false, 0);
        (self.woken, self.aborted, self.cancelling) = (None, None, false);
        (self.children, self.steps) = (0, 0);
        self.after.clear();
        after.iter().for_each(|&step| self.after.push(step));
    }

    /// Drops what it holds.
    pub(crate) fn clear(&mut self) {
        (self.life, self.on_exit, *self.coroutine) = (None, None, None);
        self.waits.clear();
        self.around.clear();
        self.probes.clear();
        self.asked_looks.clear();
        self.locals.clear();
    }

    /// A panic that nobody has seen, with its line and step.
    pub(crate) fn unseen_panic(&self) -> Option<(String, Option<String>, u32)> {
        self.life.as_ref()?.end().unseen_panic()
    }

    /// Whether the poll that has ended asked for nothing but what the task still waits for.
    fn waits_for_sure(&self) -> bool {
        let (from, to) = self.asked;
        if from < to {
            return self.live_waits().all(|wait| (from + 1..=to).contains(&wait.order));
        }
        !self.dirty && self.live_waits().nth(1).is_none()
    }

    /// The waker of a future between the task and a leaf, if that is not the task's own.
    pub(crate) fn foreign(&self, cx: &Context<'_>) -> Option<Waker> {
        (!cx.waker().will_wake(&self.waker)).then(|| cx.waker().clone())
    }

    pub(crate) fn drop_wait(&mut self, id: u32) {
        if let Some(at) = self.waits.iter().position(|wait| wait.id == id) {
            // Those who care for the order of asking go by its number. The last one, as it nearly always is, is not moved.
            let last = self.waits.len() - 1;
            if at < last {
                self.waits.swap(at, last);
            }
            self.waits.truncate(last);
        }
    }

    /// What comes before what it does next: these steps, and its last aside behind them.
    pub(crate) fn before(&self) -> Steps {
        let aside = self.last_aside;
        match self.after[..] {
            [step] if aside == NONE => Steps::from_buf_and_len([step; 4], 1),
            [step] => Steps::from_buf_and_len([step, aside, 0, 0], 2),
            [one, other] if aside != NONE => Steps::from_buf_and_len([one, other, aside, 0], 3),
            _ => self.after.iter().copied().chain(Some(aside).filter(|&aside| aside != NONE)).collect(),
        }
    }

    /// The step that aborted it, if that ends what it waits for.
    pub(crate) fn cancelled(&self) -> Option<u32> {
        self.aborted.filter(|_| !self.in_poll)
    }

    /// The waits that its last poll asked for, or that are asked for only when woken.
    pub(crate) fn live_waits(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| self.is_live(wait))
    }

    pub(crate) fn is_live(&self, wait: &Wait) -> bool {
        wait.poll == self.poll || wait.foreign.is_some()
    }
}

/// What stories call a task: "main", "task 3".
#[derive(Copy, Clone)]
pub(crate) struct Label {
    pub(crate) kind: &'static str,
    /// Its number among those of its kind.
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

/// The kind of tasks that stand for threads.
pub const THREAD: &str = "thread";

/// Who is cleared away next when an execution is over. Threads may borrow from older tasks, which wait for them: the newest
/// comes first. Then those who hold a real lock, which others may want on their way out.
pub(crate) fn next_to_clear(tasks: &[Box<Task>]) -> Option<usize> {
    let left = |task: &Task| !matches!(task.state, State::Done);
    let first = tasks.iter().position(|task| left(task))?;
    let thread = tasks.iter().rposition(|task| left(task) && task.label.kind == THREAD);
    let holder = || tasks.iter().position(|task| left(task) && task.held > 0);
    thread.or_else(holder).or(Some(first))
}

/// The running task holds so many more real locks, or fewer.
pub fn holds(more: i32) {
    if let Some(x) = execution::running() {
        x.task().held += more;
    }
}

/// The kind of the task that runs the test's body.
pub(crate) const MAIN: &str = "main";

/// Stops the running task. Comes back when it is resumed.
pub(crate) fn suspend() {
    let yielder = execution::running().expect("only a running task stops").task().yielder;
    // The yielder lives on the task's own stack, below us.
    unsafe { (*yielder).suspend(()) };
}

/// Stops the running task for good: its execution is impossible. It unwinds when the execution is cleared away.
pub(crate) fn abandon() -> ! {
    while !events::is_over() {
        suspend();
    }
    std::panic::resume_unwind(Box::new("an impossible execution was given up"))
}

/// Lets task `number` run until it stops again.
pub(crate) fn resume(x: *mut Execution, number: u32) {
    // Short borrows only: the task's code reaches the execution too.
    let coroutine = unsafe {
        (*x).running = number;
        (&mut (*x).able)[number as usize] = None;
        forget_hopes(&mut *x, number);
        let coroutine = &raw mut *(&mut (*x).tasks)[number as usize].coroutine;
        &mut *coroutine
    };
    let begun = coroutine.get_or_insert_with(|| {
        let stack = unsafe { (*x).stacks.take() };
        Coroutine::with_stack(stack, |yielder: &Yielder<(), ()>, ()| {
            execution::running().expect("it runs").task().yielder = yielder;
            run();
        })
    });
    if let CoroutineResult::Return(()) = begun.resume(()) {
        let stack = coroutine.take().expect("it has begun").into_stack();
        unsafe { (*x).stacks.give_back(stack) };
    }
    unsafe { (*x).running = NONE };
}

/// The whole life of a task.
fn run() {
    let x = execution::running().expect("it runs");
    let life = x.task().life.take().expect("a task begins once");
    let on_exit = x.task().on_exit.take();
    // Only the task itself knows of its end if its handle is gone before it begins.
    let known = Arc::strong_count(&life) > 1;
    if x.deep {
        let place = x.task().place;
        events::event(Action::plain("begins", place));
    }
    // Nobody else uses what it runs.
    let give_up = || unsafe { life.give_up() };
    let driven = panics::catch(|| {
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

/// A task that somebody asks to stop may be stopped before it begins: then its beginning is an event. `false`: it was.
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

/// Polls a future to its end, stopping the task whenever it waits. `in_poll`: all this is in the middle of a poll.
fn drive(mut future: Pin<&mut dyn Future<Output = ()>>, in_poll: bool) -> Driven {
    let waker = execution::running().expect("it runs").task().waker.clone();
    let mut cx = Context::from_waker(&waker);
    let mut again = false;
    loop {
        {
            let task = execution::running().expect("it runs").task();
            task.poll += 1;
            (task.repeated, task.acted) = (again, false);
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
        // Futures that were asked in this poll may be alive and no longer waited for: where it is not clear what the
        // task waits for, only another poll can tell.
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

/// Waits until there is something to take, or the execution is over.
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

/// The running task waits.
fn block(x: &mut Execution) {
    let task = x.task();
    task.state = State::Blocked;
    forget_stale(task);
    // Which timer is due first decides who may fire.
    if x.clock.used && x.task().live_waits().any(|wait| matches!(wait.on, On::Timer(_))) {
        x.touch(Touch::add(execution::DUE));
    }
}

/// Waits in the middle of whatever is running, as blocking calls do. `false` if the execution is over.
pub fn wait_here(on: &On, action: Action) -> bool {
    let Some(x) = execution::running() else { return x_ready(on) };
    if x.muted {
        return false;
    }
    let mut leaf = crate::Leaf::new();
    let waker = x.task().waker.clone();
    let mut cx = Context::from_waker(&waker);
    // What the poll has asked for so far does not count until it is over, and is asked for again then.
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

/// Runs a future to its end in the middle of whatever is running, as `block_on` does. `None` if the execution is over.
pub fn block_on_here<F: Future>(future: F) -> Option<F::Output> {
    let mut output = None;
    {
        let future = std::pin::pin!(async { output = Some(future.await) });
        drive(future, true);
    }
    output
}

/// The name of the running task.
#[must_use]
pub fn task_name() -> Option<Name> {
    execution::running().map(|x| x.task().name)
}

/// What the running task keeps under `key`, the newest of it.
pub fn with_local<T: 'static, R>(key: usize, work: impl FnOnce(Option<&mut T>) -> R) -> R {
    let found = execution::running().and_then(|x| {
        let locals = &mut x.task().locals;
        locals.iter_mut().rev().find(|(k, _)| *k == key).map(|(_, value)| std::ptr::from_mut(&mut **value))
    });
    // Nothing is pushed or popped while `work` looks: scopes end before their task goes on.
    work(found.and_then(|value| unsafe { (*value).downcast_mut::<T>() }))
}

/// Puts a value under `key` in the running task.
pub fn push_local<T: 'static>(key: usize, value: T) {
    if let Some(x) = execution::running() {
        x.task().locals.push((key, Box::new(value)));
    }
}

/// Takes back the newest value under `key`.
#[must_use]
pub fn pop_local<T: 'static>(key: usize) -> Option<T> {
    let locals = &mut execution::running()?.task().locals;
    let at = locals.iter().rposition(|(k, _)| *k == key)?;
    locals.remove(at).1.downcast().ok().map(|value| *value)
}
