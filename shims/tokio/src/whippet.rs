//! Entry points of tests into the search, and the functions and types that the macros expand to.
//!
//! Settings come from the environment, see [`whippet_protocol`]: either `cargo whippet` sets them, or the user.

mod branches;

pub use branches::{Joined, Joining, Selecting};

use std::future::Future;
use std::io::Write;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use whippet_explorer::Explorer;
use whippet_model::{Finding, FindingKind, MachineError, Program, Schedule, Threads, Verdict};
use whippet_protocol::{Failure, Recorder, Reply, Session, Work, duration};
use whippet_report::RunInfo;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction, SearchError};

/// The macros to which this crate's own pass the path by which it is known where they are used.
pub mod macros {
    pub use whippet_tokio_macros::{join, select, try_join};
}

/// The return types that a test may have.
pub trait Output {
    /// Panics if the value means that the test failed.
    fn check(self);
}

impl Output for () {
    fn check(self) {}
}

impl<T, E: std::fmt::Debug> Output for Result<T, E> {
    #[track_caller]
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned {error:?}");
        }
    }
}

impl Output for std::process::ExitCode {
    #[track_caller]
    fn check(self) {
        assert!(self == std::process::ExitCode::SUCCESS, "the test returned a failure");
    }
}

/// Returns the session of this process.
fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| Session::of_this_process().unwrap_or_else(|error| panic!("whippet: {error}")))
}

/// Writes the reply to `cargo whippet`, if it started this process.
fn reply(recorder: &Recorder<'_>, reply: &Reply) {
    if let Some(line) = recorder.reply(reply) {
        // If standard output is closed as well, there is no way to report.
        let _ = std::io::stdout().write_all(line.as_bytes());
    }
}

fn settings(paused: bool, several: bool) -> Settings {
    let given = &session().settings;
    let default = Settings::default();
    Settings {
        paused,
        stall: stall(),
        timers: given.timers.unwrap_or(default.timers),
        left_behind: given.leaked_tasks,
        untaken: given.unreceived,
        deep: given.preempt_everywhere,
        runs_once: false,
        every_event: given.no_merge,
        declares_threads: several,
        expected_panics: Vec::new(),
    }
}

/// The stall that an execution may need by default. Time slices and other tests delay a thread for some milliseconds quite often,
/// rarely for longer than this. Tests of published crates wait for 100 ms more often than for any other time, and mean that this is
/// long; a bound of 100 ms would make all of them fail.
const DEFAULT_STALL: Duration = Duration::from_millis(20);

/// Returns the budget for stalls, in nanoseconds.
fn stall() -> u64 {
    let given = session().settings.stall.as_ref();
    let given =
        given.map(|text| duration(text).unwrap_or_else(|error| panic!("whippet: WHIPPET_STALL={text}: {error}")));
    u64::try_from(given.unwrap_or(DEFAULT_STALL).as_nanos()).unwrap_or(u64::MAX)
}

fn options() -> Options {
    let given = &session().settings;
    let mut options = Options::default();
    if let Some(text) = &given.reduction {
        options.reduction = text.parse::<Reduction>().unwrap_or_else(|error| panic!("whippet: {error}"));
    }
    if let Some(text) = &given.order {
        options.order = text.parse().unwrap_or_else(|error| panic!("whippet: {error}"));
    }
    options.sleep = given.sleep_sets;
    options.seed = given.seed.unwrap_or(options.seed);
    options.samples = given.samples.unwrap_or(options.samples);
    options.limits.executions = given.limit_executions;
    options.limits.time = given.limit_seconds.map(Duration::from_secs_f64);
    options.limits.steps = given.limit_steps.unwrap_or(options.limits.steps);
    options.jobs = given.workers.unwrap_or(1);
    options.first_bug = given.first_bug;
    options
}

/// Returns the runtime on which failures count; `several` if the test declares one with several threads.
fn counted_threads(several: bool) -> Threads {
    let declared = if several { Threads::Several } else { Threads::One };
    match session().settings.threads.as_deref() {
        None | Some("declared") => declared,
        Some("one") => Threads::One,
        Some("several") => Threads::Several,
        Some(other) => panic!("whippet: WHIPPET_THREADS={other}: expected `several`, `one` or `declared`"),
    }
}

/// Moves the findings that need several threads to a verdict of their own, if only one thread counts. A search that has
/// not ended does not know: an execution on one thread might follow.
fn split_by_threads(verdict: &mut Verdict, counted: Threads) -> Verdict {
    let mut beyond = verdict.clone();
    (beyond.findings, beyond.warnings) = (Vec::new(), Vec::new());
    let needs_several = |finding: &Finding| finding.threads == Some(Threads::Several);
    if verdict.complete {
        if counted == Threads::One {
            (beyond.findings, verdict.findings) =
                std::mem::take(&mut verdict.findings).into_iter().partition(needs_several);
        }
        return beyond;
    }
    if counted == Threads::One && verdict.findings.iter().any(needs_several) {
        let note = "the executions seen so far need several threads; the search did not end, so it is not known if one thread shows the same";
        verdict.notes.push(note.into());
    }
    verdict.findings.iter_mut().filter(|finding| needs_several(finding)).for_each(|finding| finding.threads = None);
    beyond
}

/// Explores a test on a runtime with one or several threads. Panics with the counterexamples of its findings.
#[track_caller]
pub fn test<F: Future<Output = ()> + 'static>(
    path: &str,
    paused: bool,
    several: bool,
    body: impl Fn() -> F + Send + Sync + 'static,
) {
    // The test harness names tests without their crate.
    let name = path.split_once("::").map_or(path, |(_, name)| name).to_string();
    // With a single execution, timers that fire early are of no use: pause the clock.
    let only_once = session().settings.once;
    let program = TaskProgram::new(name.clone(), settings(paused || only_once, several), body);
    let options = options();
    let recorder = Recorder::start(session(), &name, options.jobs);
    if let Some(file) = &session().replay {
        return replay(&recorder, &program, file);
    }
    match session().work {
        Work::Search => {}
        Work::Unfold => return answer(&recorder, &recorder.unfold(program, &options)),
        Work::Serve { port } => serve(&recorder, program, &options, port),
    }
    if only_once {
        return once(&recorder, &program);
    }
    let limit = options.limits.handler;
    let (rerun, still_fails) = recorder.rerun(false, limit, |schedule| program.as_in(schedule));
    if let Some(still_fails) = still_fails {
        return answer(&recorder, &still_fails);
    }
    let (program, explored) = without_expected_panics(program, &options, &recorder);
    let explored = explored.and_then(|verdict| add_random(&program, &options, &recorder, verdict));
    let mut verdict = explored.unwrap_or_else(|error| no_verdict(&recorder, (&error).into()));
    // The algorithm chosen for a reduction is of no interest in the result of a test.
    verdict.algorithm = None;
    let beyond = split_by_threads(&mut verdict, counted_threads(several));
    let run = RunInfo::new(&name, &options);
    let advice = whippet_report::advice(&run, &verdict, whippet_report::Advised::TokioTest);
    let found = without_limits(recorder.verdict(&run, &verdict, false, &advice), &verdict);
    let beyond = recorder.beyond(&beyond, verdict.findings.len());
    answer(&recorder, &Reply { regressions: rerun.regressions, beyond, ..found });
}

/// Explores a program. If tasks panic unobserved, and they do so in a plain run too, the panics are expected: the test passes all the
/// same. Then it is explored again with these panics as warnings.
fn without_expected_panics(
    program: TaskProgram,
    options: &Options,
    recorder: &Recorder<'_>,
) -> (TaskProgram, Result<Verdict, SearchError>) {
    let explored = program.explore(options, recorder);
    let panics = |finding: &&Finding| matches!(finding.kind, FindingKind::Panic | FindingKind::Assertion);
    if !explored.as_ref().is_ok_and(|verdict| verdict.findings.iter().any(|finding| panics(&finding))) {
        return (program, explored);
    }
    let mut expected = program.panics_of_a_plain_run(options.limits.steps);
    expected.retain(|key| explored.iter().any(|verdict| verdict.findings.iter().any(|finding| finding.key == *key)));
    if expected.is_empty() {
        return (program, explored);
    }
    let program = program.expecting(expected);
    let explored = program.explore(options, recorder);
    (program, explored)
}

/// Returns the reply as one without a verdict if no execution failed, but some did not end within a limit.
fn without_limits(mut reply: Reply, verdict: &Verdict) -> Reply {
    let is_limit = verdict.findings.iter().all(|finding| finding.kind == FindingKind::Limit);
    if let Some(failure) = reply.failure.as_mut().filter(|_| is_limit && !verdict.findings.is_empty()) {
        failure.no_verdict = true;
        failure.text = failure.text.replacen("limit: ", "no verdict: ", 1);
    }
    reply
}

/// Walks through the test in a browser, until the process is ended.
fn serve(recorder: &Recorder<'_>, program: TaskProgram, options: &Options, port: u16) -> ! {
    let name = Program::name(&program);
    let explorer = Explorer::new(&name).options(options.clone()).port(port);
    let server = explorer.serve(Arc::new(program)).unwrap_or_else(|error| no_verdict(recorder, because(error)));
    // If standard error is closed, there is no way to report it.
    let _ = writeln!(std::io::stderr(), "whippet: {name}: open {}\nPress Ctrl-C to end.", server.address());
    loop {
        std::thread::park();
    }
}

/// Replies, and fails if the answer is a failure.
#[track_caller]
fn answer(recorder: &Recorder<'_>, answer: &Reply) {
    reply(recorder, answer);
    if let Some(failure) = &answer.failure {
        panic!("{}", failure.text);
    }
}

/// The default step limit of a single execution. It is higher than the limit of the many executions of a search.
const ONCE_STEPS: usize = 1_000_000;

/// Runs a single execution of a test, with the tasks in turn.
fn once(recorder: &Recorder<'_>, program: &TaskProgram) {
    let steps = session().settings.limit_steps.unwrap_or(ONCE_STEPS);
    let mut known = program.refinements();
    let result = loop {
        let result = program.run_once(steps);
        let learnt = program.refinements();
        // An execution that turns out to be impossible is run again, with what it has taught.
        if !matches!(result, Err(MachineError::Refined)) || learnt == known {
            break result;
        }
        known = learnt;
    };
    match result {
        Ok(problems) if problems.is_empty() => reply(recorder, &one_order()),
        Ok(problems) => {
            let texts: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.kind, p.message)).collect();
            let text = texts.join("\n");
            reply(recorder, &Reply { failure: Some(Failure::found(text.clone())), ..one_order() });
            panic!("{text}");
        }
        Err(error) => no_verdict(recorder, (&SearchError::from(error)).into()),
    }
}

/// Returns the reply after one order, so that the result is not taken for an exploration.
fn one_order() -> Reply {
    Reply { one_order: true, ..Reply::default() }
}

/// Runs the requested number of random executions in addition to a search, and adds their findings to `verdict`.
///
/// The search treats orders as equivalent that differ only in accesses to memory that the shim does not observe. Random
/// executions may reveal bugs in the orders that it skipped for this reason.
fn add_random(
    program: &TaskProgram,
    options: &Options,
    recorder: &Recorder<'_>,
    mut verdict: Verdict,
) -> Result<Verdict, SearchError> {
    let Some(samples) = session().settings.random.filter(|&samples| samples > 0) else { return Ok(verdict) };
    if options.first_bug && !verdict.findings.is_empty() {
        return Ok(verdict);
    }
    let random = options.clone().with_reduction(Reduction::Random).with_samples(samples);
    // Random executions use a separate step for every event, so that they can interleave at all of them.
    let seen = program.with_every_event().explore(&random, recorder)?;
    for mut finding in seen.findings {
        if !verdict.findings.iter().any(|known| (known.kind, known.key) == (finding.kind, finding.key)) {
            // Steps share memory that no footprint shows, so other orders of them may do something else: it is not known if one thread
            // shows this. But if the footprints alone rule that out, it needs several.
            finding.threads = finding.threads.filter(|&threads| threads == Threads::Several);
            finding.message += " (only random executions showed this: tasks share memory that whippet does not see)";
            verdict.findings.push(finding);
        }
    }
    verdict.notes.push(format!("{} random executions beside the search", seen.counters.executions));
    Ok(verdict)
}

/// Fails the test without a verdict on it: misuse, or an operation that is not modelled.
#[track_caller]
fn no_verdict(recorder: &Recorder<'_>, failure: Failure) -> ! {
    let text = failure.text.clone();
    reply(recorder, &Reply { failure: Some(failure), ..Reply::default() });
    panic!("whippet: {text}");
}

/// Returns the failure without a verdict because of an error of the system or of the user.
fn because(error: impl std::fmt::Display) -> Failure {
    Failure::no_verdict(error.to_string(), None)
}

/// Replays one schedule. Fails if its execution has problems.
fn replay(recorder: &Recorder<'_>, program: &TaskProgram, file: &Path) {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| no_verdict(recorder, because(format!("cannot read {}: {error}", file.display()))));
    let schedule = Schedule::from_json(&text).unwrap_or_else(|error| no_verdict(recorder, because(error)));
    answer(recorder, &recorder.replay(program.as_in(&schedule), &schedule, options().limits.handler));
}

/// Tells `cargo whippet` about a test that is not explored, if it started this process. If it cannot be told, it knows the exit code.
pub(crate) fn tell(reply: &Reply) {
    if let Some(files) = &session().files {
        let _ = reply.write(&files.reply);
    }
}

/// Runs a future as the main task of a single execution on a runtime with one or several threads, and returns its output. Timers
/// fire only when no task can run.
#[track_caller]
pub fn main<F: Future>(several: bool, future: F) -> F::Output {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let ran = Reply { several_runs: RUNS.fetch_add(1, Ordering::Relaxed) > 0, ..one_order() };
    // Without it, the test is taken for one that does not use tokio.
    tell(&ran);
    struct Slot<T>(*mut T);
    // SAFETY: the only execution runs on the thread of this function, so the pointer does not leave it.
    unsafe impl<T> Send for Slot<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for Slot<T> {}
    impl<T> Slot<T> {
        fn get(&self) -> *mut T {
            self.0
        }
    }
    let mut future = Some(future);
    let mut output = None;
    let (from, to) = (Slot(&raw mut future), Slot(&raw mut output));
    let body = move || {
        let (from, to) = (from.get(), to.get());
        // SAFETY: the pointer is valid: there is one execution, and it ends before this function returns.
        let future = unsafe { (*from).take().expect("one execution has one main task") };
        let body: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
            let output = future.await;
            // SAFETY: as above.
            unsafe { *to = Some(output) }
        });
        // SAFETY: what the future borrows outlives the execution, which ends before this function returns.
        unsafe {
            std::mem::transmute::<Pin<Box<dyn Future<Output = ()> + '_>>, Pin<Box<dyn Future<Output = ()>>>>(body)
        }
    };
    let body: Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>> + Send + Sync + '_> = Box::new(body);
    // SAFETY: the borrows of the caller outlive the execution, which ends before this function returns.
    let body: Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>> + Send + Sync> = unsafe { std::mem::transmute(body) };
    // Threads that were started before may have something to do while a task sleeps.
    // The body cannot be called again.
    let settings = Settings { runs_once: true, ..settings(true, several) };
    let program = TaskProgram::new("main", settings, body).beside_threads();
    let problems = program.run_once(usize::MAX).unwrap_or_else(|error| {
        let error = SearchError::from(error);
        tell(&Reply { failure: Some((&error).into()), ..ran });
        panic!("whippet: {error}")
    });
    match output {
        Some(output) => output,
        None => {
            let texts: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
            panic!("{}", texts.join("\n"))
        }
    }
}
