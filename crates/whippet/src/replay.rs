//! Schedules of failing tests: saving and replaying them.

use crate::CheckError;
use std::path::{Path, PathBuf};
use whippet_model::{FindingKind, Schedule, ScheduleError, Verdict};
use whippet_protocol::{REPLAY, Settings};
use whippet_report::{Links, create_directory, html_of_verdict, quoted};

/// Reads the schedule to replay. Returns `None` if it belongs to another program.
pub(crate) fn read(path: &Path, program: &str) -> Result<Option<Schedule>, CheckError> {
    let file = |why: String| CheckError::File { path: path.display().to_string(), why };
    let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
    let schedule = whippet_report::schedule_in(&text, 1).map_err(|error: ScheduleError| file(error.to_string()))?;
    Ok((schedule.program == program).then_some(schedule))
}

/// The names of a program and of the test that runs it.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) program: &'a str,
    pub(crate) test: &'a str,
}

/// Saves the schedules of the findings of a test, and a page that shows them and the warnings. Returns the links and
/// the page.
pub(crate) fn save(names: Names<'_>, settings: &Settings, verdict: &Verdict) -> (Vec<Links>, Option<String>) {
    let findings = verdict.findings.iter().enumerate();
    let mut links: Vec<Links> = findings
        .map(|(k, finding)| match finding.kind {
            // There is no execution to replay.
            FindingKind::Unreached => Links::default(),
            _ => save_schedule(names, k, &finding.schedule),
        })
        .collect();
    let page = settings.page(&file(names.program, ".html")).and_then(|file| {
        let page = html_of_verdict(&format!("Whippet: {}", names.program), verdict, &links)?;
        Some(match write(&file, &page) {
            Ok(()) => file.display().to_string(),
            Err(error) => format!("the page could not be written: {error}"),
        })
    });
    if let Some(first) = links.first_mut() {
        first.page.clone_from(&page);
    }
    (links, page)
}

/// Saves the schedule of the `k`-th finding of a test and returns the command that replays it.
fn save_schedule(names: Names<'_>, k: usize, schedule: &Schedule) -> Links {
    let number = if k == 0 { String::new() } else { format!("-{}", k + 1) };
    let file = file(names.program, &format!("{number}.json"));
    Links::replay(match write(&file, &schedule.to_json()) {
        Ok(()) => format!("{REPLAY}={} cargo {}", quoted(&file.display().to_string()), again(names.test)),
        Err(error) => format!("the schedule could not be saved: {error}"),
    })
}

/// Returns a file in the target directory, or else in the directory for temporary files.
fn file(program: &str, ending: &str) -> PathBuf {
    let directory = build_dir().unwrap_or_else(std::env::temp_dir).join("whippet");
    let name: String = program.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    directory.join(format!("{name}{ending}"))
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    file.parent().filter(|above| !above.as_os_str().is_empty()).map_or(Ok(()), create_directory)?;
    whippet_report::write_file(file, text)
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
            format!("run --example {}", quoted(&name))
        }
        Ok(program) if !program.parent().is_some_and(|dir| dir.ends_with("deps")) => "run".into(),
        _ => format!("test {}", quoted(test)),
    }
}
