//! Programs of async tasks, and their exploration.

use crate::foreign_threads::Watch;
use crate::life::spawn;
use crate::machine::TaskMachine;
use crate::refinements::SharedRefinements;
use crate::system::System;
use crate::task::MAIN;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use whippet_model::{
    Explain, FindingKind, Machine, MachineConfig, MachineError, Name, Problem, Program, Schedule, Verdict,
};
use whippet_search::{Observer, Options, SearchError, explore};

/// Settings for the execution of tasks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of timers that may fire early in one execution: see the documentation of virtual time.
    pub timers: u64,
    /// The budget for stalls, in nanoseconds: a timer fires early only if a stall of at most this length explains it, and
    /// a problem that needs a longer one in total is not reported. See the head of `stalls.rs`.
    pub stall: u64,
    /// Stops the clock as long as any other step is possible.
    pub paused: bool,
    /// Reports tasks that are still blocked at the end.
    pub left_behind: bool,
    /// Reports messages that are never received.
    pub untaken: bool,
    /// Adds a scheduling point before every operation: also before the first poll of a task, and before checks that
    /// find no item.
    pub deep: bool,
    /// Assumes all that an execution may teach: the program cannot be run again, so no execution may turn out to be impossible.
    /// Implies [`Settings::deep`].
    pub runs_once: bool,
    /// Disables merging: receives, replies, drops of handles and ends of tasks are events even if no task can observe
    /// their order. For comparison with the default.
    pub every_event: bool,
    /// `true` if the program declares a runtime with several threads. It is what tasks are told if they ask; both kinds are explored.
    pub declares_threads: bool,
    /// The keys of panics of tasks that are only warnings: see [`TaskProgram::panics_of_a_plain_run`].
    pub expected_panics: Vec<Name>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            timers: 4,
            stall: u64::MAX,
            paused: false,
            left_behind: false,
            untaken: false,
            deep: false,
            runs_once: false,
            every_event: false,
            declares_threads: true,
            expected_panics: Vec::new(),
        }
    }
}

pub(crate) struct Shared {
    /// Starts an execution: spawns the test's body as its first task.
    pub(crate) body: Arc<dyn Fn() + Send + Sync>,
    pub(crate) settings: Settings,
    pub(crate) learnt: SharedRefinements,
    /// What the system answers to tasks.
    pub(crate) system: Arc<System>,
    /// The number of its next execution, distinct from those of other programs: see [`program_of`].
    next: AtomicU64,
}

/// Returns the number of the program of an execution.
pub(crate) fn program_of(execution: u64) -> u64 {
    execution >> 32
}

impl Shared {
    fn new(
        body: Arc<dyn Fn() + Send + Sync>,
        settings: Settings,
        learnt: SharedRefinements,
        system: Arc<System>,
    ) -> Shared {
        static PROGRAMS: AtomicU64 = AtomicU64::new(1);
        let next = PROGRAMS.fetch_add(1, Ordering::Relaxed) << 32;
        Shared { body, settings, learnt, system, next: AtomicU64::new(next) }
    }

    /// Returns the same program, with refinements of its own.
    pub(crate) fn apart(&self) -> Shared {
        Shared::new(self.body.clone(), self.settings.clone(), SharedRefinements::default(), self.system.clone())
    }

    fn program(&self) -> u64 {
        program_of(self.next.load(Ordering::Relaxed))
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Keys of a schedule's parameters.
const EVERY_EVENT: &str = "every-event";
const LEARNT: &str = "learnt";
const EPOCH: &str = "epoch";
const EXPECTED: &str = "expected-panics";

/// Returns names as text.
fn text_of(names: &[Name]) -> Option<String> {
    let texts: Vec<String> = names.iter().map(|name| format!("{:x}", name.0)).collect();
    Some(texts.join(" ")).filter(|text| !text.is_empty())
}

/// Returns the names that [`text_of`] has written.
fn names_of(text: &str) -> Vec<Name> {
    text.split(' ').filter_map(|word| u64::from_str_radix(word, 16).ok()).map(Name).collect()
}

/// A program of async tasks.
#[derive(Clone)]
pub struct TaskProgram {
    name: String,
    shared: Arc<Shared>,
}

/// The end of an execution with round-robin scheduling.
struct PlainRun {
    problems: Vec<Problem>,
    /// The keys of the panics that no task observed.
    panics: Vec<Name>,
}

impl TaskProgram {
    /// Creates a program whose main task runs the future that `body` returns, a new one for each execution.
    #[track_caller]
    pub fn new<F>(
        name: impl Into<String>,
        settings: Settings,
        body: impl Fn() -> F + Send + Sync + 'static,
    ) -> TaskProgram
    where
        F: Future<Output = ()> + 'static,
    {
        let place = std::panic::Location::caller();
        let body = Arc::new(move || drop(spawn(MAIN, body(), place, None)));
        let shared = Shared::new(body, settings, SharedRefinements::default(), Arc::new(System::now()));
        TaskProgram { name: name.into(), shared: Arc::new(shared) }
    }

    /// Returns the same program without merging: see [`Settings::every_event`].
    #[must_use]
    pub fn with_every_event(&self) -> TaskProgram {
        let settings = Settings { every_event: true, ..self.shared.settings.clone() };
        self.with(settings, SharedRefinements::default(), self.shared.system.clone())
    }

    /// Returns the same program in the state in which the schedule was made: the refinements learnt by then define
    /// the steps.
    #[must_use]
    pub fn as_in(&self, schedule: &Schedule) -> TaskProgram {
        let setting = |name| schedule.settings.get(name);
        let settings = Settings {
            every_event: setting(EVERY_EVENT).is_some(),
            expected_panics: setting(EXPECTED).map_or_else(Vec::new, |text| names_of(text)),
            ..self.shared.settings.clone()
        };
        self.with(
            settings,
            setting(LEARNT).map_or_else(SharedRefinements::default, |text| SharedRefinements::of(text)),
            setting(EPOCH).and_then(|text| System::of(text)).map_or_else(|| Arc::new(System::now()), Arc::new),
        )
    }

    /// Returns the same program in which these panics are only warnings.
    #[must_use]
    pub fn expecting(&self, expected_panics: Vec<Name>) -> TaskProgram {
        let settings = Settings { expected_panics, ..self.shared.settings.clone() };
        self.with(settings, SharedRefinements::default(), self.shared.system.clone())
    }

    fn with(&self, settings: Settings, learnt: SharedRefinements, system: Arc<System>) -> TaskProgram {
        let shared = Shared::new(self.shared.body.clone(), settings, learnt, system);
        TaskProgram { name: self.name.clone(), shared: Arc::new(shared) }
    }

    /// Makes sleeps of tasks take real time, because there may be other threads for which they wait.
    #[must_use]
    pub fn beside_threads(self) -> TaskProgram {
        self.shared.system.keep_sleeping();
        self
    }

    /// Explores the program.
    pub fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
        let watch = Watch::start();
        let verdict = explore(Arc::new(self.clone()), options, observer);
        let stuck = |verdict: &Verdict| verdict.findings.iter().any(|finding| finding.kind == FindingKind::Deadlock);
        match watch.misuse(self.shared.program(), verdict.as_ref().map_or(true, stuck)) {
            Some(text) => Err(MachineError::UnseenThreads(text).into()),
            None => verdict,
        }
    }

    /// Runs one execution with round-robin scheduling, as a plain runtime might do.
    pub fn run_once(&self, steps: usize) -> Result<Vec<Problem>, MachineError> {
        let watch = Watch::start();
        let run = self.run_plainly(steps).map(|run| run.problems);
        let is_stuck = |problems: &Vec<Problem>| problems.iter().any(|problem| problem.kind == FindingKind::Deadlock);
        match watch.misuse(self.shared.program(), run.as_ref().map_or(true, is_stuck)) {
            Some(text) => Err(MachineError::UnseenThreads(text)),
            None => run,
        }
    }

    /// Returns the keys of the panics that no task observes in a plain execution, whose timers fire on time, if nothing else is wrong with
    /// it. Such a panic happens in every run of the test, which passes all the same, so its author expects it.
    #[must_use]
    pub fn panics_of_a_plain_run(&self, steps: usize) -> Vec<Name> {
        let settings = Settings { paused: true, expected_panics: Vec::new(), ..self.shared.settings.clone() };
        let program = self.with(settings, SharedRefinements::default(), self.shared.system.clone());
        let mut known = program.refinements();
        loop {
            match program.run_plainly(steps) {
                Ok(PlainRun { problems, panics }) => {
                    let is_all = problems.iter().all(|problem| panics.contains(&problem.key));
                    return if is_all { panics } else { Vec::new() };
                }
                // An execution that turns out to be impossible is run again, with what it has taught.
                Err(MachineError::Refined) if program.refinements() != known => known = program.refinements(),
                Err(_) => return Vec::new(),
            }
        }
    }

    fn run_plainly(&self, steps: usize) -> Result<PlainRun, MachineError> {
        let mut machine = self.machine(&MachineConfig::default())?;
        let mut enabled = Vec::new();
        let mut turn = 0;
        for _ in 0..steps {
            enabled.clear();
            machine.enabled(&mut enabled)?;
            // Round robin: a task that spins does not starve others.
            let Some(choice) = enabled.iter().find(|choice| choice.what.0 >= turn).or(enabled.first()) else { break };
            turn = choice.what.0 + 1;
            machine.execute(*choice)?;
        }
        let mut problems: Vec<_> = (0..machine.depth()).filter_map(|at| machine.problem(at)).collect();
        let panics = machine.unseen_panics().iter().map(|problem| problem.key).collect();
        if machine.depth() < steps {
            machine.final_problems(&mut problems)?;
        } else {
            let message =
                format!("an execution goes on after {steps} steps: it may be endless, or the limit on steps too low");
            let (kind, key) = (FindingKind::Limit, Name::ROOT);
            problems.push(Problem::new(kind, message, key));
        }
        Ok(PlainRun { problems, panics })
    }
}

impl Program for TaskProgram {
    type Machine = TaskMachine;

    fn machine(&self, _: &MachineConfig) -> Result<TaskMachine, MachineError> {
        TaskMachine::new(self.shared.clone())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let every_event = self.shared.settings.every_event.then(|| "yes".to_string());
        let learnt = Some(self.shared.learnt.snapshot().to_string()).filter(|text| !text.is_empty());
        let (epoch, expected) = (self.shared.system.text(), text_of(&self.shared.settings.expected_panics));
        let all = [(EVERY_EVENT, every_event), (LEARNT, learnt), (EPOCH, epoch), (EXPECTED, expected)];
        all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the version of the learnt refinements.
    fn refinements(&self) -> u64 {
        self.shared.learnt.version()
    }
}
