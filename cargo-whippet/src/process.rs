//! Runs one test in its own process.
//!
//! The process gets its settings, and answers, through the messages of [`whippet_protocol`]. If it ends without an
//! answer, [`crate::crash`] finds out which steps led there; [`crate::confirm`] replays its findings.

use crate::build::Binary;
use crate::idle::Idle;
use crate::{crash, running};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use whippet_model::Schedule;
use whippet_protocol::{
    Files, OFF, Preliminary, Progress, Reason, Recorded, RegressionState, Regressions, Reply, Reported, SESSION,
    Session,
};
use whippet_report::{Exit, grouped};

/// The time that a test process gets in addition to its limit before it is killed.
const GRACE: Duration = Duration::from_secs(30);

/// The longest time that a replay may take before its process is killed.
const REPLAY: Duration = Duration::from_secs(60);

/// The duration of a search from which on its findings are told while it goes on.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of findings of a test whose schedules are kept.
const MOST_KEPT: usize = 3;

/// The directories through which test processes report.
pub(crate) struct Place {
    directory: PathBuf,
    schedules: PathBuf,
    /// The names of the tests by the stems of their files.
    names: Mutex<BTreeMap<String, String>>,
    /// The number of replays so far.
    replays: AtomicU64,
}

impl Place {
    /// Creates the directories below `home`, Whippet's own directory. The one for replies is removed after this run.
    pub(crate) fn new(home: &Path) -> Result<Place, String> {
        remove_left_over(home);
        let name = format!("run-{}", std::process::id());
        let create = |directory: PathBuf| {
            fs::create_dir_all(&directory)
                .map_err(|error| format!("cannot create {}: {error}", directory.display()))
                .map(|()| directory)
        };
        // Answers are small and short-lived: if the target directory takes none, temporary files do.
        let directory = create(home.join(&name))
            .or_else(|error| create(std::env::temp_dir().join(format!("whippet-{name}"))).map_err(|_| error))?;
        let schedules = create(home.join("schedules")).unwrap_or_else(|_| std::env::temp_dir());
        Ok(Place { directory, schedules, names: Mutex::default(), replays: AtomicU64::new(0) })
    }

    fn files(&self, process: &Process<'_>) -> Files {
        let stem = process.stem();
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(stem.clone(), process.name.clone());
        Files::in_directories(&self.directory, &self.schedules, &stem)
    }

    /// Returns files for a replay, which do not interfere with those of a search.
    fn files_of_replay(&self) -> Files {
        let number = self.replays.fetch_add(1, Ordering::Relaxed);
        Files::in_directories(&self.directory, &self.directory, &format!("replay-{number}"))
    }

    /// Returns the progress of each running test: its name and a short text.
    pub(crate) fn progress(&self) -> Vec<(String, String)> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<(String, String)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = names.get(entry.file_name().to_str()?.strip_suffix(".progress")?)?.clone();
                Some((name, describe(&Progress::read(&entry.path())?)))
            })
            .collect();
        found.sort();
        found
    }

    /// Asks all test processes to stop.
    pub(crate) fn stop(directory: &Path) {
        // If this fails, they are killed after a while.
        let _ = fs::write(directory.join("stop"), "");
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Removes the directories of runs that were killed.
fn remove_left_over(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix("run-")).and_then(|id| id.parse().ok());
        if id.is_some_and(|id| !running::is_alive(id)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn describe(progress: &Progress) -> String {
    let rate = progress.executions as f64 / progress.seconds;
    let (executions, rate) = (grouped(progress.executions), grouped(rate as u64));
    let mut text = format!("{executions} executions · {rate}/s · depth {}", progress.depth);
    if let Some(estimate) = &progress.estimate {
        text += &format!(" · {estimate} in all");
    }
    text
}

/// A test to run.
pub(crate) struct Process<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) name: String,
    /// `true` if the test's own output is shown.
    pub(crate) show: bool,
    /// `true` if the test runs although it is marked `#[ignore]`.
    pub(crate) ignored: bool,
    /// `true` if the whole report of the search is wanted.
    pub(crate) report: bool,
}

/// The work of a test process.
#[derive(Clone, Copy)]
pub(crate) enum Work<'a> {
    Search,
    /// Computes the unfolding.
    Unfold,
    /// Opens the explorer on this port.
    Serve(u16),
    /// Replays a schedule.
    Replay(&'a Path),
    /// Describes the steps of a schedule, except the last one.
    Describe(&'a Path),
}

/// The result of a test process.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// `None` if the test is ignored.
    pub(crate) exit: Option<Exit>,
    /// The description of a failure.
    pub(crate) text: String,
    pub(crate) executions: Option<u64>,
    pub(crate) seconds: f64,
    /// `true` if every order was explored.
    pub(crate) complete: bool,
    /// `true` if the test ran a future without exploring it.
    pub(crate) one_order: bool,
    /// `true` if the test has ended by itself and used no runtime.
    pub(crate) is_plain: bool,
    /// The reason why there is no verdict, if it is one that hooks may remove.
    pub(crate) reason: Option<Reason>,
    /// The findings.
    pub(crate) findings: Vec<Reported>,
    /// The answer of the process. The findings above are the confirmed ones among its findings.
    pub(crate) reply: Reply,
}

impl Ended {
    pub(crate) fn no_verdict(text: String) -> Ended {
        Ended { exit: Some(Exit::NoVerdict), text, ..Ended::default() }
    }
}

/// All that is known of a test process that has ended.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    /// Standard output, without the line that has the reply.
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) reply: Option<Reply>,
    pub(crate) journal: Recorded,
    pub(crate) files: Files,
    /// The reason for which it was killed.
    pub(crate) killed: Option<String>,
    /// `true` if it was killed because it was blocked.
    pub(crate) is_blocked: bool,
}

impl Outcome {
    /// Returns `true` if the test ended by itself: the test harness has printed its result.
    fn has_result(&self) -> bool {
        self.stdout.contains("test result: ")
    }

    /// Returns `true` if something ended the process before the test ended.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.killed.is_some() || self.reply.is_none() && self.journal.unanswered || !self.has_result()
    }
}

impl Process<'_> {
    /// Returns the beginning of the names of this test's files: package, target and test.
    fn stem(&self) -> String {
        let plain: String = self
            .name
            .replace("::", "-")
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '~' })
            .collect();
        // Names that differ only in other signs stay different.
        let number = plain.contains('~').then(|| crate::sources::hash_of(&self.name));
        let number = number.map_or_else(String::new, |number| format!("-{number:08x}"));
        format!("{}.{}.{plain}{number}", self.binary.package_name, self.binary.target)
    }

    /// Returns the command that runs only this test.
    pub(crate) fn command(&self, work: Work<'_>, files: Option<Files>) -> Command {
        let mut command = Command::new(&self.binary.file);
        command.args([&self.name, "--exact", "--nocapture", "--test-threads=1"]);
        if self.ignored {
            command.arg("--include-ignored");
        }
        command.current_dir(&self.binary.directory).env("CARGO_MANIFEST_DIR", &self.binary.directory);
        let replay = match work {
            Work::Search | Work::Unfold | Work::Serve(_) => None,
            Work::Replay(file) | Work::Describe(file) => Some(file.to_path_buf()),
        };
        let session = Session {
            settings: self.binary.search.settings(),
            work: match work {
                Work::Unfold => whippet_protocol::Work::Unfold,
                Work::Serve(port) => whippet_protocol::Work::Serve { port },
                _ => whippet_protocol::Work::Search,
            },
            report: self.report,
            replay,
            leave_out_last: matches!(work, Work::Describe(_)),
            // Under a debugger the parent is another process.
            parent: files.is_some().then(std::process::id),
            files,
            replay_options: self.binary.options.clone(),
        };
        command.env(SESSION, session.to_text());
        command
    }

    /// Runs the test to its end. Findings of a long search are passed to `tell` as soon as they are confirmed.
    pub(crate) fn run(&self, place: &Place, tell: &dyn Fn(String)) -> Ended {
        let files = place.files(self);
        let limit = self.binary.search.limit_seconds.map(|seconds| Duration::from_secs_f64(seconds) + GRACE);
        let (start, mut told) = (Instant::now(), 0);
        let mut idle = Idle::new();
        let mut tick = |id| {
            if start.elapsed() < PATIENCE {
                return None;
            }
            for finding in Preliminary::read(&files.found).findings.iter().skip(told) {
                told += 1;
                if let Some(text) = self.confirmed_text(place, finding) {
                    tell(text);
                }
            }
            // A test without an exploration may wait for anything.
            if files.journal.exists() { idle.reason(id) } else { None }
        };
        let outcome = match self.outcome(Work::Search, files.clone(), limit, &mut tick) {
            Ok(outcome) => outcome,
            Err(error) => return Ended::no_verdict(error),
        };
        let preliminary = Preliminary::read(&files.found);
        let mut ended = if outcome.is_cut_short() {
            self.cut_short(place, &outcome, &preliminary)
        } else {
            self.ended(place, &outcome)
        };
        if outcome.is_blocked {
            ended.reason = Some(Reason::LockHeld);
        }
        files.remove_answers();
        if ended.exit == Some(Exit::Found) { self.keep(ended) } else { ended }
    }

    /// Keeps the schedules of findings in the package of the test, to be re-run first.
    fn keep(&self, mut ended: Ended) -> Ended {
        let Some(directory) = Regressions::directory(&self.binary.search.settings(), &self.binary.directory) else {
            return ended;
        };
        let binary = self.binary.name.replace('-', "_");
        let worth = |finding: &&Reported| !finding.limit && finding.kind != crash::KIND;
        let schedules = ended.findings.iter().filter(worth).filter_map(|finding| finding.schedule.as_ref());
        let mut kept = Vec::new();
        for file in schedules.filter(|file| !file.starts_with(&directory)).take(MOST_KEPT) {
            let Ok(text) = fs::read_to_string(file) else { continue };
            let Ok(schedule) = Schedule::from_json(&text) else { continue };
            match Regressions::new(&directory, &binary, &schedule.program).keep(&schedule) {
                Ok(file) => kept.extend(file),
                Err(error) => {
                    ended.text +=
                        &format!("\nnote: the schedule could not be kept in {}: {error}", directory.display());
                    return ended;
                }
            }
        }
        if !kept.is_empty() && !ended.reply.regressions.iter().any(|known| known.state == RegressionState::Fails) {
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            ended.text = format!(
                "{}\nkept in {name}/ of the package, to be re-run first: commit it, or use --regressions=off\n",
                ended.text.trim_end()
            );
        }
        ended
    }

    /// Runs a replay in a new process.
    pub(crate) fn replay(&self, place: &Place, work: Work<'_>) -> Result<Outcome, String> {
        let mut binary = self.binary.clone();
        binary.search.html = Some(OFF.into());
        let &Process { show, ignored, report, .. } = self;
        Process { binary: &binary, name: self.name.clone(), show, ignored, report }.replay_with_page(place, work)
    }

    /// Runs the test in a new process for a replay, which writes a page if the user asked for one.
    pub(crate) fn replay_with_page(&self, place: &Place, work: Work<'_>) -> Result<Outcome, String> {
        let files = place.files_of_replay();
        let outcome = self.outcome(work, files.clone(), Some(REPLAY), &mut |_| None);
        files.remove_answers();
        outcome
    }

    /// Runs the test in a new process for other work than a search or a replay.
    pub(crate) fn answer(&self, place: &Place, work: Work<'_>) -> Result<Outcome, String> {
        let files = place.files(self);
        let outcome = self.outcome(work, files.clone(), None, &mut |_| None);
        files.remove_answers();
        outcome
    }

    fn outcome(
        &self,
        work: Work<'_>,
        files: Files,
        limit: Option<Duration>,
        tick: &mut dyn FnMut(u32) -> Option<String>,
    ) -> Result<Outcome, String> {
        files.remove_answers();
        let mut command = self.command(work, Some(files.clone()));
        let mut is_blocked = false;
        let mut tick = |id| {
            let reason = tick(id);
            is_blocked |= reason.is_some();
            reason
        };
        let (output, killed) = running::output(&mut command, limit, &mut tick)
            .map_err(|error| format!("cannot run {}: {error}", self.binary.file.display()))?;
        let Output { status, stdout, stderr } = output;
        let (said, stdout) = Reply::in_output(&String::from_utf8_lossy(&stdout)).map_err(|error| error.to_string())?;
        let reply = Reply::read(&files.reply).map_err(|error| error.to_string())?.or(said);
        let journal = Recorded::read(&files.journal);
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(Outcome { status, stdout, stderr, reply, journal, files, killed, is_blocked })
    }

    /// Returns the result of a test that has ended by itself.
    pub(crate) fn ended(&self, place: &Place, outcome: &Outcome) -> Ended {
        if self.show {
            say!("{}", own_output(&outcome.stdout).trim_end());
        }
        let passed = outcome.status.success();
        if passed && outcome.stdout.contains("1 ignored;") {
            return Ended::default();
        }
        let reply = outcome.reply.clone().unwrap_or_default();
        let partial = reply
            .search
            .as_ref()
            .is_some_and(|search| !search.complete && search.findings == 0 && !search.partial_is_enough);
        // A test with `#[should_panic]` must not pass because no verdict was reached.
        let is_unknown = !passed && reply.several_runs && reply.failure.is_none();
        let open = partial || is_unknown || reply.failure.as_ref().is_some_and(|failure| failure.no_verdict);
        let exit = match passed {
            _ if open => Exit::NoVerdict,
            true => Exit::Holds,
            false => Exit::Found,
        };
        let text = match &reply.failure {
            None if is_unknown => format!("{SEVERAL_RUNS}\n{}{}", own_output(&outcome.stdout), outcome.stderr),
            None => format!("{}{}", own_output(&outcome.stdout), outcome.stderr),
            Some(failure) => failure.text.clone(),
        };
        let ended = Ended {
            exit: Some(exit),
            text,
            executions: reply.search.as_ref().map(|search| search.executions),
            seconds: reply.search.as_ref().map_or(0.0, |search| search.seconds),
            complete: reply.search.as_ref().is_some_and(|search| search.complete),
            one_order: reply.one_order,
            is_plain: outcome.reply.is_none(),
            reason: reply.failure.as_ref().and_then(|failure| failure.reason),
            findings: reply.findings.clone(),
            reply,
        };
        if ended.reply.search.is_some() || !ended.reply.regressions.is_empty() {
            self.confirm(place, ended)
        } else {
            ended
        }
    }
}

/// The reason why the failure of a test is no verdict.
const SEVERAL_RUNS: &str = "no verdict: the test calls `block_on` several times, and whippet ends the tasks that are left after each \
     call. With tokio they go on, so the failure may be due to this:";

/// Returns the output of a test without the lines of the test harness.
pub(crate) fn own_output(stdout: &str) -> String {
    let harness =
        |line: &&str| line.starts_with("running 1 test") || line.starts_with("test result: ") || line.is_empty();
    stdout.lines().filter(|line| !harness(line)).map(|line| format!("{line}\n")).collect()
}
