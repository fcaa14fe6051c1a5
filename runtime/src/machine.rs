//! The machine: runs one execution at a time, and re-executes from the start to go back.
//!
//! Suspended tasks cannot be copied. Therefore [`rewind`](Machine::rewind) only changes the current depth, the
//! enabled choices are stored per depth, and the next [`execute`](Machine::execute) that leaves the recorded path
//! replays the prefix in a new execution. Each step of the prefix must repeat what it did before; otherwise the
//! program is nondeterministic. A search that goes back and then makes the same choices again re-executes nothing:
//! the recorded steps stay valid until the search makes another choice.
//!
//! Events are dependent if their footprints conflict; the crate's documentation lists the touches.

use crate::asides::{Extent, Happened, Lesson, Touched, compare};
use crate::ending::{panic_problem, stuck, untaken};
use crate::execution::{Execution, IDLE, NONE, enter};
use crate::foresight::Foresight;
use crate::grant::{ask_again, fire_amid, grant, is_enabled, next_to_pass, refresh, wake_granted};
use crate::object::{Action, Place, is_glue, place_text};
use crate::panics::quietly;
use crate::program::Shared;
use crate::task::{self, Label, State};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use whippet_model::{
    ActorNo, Branch, Branches, Choice, Clocks, Dependence, Executed, Explain, FindingKind, Machine, MachineError, Name,
    Pending, Problem, Profile, Reversal, Step, StepDescription, Touch, capabilities,
};

/// The record of a step.
struct Taken {
    choice: Choice,
    event: Name,
    action: Action,
    /// The lengths of the machine's lists before the step.
    before: Kept,
    /// The number of branches of each choice made in the step.
    ways: SmallVec<[u32; 2]>,
    /// The failure of the test's body in this step. Boxed because it is rare, which keeps the list of steps small.
    problem: Option<Box<Problem>>,
}

/// The lengths of the machine's lists at some step.
#[derive(Copy, Clone)]
struct Kept {
    touches: u32,
    causes: u32,
    asides: Extent,
    told: u32,
    ended: u32,
    tasks: u32,
}

/// The record of a task.
struct Known {
    name: Name,
    /// `true` if the task has ended at the current depth.
    ended: bool,
    label: Label,
    place: Place,
}

/// A machine for programs of async tasks.
pub struct TaskMachine {
    profile: Profile,
    shared: Arc<Shared>,
    live: Option<Box<Execution>>,
    /// The memory of the previous execution, for reuse.
    spare: Option<Box<Execution>>,
    /// The number of steps that the live execution has taken.
    live_depth: usize,
    /// The current depth.
    depth: usize,
    /// The steps up to the current depth, and the recorded ones beyond it, which are valid if the same choices are
    /// made again.
    steps: Vec<Taken>,
    touches: Touched,
    causes: Vec<u32>,
    told: Vec<(u32, Action)>,
    ended: Vec<u32>,
    foresight: Foresight,
    tasks: Vec<Known>,
    /// The enabled choices of each depth that was queried, concatenated; `enabled_from` has the start of each depth.
    enabled: Vec<Choice>,
    enabled_from: Vec<usize>,
    problems: usize,
    groups: Arc<crate::groups::Groups>,
    executions: u64,
    grew: bool,
}

impl TaskMachine {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<TaskMachine, MachineError> {
        let branches = Branches::Discovered { same_footprint: false };
        let mut machine = TaskMachine {
            profile: Profile { one_choice_per_thread: true, ..Profile::new(Dependence::Footprints, branches) },
            groups: Arc::new(shared.learnt.snapshot()),
            shared,
            live: None,
            spare: None,
            live_depth: 0,
            depth: 0,
            steps: Vec::new(),
            touches: Touched::default(),
            causes: Vec::new(),
            told: Vec::new(),
            ended: Vec::new(),
            foresight: Foresight::default(),
            tasks: Vec::new(),
            enabled: Vec::new(),
            enabled_from: Vec::new(),
            problems: 0,
            executions: 0,
            grew: false,
        };
        machine.begin()?;
        let x = machine.live.as_ref().expect("it has begun");
        machine.tasks = x.tasks.iter().map(|task| known(task)).collect();
        machine.compare_asides(Extent::default());
        Ok(machine)
    }

    /// Starts a new execution.
    fn begin(&mut self) -> Result<(), MachineError> {
        self.clear();
        self.executions += 1;
        let id = self.shared.next_id();
        let new = || Box::new(Execution::new(self.groups.clone(), self.shared.learnt.clone()));
        let mut x = self.spare.take().unwrap_or_else(new);
        x.renew(id);
        x.clock.paused = self.shared.settings.paused;
        x.deep = self.shared.settings.deep;
        x.every_event = x.deep || self.shared.settings.every_event;
        x.keeps_untaken = self.shared.settings.untaken;
        x.record.begin(Name::ROOT, Branch::FIRST, self.executions > 1);
        let at: *mut Execution = &raw mut *x;
        quietly(|| {
            enter(at, || {
                (self.shared.body)();
                run_on(at);
            });
        });
        self.live = Some(x);
        self.live_depth = 0;
        self.check_misuse()
    }

    fn check_misuse(&self) -> Result<(), MachineError> {
        let x = self.live.as_ref().expect("it has begun");
        match &x.misuse {
            Some(text) => Err(MachineError::Misuse(text.clone())),
            None if x.impossible => Err(MachineError::Refined),
            None => Ok(()),
        }
    }

    /// Clears the live execution away: every task runs to its next wait without events, and is dropped.
    fn clear(&mut self) {
        let Some(mut x) = self.live.take() else { return };
        self.grew |= x.grew;
        x.muted = true;
        let at: *mut Execution = &raw mut *x;
        quietly(|| {
            enter(at, || {
                // SAFETY: `x` lives until the end of this function, and is used only through `at` meanwhile. Each borrow
                // below ends before a task runs or a destructor of the user is called.
                while let Some(number) = task::next_to_clear(unsafe { &(*at).tasks }) {
                    task::resume(at, number as u32);
                    // SAFETY: as above.
                    unsafe { (&mut (*at).tasks)[number].state = State::Done };
                }
                // Tasks may hold the last handles of user objects, whose destructors may access the execution:
                // nothing of it may be borrowed while these run.
                // SAFETY: as above.
                let mut tasks = unsafe { std::mem::take(&mut (*at).tasks) };
                tasks.iter_mut().for_each(|task| task.clear());
                // SAFETY: as above.
                unsafe { (*at).spare_tasks.append(&mut tasks) };
                let late = unsafe { std::mem::replace(&mut (*at).tasks, tasks) };
                drop(late);
            });
        });
        self.spare = Some(x);
    }

    /// Brings the live execution to the current depth.
    #[inline]
    fn catch_up(&mut self) -> Result<(), MachineError> {
        let is_there = self.live.is_some() && self.live_depth == self.depth;
        if is_there { Ok(()) } else { self.run_again() }
    }

    /// Replays the recorded steps up to the current depth in a new execution.
    #[inline(never)]
    fn run_again(&mut self) -> Result<(), MachineError> {
        self.leave();
        self.begin()?;
        for at in 0..self.steps.len() {
            let choice = self.steps[at].choice;
            if self.live.as_ref().expect("it has begun").tasks.len() <= choice.what.0 as usize {
                return Err(differs(at, &self.steps[at].action));
            }
            self.take(choice, true)?;
            let (before, now) = (&self.steps[at], &self.live.as_ref().expect("it runs").record);
            if now.event != before.event || !now.action().is_like(&before.action) {
                return Err(differs(at, &before.action));
            }
        }
        Ok(())
    }

    /// Removes the recorded steps beyond the current depth.
    fn leave(&mut self) {
        let Some(first) = self.steps.get(self.depth) else { return };
        let before = first.before;
        self.foresight.truncate(self.depth);
        self.touches.truncate(before.touches as usize);
        self.causes.truncate(before.causes as usize);
        let x = self.live.as_mut().or(self.spare.as_mut());
        x.expect("there was an execution").asides.truncate(self.depth, before.asides);
        self.told.truncate(before.told as usize);
        self.ended.truncate(before.ended as usize);
        self.tasks.truncate(before.tasks as usize);
        self.steps.truncate(self.depth);
        if let Some(&from) = self.enabled_from.get(self.depth + 1) {
            self.enabled.truncate(from);
            self.enabled_from.truncate(self.depth + 1);
        }
    }

    /// Returns the current lengths of the lists; that of the merged events is given.
    fn kept(&self, asides: Extent) -> Kept {
        Kept {
            touches: self.touches.len() as u32,
            causes: self.causes.len() as u32,
            asides,
            told: self.told.len() as u32,
            ended: self.ended.len() as u32,
            tasks: self.tasks.len() as u32,
        }
    }

    /// Returns the part of a list that belongs to step `at`. It ends where the part of the next step begins, or at
    /// `len`.
    #[inline]
    fn part(&self, at: usize, len: usize, begins: impl Fn(&Kept) -> u32) -> Range<usize> {
        let from = begins(&self.steps[at].before) as usize;
        from..self.steps.get(at + 1).map_or(len, |next| begins(&next.before) as usize)
    }

    /// Returns the range of the tasks that ended with step `at`.
    fn ended(&self, at: usize) -> Range<usize> {
        self.part(at, self.ended.len(), |kept| kept.ended)
    }

    /// Returns the tasks that exist at the current depth.
    fn present(&self) -> &[Known] {
        let count = self.steps.get(self.depth).map_or(self.tasks.len(), |next| next.before.tasks as usize);
        &self.tasks[..count]
    }

    /// Moves forward over a recorded step.
    fn pass(&mut self) {
        for k in self.ended(self.depth) {
            self.tasks[self.ended[k] as usize].ended = true;
        }
        self.problems += usize::from(self.steps[self.depth].problem.is_some());
        self.depth += 1;
    }

    /// Returns the next branch of the newest step.
    fn executed(&self) -> Executed {
        let step = &self.steps[self.depth - 1];
        Executed { next_branch: step.choice.branch.next(&step.ways) }
    }

    /// Takes one step of the live execution. Its footprint is left in the execution's record.
    fn take(&mut self, choice: Choice, known: bool) -> Result<(), MachineError> {
        let number = choice.what.0;
        let x = self.live.as_mut().expect("it has begun");
        let at: *mut Execution = &raw mut **x;
        x.step = self.live_depth as u32;
        let task = &mut x.tasks[number as usize];
        task.steps += 1;
        (task.in_aside, task.taking) = (false, false);
        let event = task.name.mixed(0x5354_4550).child(task.steps).going(choice.branch);
        x.record.begin(event, choice.branch, known);
        if !known {
            x.asides.step(x.step, number);
        }
        if x.groups.is_marked(IDLE) {
            x.touch(Touch::add(IDLE));
        }
        x.cause_all(number as usize);
        let task = &mut x.tasks[number as usize];
        task.after.clear();
        task.after.push(self.live_depth as u32);
        task.last_aside = NONE;
        if let State::Event(action) = x.tasks[number as usize].state {
            refresh(x, self.shared.settings.timers);
            x.record.action = Some(if x.clock.used { fire_amid(x, number).unwrap_or(action) } else { action });
        } else {
            refresh(x, self.shared.settings.timers);
            x.record.waited = true;
            let action = grant(x, number);
            x.record.action = Some(action);
        }
        if !x.record.vain {
            quietly(|| {
                enter(at, || {
                    wake_granted(at, number);
                    task::resume(at, number);
                    run_on(at);
                });
            });
        }
        ask_again(self.live.as_mut().expect("it has begun"));
        self.live_depth += 1;
        self.check_misuse()
    }

    /// Compares the newest step, and the merged events beyond `from`, with everything before them, and learns the
    /// merged events that need steps of their own.
    fn compare_asides(&mut self, from: Extent) {
        let mut grew = false;
        let asides = &self.live.as_ref().expect("it runs").asides;
        compare(asides, from, self, |lesson| match lesson {
            Lesson::Order => grew |= self.shared.learnt.order(&self.groups),
            Lesson::Apart(at) => {
                for &name in asides.apart(at) {
                    grew |= self.shared.learnt.mark(&self.groups, name);
                }
            }
        });
        // As with every refinement, the execution continues to its end.
        self.live.as_mut().expect("it runs").grew |= grew;
    }

    /// Stores the record of the newest step. `asides` is the extent of the merged events before it.
    fn keep(&mut self, choice: Choice, asides: Extent) {
        let before = self.kept(asides);
        let Execution { record, tasks, .. } = &**self.live.as_ref().expect("it runs");
        record.touches.iter().for_each(|&touch| self.touches.push(self.depth as u32, touch));
        self.causes.extend_from_slice(&record.causes);
        // Empty for most steps.
        if !record.told.is_empty() {
            self.told.extend_from_slice(&record.told);
        }
        if !record.ended.is_empty() {
            self.ended.extend_from_slice(&record.ended);
        }
        if tasks.len() > self.tasks.len() {
            self.tasks.extend(tasks[self.tasks.len()..].iter().map(|task| known(task)));
        }
        self.foresight.push(record);
        let (event, action, ways) = (record.event, *record.action(), SmallVec::from_slice(&record.arities));
        let problem = if record.ended.contains(&0) { self.main_problem(self.depth) } else { None };
        self.steps.push(Taken { choice, event, action, before, ways, problem });
        self.compare_asides(before.asides);
    }

    fn main_problem(&self, at: usize) -> Option<Box<Problem>> {
        let x = self.live.as_ref()?;
        let task = x.tasks.first().filter(|task| matches!(task.state, State::Done))?;
        let (message, place, step) = task.unseen_panic().filter(|(_, _, step)| *step as usize == at)?;
        Some(Box::new(panic_problem(message, place, step)))
    }
}

impl Happened for TaskMachine {
    fn touches(&self) -> &Touched {
        &self.touches
    }

    fn newest_touches(&self) -> usize {
        self.steps.last().map_or(0, |newest| newest.before.touches as usize)
    }

    fn task(&self, at: usize) -> (u32, u32) {
        (self.steps[at].choice.what.0, self.steps[at].before.asides.stamp(at))
    }
}

impl Drop for TaskMachine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Sentinel: a task that was asked for and does not exist.
const NOBODY: Pending = Pending(u32::MAX);

/// Returns the error for a step that should still be enabled and is not: a change that no step has touched.
fn unseen() -> MachineError {
    MachineError::Misuse(
        "tasks share memory that whippet does not see: steps that touch nothing in common change what each other does\n  \
         usual causes: std locks and atomics, in your crate or in one below it: let whippet see them (`--hook crate`), \
         or sample orders (`--reduction random`)"
            .into(),
    )
}

fn differs(at: usize, action: &Action) -> MachineError {
    MachineError::Nondeterministic(format!(
        "step {} was «{action}» ({}), and is something else the next time",
        at + 1,
        place_text(action.place)
    ))
}

fn known(task: &task::Task) -> Known {
    Known { name: task.name, ended: matches!(task.state, State::Done), label: task.label, place: task.place }
}

/// Returns the source location of an operation, if it is a line of the program.
fn origin(place: Place) -> Option<String> {
    (!is_glue(place)).then(|| format!("({})", place_text(place)))
}

/// Runs new tasks to their first event, and other tasks that can continue without an event.
fn run_on(x: *mut Execution) {
    let mut seen = 0;
    loop {
        // SAFETY: the machine passes its live execution. The borrow ends before the task runs, which accesses the
        // execution too.
        let next = unsafe {
            if (*x).impossible {
                return;
            }
            (*x).fresh.pop_front().or_else(|| next_to_pass(&mut *x, &mut seen))
        };
        let Some(number) = next else { return };
        task::resume(x, number);
    }
}

impl Machine for TaskMachine {
    capabilities!(Foresight);

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        let depth = self.depth;
        if self.enabled_from.len() == depth {
            // Only the first query at a depth needs the execution, and it comes right after the step.
            self.catch_up()?;
            let x = self.live.as_mut().expect("it has caught up");
            refresh(x, self.shared.settings.timers);
            self.enabled_from.push(self.enabled.len());
            for at in 0..x.left.len() {
                let number = x.left[at];
                if is_enabled(x, number as usize) {
                    self.enabled.push(Choice::first(Pending(number)));
                }
            }
        }
        let to = self.enabled_from.get(depth + 1).copied().unwrap_or(self.enabled.len());
        out.extend_from_slice(&self.enabled[self.enabled_from[depth]..to]);
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        // The restart waits for the end of the first execution, which may teach more.
        if self.grew {
            return Err(MachineError::Refined);
        }
        if self.steps.get(self.depth).is_some_and(|ahead| ahead.choice == choice) {
            self.pass();
            return Ok(self.executed());
        }
        self.catch_up()?;
        let depth = self.depth;
        if self.enabled_from.len() == depth {
            let mut unused = Vec::new();
            self.enabled(&mut unused)?;
        }
        let x = self.live.as_mut().expect("it has caught up");
        refresh(x, self.shared.settings.timers);
        if x.tasks.len() <= choice.what.0 as usize || !is_enabled(x, choice.what.0 as usize) {
            return Err(unseen());
        }
        let asides = x.asides.extent();
        self.take(choice, false)?;
        self.keep(choice, asides);
        self.pass();
        Ok(self.executed())
    }

    fn rewind(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            for k in self.ended(self.depth) {
                self.tasks[self.ended[k] as usize].ended = false;
            }
            self.problems -= usize::from(self.steps[self.depth].problem.is_some());
        }
        if self.live.as_ref().is_some_and(|x| x.grew) {
            self.grew = true;
        }
    }

    fn thread(&self, what: Pending) -> Name {
        self.present().get(what.0 as usize).map_or(Name::ROOT, |task| task.name)
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(what.0)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        // A search asks only for tasks that it has seen. A missing task is reported when its step is executed, see
        // `unseen`.
        let number = self.present().iter().position(|task| task.name == thread);
        Some(number.filter(|&number| !self.tasks[number].ended).map_or(NOBODY, |number| Pending(number as u32)))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        let alive = self.present().iter().enumerate().filter(|(_, task)| !task.ended);
        out.extend(alive.map(|(number, _)| Pending(number as u32)));
    }

    #[inline]
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

    #[inline]
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        let causes = self.part(at, self.causes.len(), |kept| kept.causes);
        out.extend(self.causes[causes].iter().map(|&step| step as usize));
    }

    fn sent(&self, at: usize) -> Range<u32> {
        let tasks = self.part(at, self.tasks.len(), |kept| kept.tasks);
        tasks.start as u32..tasks.end as u32
    }

    #[inline]
    fn touches(&self, at: usize) -> &[Touch] {
        &self.touches.list()[self.part(at, self.touches.len(), |kept| kept.touches)]
    }

    fn actors(&self) -> usize {
        self.present().len()
    }
}

impl Explain for TaskMachine {
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].problem.as_deref().cloned()
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.catch_up()?;
        let x = self.live.as_ref().expect("it has caught up");
        let tasks = x.tasks.iter().map(|task| &**task);
        let waiting: Vec<&task::Task> = tasks.filter(|task| !matches!(task.state, State::Done)).collect();
        if !x.main_done {
            out.push(stuck(
                x,
                &waiting,
                FindingKind::Deadlock,
                "nothing can happen any more, and the test is not over",
            ));
        } else if self.shared.settings.left_behind && !waiting.is_empty() {
            out.push(stuck(x, &waiting, FindingKind::Environment, "the test is over, and tasks are left behind"));
        }
        untaken(x, out);
        if !x.panicked {
            return Ok(());
        }
        for task in &x.tasks[1..] {
            if let Some((message, place, step)) = task.unseen_panic() {
                out.push(panic_problem(format!("{message} (in {})", task.label), place, step));
            }
        }
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        let step = &self.steps[at];
        let task = &self.tasks[step.choice.what.0 as usize];
        let new = &self.tasks[self.part(at, self.tasks.len(), |kept| kept.tasks)];
        let told = &self.told[self.part(at, self.told.len(), |kept| kept.told)];
        let spawns = new.iter().map(|task| format!("spawns {} ({})", task.label, place_text(task.place)));
        let asides = told.iter().map(|(number, action)| {
            let who = if *number == step.choice.what.0 {
                String::new()
            } else {
                format!("{} ", self.tasks[*number as usize].label)
            };
            let place = origin(action.place).map_or(String::new(), |place| format!(" {place}"));
            format!("{who}{action}{place}")
        });
        StepDescription {
            actor: task.label.to_string(),
            action: step.action.to_string(),
            origin: origin(step.action.place),
            kind: step.action.event_kind(),
            message: step.action.message(),
            place: origin(step.action.place).map(|_| place_text(step.action.place)),
            effects: spawns.chain(asides).collect(),
            ..StepDescription::default()
        }
    }

    fn handler_runs(&self) -> u64 {
        self.executions
    }
}

impl whippet_model::Foresight for TaskMachine {
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal {
        self.foresight.without(clocks, earlier, Machine::touches(self, earlier), later)
    }

    fn late_alternatives(&self, _: usize, _: &mut Vec<(usize, Branch)>) {}
}
