//! Schedules of failing tests: saving and replaying them.

use crate::{CheckError, CheckFailure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use whippet_actors::ActorProgram;
use whippet_model::{Schedule, ScheduleError, Verdict};
use whippet_report::{Links, counterexample, html_of_verdict};
use whippet_search::replay_within;

/// The environment variable that names a schedule to replay instead of exploring.
const REPLAY: &str = "WHIPPET_REPLAY";

/// Returns the schedule to replay, if one is named and belongs to this test.
pub(crate) fn wanted(test: &str) -> Result<Option<Schedule>, CheckError> {
    let Some(path) = std::env::var_os(REPLAY) else { return Ok(None) };
    let schedule = read(Path::new(&path))?;
    Ok((schedule.program == test).then_some(schedule))
}

fn read(path: &Path) -> Result<Schedule, CheckError> {
    let file = |why: String| CheckError::File { path: path.display().to_string(), why };
    let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
    whippet_report::schedule_in(&text, 1).map_err(|error: ScheduleError| file(error.to_string()))
}

/// Replays a schedule. The error lists the problems that occur, with the counterexample.
pub(crate) fn carry_out(program: ActorProgram, schedule: &Schedule, limit: Duration) -> Result<(), CheckFailure> {
    let replayed = replay_within(Arc::new(program), schedule, limit).map_err(CheckError::from)?;
    let mut text = String::new();
    for problem in &replayed.problems {
        let place = problem.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        text += &format!("{}: {}{place}\n", problem.kind, problem.message);
    }
    if text.is_empty() {
        return Ok(());
    }
    Err(CheckFailure { message: whippet_report::plain(&format!("{text}{}", counterexample(&replayed.trace))) })
}

/// Saves the schedules of the findings of a test and a page that shows them, and returns the links.
pub(crate) fn save(test: &str, verdict: &Verdict) -> Vec<Links> {
    let findings = verdict.findings.iter().enumerate();
    let mut links: Vec<Links> = findings.map(|(k, finding)| save_schedule(test, k, &finding.schedule)).collect();
    if let Some(page) = html_of_verdict(&format!("Whippet: {test}"), verdict, &links)
        && let Ok(path) = write(test, ".html", &page)
    {
        links[0].page = Some(path.display().to_string());
    }
    links
}

/// Saves the schedule of the `k`-th finding of a test and returns the command that replays it.
fn save_schedule(test: &str, k: usize, schedule: &Schedule) -> Links {
    let number = if k == 0 { String::new() } else { format!("-{}", k + 1) };
    Links::replay(match write(test, &format!("{number}.json"), &schedule.to_json()) {
        Ok(path) => format!("{REPLAY}={} cargo {}", path.display(), again(test)),
        Err(error) => format!("the schedule could not be saved: {error}"),
    })
}

/// Writes a file to the target directory, or else to the directory for temporary files.
fn write(test: &str, ending: &str, text: &str) -> std::io::Result<PathBuf> {
    let dir = build_dir().unwrap_or_else(std::env::temp_dir).join("whippet");
    std::fs::create_dir_all(&dir)?;
    let name: String = test.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let path = dir.join(format!("{name}{ending}"));
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Returns the target directory: tests are in `target/<profile>/deps`, examples in `target/<profile>/examples`.
fn build_dir() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let dir = program.parent().filter(|dir| dir.ends_with("deps") || dir.ends_with("examples"))?;
    Some(dir.parent()?.parent()?.to_owned())
}

/// Returns the arguments with which cargo runs a test again.
fn again(test: &str) -> String {
    match std::env::current_exe() {
        Ok(program) if program.parent().is_some_and(|dir| dir.ends_with("examples")) => {
            let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            format!("run --example {name}")
        }
        _ => format!("test {test}"),
    }
}
