//! The machine: one execution at a time, begun anew to go back.
//!
//! Suspended tasks cannot be copied. So [`rewind`](Machine::rewind) only forgets the steps, what can happen is
//! remembered per depth, and the next [`execute`](Machine::execute) carries out the prefix in a new execution.
//! Each step of the prefix must do what it did before, or the program is not deterministic.
//!
//! Events are dependent by what they touch (the crate's documentation lists it). Who waits is let through by
//! what made it ready, which is a cause. Where a task waits for several things at once, and another one was
//! ready before, the taking is a race with what made its own thing ready.

use crate::execution::{CLOCK, Execution, NONE, enter, waking};
use crate::object::{Action, Part, is_glue, place_text};
use crate::panics::quietly;
use crate::program::{Setup, Shared};
use crate::task::{self, State};
use crate::waiting::{On, Ready, Wait};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use whippet_model::{
    ActorNo, Branch, Choice, Kind, Machine, MachineError, Name, Pending, Problem, Relation, Step, StepText, Touch,
};

/// What is kept of a step.
struct Taken {
    choice: Choice,
    event: Name,
    action: Action,
    touches: Range<usize>,
    causes: Range<usize>,
    /// How many tasks there were before and after.
    tasks: Range<u32>,
    ways: SmallVec<[u32; 2]>,
    /// Whether the task ended with this step.
    ended: bool,
    /// The test's body failed here.
    problem: Option<Problem>,
}

/// What is kept of a task.
struct Known {
    name: Name,
    label: String,
    place: String,
}

/// A program of async tasks, moved forward and back.
pub struct TaskMachine {
    shared: Arc<Shared>,
    live: Option<Box<Execution>>,
    /// How many steps the live execution has taken.
    live_depth: usize,
    steps: Vec<Taken>,
    touches: Vec<Touch>,
    causes: Vec<u32>,
    tasks: Vec<Known>,
    /// What can happen at each depth that was looked at, one after another.
    enabled: Vec<Choice>,
    enabled_from: Vec<usize>,
    problems: usize,
    groups: crate::groups::Groups,
    executions: u64,
    grew: bool,
}

impl TaskMachine {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<TaskMachine, MachineError> {
        let mut machine = TaskMachine {
            groups: shared.learnt.snapshot(),
            shared,
            live: None,
            live_depth: 0,
            steps: Vec::new(),
            touches: Vec::new(),
            causes: Vec::new(),
            tasks: Vec::new(),
            enabled: Vec::new(),
            enabled_from: Vec::new(),
            problems: 0,
            executions: 0,
            grew: false,
        };
        machine.begin()?;
        let known = machine.live.as_ref().expect("it has begun").tasks.iter().map(known).collect();
        machine.tasks = known;
        Ok(machine)
    }

    /// Begins a new execution.
    fn begin(&mut self) -> Result<(), MachineError> {
        self.clear();
        self.executions += 1;
        let id = self.shared.next_id();
        let mut x = Box::new(Execution::new(id, self.groups.clone(), self.shared.learnt.clone()));
        x.clock.paused = self.shared.settings.paused;
        let at: *mut Execution = &raw mut *x;
        quietly(|| {
            enter(at, || {
                let Setup { future, place } = (self.shared.body)();
                drop(task::spawn(future, task::MAIN, place, None));
                run_fresh(at);
            });
        });
        self.live = Some(x);
        self.live_depth = 0;
        self.check_misuse()
    }

    fn check_misuse(&self) -> Result<(), MachineError> {
        match &self.live.as_ref().expect("it has begun").misuse {
            Some(text) => Err(MachineError::Misuse(text.clone())),
            None => Ok(()),
        }
    }

    /// Clears the live execution away: every task goes on to its next wait, unheard, and is dropped.
    fn clear(&mut self) {
        let Some(mut x) = self.live.take() else { return };
        self.grew |= x.grew;
        x.muted = true;
        let at: *mut Execution = &raw mut *x;
        quietly(|| {
            enter(at, || {
                let mut number = 0;
                while number < unsafe { (*at).tasks.len() } {
                    let done = matches!(unsafe { &(&(*at).tasks)[number].state }, State::Done);
                    if !done {
                        task::resume(at, number as u32);
                        unsafe { (&mut (*at).tasks)[number].state = State::Done };
                    }
                    number += 1;
                }
                // Ends and wakers of tasks may hold the last handles of what users made.
                let tasks = unsafe { std::mem::take(&mut (*at).tasks) };
                drop(tasks);
            });
        });
    }

    /// Makes the live execution stand where the steps say.
    fn catch_up(&mut self) -> Result<(), MachineError> {
        if self.live.is_some() && self.live_depth == self.steps.len() {
            return Ok(());
        }
        self.begin()?;
        for at in 0..self.steps.len() {
            let choice = self.steps[at].choice;
            if self.live.as_ref().expect("it has begun").tasks.len() <= choice.what.0 as usize {
                return Err(differs(at, &self.steps[at].action));
            }
            let (event, action, _) = self.take(choice)?;
            let before = &self.steps[at];
            if event != before.event || action.verb != before.action.verb || action.place != before.action.place {
                return Err(differs(at, &before.action));
            }
        }
        Ok(())
    }

    /// Takes one step of the live execution. What it touched stays in the execution's record.
    fn take(&mut self, choice: Choice) -> Result<(Name, Action, bool), MachineError> {
        let number = choice.what.0;
        let x = self.live.as_mut().expect("it has begun");
        let at: *mut Execution = &raw mut **x;
        let known = x.tasks.len();
        x.step = self.live_depth as u32;
        x.record.touches.clear();
        x.record.causes.clear();
        x.record.arities.clear();
        x.record.action = None;
        x.record.branch = choice.branch;
        let task = &mut x.tasks[number as usize];
        task.steps += 1;
        let event = task.name.mixed(0x5354_4550).child(task.steps);
        let last = std::mem::replace(&mut task.last_step, self.live_depth as u32);
        x.cause(last);
        if let State::Event(action) = x.tasks[number as usize].state {
            x.record.action = Some(action);
        } else {
            refresh(x, &self.shared);
            let action = grant(x, number);
            x.record.action = Some(action);
        }
        quietly(|| {
            enter(at, || {
                wake_granted(at, number);
                task::resume(at, number);
                run_fresh(at);
            });
        });
        let x = self.live.as_mut().expect("it has begun");
        let step = x.step;
        for task in &mut x.tasks[known..] {
            task.last_step = step;
        }
        forget_stale(x, number);
        self.live_depth += 1;
        let ended = matches!(x.tasks[number as usize].state, State::Done);
        let action = x.record.action.expect("it was set");
        self.check_misuse()?;
        Ok((event, action, ended))
    }

    fn main_problem(&self, at: usize) -> Option<Problem> {
        let x = self.live.as_ref()?;
        let task = x.tasks.first().filter(|task| matches!(task.state, State::Done))?;
        let (message, place, step) = task.end.unseen_panic().filter(|(_, _, step)| *step as usize == at)?;
        Some(panic_problem(message, place, step))
    }
}

impl Drop for TaskMachine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn differs(at: usize, action: &Action) -> MachineError {
    MachineError::Nondeterministic(format!(
        "step {} was «{action}» ({}), and is something else the next time",
        at + 1,
        place_text(action.place)
    ))
}

fn known(task: &task::Task) -> Known {
    Known { name: task.name, label: task.label(), place: place_text(task.place) }
}

fn panic_problem(message: String, place: Option<String>, step: u32) -> Problem {
    let key = place.as_deref().unwrap_or(&message).bytes().fold(Name::ROOT, |name, b| name.mixed(u64::from(b)));
    let assertion = message.starts_with("assertion");
    let kind = if assertion { Kind::Assertion } else { Kind::Panic };
    Problem { kind, message, place, key, steps: vec![step as usize], warning: false }
}

/// Runs new tasks up to their first event.
fn run_fresh(x: *mut Execution) {
    while let Some(number) = unsafe { (*x).fresh.pop_front() } {
        task::resume(x, number);
    }
}

/// Finds out which timers may fire.
fn refresh(x: &mut Execution, shared: &Shared) {
    x.clock.limit = 0;
    x.clock.idle = false;
    if !x.clock.used || x.main_done {
        return;
    }
    let waiting = x.tasks.iter().filter(|task| matches!(task.state, State::Blocked));
    let due = waiting.flat_map(task::Task::live_waits).filter_map(|wait| match wait.on {
        On::Timer(at) => Some(at),
        _ => None,
    });
    let Some(first) = due.min() else { return };
    if x.clock.paused || x.clock.fired >= shared.settings.timers {
        x.clock.idle = true;
        if (0..x.tasks.len()).any(|number| is_enabled(x, number)) {
            return;
        }
    }
    x.clock.limit = first;
}

fn is_enabled(x: &Execution, number: usize) -> bool {
    let task = &x.tasks[number];
    match task.state {
        State::Event(_) => true,
        State::Blocked => {
            task.aborted.is_some() || task.woken.is_some() || task.live_waits().any(|wait| x.is_ready(&wait.on))
        }
        State::Fresh | State::Done => false,
    }
}

/// Decides what a waiting task takes, and notes why it can.
fn grant(x: &mut Execution, number: u32) -> Action {
    let at = number as usize;
    x.running = number;
    let abort = x.tasks[at].name.mixed(Part::Abort as u64);
    if x.groups.is_marked(x.tasks[at].name) {
        x.touch(Touch::read(abort));
    }
    if let Some(step) = x.tasks[at].aborted {
        if ready_waits(x, at).iter().any(|(_, ready)| ready.since == NONE || ready.since < step) {
            x.touch(Touch::read(abort.mixed(1)));
        } else {
            x.cause(step);
        }
        return Action::plain("is cancelled", x.tasks[at].place);
    }
    let mut ready = ready_waits(x, at);
    let woken = x.tasks[at].woken.take();
    if let Some(step) = woken {
        x.cause(step);
    }
    if ready.is_empty() {
        return Action::plain("is woken", x.tasks[at].place);
    }
    let everything: SmallVec<[usize; 4]> = ready.iter().map(|(wait, _)| *wait).collect();
    narrow(x, at, &mut ready);
    let (chosen, since) = (ready[0].0, ready[0].1);
    let wait = &x.tasks[at].waits[chosen];
    let (id, on, action) = (wait.id, wait.on.clone(), wait.action);
    x.tasks[at].grant = id;
    // A race if the task could have acted without what made this one ready.
    let earlier =
        |ready: Option<Ready>| ready.is_some_and(|r| since.since != NONE && (r.since == NONE || r.since < since.since));
    let waits = &x.tasks[at].waits;
    let raced = everything.iter().any(|&k| k != chosen && earlier(x.ready(&waits[k].on)))
        || woken.is_some_and(|step| since.since != NONE && step < since.since);
    match &on {
        On::Source(source, key) => {
            let mut causes = Vec::new();
            source.causes(*key, &mut causes);
            for step in causes {
                if !(raced && step == since.since) {
                    x.cause(step);
                }
            }
            if raced {
                x.touch(Touch::read(since.item));
            }
        }
        On::Timer(due) => fire(x, *due),
        On::Yield => {}
    }
    action
}

/// The waits that can end now, in the order in which the task asks.
fn ready_waits(x: &Execution, at: usize) -> SmallVec<[(usize, Ready); 4]> {
    let task = &x.tasks[at];
    let live = task.waits.iter().enumerate().filter(|(_, w)| w.poll == task.poll || w.foreign.is_some());
    let mut ready: SmallVec<[(usize, Ready); 4]> =
        live.filter_map(|(k, wait)| x.ready(&wait.on).map(|ready| (k, ready))).collect();
    ready.sort_by_key(|(k, _)| task.waits[*k].order);
    // Futures that poll only what was woken go by the order of the wakes.
    let places: SmallVec<[usize; 4]> = (0..ready.len()).filter(|&i| task.waits[ready[i].0].foreign.is_some()).collect();
    let mut by_wake: Vec<_> = places.iter().map(|&i| ready[i]).collect();
    by_wake.sort_by_key(|(_, r)| r.since.wrapping_add(1));
    for (&i, entry) in places.iter().zip(by_wake) {
        ready[i] = entry;
    }
    ready
}

/// An unbiased select with several branches ready: the search chooses. What else was ready, or might have
/// been, then matters.
fn narrow(x: &mut Execution, at: usize, ready: &mut SmallVec<[(usize, Ready); 4]>) {
    for level in 0..3 {
        let (select, _) = x.tasks[at].waits[ready[0].0].path[level];
        if select == 0 {
            return;
        }
        let mut branches: SmallVec<[u32; 4]> = SmallVec::new();
        for (k, _) in ready.iter() {
            let (of, branch) = x.tasks[at].waits[*k].path[level];
            if of == select && !branches.contains(&branch) {
                branches.push(branch);
            }
        }
        look_around(x, at, select, level, ready);
        branches.sort_unstable();
        let branch = branches[x.choose(branches.len() as u32) as usize];
        ready.retain(|(k, _)| x.tasks[at].waits[*k].path[level] == (select, branch));
    }
}

fn look_around(x: &mut Execution, at: usize, select: u32, level: usize, ready: &[(usize, Ready)]) {
    let task = &x.tasks[at];
    let in_select = |wait: &Wait| wait.path[level].0 == select;
    let mut seen: SmallVec<[Name; 4]> = SmallVec::new();
    if task.live_waits().filter(|wait| in_select(wait)).count() < 2 {
        return;
    }
    for (k, wait) in task.waits.iter().enumerate().filter(|(_, wait)| in_select(wait)) {
        match ready.iter().find(|(r, _)| *r == k) {
            Some((_, found)) if ready.len() > 1 && found.since != NONE => seen.push(found.item),
            Some(_) => {}
            None => {
                if let On::Source(source, key) = &wait.on {
                    let mut watched = SmallVec::new();
                    source.watched(*key, &mut watched);
                    seen.extend(watched);
                }
            }
        }
    }
    for name in seen {
        x.touch(Touch::read(name));
    }
}

/// A timer fires: time goes on to it.
fn fire(x: &mut Execution, due: u64) {
    x.touch(Touch::write(CLOCK));
    if due <= x.clock.now {
        return;
    }
    x.clock.fired += 1;
    x.clock.now = due;
    if x.clock.idle {
        // Nothing else could happen: everything so far comes before.
        for number in 0..x.tasks.len() {
            let last = x.tasks[number].last_step;
            x.cause(last);
        }
    }
}

/// Futures between a task and what it waits for may poll only what was woken.
fn wake_granted(x: *mut Execution, number: u32) {
    let task = unsafe { &(&(*x).tasks)[number as usize] };
    let foreign =
        task.waits.iter().find(|wait| wait.id == task.grant && task.grant != 0).and_then(|wait| wait.foreign.clone());
    if let Some(waker) = foreign {
        waking(|| waker.wake());
    }
}

/// A grant that nobody used was for a future that is alive and not polled: it does not wait.
fn forget_stale(x: &mut Execution, number: u32) {
    let task = &mut x.tasks[number as usize];
    let id = std::mem::take(&mut task.grant);
    if id != 0 && matches!(task.state, State::Blocked) {
        task.drop_wait(id);
    } else {
        task.grant = id;
    }
}

impl Machine for TaskMachine {
    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        let depth = self.steps.len();
        if self.enabled_from.len() == depth {
            // Only the first look at a depth needs the execution, and that is right after the step.
            if self.catch_up().is_err() {
                return;
            }
            let x = self.live.as_mut().expect("it has caught up");
            refresh(x, &self.shared);
            self.enabled_from.push(self.enabled.len());
            let numbers = (0..x.tasks.len()).filter(|&number| is_enabled(x, number));
            self.enabled.extend(numbers.map(|number| Choice::first(Pending(number as u32))));
        }
        let to = self.enabled_from.get(depth + 1).copied().unwrap_or(self.enabled.len());
        out.extend_from_slice(&self.enabled[self.enabled_from[depth]..to]);
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        // Not before the first execution is over: it may teach more.
        if self.grew {
            return Err(MachineError::Unsupported(LEARNT.into()));
        }
        self.catch_up()?;
        let depth = self.steps.len();
        if self.enabled_from.len() == depth {
            let mut unused = Vec::new();
            self.enabled(&mut unused);
        }
        let before = self.tasks.len() as u32;
        let (event, action, ended) = self.take(choice)?;
        let x = self.live.as_ref().expect("it runs");
        let (touches, causes) = (self.touches.len(), self.causes.len());
        self.touches.extend_from_slice(&x.record.touches);
        self.causes.extend_from_slice(&x.record.causes);
        self.tasks.extend(x.tasks[before as usize..].iter().map(known));
        let problem = if ended && choice.what.0 == 0 { self.main_problem(depth) } else { None };
        self.problems += usize::from(problem.is_some());
        let x = self.live.as_ref().expect("it runs");
        self.steps.push(Taken {
            choice,
            event,
            action,
            touches: touches..self.touches.len(),
            causes: causes..self.causes.len(),
            tasks: before..self.tasks.len() as u32,
            ways: x.record.arities.clone(),
            ended,
            problem,
        });
        Ok(())
    }

    fn rewind(&mut self, depth: usize) {
        let Some(first) = self.steps.get(depth) else { return };
        self.touches.truncate(first.touches.start);
        self.causes.truncate(first.causes.start);
        self.tasks.truncate(first.tasks.start as usize);
        self.problems -= self.steps[depth..].iter().filter(|step| step.problem.is_some()).count();
        self.steps.truncate(depth);
        if let Some(&from) = self.enabled_from.get(depth + 1) {
            self.enabled.truncate(from);
            self.enabled_from.truncate(depth + 1);
        }
        if self.live.as_ref().is_some_and(|x| x.grew) {
            self.grew = true;
        }
    }

    fn next_branch(&self) -> Option<Branch> {
        let step = self.steps.last()?;
        step.choice.branch.next(&step.ways)
    }

    fn thread(&self, what: Pending) -> Name {
        self.tasks[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(what.0)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let number = self.tasks.iter().position(|task| task.name == thread)? as u32;
        (!self.steps.iter().any(|step| step.ended && step.choice.what.0 == number)).then_some(Pending(number))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        let ended = |number| self.steps.iter().any(|step| step.ended && step.choice.what.0 == number);
        out.extend((0..self.tasks.len() as u32).filter(|&number| !ended(number)).map(Pending));
    }

    fn relation(&self) -> Relation {
        Relation::Footprints
    }

    fn step(&self, at: usize) -> Step {
        let step = &self.steps[at];
        let what = step.choice.what;
        Step {
            choice: step.choice,
            thread: self.tasks[what.0 as usize].name,
            event: step.event,
            actor: ActorNo(what.0),
        }
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        out.extend(self.causes[self.steps[at].causes.clone()].iter().map(|&step| step as usize));
    }

    fn sent(&self, at: usize) -> Range<u32> {
        self.steps[at].tasks.clone()
    }

    fn touches(&self, at: usize) -> &[Touch] {
        &self.touches[self.steps[at].touches.clone()]
    }

    fn actors(&self) -> usize {
        self.tasks.len()
    }

    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].problem.clone()
    }

    fn ending(&mut self, out: &mut Vec<Problem>) {
        if self.catch_up().is_err() {
            return;
        }
        let x = self.live.as_ref().expect("it has caught up");
        let waiting: Vec<&task::Task> = x.tasks.iter().filter(|task| !matches!(task.state, State::Done)).collect();
        if !x.main_done {
            out.push(stuck(x, &waiting, Kind::Deadlock, "nothing can happen any more, and the test is not over"));
        } else if self.shared.settings.left_behind && !waiting.is_empty() {
            out.push(stuck(x, &waiting, Kind::Environment, "the test is over, and tasks are left behind"));
        }
        for task in &x.tasks[1..] {
            if let Some((message, place, step)) = task.end.unseen_panic() {
                out.push(panic_problem(format!("{message} (in {})", task.label()), place, step));
            }
        }
    }

    fn describe(&mut self, at: usize) -> StepText {
        let step = &self.steps[at];
        let task = &self.tasks[step.choice.what.0 as usize];
        let new = &self.tasks[step.tasks.start as usize..step.tasks.end as usize];
        StepText {
            actor: task.label.clone(),
            action: step.action.to_string(),
            origin: (!is_glue(step.action.place)).then(|| format!("({})", place_text(step.action.place))),
            effects: new.iter().map(|task| format!("spawns {} ({})", task.label, task.place)).collect(),
            changes: Vec::new(),
        }
    }

    fn handler_runs(&self) -> u64 {
        self.executions
    }
}

/// Why a search is begun again.
pub(crate) const LEARNT: &str = "more was learnt about what this program waits for together";

/// Who waits for what, and where.
fn stuck(x: &Execution, tasks: &[&task::Task], kind: Kind, what: &str) -> Problem {
    let mut message = what.to_string();
    let mut key = Name::ROOT;
    for task in tasks {
        let mut waits: Vec<&Wait> = task.live_waits().collect();
        waits.sort_by_key(|wait| wait.order);
        let words: Vec<String> =
            waits.iter().map(|wait| format!("{} ({})", wait.action, place_text(wait.action.place))).collect();
        let words = if words.is_empty() { "a wake that never comes".into() } else { words.join(", or ") };
        message += &format!("\n  {} waits: {words}", task.label());
        for wait in waits {
            key = key.mixed(u64::from(wait.action.place.line()));
        }
        key = key.mixed(u64::from(task.place.line()));
    }
    let steps = x.tasks.iter().map(|task| task.last_step).filter(|&step| step != NONE).map(|step| step as usize);
    let place = tasks.first().and_then(|task| task.live_waits().next()).map(|wait| place_text(wait.action.place));
    let mut steps: Vec<usize> = steps.collect();
    steps.sort_unstable();
    steps.dedup();
    Problem { kind, message, place, key, steps, warning: false }
}
