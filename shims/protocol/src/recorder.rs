//! The side of a test process: answers `cargo whippet`, and records on the way what must not be lost.

use crate::{
    Beyond, Described, Failure, Files, JournalFile, Preliminary, Regressions, Reply, Reported, Rerun, STDERR, STDOUT,
    Searched, Session, TestKind, Unfolding,
};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use whippet_model::{Finding, FindingKind, Problem, Program, Schedule, Verdict};
use whippet_report::{Links, RunInfo, TraceFile, create_directory, html, html_of_verdict, quoted, write_file};
use whippet_search::{Journal, Observer, Options, Progress, Replayed, explain, lead_up, replay_within, unfold};

/// The largest number of workers whose steps are recorded.
const MOST_WORKERS: usize = 256;

/// The longest execution whose steps are recorded.
const MOST_STEPS: usize = 10_000;

/// Answers for one test, and observes its search.
#[derive(Debug)]
pub struct Recorder<'a> {
    session: &'a Session,
    /// The name of the program: in general that of the test.
    name: String,
    kind: TestKind,
    /// The name of the test, if it is another one.
    test: Option<String>,
    start: Instant,
    journal: Option<Arc<JournalFile>>,
    found: RefCell<Preliminary>,
}

impl<'a> Recorder<'a> {
    /// Begins a test: from now on, a process that ends without an answer is noticed. `workers` is the number of
    /// threads that share the search.
    #[must_use]
    pub fn start(session: &'a Session, name: &str, workers: usize) -> Recorder<'a> {
        let files = session.files.as_ref();
        if let Some(printed) = printed() {
            whippet_model::set_printed(printed);
        }
        // The first worker may have divided the search among others and still be there.
        let workers = workers.clamp(1, MOST_WORKERS) + 1;
        let journal = files.and_then(|files| JournalFile::create(&files.journal, &files.attempt, workers, MOST_STEPS));
        Recorder {
            session,
            name: name.into(),
            kind: TestKind::Tokio,
            test: None,
            start: Instant::now(),
            journal: journal.map(Arc::new),
            found: RefCell::default(),
        }
    }

    /// Declares that this is a program of native actors, run by the test of this name.
    #[must_use]
    pub fn native(mut self, test: &str) -> Recorder<'a> {
        self.kind = TestKind::Native;
        self.test = Some(test.to_string()).filter(|test| *test != self.name);
        self
    }

    /// Writes the answer for `cargo whippet`, if it started this process. An answer that cannot be written to its file
    /// is returned as a line for standard output.
    #[must_use = "print the line"]
    pub fn reply(&self, reply: &Reply) -> Option<String> {
        let files = self.session.files.as_ref()?;
        let reply = &Reply { kind: self.kind, ..reply.clone() };
        // A test may search several programs.
        let earlier = Reply::read(&files.reply).ok().flatten().filter(|_| self.kind == TestKind::Native);
        let reply = &earlier.map_or_else(|| reply.clone(), |earlier| earlier.followed_by(reply.clone()));
        let line = reply.write(&files.reply).is_err().then(|| reply.to_line());
        if let Some(journal) = &self.journal {
            journal.answered();
        }
        line
    }

    /// Saves the findings of a verdict and returns the answer. Its failure is the text of the failing test, with this
    /// advice if there is no verdict.
    #[must_use]
    pub fn verdict(&self, run: &RunInfo, verdict: &Verdict, partial_is_enough: bool, advice: &[String]) -> Reply {
        let (schedules, links, page) = self.save(verdict, 0, "");
        let mut text = whippet_report::failure(verdict, partial_is_enough, &links);
        if let Some(text) = text.as_mut().filter(|_| verdict.findings.is_empty()) {
            text.extend(advice.iter().map(|advice| format!("help: {advice}\n")));
        }
        let findings = verdict.findings.iter().zip(schedules);
        Reply {
            search: Some(Searched {
                executions: verdict.counters.executions,
                seconds: self.start.elapsed().as_secs_f64(),
                complete: verdict.complete,
                findings: verdict.findings.len(),
                transitions: verdict.counters.transitions,
                partial_is_enough,
                estimate: verdict.estimate.as_ref().map(whippet_report::guess),
            }),
            failure: text.map(|text| Failure { no_verdict: verdict.findings.is_empty(), reason: None, text }),
            findings: findings.map(|(finding, schedule)| reported(finding, schedule)).collect(),
            warnings: verdict.warnings.iter().map(|warning| reported(warning, None)).collect(),
            doubts: whippet_report::doubts(verdict),
            page,
            report: self.session.report.then(|| whippet_report::json(run, verdict)),
            ..Reply::default()
        }
    }

    /// Saves the findings of a verdict that need more threads than the test's runtime has, and returns them. `known` is
    /// the number of findings that fail the test.
    #[must_use]
    pub fn beyond(&self, verdict: &Verdict, known: usize) -> Option<Beyond> {
        if verdict.findings.is_empty() {
            return None;
        }
        let (schedules, links, _) = self.save(verdict, known, "-several-threads");
        let findings = verdict.findings.iter().zip(schedules);
        Some(Beyond {
            text: whippet_report::failure(verdict, true, &links).unwrap_or_default(),
            findings: findings.map(|(finding, schedule)| reported(finding, schedule)).collect(),
        })
    }

    /// Re-runs the kept schedules of this test, unless this is switched off. If one still fails, there is no need for
    /// a search, and an answer is returned, too.
    #[must_use]
    pub fn rerun<P: Program + Send + 'static>(
        &self,
        warnings: bool,
        limit: Duration,
        program: impl Fn(&Schedule) -> P,
    ) -> (Rerun, Option<Reply>) {
        let Some(kept) = Regressions::of_this_process(&self.session.settings, &self.name) else {
            return (Rerun::default(), None);
        };
        let replay = |schedule: &Schedule| replay_within(Arc::new(program(schedule)), schedule, limit);
        let rerun = kept.rerun(warnings, &replay, &|schedule| explain(Arc::new(program(schedule)), schedule));
        let reply = rerun.failing.as_ref().map(|verdict| {
            let run = RunInfo::new(&self.name, &Options::default());
            let mut reply = self.verdict(&run, verdict, false, &[]);
            reply.search = None;
            let last = rerun.regressions.last().expect("one fails");
            if let Some(failure) = &mut reply.failure {
                failure.text = format!("{last}\n{}", failure.text);
            }
            Reply { regressions: rerun.regressions.clone(), ..reply }
        });
        (rerun, reply)
    }

    /// Computes the unfolding of the test.
    #[must_use]
    pub fn unfold<P: Program + Send + 'static>(&self, program: P, options: &Options) -> Reply {
        match unfold(Arc::new(program), options) {
            Ok(unfolded) => {
                let unfolding = Unfolding { dot: unfolded.to_dot(), json: unfolded.to_json() };
                Reply { unfolding: Some(unfolding), ..Reply::default() }
            }
            Err(error) => no_verdict(&error.to_string()),
        }
    }

    /// Saves the schedules of the findings, numbered from `first`, and a page that shows them and the warnings, whose name
    /// has this ending. Returns the schedules, the links of the findings, and the page.
    fn save(
        &self,
        verdict: &Verdict,
        first: usize,
        ending: &str,
    ) -> (Vec<Option<PathBuf>>, Vec<Links>, Option<PathBuf>) {
        let Some(files) = &self.session.files else { return (vec![None; verdict.findings.len()], Vec::new(), None) };
        let saved = verdict.findings.iter().enumerate().map(|(k, finding)| self.save_one(files, first + k, finding));
        let (schedules, mut links): (Vec<Option<PathBuf>>, Vec<Links>) = saved.unzip();
        let wanted = self.session.settings.page(&files.schedules.join(format!("{}{ending}.html", files.stem)));
        let page = wanted.and_then(|wanted| {
            let page = html_of_verdict(&format!("Whippet: {}", self.name), verdict, &links)?;
            save_file(&wanted, &page).ok()
        });
        if let Some(first) = links.first_mut() {
            first.page = page.as_ref().map(|page| page.display().to_string());
        }
        (schedules, links, page)
    }

    fn save_one(&self, files: &Files, number: usize, finding: &Finding) -> (Option<PathBuf>, Links) {
        match save_file(&files.schedule(number), &self.named(&finding.schedule).to_json()) {
            Ok(file) => {
                let links = Links::replay(self.replay_command(&file));
                (Some(file), links)
            }
            Err(error) => (None, Links::replay(format!("the schedule could not be saved: {error}"))),
        }
    }

    /// Returns the schedule with the name of the test.
    fn named(&self, schedule: &Schedule) -> Schedule {
        schedule.clone().with_test(self.test.clone())
    }

    fn replay_command(&self, file: &Path) -> String {
        let options = &self.session.replay_options;
        let separator = if options.is_empty() { "" } else { " " };
        format!("cargo whippet replay {}{separator}{options}", quoted(&file.display().to_string()))
    }

    /// Replays a schedule. No step may take longer than `limit`. The answer has a failure if the execution has
    /// problems.
    #[must_use]
    pub fn replay<P: Program + Send + 'static>(&self, program: P, schedule: &Schedule, limit: Duration) -> Reply {
        if self.session.leave_out_last {
            return match lead_up(&program, schedule) {
                Ok((steps, actor)) => Reply { described: Some(described(schedule, &steps, actor)), ..Reply::default() },
                Err(error) => no_verdict(&error.to_string()),
            };
        }
        let program = Arc::new(program);
        match replay_within(program.clone(), schedule, limit) {
            Ok(replayed) => Reply { page: self.replayed_page(program, schedule, &replayed), ..shown(&replayed) },
            Err(error) => no_verdict(&error.to_string()),
        }
    }
}

impl Recorder<'_> {
    /// Writes the page of a replayed execution, if one was asked for.
    fn replayed_page<P: Program + Send + 'static>(
        &self,
        program: Arc<P>,
        schedule: &Schedule,
        replayed: &Replayed,
    ) -> Option<PathBuf> {
        self.session.settings.html.as_ref()?;
        let file = self.session.settings.page(Path::new(&format!("{}.html", self.name)))?;
        let traces = TraceFile::of_replay(schedule, &replayed.events, &replayed.problems);
        let decides = explain(program, schedule);
        let traces: Vec<TraceFile> = traces.into_iter().map(|file| file.with_decides(decides.as_ref())).collect();
        save_file(&file, &html(&format!("Whippet: {}", self.name), "", &traces)).ok()
    }
}

/// Returns a function that returns what this process has printed since its last call, if `cargo whippet` has redirected
/// standard output or standard error to a file in memory.
fn printed() -> Option<impl Fn() -> String + Send + Sync> {
    let streams = [(1, STDOUT), (2, STDERR)].map(|(number, name)| redirected(number, name));
    streams.iter().any(Option::is_some).then_some(())?;
    let read = Mutex::new([0; 2]);
    Some(move || {
        // What is not flushed appears in a later step.
        let _ = std::io::stdout().flush();
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for (stream, read) in streams.iter().zip(&mut *read) {
            let Some(stream) = stream else { continue };
            // Opened anew, because the position of the stream must not change.
            let opened = File::open(stream).and_then(|mut file| {
                file.seek(SeekFrom::Start(*read))?;
                file.read_to_end(&mut bytes)
            });
            *read += opened.unwrap_or(0) as u64;
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Returns the path of a stream of this process, if it is redirected to a file in memory of this name.
fn redirected(number: u8, name: &str) -> Option<PathBuf> {
    let stream = PathBuf::from(format!("/proc/self/fd/{number}"));
    let target = std::fs::read_link(&stream).ok()?;
    target.to_string_lossy().starts_with(&format!("/memfd:{name}")).then_some(stream)
}

/// Returns the answer that there is no verdict, for this reason.
fn no_verdict(reason: &str) -> Reply {
    Reply { failure: Some(Failure::no_verdict(reason, None)), ..Reply::default() }
}

/// Returns `true` if a replay of one schedule, in reasonable time, cannot show a finding of this kind.
fn has_no_execution(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::Limit | FindingKind::Unreached | FindingKind::Outcome)
}

fn reported(finding: &Finding, schedule: Option<PathBuf>) -> Reported {
    Reported {
        kind: finding.kind.to_string(),
        message: finding.message.clone(),
        place: finding.place.clone(),
        schedule,
        limit: has_no_execution(finding.kind),
        threads: finding.threads.map(|threads| threads.to_string()),
    }
}

fn reported_problem(problem: &Problem, schedule: Option<PathBuf>) -> Reported {
    Reported {
        kind: problem.kind.to_string(),
        message: problem.message.clone(),
        place: problem.place.clone(),
        schedule,
        limit: has_no_execution(problem.kind),
        threads: problem.threads.map(|threads| threads.to_string()),
    }
}

/// Returns the answer after a replay.
fn shown(replayed: &Replayed) -> Reply {
    let mut text = String::new();
    for problem in &replayed.problems {
        let place = problem.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        text += &format!("{}: {}{place}\n", problem.kind, problem.message);
    }
    text += &whippet_report::plain(&whippet_report::counterexample(&replayed.trace));
    Reply {
        failure: (!replayed.problems.is_empty()).then(|| Failure::found(text)),
        findings: replayed.problems.iter().map(|problem| reported_problem(problem, None)).collect(),
        ..Reply::default()
    }
}

/// Returns a schedule with the descriptions of its steps, except for the last one.
fn described(schedule: &Schedule, steps: &[whippet_model::StepDescription], actor: Option<String>) -> Described {
    let mut schedule = schedule.clone();
    for (decision, step) in schedule.decisions.iter_mut().zip(steps) {
        decision.text = format!("{} {}", step.actor, step.action);
    }
    Described {
        schedule: schedule.to_json(),
        steps: whippet_report::plain(&whippet_report::counterexample(steps)),
        before: steps.len(),
        actor,
    }
}

/// Writes a file, in a new directory if need be, or else one of the same name in the directory for temporary files.
/// Returns the one that was written.
fn save_file(file: &Path, text: &str) -> std::io::Result<PathBuf> {
    let directory = file.parent().filter(|above| !above.as_os_str().is_empty()).map_or(Ok(()), create_directory);
    let Err(error) = directory.and_then(|()| write_file(file, text)) else { return Ok(file.into()) };
    let other = std::env::temp_dir().join(file.file_name().unwrap_or_default());
    write_file(&other, text).map(|()| other).map_err(|_| error)
}

impl Observer for Recorder<'_> {
    fn progress(&self, progress: &Progress) {
        let Some(files) = &self.session.files else { return };
        let progress = crate::Progress {
            executions: progress.counters.executions,
            seconds: progress.elapsed.as_secs_f64(),
            depth: progress.depth,
            estimate: progress.estimate.as_ref().map(whippet_report::guess),
        };
        // Errors are ignored: the progress line is optional.
        let _ = progress.write(&files.progress);
    }

    fn interrupted(&self) -> bool {
        if self.session.parent.is_some_and(is_orphan) {
            // No process waits for an answer. The findings so far are on disk.
            std::process::exit(2);
        }
        self.session.files.as_ref().is_some_and(|files| files.stop.exists())
    }

    fn found(&self, found: &whippet_search::Preliminary) {
        let Some(files) = &self.session.files else { return };
        let mut known = self.found.borrow_mut();
        let schedule = save_file(&files.schedule(known.findings.len()), &self.named(&found.schedule).to_json()).ok();
        known.findings.push(reported_problem(&found.problem, schedule));
        // Without this, the finding appears when the search ends.
        let _ = known.write(&files.found);
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        self.journal.clone().map(|journal| journal as Arc<dyn Journal>)
    }
}

/// Returns `true` if this process is no longer a child of `parent`.
#[cfg(unix)]
fn is_orphan(parent: u32) -> bool {
    std::os::unix::process::parent_id() != parent
}

#[cfg(not(unix))]
fn is_orphan(_: u32) -> bool {
    false
}
