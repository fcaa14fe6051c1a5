//! One execution: its tasks, the step being taken, and the footprint of that step.
//!
//! User code calls the shims without passing an execution, so the execution that runs on this thread is reached
//! through a thread-local pointer. References to it are short-lived: none lives across a switch of tasks or a call of
//! user code.

use crate::asides::{Asides, aside_of, cause_of, is_aside};
use crate::clock::Clock;
use crate::grant::Hope;
use crate::groups::{Groups, Learnt};
use crate::life::Lives;
use crate::object::{Action, Object, Place, place_name};
use crate::record::Record;
use crate::selects::BEGINS;
use crate::stack::Stacks;
use crate::task::{State, Task};
use crate::waiting::{On, Ready, Wait};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr;
use std::sync::Arc;
use whippet_model::{Branch, Name, Touch};

/// Sentinel: no step, no task.
pub(crate) const NONE: u32 = u32::MAX;

/// A list of causes: steps and, tagged with a bit, merged events.
pub type Steps = SmallVec<[u32; 4]>;

/// The unbiased `select!`s around a leaf, outermost first, as pairs of a select and one of its branches.
pub(crate) type Select = [(u32, u32); 3];

/// One execution, from its start to the current step.
pub(crate) struct Execution {
    pub(crate) id: u64,
    #[expect(clippy::vec_box, reason = "they go from one list to the other, and are large")]
    pub(crate) tasks: Vec<Box<Task>>,
    /// Memory of finished tasks, for reuse.
    #[expect(clippy::vec_box, reason = "see above")]
    pub(crate) spare_tasks: Vec<Box<Task>>,
    /// Stacks that no task uses.
    pub(crate) stacks: Stacks,
    /// The unfinished tasks, in ascending order.
    pub(crate) left: Vec<u32>,
    /// For each task, `true` if it is enabled; `None` if this is not known.
    pub(crate) able: Vec<Option<bool>>,
    pub(crate) running: u32,
    /// The number of the step being taken.
    pub(crate) step: u32,
    pub(crate) record: Record,
    /// The merged events of all recorded steps; `next_aside` is the number of the next one.
    pub(crate) asides: Asides,
    next_aside: u32,
    /// Tasks that were created and have not begun.
    pub(crate) fresh: VecDeque<u32>,
    /// Waits that can complete as merged events: see [`crate::grant::pass`].
    pub(crate) hopes: Vec<Hope>,
    pub(crate) order: u32,
    pub(crate) last_wait: u32,
    pub(crate) selects: u32,
    pub(crate) clock: Clock,
    /// `true` while a finished execution is cleared away: operations are no events then.
    pub(crate) muted: bool,
    pub(crate) main_done: bool,
    /// `true` if a task has panicked.
    pub(crate) panicked: bool,
    pub(crate) misuse: Option<String>,
    /// `true` if a branch of a select or join has acted although a branch that was polled before it was ready. No
    /// runtime does that; the execution is abandoned before user code observes it.
    pub(crate) impossible: bool,
    pub(crate) groups: Arc<Groups>,
    pub(crate) learnt: Learnt,
    /// `true` if a refinement was learnt that `groups` lacks.
    pub(crate) grew: bool,
    numbers: Vec<(&'static str, u32)>,
    /// The number of objects that were created before any task ran.
    set_up: u32,
    /// The number of objects without a creator that were named, by their origin.
    late: FxHashMap<Name, u32>,
    /// `true` if every operation is preceded by a scheduling point.
    pub(crate) deep: bool,
    /// `true` if no operation is merged, even if no other task can observe it.
    pub(crate) every_event: bool,
    /// `true` if messages that are never received are reported; `untaken` holds those that are still in a queue.
    pub(crate) keeps_untaken: bool,
    pub(crate) untaken: Vec<Sent>,
    /// Reused memory for lists of steps.
    pub(crate) scratch: Vec<u32>,
}

/// A message that was sent and not yet received.
pub(crate) struct Sent {
    pub(crate) item: Name,
    pub(crate) action: Action,
    pub(crate) step: u32,
}

thread_local! {
    static CURRENT: Cell<*mut Execution> = const { Cell::new(ptr::null_mut()) };
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// Returns the execution on this thread, if there is one.
#[inline]
pub(crate) fn current() -> Option<&'static mut Execution> {
    // SAFETY: a machine sets the pointer only while its execution lives, and the pointer is thread-local. The caller
    // keeps the reference only until it switches tasks, calls user code or asks for the execution again (see the head
    // of this file), so that no two references are used alternately. The compiler does not check this.
    CURRENT.try_with(Cell::get).ok().and_then(|at| unsafe { at.as_mut() })
}

/// Returns the execution on this thread, if one of its tasks is running.
#[inline]
pub(crate) fn running() -> Option<&'static mut Execution> {
    current().filter(|x| x.running != NONE)
}

/// Makes `x` the execution on this thread while `work` runs.
pub(crate) fn enter<R>(x: *mut Execution, work: impl FnOnce() -> R) -> R {
    let before = CURRENT.replace(x);
    let result = work();
    CURRENT.set(before);
    result
}

impl Execution {
    pub(crate) fn new(groups: Arc<Groups>, learnt: Learnt) -> Execution {
        Execution {
            id: 0,
            tasks: Vec::new(),
            spare_tasks: Vec::new(),
            stacks: Stacks::spare(),
            left: Vec::new(),
            able: Vec::new(),
            running: NONE,
            step: NONE,
            record: Record::new(),
            asides: Asides::new(groups.is_ordered()),
            next_aside: 0,
            fresh: VecDeque::new(),
            hopes: Vec::new(),
            order: 0,
            last_wait: 0,
            selects: 0,
            clock: Clock::default(),
            muted: false,
            main_done: false,
            panicked: false,
            misuse: None,
            impossible: false,
            groups,
            learnt,
            grew: false,
            numbers: Vec::new(),
            set_up: 0,
            late: FxHashMap::default(),
            deep: false,
            every_event: false,
            keeps_untaken: false,
            untaken: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Resets the execution to its beginning and reuses its memory. Requires that its tasks were removed; keeps its
    /// merged events, which are those of the steps to be replayed.
    pub(crate) fn renew(&mut self, id: u64) {
        debug_assert!(self.tasks.is_empty(), "tasks are dropped where nothing of the execution is borrowed");
        self.id = id;
        self.left.clear();
        self.able.clear();
        (self.running, self.step, self.next_aside) = (NONE, NONE, 0);
        self.fresh.clear();
        self.hopes.clear();
        (self.order, self.last_wait, self.selects) = (0, 0, 0);
        self.clock = Clock::default();
        (self.muted, self.main_done, self.panicked) = (false, false, false);
        (self.misuse, self.impossible) = (None, false);
        self.numbers.iter_mut().for_each(|(_, number)| *number = 0);
        self.set_up = 0;
        self.late.clear();
        self.untaken.clear();
    }

    /// Returns the running task.
    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.running as usize]
    }

    /// Marks the running task as done.
    pub(crate) fn task_ends(&mut self) {
        let number = self.running;
        let at = self.left.binary_search(&number).expect("who runs is not over");
        self.left.remove(at);
        self.task().state = State::Done;
        self.task().waits.clear();
    }

    /// Returns `true` if the footprint of the running step is recorded.
    #[inline]
    pub(crate) fn notes(&self) -> bool {
        self.step != NONE && !self.muted && !self.record.known
    }

    /// Adds a touch of the running task: to its event or, if it has a merged event since, to the newest of these.
    #[inline]
    pub(crate) fn touch(&mut self, touch: Touch) {
        if self.muted || self.record.known {
            return;
        }
        if self.tasks.get(self.running as usize).is_some_and(|task| task.in_aside) {
            self.asides.touch(self.running, touch);
        } else if self.step != NONE && !self.record.touches.contains(&touch) {
            self.record.touches.push(touch);
        }
    }

    /// Records a merged event of task `number`, which happens after the task's previous operation and after `causes`.
    /// The names `apart` are learnt if it needs a step of its own.
    #[inline]
    pub(crate) fn aside(&mut self, number: u32, causes: &[u32], apart: impl IntoIterator<Item = Name>) {
        let task = &mut *self.tasks[number as usize];
        (task.in_aside, task.acted) = (true, true);
        task.waits.iter_mut().filter(|wait| wait.poll == task.poll).for_each(|wait| wait.looked = true);
        if !self.asides.are_ordered() || self.muted {
            return;
        }
        if !self.record.known {
            // The task's last merged event happens after all steps in `task.after`.
            let last = std::slice::from_ref(&task.last_aside);
            let before = if task.last_aside == NONE { &task.after[..] } else { last };
            self.asides.push(self.step.wrapping_add(1), number, before, causes, apart);
        }
        task.last_aside = cause_of(self.next_aside);
        self.next_aside += 1;
    }

    /// Learns that the merged receive of the running task needs a step of its own, because the task now performs an
    /// operation that only a step can perform. Does nothing unless the task has such a merged receive.
    pub(crate) fn tell_taking_apart(&mut self) {
        let Task { taking, last_aside, .. } = *self.task();
        if !taking || self.record.known || self.muted {
            return;
        }
        if self.asides.are_ordered() {
            for &name in self.asides.apart(aside_of(last_aside)) {
                self.grew |= self.learnt.mark(&self.groups, name);
            }
        } else {
            self.grew |= self.learnt.order(&self.groups);
        }
    }

    #[inline]
    pub(crate) fn cause(&mut self, cause: u32) {
        if cause == NONE || cause == self.step || self.record.known {
            return;
        }
        self.asides.newest_step_after(cause);
        if !is_aside(cause) && !self.record.causes.contains(&cause) {
            self.record.causes.push(cause);
        }
    }

    /// Orders the running step after the steps that made `on` ready. Only the check of merged events sees this: for
    /// the search the two are in a race, because another step might have completed the wait of the task.
    pub(crate) fn hidden_causes(&mut self, on: &On) {
        if let On::Source(source, key) = on
            && self.asides.are_ordered()
            && self.notes()
        {
            let mut causes = std::mem::take(&mut self.scratch);
            source.causes(*key, &mut causes);
            for &cause in causes.iter().filter(|&&cause| cause != NONE) {
                self.asides.newest_step_after(cause);
            }
            causes.clear();
            self.scratch = causes;
        }
    }

    /// Orders the running step after everything that task `number` has done so far.
    pub(crate) fn cause_all(&mut self, number: usize) {
        if !self.record.known {
            for k in 0..self.tasks[number].after.len() {
                self.cause(self.tasks[number].after[k]);
            }
            self.cause(self.tasks[number].last_aside);
        }
    }

    pub(crate) fn is_ready(&self, on: &On) -> bool {
        self.ready(on).is_some()
    }

    pub(crate) fn ready(&self, on: &On) -> Option<Ready> {
        match on {
            On::Source(source, key) => source.ready(*key),
            On::Timer(at) => {
                (*at <= self.clock.limit.max(self.clock.now)).then_some(Ready { since: NONE, item: CLOCK })
            }
            On::Yield => Some(Ready { since: NONE, item: Name::ROOT }),
        }
    }

    /// Returns `true` if a leaf that is polled now finds `on` ready.
    pub(crate) fn finds_ready(&self, on: &On) -> bool {
        match on {
            On::Timer(at) => *at <= self.clock.now,
            _ => self.is_ready(on),
        }
    }

    /// Records that the running task polls its wait `at`. If that is not ready, the poll counts as a read as soon as
    /// the task reaches an event: if it had been ready, the task would have taken another path.
    #[inline]
    pub(crate) fn probe(&mut self, at: usize) {
        if !self.record.known && !self.finds_ready(&self.tasks[self.running as usize].waits[at].on) {
            self.note_probe(at);
        }
    }

    fn note_probe(&mut self, at: usize) {
        let Task { probes, waits, .. } = self.task();
        match &waits[at].on {
            // A timer that is polled only reads the current time.
            On::Timer(_) => probes.push(Touch::read(CLOCK)),
            on => looks(on, |touch| probes.push(touch)),
        }
    }

    /// Adds the recorded reads of unready waits to the footprint, because the poll has reached an event.
    #[inline]
    pub(crate) fn attach_probes(&mut self) {
        if !self.task().probes.is_empty() {
            self.touch_probes();
        }
    }

    /// Adds the reads of the running step's requests to the footprint: another result would have led to another path.
    #[inline]
    pub(crate) fn attach_asked_looks(&mut self) {
        while let Some(touch) = self.task().asked_looks.pop() {
            self.touch(touch);
        }
    }

    fn touch_probes(&mut self) {
        let mut probes = std::mem::take(&mut self.task().probes);
        for touch in probes.drain(..) {
            self.touch(touch);
        }
        self.task().probes = probes;
    }

    /// Describes the running step by `action`, which takes an item that was ready when a select began.
    pub(crate) fn instead_of_begin(&mut self, action: Action) {
        if self.task().in_aside {
            if self.notes() {
                self.record.told.push((self.running, action));
            }
        } else if self.record.action.is_some_and(|action| action.verb == BEGINS) {
            self.record.action = Some(action);
        }
    }

    /// Returns `true` if some execution aborts task `at` and an abort takes effect at its current position.
    pub(crate) fn is_abortable(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        !task.in_poll && self.groups.is_marked(task.name)
    }

    /// Returns `true` if task `at`, whose poll has only to check its newest waits, checks them in a step of its own
    /// before it is blocked.
    ///
    /// Other tasks need no such step: they are blocked at once, and continue when one of their waits is ready. The
    /// step is needed
    /// * for a task that some execution aborts: an abort before the check does not prevent the task from taking an
    ///   item that is ready at the check;
    /// * beside `yield_now`, which is never ready at the first check and always at the second one;
    /// * if the poll had an event: the waits that were polled before it were not ready then, even if they are now.
    pub(crate) fn looks_first(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        let is_new = |wait: &Wait| !wait.looked && !wait.exact && !matches!(wait.on, On::Yield);
        let is_old = |wait: &Wait| wait.looked || matches!(wait.on, On::Yield);
        task.poll > 0 && task.live_waits().any(is_new) && (self.is_abortable(at) || task.live_waits().any(is_old))
    }

    /// Returns `true` if the running task checks its next wait in a step of its own: its poll continues with other
    /// branches if the wait is not ready, and has acted since its last check.
    pub(crate) fn looks_apart(&mut self) -> bool {
        self.is_exact() && self.task().acted && self.task().asks.is_none()
    }

    /// Returns `true` if leaves that are polled now really check their objects.
    ///
    /// A poll in which nothing happens between the checks need not check: the task registers its waits, and is
    /// granted one of those that are ready when it continues. If a branch of a select or join acts when it is polled,
    /// the checks before and after it are different points in time. The select or join is then learnt
    /// ([`Execution::mark_around`]), and each of its polls, and with it the whole poll of its task, is exact: each
    /// leaf checks its object when it is polled, and completes at once if that is ready.
    pub(crate) fn is_exact(&mut self) -> bool {
        let task = self.task();
        (task.composite > 0 || task.exact) && !task.repeated
    }

    /// Records that the exact poll of the running task has registered its wait `at`: a timer may fire from now on.
    pub(crate) fn registers(&mut self, at: usize) {
        let now = self.clock.now;
        let wait = &mut self.task().waits[at];
        if let On::Timer(due) = wait.on
            && wait.exact
        {
            wait.armed |= due > now;
            self.touch(Touch::write(DUE));
        }
    }

    /// Returns `true` if the running task has other waits in its poll, or polls a select or join whose polls are exact.
    pub(crate) fn is_beside_others(&mut self) -> bool {
        let task = self.task();
        task.composite > 0 || task.waits.iter().any(|wait| wait.poll == task.poll)
    }

    /// Returns `true` if the wait can complete now.
    pub(crate) fn can_end(&self, wait: &Wait) -> bool {
        match wait.on {
            On::Timer(due) => due <= self.clock.now || wait.armed && due <= self.clock.limit,
            _ => self.is_ready(&wait.on),
        }
    }

    /// Returns `true` if a waiting task could be resumed in more than one way.
    pub(crate) fn waits_for_several(&self, at: usize) -> bool {
        // An abort ends the wait too.
        self.is_abortable(at) || self.tasks[at].live_waits().nth(1).is_some()
    }

    /// Makes the running step depend on the item that made `on` ready.
    pub(crate) fn touch_item(&mut self, on: &On, ready: Ready) {
        if ready.since != NONE && matches!(on, On::Source(..)) {
            self.touch(Touch::read(ready.item));
        }
    }

    /// Makes the running step depend on the readiness of `on`.
    pub(crate) fn look_at(&mut self, on: &On) {
        if !self.record.known {
            looks(on, |touch| self.touch(touch));
        }
    }

    /// Orders the running step after the steps that made `on` ready.
    pub(crate) fn take_causes(&mut self, on: &On) {
        if let On::Source(source, key) = on
            && self.notes()
        {
            let mut causes = std::mem::take(&mut self.scratch);
            source.causes(*key, &mut causes);
            for step in causes.drain(..) {
                self.cause(step);
            }
            self.scratch = causes;
        }
    }

    /// Learns the selects and joins being polled, because one of their branches acts as soon as it is polled: the
    /// behaviour then depends on the branches that were ready before, or on the branch that was polled first.
    #[inline]
    pub(crate) fn mark_around(&mut self) {
        if !self.record.known && !self.task().around.is_empty() {
            self.mark_places_around();
        }
    }

    fn mark_places_around(&mut self) {
        let task = self.task();
        let asked = !task.probes.is_empty() || task.waits.iter().any(|wait| wait.poll == task.poll);
        let around: SmallVec<[Place; 2]> =
            task.around.iter().filter(|(_, any_first)| asked || *any_first).map(|(place, _)| *place).collect();
        let mut learnt = false;
        for place in around {
            learnt |= self.learnt.mark(&self.groups, place_name(place));
        }
        self.grew |= learnt;
        let task = &self.tasks[self.running as usize];
        let is_ready = |wait: &Wait| wait.poll == task.poll && self.finds_ready(&wait.on);
        self.impossible |= learnt && task.waits.iter().any(is_ready);
    }

    /// Prepares the running task for an event, or for a merged event that may need a step of its own.
    #[inline]
    pub(crate) fn comes_to_event(&mut self) {
        self.mark_around();
        self.attach_probes();
        self.attach_asked_looks();
        self.task().acted = true;
        if self.mark_dirty() && !self.task().in_aside {
            // The waits polled before could have been ready, which would have led to another path.
            self.record.appends = None;
        }
    }

    /// Marks the current poll as dirty if an event follows waits that were registered in it: the task may no longer
    /// wait for these. Returns `true` if there are such waits.
    pub(crate) fn mark_dirty(&mut self) -> bool {
        let task = self.task();
        let mut asked = false;
        for wait in task.waits.iter_mut().filter(|wait| wait.poll == task.poll) {
            wait.looked = true;
            asked = true;
        }
        task.dirty |= asked;
        asked
    }

    /// Implements [`choose`](crate::choose). A choice that a [`Branch`] cannot hold ends the run without a verdict.
    pub(crate) fn choose(&mut self, ways: u32) -> u32 {
        let k = self.record.arities.len();
        if ways < 2 {
            return 0;
        }
        if k >= Branch::DIGITS || ways >= Branch::VALUES {
            self.misuse.get_or_insert_with(|| too_many_ways(k, ways));
            return 0;
        }
        self.tell_taking_apart();
        self.record.arities.push(ways);
        self.record.branch.digit(k).min(ways - 1)
    }

    /// Returns the number of the next object of this kind.
    #[inline]
    fn number(&mut self, kind: &'static str) -> u32 {
        // Equal kinds nearly always share one address.
        let same = self.numbers.iter().position(|(k, _)| ptr::eq(*k, kind));
        let at = same.unwrap_or_else(|| self.like(kind));
        self.numbers[at].1 += 1;
        self.numbers[at].1
    }

    /// Returns the index of the counter of this kind, which is added if it is missing.
    #[cold]
    fn like(&mut self, kind: &'static str) -> usize {
        self.numbers.iter().position(|(k, _)| *k == kind).unwrap_or_else(|| {
            self.numbers.push((kind, 0));
            self.numbers.len() - 1
        })
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

/// Calls `touch` with the reads of a check for readiness.
pub(crate) fn looks(on: &On, mut touch: impl FnMut(Touch)) {
    match on {
        On::Source(source, key) => {
            let mut watched = SmallVec::new();
            source.watched(*key, &mut watched);
            watched.iter().for_each(|&name| touch(Touch::read(name)));
        }
        // The timer might have fired already, or not yet.
        On::Timer(_) => [CLOCK, DUE].into_iter().for_each(|name| touch(Touch::read(name))),
        On::Yield => {}
    }
}

/// The name of the clock.
pub(crate) const CLOCK: Name = Name(0x434c_4f43_4b00_0001);

/// The name that every step touches once a timer depends on no other step being possible.
pub(crate) const IDLE: Name = Name(0x434c_4f43_4b00_0003);

/// The name of the set of waiting timers: only the earliest of these may fire.
pub(crate) const DUE: Name = Name(0x434c_4f43_4b00_0002);

pub(crate) fn new_object(kind: &'static str) -> Object {
    let Some(x) = current() else { return stray_object(kind) };
    let name = if x.running != NONE {
        let task = x.task();
        task.children += 1;
        task.name.child(task.children)
    } else {
        // Created by the setup of an execution.
        x.set_up += 1;
        Name::ROOT.mixed(0x5E7).child(x.set_up)
    };
    Object { name, kind, number: x.number(kind) }
}

/// Creates an object outside any execution, numbered in creation order on this thread.
fn stray_object(kind: &'static str) -> Object {
    thread_local! { static MADE: Cell<u32> = const { Cell::new(0) }; }
    let number = MADE.get() + 1;
    MADE.set(number);
    Object { name: Name::ROOT.mixed(0x0BCE).child(number), kind, number }
}

/// Implements [`Object::late`].
pub(crate) fn late_object(kind: &'static str, origin: Name) -> Object {
    let Some(x) = running() else { return new_object(kind) };
    x.touch(Touch::write(origin));
    let known = x.late.entry(origin).or_default();
    *known += 1;
    let name = origin.child(*known);
    Object { name, kind, number: x.number(kind) }
}

/// Runs `work`, which calls wakers of this crate, without marking their tasks as woken: the readiness of their waits
/// is checked instead.
pub(crate) fn waking<R>(work: impl FnOnce() -> R) -> R {
    let before = WAKING.replace(true);
    let result = work();
    WAKING.set(before);
    result
}

/// Records that task `task` was woken, if it belongs to the current execution (`is_of` returns `true` for its id).
pub(crate) fn woken(is_of: impl Fn(u64) -> bool, task: u32) {
    if WAKING.get() {
        return;
    }
    if let Some(x) = current().filter(|x| is_of(x.id) && !x.muted) {
        if x.running != NONE {
            x.tell_taking_apart();
        }
        let step = x.step;
        let task = &mut x.tasks[task as usize];
        task.woken = Some(step);
        x.record.enables.push(task.name);
    }
}

/// Panics because the program does something that is not modelled: the run ends without a verdict.
#[track_caller]
pub fn misuse(text: String) -> ! {
    if let Some(x) = current() {
        x.misuse.get_or_insert_with(|| text.clone());
    }
    panic!("{text}");
}

/// Returns the number and the name of the task that is added next.
#[inline]
pub(crate) fn next_task() -> (u32, Name) {
    let x = current().expect("tasks are created in executions");
    let number = x.tasks.len() as u32;
    if x.running == NONE {
        return (number, Name::ROOT.child(number));
    }
    x.tell_taking_apart();
    let task = x.task();
    task.children += 1;
    (number, task.name.child(task.children))
}

/// Adds a new task to the current execution.
pub(crate) fn add_task(life: Arc<dyn Lives>, place: Place, on_exit: Option<Box<dyn FnOnce()>>) {
    let x = current().expect("tasks are created in executions");
    let number = x.tasks.len() as u32;
    let mut task = x.spare_tasks.pop().unwrap_or_else(|| Box::new(Task::none()));
    let (after, aside) = x.tasks.get(x.running as usize).map_or((&[][..], NONE), |task| (&task.after, task.last_aside));
    task.renew(x.id, life, place, on_exit, after, aside);
    x.tasks.push(task);
    x.left.push(number);
    x.able.push(None);
    x.fresh.push_back(number);
}
