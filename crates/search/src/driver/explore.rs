//! The complete process that turns a program into a verdict.
//!
//! The search runs in a thread of its own (`threads.rs`). The caller's thread waits, reports progress, enforces the
//! limit on time and detects user code that does not return; in that case it produces the verdict without the thread
//! that is stuck. A search during which the program's dependence relation was refined is started again, within the
//! same limits. At the end every finding, and also the first execution, is replayed on a new machine: a program
//! that behaves differently the second time is not deterministic, and every verdict about it would be unreliable.

use crate::driver::checkpoint::{Checkpoints, Saver};
use crate::driver::confirm::{AttemptOutcome, confirm};
use crate::driver::control::{Control, PathStep};
use crate::driver::erased::AnyProgram;
use crate::driver::findings::Found;
use crate::driver::journal::Journal;
use crate::driver::memory::MemoryWatch;
use crate::driver::parallel;
use crate::driver::run::{Run, Stop};
use crate::driver::threads;
use crate::driver::watchdog::{Doing, Stuck};
use crate::options::Options;
use crate::reductions::{self, Reduction};
use std::cell::RefCell;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use whippet_model::{
    Counters, Decision, Estimate, FindingKind, LimitHit, Machine, MachineError, Problem, Program, Schedule, Verdict,
};

/// An error that prevents a verdict.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::ActorProgram;
/// use whippet_search::{Options, SearchError, explore};
/// let broken = ActorProgram::new("broken", |_sys| panic!("no configuration"));
/// let error = explore(Arc::new(broken), &Options::default(), &()).unwrap_err();
/// assert!(matches!(error, SearchError::Program(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The program cannot be executed: it is not deterministic, or it misuses the library.
    #[error("{0}")]
    Program(MachineError),
    /// The chosen search does not support this program.
    #[error("{0}")]
    Unsupported(String),
}

impl From<MachineError> for SearchError {
    fn from(error: MachineError) -> SearchError {
        match error {
            MachineError::Unsupported(why) => SearchError::Unsupported(why),
            error => SearchError::Program(error),
        }
    }
}

/// Progress of a running search.
///
/// ```
/// use whippet_search::Progress;
/// /// Returns the executions per second so far.
/// fn speed(progress: &Progress) -> f64 {
///     progress.counters.executions as f64 / progress.elapsed.as_secs_f64()
/// }
/// # let mut counters = whippet_model::Counters::default();
/// # counters.executions = 30;
/// # let progress = Progress::new(counters, 7, std::time::Duration::from_secs(2));
/// assert_eq!(speed(&progress), 15.0);
/// ```
#[derive(Copy, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The counters so far.
    pub counters: Counters,
    /// The depth of the current execution.
    pub depth: usize,
    /// The time since the search began.
    pub elapsed: Duration,
    /// An estimate of the total size, if the search can give one.
    pub estimate: Option<Estimate>,
}

impl Progress {
    /// Creates a report of progress without an estimate.
    ///
    /// ```
    /// use whippet_search::Progress;
    /// assert_eq!(Progress::new(Default::default(), 7, Default::default()).estimate, None);
    /// ```
    #[must_use]
    pub fn new(counters: Counters, depth: usize, elapsed: Duration) -> Progress {
        Progress { counters, depth, elapsed, estimate: None }
    }
}

/// Observer of a running search. `()` ignores everything.
///
/// ```
/// use std::{cell::Cell, sync::Arc};
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_model::LimitHit;
/// use whippet_search::{Checkpoints, Journal, Observer, Options, Preliminary, Progress, explore};
///
/// /// Stops the search at the first report of progress or of a problem, and keeps neither a journal nor checkpoints.
/// #[derive(Default)]
/// struct Impatient { heard: Cell<u32> }
/// impl Observer for Impatient {
///     fn progress(&self, _progress: &Progress) { self.heard.set(self.heard.get() + 1); }
///     fn found(&self, _found: &Preliminary) { self.heard.set(self.heard.get() + 1); }
///     fn interrupted(&self) -> bool { self.heard.get() > 0 }
///     fn journal(&self) -> Option<Arc<dyn Journal>> { None }
///     fn checkpoints(&self) -> Option<Arc<dyn Checkpoints>> { None }
/// }
///
/// // Twelve messages to one actor: 479,001,600 executions.
/// let test = ActorProgram::new("long", |sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
///     (0..12).for_each(|n| sys.send(sink, n));
/// });
/// let verdict = explore(Arc::new(test), &Options::default(), &Impatient::default()).unwrap();
/// assert_eq!((verdict.complete, verdict.limits), (false, vec![LimitHit::Interrupted]));
/// ```
pub trait Observer {
    /// Reports progress. Called about five times a second.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Returns `true` if the search is to be stopped. Called a few times a second. The verdict then contains what was
    /// found so far.
    fn interrupted(&self) -> bool {
        false
    }

    /// Reports a problem while the search goes on: about five times a second, those found since. Each problem is
    /// reported once; the verdict may have a shorter counterexample, and leaves out what cannot be reproduced.
    fn found(&self, found: &Preliminary) {
        let _ = found;
    }

    /// Returns the journal in which workers record their paths. Called once, before the search.
    fn journal(&self) -> Option<Arc<dyn Journal>> {
        None
    }

    /// Returns the place to which the state of the search is saved. Called once, before the search. Samples, and
    /// searches other than `exhaustive`, `source`, `optimal` and `parsimonious`, are not saved.
    fn checkpoints(&self) -> Option<Arc<dyn Checkpoints>> {
        None
    }

    /// Returns the observer of the complete executions. Called once, before the search.
    fn executions(&self) -> Option<Arc<dyn ExecutionObserver>> {
        None
    }
}

impl Observer for () {}

/// Observer of the executions that a search completes. See [`Observer::executions`].
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use whippet_model::Machine;
/// use whippet_search::{ExecutionObserver, Observer, explore, toy};
/// #[derive(Clone, Debug, Default)]
/// struct Depths(Arc<Mutex<Vec<usize>>>);
/// impl ExecutionObserver for Depths {
///     fn completed(&self, machine: &mut dyn Machine, _refinements: u64) { self.0.lock().unwrap().push(machine.depth()); }
/// }
/// impl Observer for Depths {
///     fn executions(&self) -> Option<Arc<dyn ExecutionObserver>> { Some(Arc::new(self.clone())) }
/// }
///
/// let depths = Depths::default();
/// let program = toy::Program::new(1).main(0, 1).main(0, 2);
/// explore(Arc::new(program), &Default::default(), &depths).unwrap();
/// assert_eq!(*depths.0.lock().unwrap(), [2, 2]);
/// ```
pub trait ExecutionObserver: Send + Sync + fmt::Debug {
    /// Receives the machine at the end of an execution. It must not be moved. `refinements` is the number of
    /// [refinements](whippet_model::Program::refinements) known to the machine: executions with fewer refinements than
    /// at the end of the search belong to an attempt that was started again.
    ///
    /// Several workers may call this at the same time. Unlike [`Observed`](whippet_model::Observed), it receives
    /// machines of any type, also from [`explore_specialized`].
    fn completed(&self, machine: &mut dyn Machine, refinements: u64);
}

/// A problem as it is known while the search goes on.
///
/// ```
/// use std::{cell::RefCell, sync::Arc};
/// use whippet_actors::{ActorProgram, Inbox};
/// use whippet_search::{Observer, Options, Preliminary, explore, replay};
///
/// /// Keeps the findings, and stops the search at the first one.
/// #[derive(Default)]
/// struct Keeper { found: RefCell<Vec<Preliminary>> }
/// impl Observer for Keeper {
///     fn found(&self, found: &Preliminary) { self.found.borrow_mut().push(found.clone()); }
///     fn interrupted(&self) -> bool { !self.found.borrow().is_empty() }
/// }
///
/// // Twelve messages to one actor: 479,001,600 executions.
/// let test = ActorProgram::new("long", |sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { assert!(inbox.receive().await != 3) });
///     (0..12).for_each(|n| sys.send(sink, n));
/// });
/// let keeper = Keeper::default();
/// explore(Arc::new(test.clone()), &Options::default(), &keeper).unwrap();
/// let found = keeper.found.borrow();
/// // Its decisions are not described, but they can be replayed.
/// assert!(!replay(&test, &found[0].schedule).unwrap().problems.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preliminary {
    /// The problem.
    pub problem: Problem,
    /// A schedule that reproduces it. Its decisions have no descriptions.
    pub schedule: Schedule,
}

/// Interval between reports to the observer.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// Searches a program.
///
/// All problems of the program are in the [`Verdict`]. An error means that there is no verdict.
///
/// ```
/// # #[cfg(feature = "toy")] {
/// use std::sync::Arc;
/// use whippet_search::{Options, explore, replay, toy::{Action, Program, Target}};
/// // A0 fails if A1's message arrives before the message from main.
/// let program = Program::new(2)
///     .main(0, 1)
///     .main(1, 0)
///     .on(0, 1, [Action::Set(1)])
///     .on(1, 0, [Action::Send(Target::Actor(0), 2)])
///     .when(0, 2, 0, [Action::Fail]);
/// let verdict = explore(Arc::new(program.clone()), &Options::default(), &()).unwrap();
/// assert!(verdict.complete);
/// assert_eq!(verdict.counters.executions, 2);
/// assert_eq!(verdict.findings[0].message, "A0 fails");
/// // The schedule of the finding reproduces it.
/// let replayed = replay(&program, &verdict.findings[0].schedule).unwrap();
/// assert_eq!(replayed.problems[0].message, "A0 fails");
/// # }
/// ```
pub fn explore<P: Program + Send + 'static>(
    program: Arc<P>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Verdict, SearchError> {
    let program: Arc<dyn AnyProgram + Send> = program;
    let searched = program.clone();
    let search = move |options: &Options, control: &Control| dispatch(&*searched as &dyn AnyProgram, options, control);
    explore_any(program, Box::new(search), options, observer)
}

/// Like [`explore`], but with searches that are compiled for this type of program, and therefore take fewer
/// instructions for each step: about a tenth less for actor programs. Compiling them takes about ten seconds, in each crate that calls this
/// function. Builds with debug assertions call [`explore`] instead.
///
/// ```
/// use std::sync::Arc;
/// use whippet_search::{Options, explore, explore_specialized, toy::Program};
/// let program = Arc::new(Program::new(1).main(0, 1).main(0, 2));
/// let verdict = explore_specialized(program.clone(), &Options::default(), &()).unwrap();
/// assert_eq!(verdict.counters, explore(program, &Options::default(), &()).unwrap().counters);
/// ```
pub fn explore_specialized<P: Program + Send + 'static>(
    program: Arc<P>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Verdict, SearchError> {
    #[cfg(debug_assertions)]
    {
        explore(program, options, observer)
    }
    #[cfg(not(debug_assertions))]
    {
        let searched = program.clone();
        let search = move |options: &Options, control: &Control| dispatch(&*searched, options, control);
        explore_any(program, Box::new(search), options, observer)
    }
}

/// The search itself, for a program that it knows.
type SearchOnce = Box<dyn Fn(&Options, &Control) -> Result<(), Stop> + Send>;

fn explore_any(
    program: Arc<dyn AnyProgram + Send>,
    search: SearchOnce,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Verdict, SearchError> {
    let mut control = Control::observed(&options.limits, observer.journal(), observer.executions());
    let checkpoints = observer.checkpoints();
    if let Some(checkpoints) = &checkpoints {
        control = control.saved(&**checkpoints);
    }
    let control = Arc::new(control);
    let saver = RefCell::new(Saver::new(checkpoints));
    let answer = {
        let (program, options, control) = (program.clone(), options.clone(), control.clone());
        threads::start(&options.clone(), move || until_settled(&*program, &search, &options, &control))
    };
    let tell = |is_report_due| {
        if is_report_due {
            tell_found(&*program, options, &control, observer);
        }
        saver.borrow_mut().tick(&control);
    };
    let answer = wait(&answer, options, &control, observer, &tell);
    saver.borrow().finish(&control);
    match answer {
        Ok(verdict) => verdict,
        Err(stuck) => give_up(program, options, control, observer, stuck),
    }
}

/// Tells the observer of problems that the search has found since the last call. Those that a data race or a limit may
/// have caused are left to the verdict.
fn tell_found(program: &dyn AnyProgram, options: &Options, control: &Control, observer: &dyn Observer) {
    let uncertain = |found: &Found| {
        let by_race = options.reduction.needs_independence() && found.race_tainted;
        by_race || found.problem.warning || found.problem.kind == FindingKind::Limit
    };
    for found in control.newly_found().into_iter().filter(|found| !uncertain(found)) {
        let step = |taken: &PathStep| Decision::new(taken.thread, taken.branch, String::new());
        let decisions = found.counterexample.iter().map(step).collect();
        let settings = program.parameters().into_iter().collect();
        let schedule = Schedule::new(program.name(), settings, decisions);
        observer.found(&Preliminary { problem: found.problem, schedule });
    }
}

/// Waits for the answer of another thread, reports progress and findings, and enforces the limit on time. Returns an
/// error if a worker is stuck in user code. Calls `at_tick` often, with `true` if there may be something to report.
pub(crate) fn wait<T>(
    answer: &Receiver<thread::Result<T>>,
    options: &Options,
    control: &Control,
    observer: &dyn Observer,
    at_tick: &dyn Fn(bool),
) -> Result<T, Stuck> {
    let (mut reported, mut watched) = (Instant::now(), Instant::now());
    let memory = MemoryWatch::start(options.limits.memory);
    let tick = TICK.min(options.limits.handler / 4).min(control.saving.pace()).max(Duration::from_millis(1));
    loop {
        let stops = control.stopped().is_some() || control.saving.is_stopping();
        let wait = control.time_left().filter(|_| !stops).map_or(tick, |left| left.min(tick));
        match answer.recv_timeout(wait) {
            Ok(answer) => return Ok(answer.unwrap_or_else(|panic| resume_unwind(panic))),
            Err(RecvTimeoutError::Disconnected) => unreachable!("a search always sends its result"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if control.time_left() == Some(Duration::ZERO) {
            control.stop_when_saved(LimitHit::Time);
        }
        if watched.elapsed() >= tick {
            watched = Instant::now();
            if memory.exceeds() {
                control.stop(LimitHit::Memory);
            }
        }
        if observer.interrupted() {
            control.stop_when_saved(LimitHit::Interrupted);
        }
        if let Some(stuck) = control.stuck() {
            if !stuck.explains {
                control.stop(LimitHit::Handler);
            }
            control.abandon_workers();
            return Err(stuck);
        }
        let is_report_due = reported.elapsed() >= TICK;
        if is_report_due {
            reported = Instant::now();
            let (counters, depth, estimate) = control.counted();
            observer.progress(&Progress { counters, depth, elapsed: control.elapsed(), estimate });
            control.ask();
        }
        at_tick(is_report_due);
    }
}

/// Produces the verdict of a search that has a worker stuck in user code.
fn give_up(
    program: Arc<dyn AnyProgram + Send>,
    options: &Options,
    control: Arc<Control>,
    observer: &dyn Observer,
    stuck: Stuck,
) -> Result<Verdict, SearchError> {
    let explaining = stuck.explains;
    if !explaining {
        no_verdict(&stuck, options)?;
    }
    // Other orders may not return either.
    control.stop_explaining();
    let answer = {
        let (options, control) = (options.clone(), control.clone());
        threads::start(&options.clone(), move || {
            let settled = control.is_settled(program.refinements());
            let covered = explaining && settled && control.was_covered();
            let attempt = AttemptOutcome { covered, settled, stuck: Some(stuck).filter(|_| !explaining) };
            confirm(&*program, &options, &control, attempt)
        })
    };
    match wait(&answer, options, &control, observer, &|_| {}) {
        Ok(verdict) => Ok(verdict?),
        Err(again) => Err(no_verdict(&again, options).expect_err("only confirming workers are watched now")),
    }
}

/// Returns an error if there is no verdict because of the code that a worker is stuck in.
pub(crate) fn no_verdict(stuck: &Stuck, options: &Options) -> Result<(), SearchError> {
    let limit = options.limits.handler;
    let error = if stuck.doing == Doing::SettingUp {
        // A program that does not reach its initial configuration cannot be replayed.
        MachineError::Misuse(format!(
            "the setup of the program did not return within {limit:?}: is it an endless loop?"
        ))
    } else if stuck.confirms {
        let what = match stuck.doing {
            Doing::Describing => "`Debug` of a value",
            Doing::Rewinding => "a destructor",
            _ => "code that returned before",
        };
        MachineError::Nondeterministic(format!("{what} did not return within {limit:?} when a finding was replayed"))
    } else {
        return Ok(());
    };
    Err(error.into())
}

/// Searches a program and confirms the findings. Starts again whenever the dependence relation was refined meanwhile,
/// unless a limit ends the whole test.
fn until_settled(
    program: &dyn AnyProgram,
    search: &SearchOnce,
    options: &Options,
    control: &Control,
) -> Result<Verdict, SearchError> {
    loop {
        control.begin_attempt(program);
        let searched = covers(program, search, options, control);
        let conclude = |settled| {
            let attempt = AttemptOutcome { covered: searched.clone()? && settled, settled, stuck: None };
            Ok(confirm(program, options, control, attempt)?)
        };
        if control.is_settled(program.refinements()) {
            let verdict = conclude(true);
            // Replaying findings may refine the relation, too.
            if control.is_settled(program.refinements()) {
                return verdict;
            }
        }
        if control.is_exhausted() {
            return conclude(false);
        }
        control.restart();
    }
}

/// Runs the search. Returns `true` if it covered everything.
fn covers(
    program: &dyn AnyProgram,
    search: &SearchOnce,
    options: &Options,
    control: &Control,
) -> Result<bool, SearchError> {
    match search(options, control) {
        Ok(()) => {
            control.covered();
            Ok(!control.limits_hit().contains(&LimitHit::Steps))
        }
        Err(Stop::Limit(why)) => {
            control.stop(why);
            Ok(false)
        }
        Err(Stop::Machine(MachineError::Refined)) => {
            let refined = !control.is_settled(program.refinements());
            assert!(refined, "internal error: a machine asks for a restart, but its program has learnt nothing");
            Ok(false)
        }
        Err(Stop::Machine(error)) => Err(error.into()),
    }
}

/// Calls the algorithm that the options select, with one worker or several.
fn dispatch<P: Program + ?Sized>(program: &P, options: &Options, control: &Control) -> Result<(), Stop> {
    let mut run = Run::new(program, options, control)?;
    if parallel::applies(&run) {
        drop(run);
        return parallel::search(program, options, control);
    }
    if control.saving.has_work() && !matches!(options.reduction, Reduction::Optimal | Reduction::Source) {
        return Err(Stop::unsupported("this search cannot continue from a checkpoint"));
    }
    let done = reductions::search(&mut run);
    control.saving.end();
    done
}
