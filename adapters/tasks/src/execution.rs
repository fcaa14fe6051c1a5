//! One execution: its tasks, the step being taken, and what that step touches.
//!
//! The execution whose code runs on this thread is reached through a thread-local pointer, because user code
//! calls stand-ins and not us. References to it are short: none lives across a switch of tasks or a call of user code.

use crate::clock::Clock;
use crate::groups::{Groups, Learnt};
use crate::object::{Action, Object, Place};
use crate::task::{Body, Label, Memory, State, Task};
use crate::waiting::{On, Ready};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr;
use std::sync::Arc;
use whippet_model::{Branch, Name, Touch};

/// No step, no task.
pub(crate) const NONE: u32 = u32::MAX;

/// The unbiased `select!`s around a leaf: which one and which branch, the outermost first.
pub(crate) type Select = [(u32, u32); 3];

/// What the step being taken has done so far.
pub(crate) struct Record {
    pub(crate) action: Option<Action>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) causes: Vec<u32>,
    pub(crate) branch: Branch,
    /// How many ways each choice made in this step had.
    pub(crate) arities: SmallVec<[u32; 2]>,
    /// Whether the step was taken before: what it touches is known.
    pub(crate) known: bool,
    /// The name of the event, and how many items it has sent.
    pub(crate) event: Name,
    items: u64,
    /// Whether the task had been waiting.
    pub(crate) waited: bool,
    /// The queue that the step sends to, if what it touches does not depend on what others do.
    pub(crate) appends: Option<Name>,
    /// What it contributes to besides its event.
    pub(crate) asides: Vec<Name>,
    /// What it makes ready for those who wait for it.
    pub(crate) enables: Vec<Name>,
    /// What the task waited for, if one of these let it through and nothing else could have.
    pub(crate) awaited: Vec<Name>,
    /// The steps without which that would not have been ready.
    pub(crate) needs: Vec<u32>,
}

impl Record {
    fn new() -> Record {
        Record {
            action: None,
            touches: Vec::new(),
            causes: Vec::new(),
            branch: Branch::FIRST,
            arities: SmallVec::new(),
            known: false,
            event: Name::ROOT,
            items: 0,
            waited: false,
            appends: None,
            asides: Vec::new(),
            enables: Vec::new(),
            awaited: Vec::new(),
            needs: Vec::new(),
        }
    }

    /// What the step does.
    pub(crate) fn action(&self) -> &Action {
        self.action.as_ref().expect("every step does something")
    }

    /// For a new step, or one that was taken before.
    pub(crate) fn begin(&mut self, event: Name, branch: Branch, known: bool) {
        self.action = None;
        self.touches.clear();
        self.causes.clear();
        (self.branch, self.known) = (branch, known);
        self.arities.clear();
        (self.event, self.items, self.appends, self.waited) = (event, 0, None, false);
        self.asides.clear();
        self.enables.clear();
        self.awaited.clear();
        self.needs.clear();
    }
}

/// One execution, up to where it is now.
pub(crate) struct Execution {
    pub(crate) id: u64,
    pub(crate) tasks: Vec<Task>,
    /// Whether each can go on, as far as that is known.
    pub(crate) able: Vec<Option<bool>>,
    pub(crate) running: u32,
    /// The number of the step being taken.
    pub(crate) step: u32,
    pub(crate) record: Record,
    /// Tasks that were created and have not begun.
    pub(crate) fresh: VecDeque<u32>,
    pub(crate) order: u32,
    pub(crate) last_wait: u32,
    pub(crate) selects: u32,
    pub(crate) clock: Clock,
    /// The execution is over and being cleared away: nothing that happens now is an event.
    pub(crate) muted: bool,
    pub(crate) main_done: bool,
    pub(crate) misuse: Option<String>,
    pub(crate) groups: Arc<Groups>,
    pub(crate) learnt: Learnt,
    /// Whether something was learnt that `groups` lacks.
    pub(crate) grew: bool,
    numbers: Vec<(&'static str, u32)>,
    /// How many objects were made before any task ran.
    set_up: u32,
    /// How many objects without a creator were named, by their origin.
    late: FxHashMap<Name, u32>,
    /// Whether there is a point before every operation.
    pub(crate) deep: bool,
    /// Whether drops and ends are events also where nobody can tell.
    pub(crate) every_drop: bool,
    /// What was sent and not taken, if that is asked for.
    pub(crate) keeps_untaken: bool,
    pub(crate) untaken: Vec<Sent>,
    /// Memory for lists of steps, and of tasks that are over.
    pub(crate) scratch: Vec<u32>,
    spare: Vec<Memory>,
}

/// A message on its way.
pub(crate) struct Sent {
    item: Name,
    pub(crate) action: Action,
    pub(crate) step: u32,
}

thread_local! {
    static CURRENT: Cell<*mut Execution> = const { Cell::new(ptr::null_mut()) };
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// The execution on this thread, if there is one.
#[inline]
pub(crate) fn current() -> Option<&'static mut Execution> {
    // A machine sets the pointer only while its execution lives, and everything here is on one thread.
    CURRENT.try_with(Cell::get).ok().and_then(|at| unsafe { at.as_mut() })
}

/// The execution on this thread, if one of its tasks is running.
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
            able: Vec::new(),
            running: NONE,
            step: NONE,
            record: Record::new(),
            fresh: VecDeque::new(),
            order: 0,
            last_wait: 0,
            selects: 0,
            clock: Clock::default(),
            muted: false,
            main_done: false,
            misuse: None,
            groups,
            learnt,
            grew: false,
            numbers: Vec::new(),
            set_up: 0,
            late: FxHashMap::default(),
            deep: false,
            every_drop: false,
            keeps_untaken: false,
            untaken: Vec::new(),
            scratch: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// The same execution again, from its beginning, in the same memory. Its tasks are over.
    pub(crate) fn renew(&mut self, id: u64) {
        self.id = id;
        self.spare.extend(self.tasks.iter_mut().map(Task::memory));
        self.tasks.clear();
        self.able.clear();
        (self.running, self.step) = (NONE, NONE);
        self.fresh.clear();
        (self.order, self.last_wait, self.selects) = (0, 0, 0);
        self.clock = Clock::default();
        (self.muted, self.main_done) = (false, false);
        self.misuse = None;
        self.numbers.clear();
        self.set_up = 0;
        self.late.clear();
        self.untaken.clear();
    }

    /// The task that is running.
    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.running as usize]
    }

    /// Whether it is noted what the running step touches.
    #[inline]
    pub(crate) fn notes(&self) -> bool {
        self.step != NONE && !self.muted && !self.record.known
    }

    #[inline]
    pub(crate) fn touch(&mut self, touch: Touch) {
        if self.notes() && !self.record.touches.contains(&touch) {
            self.record.touches.push(touch);
        }
    }

    #[inline]
    pub(crate) fn cause(&mut self, step: u32) {
        if step != NONE && step != self.step && !self.record.known && !self.record.causes.contains(&step) {
            self.record.causes.push(step);
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

    /// Whether a leaf that is polled finds this ready.
    pub(crate) fn finds_ready(&self, on: &On) -> bool {
        match on {
            On::Timer(at) => *at <= self.clock.now,
            _ => self.is_ready(on),
        }
    }

    /// A leaf was asked in vain. That counts if the poll goes on to an event: another answer would have
    /// led elsewhere.
    pub(crate) fn probe(&mut self, on: &On) {
        if self.record.known {
            return;
        }
        let probes = &mut self.task().probes;
        match on {
            // Polled, a timer only sees what time it is.
            On::Timer(_) => probes.push(Touch::read(CLOCK)),
            _ => looks(on, |touch| probes.push(touch)),
        }
    }

    /// The poll has come to an event: what it asked in vain before counts.
    #[inline]
    pub(crate) fn attach_probes(&mut self) {
        if !self.task().probes.is_empty() {
            self.touch_probes();
        }
    }

    fn touch_probes(&mut self) {
        let mut probes = std::mem::take(&mut self.task().probes);
        for touch in probes.drain(..) {
            self.touch(touch);
        }
        self.task().probes = probes;
    }

    /// The running step takes what was ready when a select began.
    pub(crate) fn instead_of_begin(&mut self, action: Action) {
        if self.record.action.is_some_and(|action| action.verb == BEGINS) {
            self.record.action = Some(action);
        }
    }

    /// Whether a task that waits could be let through by more than one thing.
    pub(crate) fn waits_for_several(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        // An abort ends the wait too.
        self.groups.is_marked(task.name) && !task.in_poll || task.live_waits().nth(1).is_some()
    }

    /// The running step depends on what made this ready.
    pub(crate) fn touch_item(&mut self, on: &On, ready: Ready) {
        if ready.since != NONE && matches!(on, On::Source(..)) {
            self.touch(Touch::read(ready.item));
        }
    }

    /// The running step depends on whether this is ready.
    pub(crate) fn look_at(&mut self, on: &On) {
        if self.notes() {
            looks(on, |touch| self.touch(touch));
        }
    }

    /// The running step happens after what made this ready.
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

    /// A branch of a select or join acts as soon as it is polled: it matters what was ready before, or who was asked
    /// first.
    fn mark_around(&mut self) {
        let known = self.record.known;
        let task = self.task();
        if known || task.around.is_empty() {
            return;
        }
        let asked = !task.probes.is_empty() || task.waits.iter().any(|wait| wait.poll == task.poll);
        let around: SmallVec<[Place; 2]> =
            task.around.iter().filter(|(_, any_first)| asked || *any_first).map(|(place, _)| *place).collect();
        for place in around {
            self.grew |= self.learnt.mark(&self.groups, place_name(place));
        }
    }

    /// An event comes after leaves that were asked in the same poll, if there are any: what still waits is not sure any
    /// more.
    pub(crate) fn mark_dirty(&mut self) -> bool {
        let task = self.task();
        let asked = task.waits.iter().any(|wait| wait.poll == task.poll);
        task.dirty |= asked;
        asked
    }

    /// See [`choose`].
    pub(crate) fn choose(&mut self, ways: u32) -> u32 {
        let k = self.record.arities.len();
        if ways < 2 || k >= Branch::DIGITS || ways >= Branch::VALUES {
            return 0;
        }
        self.record.arities.push(ways);
        self.record.branch.digit(k).min(ways - 1)
    }

    fn number(&mut self, kind: &'static str) -> u32 {
        // Nearly always it is the very same text.
        let same = |k: &'static str| ptr::eq(k, kind) || k == kind;
        let at = self.numbers.iter().position(|(k, _)| same(k)).unwrap_or_else(|| {
            self.numbers.push((kind, 0));
            self.numbers.len() - 1
        });
        self.numbers[at].1 += 1;
        self.numbers[at].1
    }
}

/// What a look at something that may be ready touches.
fn looks(on: &On, mut touch: impl FnMut(Touch)) {
    match on {
        On::Source(source, key) => {
            let mut watched = SmallVec::new();
            source.watched(*key, &mut watched);
            watched.iter().for_each(|&name| touch(Touch::read(name)));
        }
        // It might have fired, or not yet.
        On::Timer(_) => [CLOCK, DUE].into_iter().for_each(|name| touch(Touch::read(name))),
        On::Yield => {}
    }
}

/// What a select or join does that has to begin with a step of its own.
const BEGINS: &str = "begins to select";

/// The name of the clock.
pub(crate) const CLOCK: Name = Name(0x434c_4f43_4b00_0001);

/// The name of whatever happens, where a timer waits until nothing else can.
pub(crate) const IDLE: Name = Name(0x434c_4f43_4b00_0003);

/// The name of all timers that wait: the one that is due first may fire.
pub(crate) const DUE: Name = Name(0x434c_4f43_4b00_0002);

pub(crate) fn new_object(kind: &'static str) -> Object {
    match running() {
        Some(x) => {
            let task = x.task();
            task.children += 1;
            let name = task.name.child(task.children);
            Object { name, kind, number: x.number(kind) }
        }
        // Made by what sets an execution up.
        None if let Some(x) = current() => {
            x.set_up += 1;
            Object { name: Name::ROOT.mixed(0x5E7).child(x.set_up), kind, number: x.number(kind) }
        }
        // Made outside of any execution: there is one thread and one order.
        None => {
            thread_local! { static MADE: Cell<u32> = const { Cell::new(0) }; }
            let number = MADE.get() + 1;
            MADE.set(number);
            Object { name: Name::ROOT.mixed(0x0BCE).child(number), kind, number }
        }
    }
}

/// See [`Object::late`].
pub(crate) fn late_object(kind: &'static str, origin: Name) -> Object {
    let Some(x) = running() else { return new_object(kind) };
    x.touch(Touch::write(origin));
    let known = x.late.entry(origin).or_default();
    *known += 1;
    let name = origin.child(*known);
    Object { name, kind, number: x.number(kind) }
}

/// The number of the execution that runs here; 0 outside of any.
#[must_use]
pub fn execution_id() -> u64 {
    current().map_or(0, |x| x.id)
}

/// Whether a task of an execution is running here and what it does are events.
#[must_use]
pub fn is_live() -> bool {
    running().is_some_and(|x| !x.muted)
}

/// Whether the execution is over and being cleared away.
#[must_use]
pub fn is_over() -> bool {
    current().is_some_and(|x| x.muted)
}

/// An event of the running task: the task stops here until the search lets it go on. Afterwards say with
/// [`read`] and [`write()`] what it touches. While a task unwinds from a panic, it is not stopped.
pub fn event(action: Action) {
    let Some(x) = running() else { return crate::strays::about_to(action) };
    if x.muted || std::thread::panicking() {
        return;
    }
    x.mark_around();
    x.attach_probes();
    if x.mark_dirty() {
        // What was asked on the way here may have had another answer.
        x.record.appends = None;
    }
    x.task().state = State::Event(action);
    crate::task::suspend();
}

/// The number of the step being taken, for what must be known about it later: [`Ready::since`].
#[must_use]
pub fn this_step() -> u32 {
    current().map_or(NONE, |x| x.step)
}

/// The running step only looks at `name`.
pub fn read(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::read(name));
    }
}

/// The running step changes `name`, or its order with others that do so matters.
pub fn write(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::write(name));
    }
}

/// The running step sends to `queue` and, had others not sent to it before, would do so all the same.
pub fn appends(queue: Name) {
    if let Some(x) = current() {
        x.record.appends = Some(queue).filter(|_| !x.record.waited);
    }
}

/// A name for something that the running step sends: the same wherever it is sent in this step.
#[must_use]
pub fn new_item() -> Name {
    current().map_or(Name::ROOT, |x| {
        x.record.items += 1;
        x.record.event.mixed(x.record.items)
    })
}

/// The running step sends `item`, which somebody should take.
pub fn sent(item: Name) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted)
        && let Some(action) = x.record.action
    {
        let step = x.step;
        x.untaken.push(Sent { item, action, step });
    }
}

/// The running step takes `item`.
pub fn taken(item: Name) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted) {
        x.untaken.retain(|sent| sent.item != item);
    }
}

/// The running step would not be possible without step `step`.
pub fn cause(step: u32) {
    if let Some(x) = current() {
        x.cause(step);
    }
}

/// The running step makes waits for `watched` ready, by `item`: whoever takes that and could have taken something else
/// depends on it.
pub fn enables(watched: Name, item: Name) {
    let Some(x) = current() else { return };
    x.record.enables.push(watched);
    if !x.notes() {
        return;
    }
    if x.groups.is_marked(watched) {
        x.touch(Touch::write(item));
    }
    if let Some(group) = x.groups.of(watched) {
        x.touch(Touch::write(group));
    }
}

/// The running step is one of those that make waits for `watched` ready together, in any order: the last one does.
pub fn contributes(watched: Name, to: Name) {
    let Some(x) = current() else { return };
    x.record.enables.push(watched);
    x.touch(Touch::add(to));
    if let Some(group) = x.groups.of(watched) {
        x.touch(Touch::write(group));
    }
}

/// Whether drops are events also where nobody can tell: [`Settings::every_drop`](crate::Settings::every_drop).
#[must_use]
pub(crate) fn is_every_drop() -> bool {
    running().is_some_and(|x| x.every_drop)
}

/// Before [`contributes`]: whether that has to be an event of its own. As long as nobody was seen to look at `to`, or to
/// wait for `watched` together with something else, it is a part of the running step.
#[must_use]
pub fn stands_out(watched: Name, to: Name) -> bool {
    let apart = is_every_drop() || is_learnt(watched) || is_learnt(to);
    if !apart && let Some(x) = running().filter(|x| x.notes()) {
        x.record.asides.push(to);
    }
    apart
}

/// Remembers something about `name` for all executions. If it was not known, the search is begun again.
pub fn learn(name: Name) {
    if let Some(x) = running().filter(|x| !x.muted)
        && x.learnt.mark(&x.groups, name)
    {
        x.grew = true;
    }
}

/// Whether [`learn`] was called with `name`, in an earlier execution of this search; always with
/// [`Settings::deep`](crate::Settings::deep).
#[must_use]
pub fn is_learnt(name: Name) -> bool {
    running().is_some_and(|x| x.deep || x.groups.is_marked(name))
}

/// A choice of the search among `ways`.
#[must_use]
pub fn choose(ways: u32) -> u32 {
    running().filter(|x| !x.muted).map_or(0, |x| x.choose(ways))
}

thread_local! {
    /// Names of places that were asked for: texts are long, and a place never moves.
    static PLACES: RefCell<FxHashMap<usize, Name>> = RefCell::default();
}

pub(crate) fn place_name(place: Place) -> Name {
    let at = ptr::from_ref(place) as usize;
    PLACES.with_borrow_mut(|known| *known.entry(at).or_insert_with(|| long_place_name(place)))
}

fn long_place_name(place: Place) -> Name {
    let name = Name::ROOT.mixed(u64::from(place.line())).mixed(u64::from(place.column()));
    place.file().bytes().fold(name, |name, byte| name.mixed(u64::from(byte)))
}

/// A select or join at `place` begins. Where a branch of it acts as soon as it is polled, it matters what is
/// ready now: then this is an event, and the answer is `true`.
pub fn begins(place: Place) -> bool {
    let Some(x) = running().filter(|x| !x.muted) else { return false };
    let acts = x.deep || x.groups.is_marked(place_name(place));
    if acts {
        event(Action::plain(BEGINS, place));
    }
    acts
}

/// Marks everything polled while it lives as what is asked before others that act as soon as they are polled.
pub struct Composite(());

impl Composite {
    /// From now on, for the branches of the one at `place`.
    #[must_use]
    pub fn enter() -> Composite {
        if let Some(x) = running() {
            x.task().composite += 1;
        }
        Composite(())
    }
}

/// Marks everything polled while it lives as part of a select or join that has just begun.
pub struct Around(());

impl Around {
    /// From now on, for the one at `place`; `any_first` if it may ask any of its branches first.
    #[must_use]
    pub fn enter(place: Place, any_first: bool) -> Around {
        if let Some(x) = running() {
            x.task().around.push((place, any_first));
        }
        Around(())
    }

    /// What was polled is done at once.
    pub fn done(&self) {
        if let Some(x) = running() {
            x.mark_around();
        }
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        if let Some(x) = running() {
            x.task().around.pop();
        }
    }
}

impl Drop for Composite {
    fn drop(&mut self) {
        if let Some(x) = running() {
            let task = x.task();
            task.composite = task.composite.saturating_sub(1);
        }
    }
}

/// A number for a `select!` of the running task.
#[must_use]
pub fn new_select() -> u32 {
    running().map_or(0, |x| {
        x.selects += 1;
        x.selects
    })
}

/// Marks everything polled while it lives as a branch of an unbiased select.
pub struct InBranch(Option<usize>);

impl InBranch {
    /// From now on: branch `branch` of select `select`.
    #[must_use]
    pub fn enter(select: u32, branch: u32) -> InBranch {
        let Some(x) = running() else { return InBranch(None) };
        let path = &mut x.task().path;
        let at = path.iter().position(|(id, _)| *id == 0);
        if let Some(at) = at {
            path[at] = (select, branch);
        }
        InBranch(at)
    }
}

impl Drop for InBranch {
    fn drop(&mut self) {
        if let (Some(at), Some(x)) = (self.0, running()) {
            x.task().path[at] = (0, 0);
        }
    }
}

/// Calls wakers of ours: the tasks behind them are not woken, they know by themselves when they are ready.
pub(crate) fn waking<R>(work: impl FnOnce() -> R) -> R {
    let before = WAKING.replace(true);
    let result = work();
    WAKING.set(before);
    result
}

/// Somebody woke task `task` of the execution that `is_of` knows.
pub(crate) fn woken(is_of: impl Fn(u64) -> bool, task: u32) {
    if WAKING.get() {
        return;
    }
    if let Some(x) = current().filter(|x| is_of(x.id) && !x.muted) {
        let step = x.step;
        let task = &mut x.tasks[task as usize];
        task.woken = Some(step);
        x.record.enables.push(task.name);
    }
}

/// The program does what is not modelled: no verdict can be given.
#[track_caller]
pub fn misuse(text: String) -> ! {
    if let Some(x) = current() {
        x.misuse.get_or_insert_with(|| text.clone());
    }
    panic!("{text}");
}

/// A new task of the running execution.
pub(crate) fn add_task(body: Body, kind: &'static str, place: Place) -> u32 {
    let x = current().expect("tasks are created in executions");
    let number = x.tasks.len() as u32;
    let name = if x.running == NONE {
        Name::ROOT.child(number)
    } else {
        let task = x.task();
        task.children += 1;
        task.name.child(task.children)
    };
    let label = Label { kind, number: x.number(kind) };
    let memory = x.spare.pop().unwrap_or_default();
    x.tasks.push(Task::new(x.id, number, name, body, label, place, x.step, memory));
    x.able.push(None);
    x.fresh.push_back(number);
    number
}
