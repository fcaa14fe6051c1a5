//! Checks a program in a test: explores it, and fails with a counterexample and the command that replays it.

use crate::checker::Checker;
use crate::errors::{CheckError, CheckFailure};
use crate::prebuilt::explore as search;
use crate::replay::Names;
use crate::session::{session, test_name};
use crate::{determinism, regressions, replay, serve};
use std::path::PathBuf;
use std::sync::Arc;
use whippet_actors::{ActorProgram, System, TestOutcome};
use whippet_model::{MachineError, Verdict};
use whippet_protocol::{Failure, Recorder, RegressionState, Reply, Searched, Session, Work};
use whippet_report::{Advised, RunInfo, failure, passing, wide_checks};
use whippet_search::{Observer, Reduction, SearchError};

/// Explores every order of the messages of `body`, and panics with a counterexample if a problem is found.
///
/// The test has the name of the running `#[test]`. For settings see [`Checker`].
///
/// ```
/// use whippet::prelude::*;
/// #[derive(Clone, Debug)]
/// struct Sum(u32);
/// impl Actor for Sum {
///     type Msg = u32;
///     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
///         self.0 += n;
///     }
/// }
/// whippet::check(|sys| {
///     let sum = sys.spawn(Sum(0));
///     for n in 1..=3 {
///         sys.send(sum, n);
///     }
///     sys.at_end(sum, |sum| assert_eq!(sum.0, 6));
/// });
/// ```
#[track_caller]
pub fn check<R: TestOutcome>(body: impl Fn(&mut System) -> R + Send + Sync + 'static) {
    Checker::of_this_test(&body).check(body);
}

/// Explores every order of the messages of `body` and returns the verdict as a value: the findings, if any, and the
/// number of executions.
///
/// For settings see [`Checker::explore`].
///
/// ```
/// use whippet::{FindingKind, prelude::*};
/// let verdict = whippet::explore(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(reader, 1);
///     sys.send(reader, 2);
/// })?;
/// assert_eq!(verdict.counters.executions, 2);
/// assert_eq!(verdict.findings[0].kind, FindingKind::Assertion);
/// # Ok::<(), whippet::CheckError>(())
/// ```
pub fn explore<R: TestOutcome>(body: impl Fn(&mut System) -> R + Send + Sync + 'static) -> Result<Verdict, CheckError> {
    Checker::of_this_test(&body).explore(body)
}

impl Checker {
    fn run(&self, program: ActorProgram, observer: &dyn Observer) -> Result<Verdict, CheckError> {
        let program = Arc::new(program);
        let result = search(program.clone(), &self.options, observer);
        let doubtful = match &result {
            Ok(verdict) => verdict.findings.is_empty(),
            Err(error) => matches!(error, SearchError::Program(MachineError::Nondeterministic(_))),
        };
        if self.determinism && doubtful {
            determinism::test(program, self.options.limits.handler)?;
        }
        Ok(result?)
    }

    /// Explores the program and returns the verdict as a value.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let verdict = Checker::new("first come").explore(|sys| {
    ///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(reader, 1);
    ///     sys.send(reader, 2);
    /// }).unwrap();
    /// assert_eq!((verdict.counters.executions, verdict.findings.len()), (2, 1));
    /// ```
    pub fn explore<R: TestOutcome>(
        &self,
        body: impl Fn(&mut System) -> R + Send + Sync + 'static,
    ) -> Result<Verdict, CheckError> {
        let checker = self.with_settings(&session()?.settings)?;
        checker.run(self.program(body), &())
    }

    /// Explores the program, and panics with a counterexample and the command that replays it if a problem is found.
    ///
    /// If the environment variable `WHIPPET_REPLAY` names a schedule of this test, only that schedule is executed, in
    /// one thread, so that a debugger can follow. If `WHIPPET_SERVE` is set, the test opens a page on which a person
    /// walks through the program instead (see `docs/explorer.md`), and runs until it is interrupted.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// Checker::new("any sum").check(|sys| {
    ///     let adder = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
    ///         let sum = inbox.receive().await + inbox.receive().await;
    ///         assert_eq!(sum, 3);
    ///     });
    ///     sys.send(adder, 1);
    ///     sys.send(adder, 2);
    /// });
    /// ```
    #[track_caller]
    pub fn check<R: TestOutcome>(&self, body: impl Fn(&mut System) -> R + Send + Sync + 'static) {
        match self.result(body, true) {
            Ok(said) => say(&said),
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Like [`check`](Checker::check), but returns the failure instead of panicking, and keeps no schedule of it.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let result = Checker::new("one").limit_executions(1).try_check(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     sys.send(sink, 1);
    ///     sys.send(sink, 2);
    /// });
    /// assert!(result.unwrap_err().to_string().starts_with("no verdict"));
    /// ```
    pub fn try_check<R: TestOutcome>(
        &self,
        body: impl Fn(&mut System) -> R + Send + Sync + 'static,
    ) -> Result<(), CheckFailure> {
        self.result(body, false).map(|said| say(&said))
    }

    /// Explores or replays the program. Returns the lines about a test that passes. `panics` is `true` if a failure
    /// fails the test.
    fn result<B, R>(&self, body: B, panics: bool) -> Result<String, CheckFailure>
    where
        B: Fn(&mut System) -> R + Send + Sync + 'static,
        R: TestOutcome,
    {
        let session = session()?;
        crate::logging::install();
        let checker = self.with_settings(&session.settings)?;
        let test = test_name::<B>().unwrap_or_else(|| self.name.clone());
        let program = self.program(body);
        let recorder = Recorder::start(session, &self.name, checker.options.jobs).native(&test);
        let result = checker.work(&program, session, &recorder, &test, panics && self.regressions);
        let reply = match &result {
            Ok((reply, _)) => reply.clone(),
            Err(error) => Reply { failure: Some(failure_of(error)), ..Reply::default() },
        };
        let reply = if panics { reply } else { without_failure(reply) };
        if let Some(line) = recorder.reply(&reply) {
            // If standard output is closed as well, there is no way to report.
            let _ = std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes());
        }
        let (reply, said) = result?;
        match reply.failure {
            Some(failure) => {
                let kept = reply.regressions.iter().filter(|kept| kept.state != RegressionState::Fails);
                let kept: String = kept.map(|kept| format!("regression {kept}\n")).collect();
                Err(CheckFailure { message: failure.text + &kept })
            }
            None => Ok(said),
        }
    }

    /// Does the work of this process. Returns the answer, and the lines about a test that passes.
    fn work(
        &self,
        program: &ActorProgram,
        session: &Session,
        recorder: &Recorder<'_>,
        test: &str,
        regressions: bool,
    ) -> Result<(Reply, String), CheckError> {
        let (name, limit) = (&self.name, self.options.limits.handler);
        if let Some(file) = &session.replay {
            match replay::read(file, name)? {
                Some(schedule) => return Ok((recorder.replay(program.clone(), &schedule, limit), String::new())),
                // Another program of the test is replayed.
                None if session.files.is_some() => return Ok((Reply::default(), String::new())),
                // A test that has nothing to do with the schedule must not pass without a search.
                None => {}
            }
        }
        match session.work {
            Work::Search => {}
            Work::Unfold => return Ok((recorder.unfold(program.clone(), &self.options), String::new())),
            Work::Serve { port } => {
                return serve::serve(program.clone(), &self.options, port).map(|never| match never {});
            }
        }
        let warnings = self.options.undeliverable_is_error;
        let (rerun, still_fails) = match regressions && !session.settings.once {
            true => recorder.rerun(warnings, limit, |_| program.clone()),
            false => Default::default(),
        };
        let mut notes: String = rerun.regressions.iter().map(|kept| format!("whippet: regression {kept}\n")).collect();
        if let Some(mut reply) = still_fails {
            if session.files.is_none() {
                let failing = rerun.failing.as_ref().expect("it was just found");
                let names = Names { program: name, test };
                let (links, _) = replay::save(names, &session.settings, failing);
                let text = failure(failing, false, &links).unwrap_or_default();
                let text = format!("{}\n{text}", rerun.regressions.last().expect("one fails"));
                reply.failure = Some(Failure::found(text));
            }
            return Ok((reply, notes));
        }
        let verdict = self.run(program.clone(), recorder)?;
        let mut run = RunInfo::new(name, &self.options);
        run.delivery = Some(self.delivery.to_string());
        let advice = self.advice(&run, program, &verdict);
        let mut reply = recorder.verdict(&run, &verdict, self.partial, &advice);
        if session.files.is_none() {
            let names = Names { program: name, test };
            (reply.failure, reply.page) = self.failure(session, names, &verdict, &advice, regressions);
        }
        notes += &format!("whippet: {name}: {}\n", passing(&verdict));
        let warnings = verdict.warnings.iter().map(whippet_report::headline).chain(reply.doubts.iter().cloned());
        notes.extend(warnings.map(|warning| format!("warning: {warning}\n")));
        notes.extend(reply.page.iter().map(|page| format!("look at it: {}\n", page.display())));
        notes.extend(verdict.notes.iter().map(|note| format!("note: {note}\n")));
        let one_order = session.settings.once;
        Ok((Reply { regressions: rerun.regressions, one_order, ..reply }, notes))
    }

    /// Returns advice on a search that did not end.
    fn advice(&self, run: &RunInfo, program: &ActorProgram, verdict: &Verdict) -> Vec<String> {
        let mut advice = whippet_report::advice(run, verdict, Advised::ActorTest);
        if !advice.is_empty() && self.options.reduction != Reduction::Stateful {
            advice.splice(0..0, wide_checks(&program.wide_checks(), Advised::ActorTest));
        }
        advice
    }

    /// Returns the failure of a test that `cargo whippet` did not start, and the page of its findings and warnings.
    fn failure(
        &self,
        session: &Session,
        names: Names<'_>,
        verdict: &Verdict,
        advice: &[String],
        regressions: bool,
    ) -> (Option<Failure>, Option<PathBuf>) {
        let (links, page) = replay::save(names, &session.settings, verdict);
        let page = page.map(PathBuf::from);
        let Some(mut text) = failure(verdict, self.partial, &links) else { return (None, page) };
        let no_verdict = verdict.findings.is_empty();
        if no_verdict {
            text.extend(advice.iter().map(|advice| format!("help: {advice}\n")));
        } else if regressions && !session.settings.once {
            text += &regressions::keep(session, names, verdict);
        }
        (Some(Failure { no_verdict, reason: None, text }), page)
    }
}

/// Returns the answer about a program whose failure is a value, so that it does not decide about the test.
fn without_failure(reply: Reply) -> Reply {
    let search = reply.search.map(|search| Searched { partial_is_enough: true, ..search });
    Reply { failure: None, search, ..reply }
}

/// Prints the lines about a test that passes. Test runners show them with `--nocapture`.
#[expect(clippy::print_stdout, reason = "the test runner captures only what is printed so")]
fn say(lines: &str) {
    print!("{lines}");
}

/// Returns the failure of a test on which there is no verdict because of this error.
fn failure_of(error: &CheckError) -> Failure {
    match error {
        CheckError::Search(error) => Failure::from(error),
        other => Failure::no_verdict(other.to_string(), None),
    }
}
