//! Tests whose process ends before they do: by `process::exit`, `abort`, a stack overflow, or a signal.
//!
//! Such a test never passes. The journal of the process has the steps that led there. They are described in one new
//! process and replayed in another: if that ends in the same way, the crash is a finding.

use crate::process::{Ended, Outcome, Place, Process, Work, own_output};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use whippet_model::{Branch, Decision, Name, Schedule};
use whippet_protocol::{Attempt, Described, Preliminary, Reported};
use whippet_report::{Exit, write_file};
use whippet_search::LastPath;

/// The number of lines of a process's last output that are shown.
const LAST_LINES: usize = 20;

/// The kind of such a finding.
pub(crate) const KIND: &str = "crash";

impl Process<'_> {
    /// Returns the result of a test that was cut short.
    pub(crate) fn cut_short(&self, place: &Place, outcome: &Outcome, known: &Preliminary) -> Ended {
        let how = outcome.killed.clone().unwrap_or_else(|| how(outcome.status));
        let crash = self.crash(place, outcome, &how);
        // What was found before counts, too.
        let found: Vec<(&Reported, String)> =
            known.findings.iter().filter_map(|finding| Some((finding, self.confirmed_text(place, finding)?))).collect();
        let mut ended = crash;
        for (finding, text) in found.into_iter().rev() {
            ended.exit = Some(Exit::Found);
            ended.text = format!("{text}\n{}", ended.text);
            ended.findings.insert(0, finding.clone());
        }
        ended
    }

    /// Returns the result of a replay that was cut short.
    pub(crate) fn replay_cut_short(&self, outcome: &Outcome) -> Ended {
        let how = outcome.killed.clone().unwrap_or_else(|| how(outcome.status));
        let (kind, exit) = severity(outcome.status);
        let text = format!("{kind}: {how}\n{}{}", advice(outcome), last_words(outcome));
        Ended { exit: Some(exit), text, ..Ended::default() }
    }

    fn crash(&self, place: &Place, outcome: &Outcome, how: &str) -> Ended {
        let paths = if outcome.journal.unanswered { &outcome.journal.paths[..] } else { &[] };
        let attempt = Attempt::read(&outcome.files.attempt);
        let last_words = last_words(outcome);
        let mut unconfirmed = None;
        for (path, attempt) in paths.iter().zip(std::iter::repeat(attempt.as_ref())) {
            let Some(attempt) = attempt else { break };
            let Some(shown) = self.shown(place, outcome, &schedule(attempt, path), path) else { continue };
            let again = outcome.killed.is_none()
                && !is_killed(outcome.status)
                && self
                    .replay(place, Work::Replay(&shown.file))
                    .is_ok_and(|replayed| replayed.is_cut_short() && replayed.status == outcome.status);
            if again {
                return self.crashed(how, path, &shown, &last_words, outcome);
            }
            unconfirmed.get_or_insert((path, shown));
        }
        let Some((path, shown)) = unconfirmed else {
            let text = format!("no verdict: {how} before the test ended\n{}{last_words}", advice(outcome));
            return Ended::no_verdict(text);
        };
        let again = if outcome.killed.is_some() || is_killed(outcome.status) {
            "These steps led there"
        } else {
            "These steps led there, but they did not lead there again when they were replayed in a new process"
        };
        let text = format!(
            "no verdict: {how} {}\n{again}:\n{}  replay: {}\n{}{last_words}",
            during(path, &shown.described),
            shown.steps(path),
            self.replay_command(&shown.file),
            advice(outcome),
        );
        Ended::no_verdict(text)
    }

    /// Returns the result of a crash that was replayed.
    fn crashed(&self, how: &str, path: &LastPath, shown: &Shown, last_words: &str, outcome: &Outcome) -> Ended {
        let message = format!("{how} {}", during(path, &shown.described));
        let (kind, exit) = severity(outcome.status);
        let text = format!(
            "{kind}: {message}\n{}  replay: {}\n{}{last_words}",
            shown.steps(path),
            self.replay_command(&shown.file),
            advice(outcome)
        );
        let finding =
            Reported { kind: KIND.into(), message, schedule: Some(shown.file.clone()), ..Reported::default() };
        let findings = if exit == Exit::Found { vec![finding] } else { Vec::new() };
        Ended { exit: Some(exit), text, findings, ..Ended::default() }
    }

    /// Describes the steps of a schedule and saves it.
    fn shown(&self, place: &Place, outcome: &Outcome, schedule: &Schedule, path: &LastPath) -> Option<Shown> {
        let file = outcome.files.schedules.join(format!("{}-crash.json", outcome.files.stem));
        let test = Some(self.name.clone()).filter(|name| *name != schedule.program);
        let mut all = schedule.clone().with_test(test);
        if !path.in_step {
            // The last decision is not carried out: all the others are to be described.
            all.decisions.push(Decision::new(Name::ROOT, Branch::FIRST, String::new()));
        }
        let file = save(&file, &all)?;
        let described = self.replay(place, Work::Describe(&file)).ok()?.reply?.described;
        let described = described?;
        let mut schedule = Schedule::from_json(&described.schedule).ok()?;
        if !path.in_step {
            schedule.decisions.pop();
        }
        let file = save(&file, &schedule)?;
        Some(Shown { file, described })
    }
}

/// Returns the word for a process that ended so, and the result of its test.
fn severity(status: ExitStatus) -> (&'static str, Exit) {
    match status.code() {
        // A test that ends its process successfully passes with `cargo test`: it is no failure, but no proof either.
        Some(0) => ("no verdict", Exit::NoVerdict),
        _ => (KIND, Exit::Found),
    }
}

/// A path to a crash, with its steps described.
struct Shown {
    file: PathBuf,
    described: Described,
}

impl Shown {
    fn steps(&self, path: &LastPath) -> String {
        let Described { steps, before, actor, .. } = &self.described;
        if !path.in_step {
            return steps.clone();
        }
        format!("{steps}  {}. {} begins a step that does not end\n", before + 1, named(actor.as_ref()))
    }
}

/// Returns the name of an actor, which is not known if it has not acted before.
fn named(actor: Option<&String>) -> &str {
    actor.map_or("a task that did not run before", |actor| actor)
}

/// Writes a schedule, if need be to the directory for temporary files.
fn save(file: &Path, schedule: &Schedule) -> Option<PathBuf> {
    let text = schedule.to_json();
    let other = std::env::temp_dir().join(file.file_name()?);
    [file.to_path_buf(), other].into_iter().find(|file| write_file(file, &text).is_ok())
}

fn schedule(attempt: &Attempt, path: &LastPath) -> Schedule {
    let decision = |&(thread, branch): &(Name, Branch)| Decision::new(thread, branch, String::new());
    let decisions = path.path.iter().map(decision).collect();
    Schedule::new(attempt.program.clone(), attempt.parameters.iter().cloned().collect(), decisions)
}

/// Returns the place in an execution at which its process ended.
fn during(path: &LastPath, described: &Described) -> String {
    match (path.in_step, described.before) {
        (true, before) => format!("in step {}, in which {} acts", before + 1, named(described.actor.as_ref())),
        (false, 0) => format!("during {}", path.during),
        (false, steps) => format!("after step {steps}, during {}", path.during),
    }
}

/// Returns a sentence about the end of a process, such as "the process was aborted (SIGABRT)".
fn how(status: ExitStatus) -> String {
    match (status.code(), signal(status)) {
        (Some(code), _) => format!("the test ended its own process, with exit code {code} (`std::process::exit`)"),
        (None, Some(signal)) => match name(signal) {
            Some(name) => format!("the process was ended by {name}"),
            None => format!("the process was ended by signal {signal}"),
        },
        (None, None) => format!("the process ended by {status}"),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Returns the name of a signal that a program may cause or receive.
#[cfg(unix)]
fn name(signal: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 9] = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGTERM, "SIGTERM"),
    ];
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

#[cfg(not(unix))]
fn name(_: i32) -> Option<&'static str> {
    None
}

/// Returns `true` if something outside the program must have ended the process, so that a replay shows nothing.
fn is_killed(status: ExitStatus) -> bool {
    signal(status).and_then(name).is_some_and(|name| ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"].contains(&name))
}

/// Returns a line on what to do about a process that ended so.
fn advice(outcome: &Outcome) -> String {
    let text = match (outcome.status.code(), signal(outcome.status).and_then(name)) {
        _ if outcome.is_blocked => crate::idle::ADVICE,
        _ if outcome.killed.is_some() => return String::new(),
        (Some(_), _) => "`std::process::exit` ends the whole search: panic, or return an error from the test instead",
        (_, Some("SIGSEGV" | "SIGBUS")) => {
            "this is a stack overflow (endless recursion, or a large value on the stack of a task) or an access to \
             invalid memory"
        }
        (_, Some("SIGABRT")) => "`abort` was called, or a destructor panicked while another panic unwound the stack",
        (_, Some("SIGKILL")) => "another process killed it: often the system, because memory ran out",
        _ => return String::new(),
    };
    format!("help: {text}\n")
}

/// Returns the end of the output of a process.
fn last_words(outcome: &Outcome) -> String {
    let said = format!("{}{}", own_output(&outcome.stdout), outcome.stderr);
    // The harness begins the line of the test before it runs.
    let own = |line: &&str| !(line.trim().is_empty() || line.starts_with("test ") && line.ends_with(" ... "));
    let lines: Vec<&str> = said.lines().filter(own).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    if last.is_empty() {
        return String::new();
    }
    let text: String = last.iter().map(|line| format!("  {line}\n")).collect();
    format!("the last output of the process:\n{text}")
}
