//! Replay: executes the decisions of a schedule on a new machine and reports what happened.

use crate::driver::confirm::words;
use crate::driver::control::{Control, PathStep, Worker};
use crate::driver::erased::{AnyMachine, AnyProgram};
use crate::driver::guarded::Guarded;
use crate::driver::threads;
use crate::options::Options;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use whippet_model::{
    ActorState, Branch, Branches, Choice, Clocks, Finding, FindingKind, Machine, MachineConfig, MachineError, Name,
    Problem, Program, Schedule, ScheduleError, StepDescription, Trace, capture_output,
};

/// The topmost digit of a branch.
const TOP: usize = Branch::DIGITS - 1;

/// The result of replaying a schedule.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Program, Schedule};
/// let test = ActorProgram::new("nobody", |_sys| {});
/// let settings = test.parameters().into_iter().collect();
/// let schedule = Schedule::new(test.name(), settings, vec![]);
/// let replayed = whippet_search::replay(&test, &schedule).unwrap();
/// assert!(replayed.trace.is_empty() && replayed.problems.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The steps of the execution, in order.
    pub trace: Vec<StepDescription>,
    /// The problems of the execution: those of its steps or, if these have none, those of its final configuration.
    pub problems: Vec<Problem>,
    /// The steps as data.
    pub events: Trace,
}

impl Replayed {
    /// Returns the problems as findings, whose counterexample is the whole schedule. Warnings are among them only if
    /// `warnings` is `true`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use whippet_actors::{Inbox, ActorProgram};
    /// use whippet_search::{Options, explore, replay};
    /// let test = ActorProgram::new("picky", |sys| {
    ///     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(picky, 2);
    /// });
    /// let verdict = explore(Arc::new(test.clone()), &Options::default(), &()).unwrap();
    /// let schedule = &verdict.findings[0].schedule;
    /// let findings = replay(&test, schedule).unwrap().findings(schedule, false);
    /// assert_eq!(findings[0].trace, verdict.findings[0].trace);
    /// ```
    #[must_use]
    pub fn findings(self, schedule: &Schedule, warnings: bool) -> Vec<Finding> {
        let Replayed { trace, problems, events } = self;
        let finding = |problem: Problem| {
            let steps = problem.steps.iter().map(|&at| at as u32).collect();
            let mut finding = Finding::new(problem, schedule.clone(), trace.clone(), 1);
            finding.trace = events.clone();
            finding.events = steps;
            finding
        };
        problems.into_iter().filter(|problem| warnings || !problem.warning).map(finding).collect()
    }
}

/// An error that prevents a replay.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Schedule, ScheduleError};
/// use whippet_search::{ReplayError, replay};
/// let other = Schedule::new("somebody", Default::default(), vec![]);
/// let error = replay(&ActorProgram::new("nobody", |_sys| {}), &other).unwrap_err();
/// assert!(matches!(error, ReplayError::Schedule(ScheduleError::Program { .. })));
/// assert_eq!(error.to_string(), "the schedule is for `somebody`, not for `nobody with delivery=unordered`");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The schedule does not fit the program.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The program cannot be executed.
    #[error(transparent)]
    Program(#[from] MachineError),
}

/// Executes the decisions of `schedule`.
///
/// The schedule must be for this program, with the same parameters. Each of its decisions must be possible and have
/// the same meaning as when it was recorded; the meaning of a decision without a description is not compared.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_search::{Options, explore, replay};
/// let test = ActorProgram::new("picky", |sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(picky, 1);
///     sys.send(picky, 2);
/// });
/// let verdict = explore(Arc::new(test.clone()), &Options::default(), &()).unwrap();
/// let replayed = replay(&test, &verdict.findings[0].schedule).unwrap();
/// assert_eq!(replayed.problems[0].message, verdict.findings[0].message);
/// assert_eq!(replayed.trace, verdict.findings[0].counterexample);
/// ```
pub fn replay<P: Program>(program: &P, schedule: &Schedule) -> Result<Replayed, ReplayError> {
    carry_out(program, schedule, &mut |_| {})
}

/// Executes all decisions of `schedule` except the last one, and returns the steps and the name of the actor that would
/// act next, which may be unknown before it acts. This explains a step that ends the process, which cannot be described afterwards.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_search::{Options, explore, lead_up};
/// let test = ActorProgram::new("picky", |sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
///         inbox.receive().await;
///         assert_eq!(inbox.receive().await, 2);
///     });
///     sys.send(picky, 1);
///     sys.send(picky, 2);
/// });
/// let verdict = explore(Arc::new(test.clone()), &Options::default(), &()).unwrap();
/// let (steps, next) = lead_up(&test, &verdict.findings[0].schedule).unwrap();
/// assert_eq!((steps.len(), next.as_deref()), (1, Some("actor")));
/// ```
pub fn lead_up<P: Program>(
    program: &P,
    schedule: &Schedule,
) -> Result<(Vec<StepDescription>, Option<String>), ReplayError> {
    lead_up_any(program, schedule)
}

fn lead_up_any(
    program: &dyn AnyProgram,
    schedule: &Schedule,
) -> Result<(Vec<StepDescription>, Option<String>), ReplayError> {
    fits(program, schedule)?;
    let Some((last, before)) = schedule.decisions.split_last() else { return Ok((Vec::new(), None)) };
    let mut walk = GuidedMachine::new(program, &MachineConfig::default(), Arc::new(Worker::new(before.len())))?;
    for (k, decision) in before.iter().enumerate() {
        let diverges = |why| ScheduleError::Diverges { step: k + 1, text: decision.text.clone(), why };
        walk.step(decision.thread, decision.branch)?.map_err(diverges)?;
    }
    Ok((walk.describe_steps(), walk.actor(last.thread)))
}

/// Like [`replay()`], but in a thread of its own, which is abandoned if no step ends within `limit`. This is reported
/// as a problem of kind `limit`. Time during which a debugger has stopped the process does not count.
///
/// ```
/// use std::{sync::Arc, thread::sleep, time::Duration};
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_model::{FindingKind, Limits};
/// use whippet_search::{Options, explore, replay_within};
/// let test = Arc::new(ActorProgram::new("asleep", |sys| {
///     let slow = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
///         inbox.receive().await;
///         sleep(Duration::from_secs(5));
///     });
///     sys.send(slow, ());
/// }));
/// let limit = Duration::from_millis(50);
/// let options = Options::default().with_limits(Limits::default().with_handler(limit));
/// let verdict = explore(test.clone(), &options, &()).unwrap();
/// let replayed = replay_within(test, &verdict.findings[0].schedule, limit).unwrap();
/// assert_eq!(replayed.problems[0].kind, FindingKind::Limit);
/// ```
pub fn replay_within<P: Program + Send + 'static>(
    program: Arc<P>,
    schedule: &Schedule,
    limit: Duration,
) -> Result<Replayed, ReplayError> {
    replay_any_within(program, schedule, limit)
}

fn replay_any_within(
    program: Arc<dyn AnyProgram + Send>,
    schedule: &Schedule,
    limit: Duration,
) -> Result<Replayed, ReplayError> {
    let (tell, told) = channel();
    let decided = schedule.clone();
    let work = move || {
        let step = tell.clone();
        let replayed =
            carry_out(&*program, &decided, &mut |text| drop(step.send(ReplayReport::Step(Box::new(text.clone())))));
        // The receiver is gone if the caller gave up waiting.
        let _ = tell.send(ReplayReport::Done(replayed));
    };
    let ended = threads::start(&Options::default(), work);
    let tick = (limit / 8).max(Duration::from_millis(1));
    let (mut trace, mut waited) = (Vec::new(), Duration::ZERO);
    while waited < limit {
        match told.recv_timeout(tick) {
            Ok(ReplayReport::Done(replayed)) => return replayed,
            Ok(ReplayReport::Step(text)) => {
                trace.push(*text);
                waited = Duration::ZERO;
            }
            // Ticks are counted instead of reading a clock, which would go on while a debugger has stopped the
            // process.
            Err(RecvTimeoutError::Timeout) => waited += tick,
            Err(RecvTimeoutError::Disconnected) => match ended.recv() {
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                _ => unreachable!("a replay that ends without an answer has panicked"),
            },
        }
    }
    let message = match (schedule.decisions.get(trace.len()), trace.len()) {
        (Some(decision), _) => format!("«{}» did not return within {limit:?}", decision.text),
        (None, steps) => {
            format!("after step {steps}, `accepts`, a receive filter or a check did not return within {limit:?}")
        }
    };
    let steps = (0..trace.len()).collect();
    let problem = Problem::new(FindingKind::Limit, message, Name::ROOT).with_steps(steps);
    Ok(Replayed { problems: vec![problem], events: crate::driver::trace::sequence(&trace), trace })
}

/// A report from a replay in another thread.
enum ReplayReport {
    Step(Box<StepDescription>),
    Done(Result<Replayed, ReplayError>),
}

/// Executes the decisions of `schedule` and reports each step.
fn carry_out(
    program: &dyn AnyProgram,
    schedule: &Schedule,
    tell: &mut dyn FnMut(&StepDescription),
) -> Result<Replayed, ReplayError> {
    fits(program, schedule)?;
    let mut walk =
        GuidedMachine::new(program, &MachineConfig::default(), Arc::new(Worker::new(schedule.decisions.len())))?;
    for (k, decision) in schedule.decisions.iter().enumerate() {
        let diverges = |why: String| ScheduleError::Diverges { step: k + 1, text: decision.text.clone(), why };
        walk.step(decision.thread, decision.branch)?.map_err(diverges)?;
        let text = walk.guarded.describe(k);
        let now = words(&text);
        if !decision.text.is_empty() && now != decision.text {
            Err(diverges(format!("it is «{now}» now; the program has changed")))?;
        }
        tell(&text);
    }
    // Asks for the enabled choices, as a search would do next, so that actors that do not return from `accepts` are
    // noticed.
    walk.ends()?;
    let (problems, trace) = (walk.problems_shown()?, walk.describe_steps());
    let mut events = walk.trace(&trace);
    events.end = walk.states();
    Ok(Replayed { problems, events, trace })
}

fn fits(program: &dyn AnyProgram, schedule: &Schedule) -> Result<(), ScheduleError> {
    let with = |name: String, settings: Vec<(String, String)>| {
        let settings: Vec<String> = settings.into_iter().map(|(k, v)| format!("{k}={v}")).collect();
        if settings.is_empty() { name } else { format!("{name} with {}", settings.join(" ")) }
    };
    let mut wanted: Vec<_> = program.parameters();
    wanted.sort();
    let found: Vec<_> = schedule.settings.clone().into_iter().collect();
    if schedule.program != program.name() || found != wanted {
        return Err(ScheduleError::Program {
            found: with(schedule.program.clone(), found),
            wanted: with(program.name(), wanted),
        });
    }
    Ok(())
}

/// A machine that is moved along a given path.
pub(crate) struct GuidedMachine {
    pub(crate) guarded: Guarded<AnyMachine>,
    enabled: Vec<Choice>,
    /// The output of user code in each step.
    output: Vec<Vec<String>>,
}

impl GuidedMachine {
    pub(crate) fn new(
        program: &dyn AnyProgram,
        config: &MachineConfig,
        worker: Arc<Worker>,
    ) -> Result<GuidedMachine, MachineError> {
        Ok(GuidedMachine { guarded: Guarded::new(program, config, worker)?, enabled: Vec::new(), output: Vec::new() })
    }

    /// Creates a machine and executes a path on it. Returns `None` if the path cannot be executed.
    pub(crate) fn of(
        program: &dyn AnyProgram,
        worker: Arc<Worker>,
        path: impl IntoIterator<Item = (Name, Branch)>,
    ) -> Result<Option<GuidedMachine>, MachineError> {
        let mut walk = GuidedMachine::new(program, &MachineConfig::default(), worker)?;
        for (thread, branch) in path {
            if walk.step(thread, branch)?.is_err() {
                return Ok(None);
            }
        }
        Ok(Some(walk))
    }

    /// Executes a step, or returns the reason why it is not possible.
    pub(crate) fn step(&mut self, thread: Name, branch: Branch) -> Result<Result<(), String>, MachineError> {
        let Some(what) = self.machine().find(thread) else {
            return Ok(Err("nothing of this name is pending".into()));
        };
        self.enabled.clear();
        self.guarded.enabled_of(what, &mut self.enabled)?;
        let mut branches = self.enabled.iter().map(|choice| choice.branch);
        let Some(first) = branches.next() else {
            return Ok(Err("it is pending but not enabled".into()));
        };
        // Where branches are discovered, only the first one is listed.
        let listed = first == branch || branches.any(|other| other == branch);
        let discovered = self.machine().profile().branches != Branches::Listed;
        // A program with faults lists one branch per fault, whose topmost digit names it.
        let listed_alike = || {
            let alike =
                |choice: &Choice| choice.branch == Branch::FIRST.with(TOP, branch.digit(TOP)).unwrap_or_default();
            self.enabled.iter().any(alike)
        };
        if !(listed || discovered && (first == Branch::FIRST || listed_alike())) {
            return Ok(Err("it does not have this branch now".into()));
        }
        // A schedule names the branch of each step, so the next branch is not explored.
        let (executed, output) = capture_output(|| self.guarded.execute(Choice { what, branch }));
        self.output.resize_with(self.machine().depth().saturating_sub(1), Vec::new);
        self.output.push(output);
        executed.map(|_executed| Ok(()))
    }

    pub(crate) fn machine(&self) -> &AnyMachine {
        self.guarded.machine()
    }

    /// Returns the problems here: data races, and the problems of the steps or, if these have none, those of this
    /// configuration as the final one.
    pub(crate) fn problems(&mut self) -> Result<Vec<Problem>, MachineError> {
        let mut problems = self.races();
        let of_steps = (0..self.machine().depth()).filter_map(|at| self.machine().problem(at));
        let of_steps: Vec<Problem> = if self.machine().problems() > 0 { of_steps.collect() } else { Vec::new() };
        // A state that was reached says nothing about the end.
        if of_steps.iter().all(|problem| problem.declaration.is_some()) {
            self.guarded.final_problems(&mut problems)?;
        }
        problems.extend(of_steps);
        Ok(problems)
    }

    pub(crate) fn shows(&mut self, kind: FindingKind, key: Name) -> Result<bool, MachineError> {
        Ok(self.problems()?.iter().any(|problem| (problem.kind, problem.key) == (kind, key)))
    }

    /// Returns the data races so far.
    pub(crate) fn races(&self) -> Vec<Problem> {
        let mut races = Vec::new();
        self.machine().data_races(&mut races);
        races
    }

    /// Returns `true` if nothing is enabled.
    pub(crate) fn ends(&mut self) -> Result<bool, MachineError> {
        self.enabled.clear();
        self.guarded.enabled(&mut self.enabled)?;
        Ok(self.enabled.is_empty())
    }

    /// Returns the steps that are possible next.
    pub(crate) fn enabled(&mut self) -> Result<Vec<(Name, Branch)>, MachineError> {
        self.enabled.clear();
        self.guarded.enabled(&mut self.enabled)?;
        Ok(self.enabled.iter().map(|choice| (self.machine().thread(choice.what), choice.branch)).collect())
    }

    /// Like [`problems`](GuidedMachine::problems), for the end of a schedule. The schedule of a data race need not end in a
    /// final configuration. If there is a race, any other problem counts only if every step of the schedule is in the
    /// past of one of the problem's steps.
    fn problems_shown(&mut self) -> Result<Vec<Problem>, MachineError> {
        let (mut problems, mut clocks) = (self.problems()?, Clocks::new());
        if problems.iter().any(|problem| problem.kind == FindingKind::Race) {
            clocks.follow(self.machine());
            problems.retain(|problem| {
                let leads = |at| problem.steps.iter().any(|&step| at == step || clocks.before(at, step));
                problem.kind == FindingKind::Race || (0..self.machine().depth()).all(leads)
            });
        }
        Ok(problems)
    }

    pub(crate) fn describe_steps(&mut self) -> Vec<StepDescription> {
        (0..self.machine().depth()).map(|at| self.guarded.describe(at)).collect()
    }

    /// Returns the number of steps executed.
    pub(crate) fn depth(&self) -> usize {
        self.machine().depth()
    }

    /// Returns happens-before of the steps executed.
    pub(crate) fn clocks(&self) -> Clocks {
        let mut clocks = Clocks::new();
        clocks.follow(self.machine());
        clocks
    }

    /// Returns the trace of the steps executed, given their descriptions.
    pub(crate) fn trace(&self, described: &[StepDescription]) -> Trace {
        let mut trace = crate::driver::trace::trace(self.machine(), described);
        for (event, output) in trace.events.iter_mut().zip(&self.output) {
            event.output.clone_from(output);
        }
        trace
    }

    /// Returns the states of the actors, if the machine knows them.
    pub(crate) fn states(&mut self) -> Vec<ActorState> {
        self.guarded.states()
    }

    /// Continues to the end of the execution, with at most `most` further steps: threads of `path` in their order
    /// where they are enabled, then whatever comes first.
    pub(crate) fn finish(&mut self, path: &[PathStep], most: usize) -> Result<(), MachineError> {
        for _ in 0..most {
            self.enabled.clear();
            self.guarded.enabled(&mut self.enabled)?;
            let threads: Vec<Name> = self.enabled.iter().map(|choice| self.machine().thread(choice.what)).collect();
            let wanted = path.iter().find_map(|step| threads.iter().position(|&thread| thread == step.thread));
            let Some(&choice) = self.enabled.get(wanted.unwrap_or(0)) else { return Ok(()) };
            self.guarded.execute(choice)?;
        }
        Ok(())
    }

    /// Returns the actor of a pending operation and the operation in words, if the machine knows them.
    pub(crate) fn pending_text(&mut self, thread: Name) -> Option<(String, String)> {
        let what = self.machine().find(thread)?;
        self.guarded.pending_text(what)
    }

    /// Returns the name of the actor that acts if `thread` is chosen; `None` if it is not known before it acts.
    pub(crate) fn actor(&mut self, thread: Name) -> Option<String> {
        if let Some((actor, _)) = self.pending_text(thread) {
            return Some(actor);
        }
        let machine = self.machine();
        let actor = machine.actor(machine.find(thread)?);
        // An actor that has acted before has a name that the reader has seen.
        let at = (0..machine.depth()).find(|&at| machine.step(at).actor == actor)?;
        Some(self.guarded.describe(at).actor)
    }
}

/// Executes a path again and returns an error unless its events are the same. `reduces` is `true` if the path comes
/// from a search that relies on independence.
pub(crate) fn again(
    program: &dyn AnyProgram,
    control: &Control,
    path: &[PathStep],
    reduces: bool,
) -> Result<(), MachineError> {
    let config = MachineConfig::default().with_isolate_races(reduces);
    let mut walk = GuidedMachine::new(program, &config, control.confirming_worker())?;
    for (at, taken) in path.iter().enumerate() {
        let number = at + 1;
        if let Err(why) = walk.step(taken.thread, taken.branch)? {
            return Err(MachineError::Nondeterministic(format!(
                "step {number} of an execution could not be executed again: {why}"
            )));
        }
        if walk.machine().step(at).event != taken.event {
            return Err(MachineError::Nondeterministic(format!(
                "step {number} of an execution differs the second time"
            )));
        }
    }
    Ok(())
}
