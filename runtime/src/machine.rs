//! The machine: runs one execution at a time, and re-executes from the start to go back.
//!
//! Suspended tasks cannot be copied. Therefore [`rewind`](Machine::rewind) only changes the current depth, the
//! enabled choices are stored per depth, and the next [`execute`](Machine::execute) that leaves the recorded path
//! replays the prefix in a new execution. Each step of the prefix must repeat what it did before; otherwise the
//! program is nondeterministic. A search that goes back and then makes the same choices again re-executes nothing:
//! the recorded steps stay valid until the search makes another choice.
//!
//! Events are dependent if their footprints conflict; the crate's documentation lists the touches.

mod explain;
mod problems;

use crate::current::Live;
use crate::ending::{task_states, unseen_panics};
use crate::execution::Execution;
use crate::foresight::Foresight;
use crate::grant::is_enabled;
use crate::leaving::leave;
use crate::merging::{Extent, Happened, Lesson, Touched, compare};
use crate::object::{Action, Place, place_text};
use crate::one_thread::Trace;
use crate::panics::quietly;
use crate::program::Shared;
use crate::record::Noting;
use crate::refinements::Refinements;
use crate::spinning::end_step;
use crate::stalls::Stalls;
use crate::stepping::{run_on, take};
use crate::task::{self, Label, State};
use crate::timers::refresh;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use whippet_model::{
    ActorNo, ActorState, Branch, Branches, Choice, Clocks, Completion, Dependence, Executed, Machine, MachineError,
    Name, Pending, Problem, Profile, Reversal, States, Step, Touch, capabilities,
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
    merged: Extent,
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
    live: Option<Box<Live>>,
    /// The memory of the previous execution, for reuse.
    spare: Option<Box<Live>>,
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
    stalls: Stalls,
    tasks: Vec<Known>,
    /// The enabled choices of each depth that was queried, concatenated; `enabled_from` has the start of each depth.
    enabled: Vec<Choice>,
    enabled_from: Vec<usize>,
    problems: usize,
    refinements: Arc<Refinements>,
    executions: u64,
    grew: bool,
    /// The operations of the newest execution that is complete and has a problem.
    trace: Option<Trace>,
}

impl TaskMachine {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<TaskMachine, MachineError> {
        let refinements = shared.learnt.snapshot();
        TaskMachine::with(shared, refinements, false)
    }

    /// Creates a machine with these refinements; `logs` if it is to log the operations of its only execution.
    fn with(shared: Arc<Shared>, refinements: Refinements, logs: bool) -> Result<TaskMachine, MachineError> {
        let branches = Branches::Discovered { same_footprint: false };
        let mut machine = TaskMachine {
            profile: Profile::new(Dependence::Footprints, branches).with_one_choice_per_thread(true),
            refinements: Arc::new(refinements),
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
            stalls: Stalls::default(),
            tasks: Vec::new(),
            enabled: Vec::new(),
            enabled_from: Vec::new(),
            problems: 0,
            executions: 0,
            grew: false,
            trace: None,
        };
        machine.begin(logs)?;
        let tasks = machine.x().tasks.iter().map(|task| known(task)).collect();
        machine.tasks = tasks;
        machine.compare_merged(Extent::default());
        Ok(machine)
    }

    /// Starts a new execution.
    fn begin(&mut self, logs: bool) -> Result<(), MachineError> {
        self.clear();
        self.executions += 1;
        let id = self.shared.next_id();
        let new = || {
            let (refinements, shared) = (self.refinements.clone(), self.shared.learnt.clone());
            Box::new(Live::new(refinements, shared, &self.shared.settings, self.shared.system.clone()))
        };
        let mut live = self.spare.take().unwrap_or_else(new);
        let x = live.get_mut();
        x.renew(id);
        x.log = logs.then(Box::default);
        (x.clock.paused, x.clock.stall) = (self.shared.settings.paused, self.shared.settings.stall);
        let noting = if self.executions > 1 { Noting::Replayed } else { Noting::Recorded };
        x.record.begin(Name::ROOT, Branch::FIRST, noting);
        quietly(|| {
            live.enter(|| {
                (self.shared.body)();
                run_on(&live);
            });
        });
        self.live = Some(live);
        self.live_depth = 0;
        self.check_misuse()
    }

    /// Returns the live execution.
    #[inline]
    fn x(&mut self) -> &mut Execution {
        self.live.as_mut().expect("internal error: no execution has begun").get_mut()
    }

    fn check_misuse(&mut self) -> Result<(), MachineError> {
        let x = self.x();
        match &x.ending.misuse {
            Some(text) => Err(MachineError::Misuse(text.clone())),
            None if x.ending.impossible => Err(MachineError::Refined),
            None => Ok(()),
        }
    }

    /// Clears the live execution away.
    fn clear(&mut self) {
        let Some(mut live) = self.live.take() else { return };
        self.grew |= live.get_mut().learning.grew;
        leave(&mut live, self.live_depth as u32, self.shared.settings.timers);
        self.spare = Some(live);
    }

    /// Returns the problems for panics of tasks that no other task has observed.
    pub(crate) fn unseen_panics(&mut self) -> Vec<Problem> {
        self.live.as_mut().map_or_else(Vec::new, |live| unseen_panics(live.get_mut()).collect())
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
        self.begin(false)?;
        for at in 0..self.steps.len() {
            let choice = self.steps[at].choice;
            if self.x().tasks.len() <= choice.what.0 as usize {
                return Err(differs(at, &self.steps[at].action));
            }
            self.take(choice, Noting::Replayed)?;
            let now = &self.live.as_mut().expect("it runs").get_mut().record;
            let before = &self.steps[at];
            if now.event != before.event || !now.action().is_like(&before.action) {
                return Err(differs(at, &before.action));
            }
            self.end_step(at);
        }
        Ok(())
    }

    /// Removes the recorded steps beyond the current depth.
    fn leave(&mut self) {
        let Some(first) = self.steps.get(self.depth) else { return };
        let before = first.before;
        self.foresight.truncate(self.depth);
        self.stalls.truncate(self.depth);
        self.touches.truncate(before.touches as usize);
        self.causes.truncate(before.causes as usize);
        let x = self.live.as_mut().or(self.spare.as_mut());
        x.expect("there was an execution").get_mut().merging.events.truncate(self.depth, before.merged);
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
    fn kept(&self, merged: Extent) -> Kept {
        Kept {
            touches: self.touches.len() as u32,
            causes: self.causes.len() as u32,
            merged,
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
    fn take(&mut self, choice: Choice, noting: Noting) -> Result<(), MachineError> {
        let timers = self.shared.settings.timers;
        take(self.live.as_mut().expect("it has begun"), self.live_depth as u32, choice, noting, timers);
        self.live_depth += 1;
        self.check_misuse()
    }

    /// Compares the newest step, and the merged events beyond `from`, with everything before them, and learns the
    /// merged events that need steps of their own.
    fn compare_merged(&self, from: Extent) {
        self.live.as_ref().expect("it runs").with(|x| {
            let (merged, learning) = (&x.merging.events, &mut x.learning);
            // As with every refinement, the execution continues to its end.
            compare(merged, from, self, |lesson| match lesson {
                Lesson::Order => learning.order(&self.refinements),
                Lesson::Apart(at) => {
                    for &name in merged.apart(at) {
                        learning.mark(&self.refinements, name);
                    }
                }
            });
        });
    }

    /// Stores the record of the newest step. `merged` is the extent of the merged events before it.
    fn keep(&mut self, choice: Choice, merged: Extent) {
        let before = self.kept(merged);
        let Execution { record, tasks, .. } = self.live.as_mut().expect("it runs").get_mut();
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
        self.stalls.push(record);
        let (event, action, ways) = (record.event, *record.action(), SmallVec::from_slice(&record.arities));
        let problem = if record.ended.contains(&0) { self.main_problem(self.depth) } else { None };
        self.steps.push(Taken { choice, event, action, before, ways, problem });
        self.compare_merged(before.merged);
        self.end_step(self.depth);
    }

    /// Tells the live execution the footprint of its newest step, which is recorded.
    fn end_step(&mut self, at: usize) {
        let from = self.steps[at].before.merged;
        let touches = self.part(at, self.touches.len(), |kept| kept.touches);
        let choice = self.steps[at].choice;
        let x = self.live.as_mut().expect("it runs").get_mut();
        let to = self.steps.get(at + 1).map_or_else(|| x.merging.events.extent(), |next| next.before.merged);
        let mut all: SmallVec<[Touch; 16]> = SmallVec::from_slice(&self.touches.list()[touches]);
        all.extend_from_slice(x.merging.events.touches(from, to));
        end_step(x, choice.what.0, choice.branch, &all);
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
        (self.steps[at].choice.what.0, self.steps[at].before.merged.stamp(at))
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
fn unobserved() -> MachineError {
    MachineError::UnseenMemory(
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

impl Machine for TaskMachine {
    capabilities!(Foresight, States, Completion);

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
            let x = self.live.as_mut().expect("it has caught up").get_mut();
            refresh(x, self.shared.settings.timers);
            self.enabled_from.push(self.enabled.len());
            for at in 0..x.tasks.left().len() {
                let number = x.tasks.left()[at];
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
        let x = self.live.as_mut().expect("it has caught up").get_mut();
        refresh(x, self.shared.settings.timers);
        if x.tasks.len() <= choice.what.0 as usize || !is_enabled(x, choice.what.0 as usize) {
            return Err(unobserved());
        }
        let merged = x.merging.events.extent();
        self.take(choice, Noting::Recorded)?;
        self.keep(choice, merged);
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
        if self.live.as_mut().is_some_and(|live| live.get_mut().learning.grew) {
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

impl Completion for TaskMachine {
    fn completed(&mut self) {
        self.trace = None;
        if self.problems > 0 {
            self.log_trace();
        }
    }
}

impl States for TaskMachine {
    fn of_actors(&mut self, out: &mut Vec<ActorState>) {
        // An error is reported by the next step.
        if self.catch_up().is_ok() {
            out.extend(task_states(self.live.as_mut().expect("it has caught up").get_mut()));
        }
    }

    fn of_pending(&mut self, _: Pending) -> Option<(String, String)> {
        None
    }
}

impl whippet_model::Foresight for TaskMachine {
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal {
        self.foresight.without(clocks, earlier, Machine::touches(self, earlier), later)
    }

    fn late_alternatives(&self, _: usize, _: &mut Vec<(usize, Branch)>) {}

    fn early_alternatives(&self, _: usize, _: &mut Vec<usize>) {}
}
