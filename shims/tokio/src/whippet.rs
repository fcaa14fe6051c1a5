//! Entry points of tests into the search, and the functions and types that the macros expand to.
//!
//! Settings come from environment variables, which `cargo whippet` sets:
//!
//! - `WHIPPET_REDUCTION`, `WHIPPET_LIMIT_EXECUTIONS`, `WHIPPET_LIMIT_SECONDS`, `WHIPPET_LIMIT_STEPS`, `WHIPPET_JOBS`,
//!   `WHIPPET_FIRST_BUG`: options of the search ([`Options`]);
//! - `WHIPPET_TIMERS`, `WHIPPET_LEFT_BEHIND`, `WHIPPET_UNTAKEN`, `WHIPPET_DEEP`, `WHIPPET_NO_MERGE`: settings of the
//!   program ([`Settings`]; the last one sets `every_event`);
//! - `WHIPPET_ONCE`: runs a single execution, with the tasks in turn, instead of searching;
//! - `WHIPPET_BESIDE`: the number of random executions in addition to the search, for shared memory that the shim does
//!   not observe;
//! - `WHIPPET_REPORT`: the file for the JSON report;
//! - `WHIPPET_FAILURE`: the file for the text of a failure;
//! - `WHIPPET_PROGRESS`: the file for a line about the progress of the search;
//! - `WHIPPET_STOP`: a file that ends the search as soon as it exists;
//! - `WHIPPET_SCHEDULES`: the directory for the schedules of findings;
//! - `WHIPPET_OPTIONS`: the options to append to the replay commands that are shown;
//! - `WHIPPET_REPLAY`: the file with a schedule to replay instead of searching.

use std::cell::Cell;
use std::future::Future;
use std::panic::Location;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use whippet_model::{Schedule, Verdict};
use whippet_runtime::{Around, Composite, InBranch, Inside, Place, Round, Settings, Tasks};
use whippet_search::{Observer, Options, Progress, Reduction, SearchError};

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

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("whippet: {name}={text} is not understood")))
}

fn settings(paused: bool) -> Settings {
    let mut settings = Settings { paused, ..Settings::default() };
    settings.timers = variable("WHIPPET_TIMERS").unwrap_or(settings.timers);
    let is_set = |name| std::env::var_os(name).is_some();
    settings.left_behind = is_set("WHIPPET_LEFT_BEHIND");
    settings.untaken = is_set("WHIPPET_UNTAKEN");
    settings.deep = is_set("WHIPPET_DEEP");
    settings.every_event = is_set("WHIPPET_NO_MERGE");
    settings
}

fn options() -> Options {
    let mut options = Options::default();
    if let Some(text) = variable::<String>("WHIPPET_REDUCTION") {
        options.reduction = text.parse::<Reduction>().unwrap_or_else(|error| panic!("whippet: {error}"));
    }
    options.limits.executions = variable("WHIPPET_LIMIT_EXECUTIONS");
    options.limits.time = variable("WHIPPET_LIMIT_SECONDS").map(Duration::from_secs_f64);
    options.limits.steps = variable("WHIPPET_LIMIT_STEPS").unwrap_or(options.limits.steps);
    options.jobs = variable("WHIPPET_JOBS").unwrap_or(1);
    options.first_bug = std::env::var_os("WHIPPET_FIRST_BUG").is_some();
    options
}

/// Explores a test. Panics with the counterexamples of its findings.
#[track_caller]
pub fn test<F: Future<Output = ()> + 'static>(path: &str, paused: bool, body: impl Fn() -> F + Send + Sync + 'static) {
    // The test harness names tests without their crate.
    let name = path.split_once("::").map_or(path, |(_, name)| name).to_string();
    // With a single execution, timers that fire early are of no use: pause the clock.
    let only_once = std::env::var_os("WHIPPET_ONCE").is_some();
    let program = Tasks::new(name.clone(), settings(paused || only_once), body);
    if let Some(file) = std::env::var_os("WHIPPET_REPLAY") {
        return replay(&program, &file);
    }
    if only_once {
        return once(&program);
    }
    let options = options();
    let meter = whippet_report::Meter::start();
    let watcher = Watcher::new();
    let explored = program.explore(&options, &watcher);
    let explored = explored.and_then(|verdict| beside(&program, &options, &watcher, verdict));
    let mut verdict = explored.unwrap_or_else(|error| fail(&format!("whippet: {error}")));
    // The algorithm chosen for a reduction is of no interest in the result of a test.
    verdict.notes.retain(|note| !note.starts_with("optimal: "));
    let mut run = whippet_report::Run::new(name.clone(), &options);
    run.usage = meter.read();
    if let Some(file) = std::env::var_os("WHIPPET_REPORT") {
        std::fs::write(&file, whippet_report::json_text(&run, &verdict))
            .unwrap_or_else(|error| panic!("whippet: cannot write {}: {error}", file.display()));
    }
    let mut replays = Vec::new();
    let with = std::env::var("WHIPPET_OPTIONS").unwrap_or_default();
    if let Some(directory) = std::env::var_os("WHIPPET_SCHEDULES") {
        for (k, finding) in verdict.findings.iter().enumerate() {
            let file = std::path::Path::new(&directory).join(format!("{}-{}.json", name.replace("::", "-"), k + 1));
            if std::fs::write(&file, finding.schedule.to_json()).is_ok() {
                replays.push(format!("cargo whippet replay {}{with}", file.display()));
            }
        }
    }
    if let Some(text) = whippet_report::failure(&verdict, false, &replays) {
        fail(&text);
    }
}

/// The default step limit of a single execution. It is higher than the limit of the many executions of a search.
const ONCE_STEPS: usize = 1_000_000;

/// Runs a single execution of a test, with the tasks in turn.
fn once(program: &Tasks) {
    note_one_order();
    match program.run_once(variable("WHIPPET_LIMIT_STEPS").unwrap_or(ONCE_STEPS)) {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => {
            let texts: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.kind, p.message)).collect();
            fail(&texts.join("\n"));
        }
        Err(error) => fail(&format!("whippet: {error}")),
    }
}

/// Writes a report that says that only one order was run, so that the result is not taken for an exploration.
fn note_one_order() {
    if let Some(file) = std::env::var_os("WHIPPET_REPORT") {
        // Errors are ignored: the report only changes a word in the output line of the test.
        let _ = std::fs::write(file, "{\"one_order\": true}\n");
    }
}

/// An observer that reports the progress of a search to `cargo whippet` and stops the search on request.
struct Watcher {
    progress: Option<PathBuf>,
    stop: Option<PathBuf>,
}

impl Watcher {
    fn new() -> Watcher {
        let file = |name| std::env::var_os(name).map(PathBuf::from);
        Watcher { progress: file("WHIPPET_PROGRESS"), stop: file("WHIPPET_STOP") }
    }
}

impl Observer for Watcher {
    fn progress(&self, progress: &Progress) {
        let Some(file) = &self.progress else { return };
        let executions = progress.counters.executions;
        let rate = executions as f64 / progress.elapsed.as_secs_f64();
        let (executions, rate) = (whippet_report::grouped(executions), whippet_report::grouped(rate as u64));
        let mut text = format!("{executions} executions · {rate}/s · depth {}", progress.depth);
        if let Some(estimate) = &progress.estimate {
            text += &format!(" · {} in all", whippet_report::guess(estimate));
        }
        // Errors are ignored: the progress line is optional.
        let _ = std::fs::write(file, text);
    }

    fn interrupted(&self) -> bool {
        self.stop.as_ref().is_some_and(|file| file.exists())
    }
}

/// Runs random executions in addition to a search, if `WHIPPET_BESIDE` is set, and adds their findings to `verdict`.
///
/// The search treats orders as equivalent that differ only in accesses to memory that the shim does not observe. Random
/// executions may reveal bugs in the orders that it skipped for this reason.
fn beside(program: &Tasks, options: &Options, watcher: &Watcher, mut verdict: Verdict) -> Result<Verdict, SearchError> {
    let Some(samples) = variable("WHIPPET_BESIDE").filter(|&samples| samples > 0) else { return Ok(verdict) };
    if options.first_bug && !verdict.findings.is_empty() {
        return Ok(verdict);
    }
    let random = Options { reduction: Reduction::Random, samples, ..options.clone() };
    // Random executions use a separate step for every event, so that they can interleave at all of them.
    let seen = program.with_every_event().explore(&random, watcher)?;
    for mut finding in seen.findings {
        if !verdict.findings.iter().any(|known| (known.kind, known.key) == (finding.kind, finding.key)) {
            finding.message += " (only random executions showed this: tasks share memory that whippet does not see)";
            verdict.findings.push(finding);
        }
    }
    verdict.notes.push(format!("{} random executions beside the search", seen.counters.executions));
    Ok(verdict)
}

/// Fails the test with `text`, which is also written to the file that `cargo whippet` reads.
#[track_caller]
fn fail(text: &str) -> ! {
    if let Some(file) = std::env::var_os("WHIPPET_FAILURE") {
        // Errors are ignored: the panic message contains the same text.
        let _ = std::fs::write(file, text);
    }
    panic!("{text}");
}

/// Replays one schedule. Fails if its execution has problems.
fn replay(program: &Tasks, file: &std::ffi::OsStr) {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("whippet: cannot read {}: {error}", file.display()));
    let schedule = Schedule::from_json(&text).unwrap_or_else(|error| fail(&format!("whippet: {error}")));
    let replayed = whippet_search::replay(&program.as_in(&schedule), &schedule)
        .unwrap_or_else(|error| fail(&format!("whippet: {error}")));
    let mut story = whippet_report::plain(&whippet_report::story(&replayed.story));
    for problem in &replayed.problems {
        let place = problem.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        story += &format!("{}: {}{place}\n", problem.kind, problem.message);
    }
    if !replayed.problems.is_empty() {
        fail(&story);
    }
}

/// Runs a future as the main task of a single execution and returns its output. Timers fire only when no task can run.
#[track_caller]
pub fn main<F: Future>(future: F) -> F::Output {
    note_one_order();
    struct Slot<T>(*mut T);
    unsafe impl<T> Send for Slot<T> {}
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
        // The pointers are valid: there is one execution, and it ends before this function returns.
        let future = unsafe { (*from).take().expect("one execution has one main task") };
        let body: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move { unsafe { *to = Some(future.await) } });
        unsafe {
            std::mem::transmute::<Pin<Box<dyn Future<Output = ()> + '_>>, Pin<Box<dyn Future<Output = ()>>>>(body)
        }
    };
    // The borrows of the caller outlive the execution, which ends before this function returns.
    let body: Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>> + Send + Sync + '_> = Box::new(body);
    let body: Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>> + Send + Sync> = unsafe { std::mem::transmute(body) };
    let program = Tasks::new("main", settings(true), body);
    let problems = program.run_once(usize::MAX).unwrap_or_else(|error| panic!("whippet: {error}"));
    match output {
        Some(output) => output,
        None => {
            let texts: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
            panic!("{}", texts.join("\n"))
        }
    }
}

/// The state of a `select!` that polls its branches.
pub struct Selecting {
    place: Place,
    /// The number of the `select!`, if it is unbiased.
    select: Option<u32>,
    /// `true` if a branch has effects as soon as it is polled. Then a ready branch prevents the polls of later ones.
    acts: bool,
    /// The branch that is polled first.
    start: usize,
    branches: usize,
    polls: usize,
    round: Round,
}

impl Selecting {
    #[track_caller]
    pub fn new(biased: bool, branches: usize) -> Selecting {
        let place = Location::caller();
        // If a branch has effects as soon as it is polled, the branches polled before it make a difference.
        let acts = whippet_runtime::begins(place, !biased);
        let start = if biased || !acts { 0 } else { whippet_runtime::choose(branches as u32) as usize };
        let select = (!biased).then(whippet_runtime::new_select);
        Selecting { place, select, acts, start, branches, polls: 0, round: Round::default() }
    }

    /// Returns the branch to poll in position `turn`.
    #[inline]
    pub fn branch(&mut self, turn: usize) -> usize {
        if turn == 0 {
            self.polls += 1;
            self.round.begin();
        }
        self.whose(turn)
    }

    #[inline]
    fn whose(&self, turn: usize) -> usize {
        let at = self.start + turn;
        if at < self.branches { at } else { at - self.branches }
    }

    pub fn poll<F: Future>(&mut self, turn: usize, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let last = turn + 1 == self.branches;
        let begins = self.polls == 1;
        let around = begins.then(|| Around::enter(self.place, self.select.is_some()));
        let _strict = (begins && self.acts && !last).then(Composite::enter);
        let _branch = self.select.map(|select| InBranch::enter(select, self.whose(turn) as u32));
        let _inside = Inside::enter();
        let answer = future.poll(cx);
        self.round.branch();
        if answer.is_ready() {
            self.round.end(false);
            if let Some(around) = around {
                around.done();
            }
        }
        answer
    }

    /// Records that all branches were polled and are pending.
    pub fn waits(&mut self) {
        self.round.end(true);
    }
}

/// The state of a `join!` that polls its futures.
pub struct Joining {
    place: Place,
    acts: bool,
    begins: Cell<bool>,
}

impl Joining {
    #[track_caller]
    pub fn new() -> Joining {
        let place = Location::caller();
        Joining { place, acts: whippet_runtime::begins(place, false), begins: Cell::new(true) }
    }

    pub fn poll<F: Future>(&self, last: bool, future: Pin<&mut Joined<F>>, cx: &mut Context<'_>) -> Poll<()> {
        let begins = self.begins.get();
        self.begins.set(begins && !last);
        let _around = begins.then(|| Around::enter(self.place, false));
        let _strict = (begins && self.acts && !last).then(Composite::enter);
        let _inside = Inside::enter();
        poll_joined(future, cx)
    }
}

impl Default for Joining {
    #[track_caller]
    fn default() -> Joining {
        Joining::new()
    }
}

/// A future of a `join!` and its result.
pub enum Joined<F: Future> {
    Waiting(F),
    Done(F::Output),
    Taken,
}

impl<F: Future> Joined<F> {
    pub fn new(future: impl std::future::IntoFuture<IntoFuture = F, Output = F::Output>) -> Joined<F> {
        Joined::Waiting(future.into_future())
    }

    pub fn take(self: Pin<&mut Self>) -> Option<F::Output> {
        // SAFETY: results are not pinned. The macros call this only when the future is done.
        match std::mem::replace(unsafe { self.get_unchecked_mut() }, Joined::Taken) {
            Joined::Done(output) => Some(output),
            _ => None,
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> Joined<F> {
    pub fn take_error(self: Pin<&mut Self>) -> Option<E> {
        if !matches!(&*self, Joined::Done(Err(_))) {
            return None;
        }
        self.take().and_then(Result::err)
    }
}

fn poll_joined<F: Future>(future: Pin<&mut Joined<F>>, cx: &mut Context<'_>) -> Poll<()> {
    // SAFETY: the future is not moved, and it is dropped in place.
    let this = unsafe { future.get_unchecked_mut() };
    let Joined::Waiting(waiting) = this else { return Poll::Ready(()) };
    unsafe { Pin::new_unchecked(waiting) }.poll(cx).map(|output| *this = Joined::Done(output))
}
