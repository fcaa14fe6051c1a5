//! Replay: executes the decisions of a schedule on a new machine and reports what happened.

use crate::driver::confirm::words;
use crate::driver::control::{Control, PathStep, Worker};
use crate::driver::guarded::Guarded;
use crate::driver::threads;
use crate::options::Options;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use whippet_model::{
    Branch, Branches, Choice, Clocks, FindingKind, Machine, MachineConfig, MachineError, Name, Problem, Program,
    Schedule, ScheduleError, StepDescription, Trace,
};

/// The result of replaying a schedule.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Program, Schedule};
/// let test = ActorProgram::new("nobody", |_sys| {});
/// let settings = test.parameters().into_iter().collect();
/// let schedule = Schedule { program: test.name(), settings, decisions: vec![] };
/// let replayed = whippet_search::replay(&test, &schedule).unwrap();
/// assert!(replayed.trace.is_empty() && replayed.problems.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// The steps of the execution, in order.
    pub trace: Vec<StepDescription>,
    /// The problems of the execution: those of its steps or, if these have none, those of its final configuration.
    pub problems: Vec<Problem>,
}

/// An error that prevents a replay.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Schedule, ScheduleError};
/// use whippet_search::{ReplayError, replay};
/// let other = Schedule { program: "somebody".into(), ..Schedule::default() };
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
/// the same meaning as when it was recorded.
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
    carry_out(program, schedule, |_| {})
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
/// let options = Options { limits: Limits { handler: limit, ..Limits::default() }, ..Options::default() };
/// let verdict = explore(test.clone(), &options, &()).unwrap();
/// let replayed = replay_within(test, &verdict.findings[0].schedule, limit).unwrap();
/// assert_eq!(replayed.problems[0].kind, FindingKind::Limit);
/// ```
pub fn replay_within<P: Program + Send + 'static>(
    program: Arc<P>,
    schedule: &Schedule,
    limit: Duration,
) -> Result<Replayed, ReplayError> {
    let (tell, told) = channel();
    let decided = schedule.clone();
    let work = move || {
        let step = tell.clone();
        let replayed = carry_out(&*program, &decided, |text| drop(step.send(Told::Step(text.clone()))));
        // The receiver is gone if the caller gave up waiting.
        let _ = tell.send(Told::Done(replayed));
    };
    let ended = threads::start(&Options::default(), work);
    let tick = (limit / 8).max(Duration::from_millis(1));
    let (mut trace, mut waited) = (Vec::new(), Duration::ZERO);
    while waited < limit {
        match told.recv_timeout(tick) {
            Ok(Told::Done(replayed)) => return replayed,
            Ok(Told::Step(text)) => {
                trace.push(text);
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
    let problem = Problem {
        kind: FindingKind::Limit,
        message,
        place: None,
        key: Name::ROOT,
        steps,
        warning: false,
        waits: Vec::new(),
    };
    Ok(Replayed { trace, problems: vec![problem] })
}

/// A report from a replay in another thread.
enum Told {
    Step(StepDescription),
    Done(Result<Replayed, ReplayError>),
}

/// Executes the decisions of `schedule` and reports each step.
fn carry_out<P: Program>(
    program: &P,
    schedule: &Schedule,
    mut tell: impl FnMut(&StepDescription),
) -> Result<Replayed, ReplayError> {
    fits(program, schedule)?;
    let mut walk = Walk::new(program, &MachineConfig::default(), Arc::new(Worker::new(schedule.decisions.len())))?;
    for (k, decision) in schedule.decisions.iter().enumerate() {
        let diverges = |why: String| ScheduleError::Diverges { step: k + 1, text: decision.text.clone(), why };
        walk.step(decision.thread, decision.branch)?.map_err(diverges)?;
        let text = walk.guarded.describe(k);
        let now = words(&text);
        if now != decision.text {
            Err(diverges(format!("it is «{now}» now; the program has changed")))?;
        }
        tell(&text);
    }
    // Asks for the enabled choices, as a search would do next, so that actors that do not return from `accepts` are
    // noticed.
    walk.ends()?;
    Ok(Replayed { problems: walk.problems_shown()?, trace: walk.describe_steps() })
}

fn fits<P: Program>(program: &P, schedule: &Schedule) -> Result<(), ScheduleError> {
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
pub(crate) struct Walk<M> {
    guarded: Guarded<M>,
    enabled: Vec<Choice>,
}

impl<M: Machine> Walk<M> {
    fn new<P: Program<Machine = M>>(
        program: &P,
        config: &MachineConfig,
        worker: Arc<Worker>,
    ) -> Result<Walk<M>, MachineError> {
        Ok(Walk { guarded: Guarded::new(program, config, worker)?, enabled: Vec::new() })
    }

    /// Creates a machine and executes a path on it. Returns `None` if the path cannot be executed.
    pub(crate) fn of<P: Program<Machine = M>>(
        program: &P,
        worker: Arc<Worker>,
        path: impl IntoIterator<Item = (Name, Branch)>,
    ) -> Result<Option<Walk<M>>, MachineError> {
        let mut walk = Walk::new(program, &MachineConfig::default(), worker)?;
        for (thread, branch) in path {
            if walk.step(thread, branch)?.is_err() {
                return Ok(None);
            }
        }
        Ok(Some(walk))
    }

    /// Executes a step, or returns the reason why it is not possible.
    fn step(&mut self, thread: Name, branch: Branch) -> Result<Result<(), String>, MachineError> {
        let Some(what) = self.machine().find(thread) else {
            return Ok(Err("nothing of this name is pending".into()));
        };
        self.enabled.clear();
        self.guarded.enabled(&mut self.enabled)?;
        let mut branches = self.enabled.iter().filter(|choice| choice.what == what).map(|choice| choice.branch);
        let Some(first) = branches.next() else {
            return Ok(Err("it is pending but not enabled".into()));
        };
        // Where branches are discovered, only the first one is listed.
        let listed = first == branch || branches.any(|other| other == branch);
        let discovered = self.machine().profile().branches != Branches::Listed;
        if !(listed || discovered && first == Branch::FIRST) {
            return Ok(Err("it does not have this branch now".into()));
        }
        // A schedule names the branch of each step, so the next branch is not explored.
        self.guarded.execute(Choice { what, branch }).map(|_executed| Ok(()))
    }

    fn machine(&self) -> &M {
        self.guarded.machine()
    }

    /// Returns the problems here: data races, and the problems of the steps or, if these have none, those of this
    /// configuration as the final one.
    pub(crate) fn problems(&mut self) -> Result<Vec<Problem>, MachineError> {
        let mut problems = self.races();
        if self.machine().problems() > 0 {
            problems.extend((0..self.machine().depth()).filter_map(|at| self.machine().problem(at)));
        } else {
            self.guarded.final_problems(&mut problems)?;
        }
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

    /// Like [`problems`](Walk::problems), for the end of a schedule. The schedule of a data race need not end in a
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
        crate::driver::trace::trace(self.machine(), described)
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

    /// Returns a description of the actor that acts if `thread` is chosen.
    pub(crate) fn actor(&self, thread: Name) -> String {
        let machine = self.machine();
        machine.find(thread).map_or("an unknown actor".into(), |what| format!("actor {}", machine.actor(what).0))
    }
}

/// Executes a path again and returns an error unless its events are the same. `reduces` is `true` if the path comes
/// from a search that relies on independence.
pub(crate) fn again<P: Program>(
    program: &P,
    control: &Control,
    path: &[PathStep],
    reduces: bool,
) -> Result<(), MachineError> {
    let config = MachineConfig { isolate_races: reduces, ..MachineConfig::default() };
    let mut walk = Walk::new(program, &config, control.confirming_worker())?;
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
