//! Runs one test in its own process.
//!
//! The process reports through files that are named in its environment: a report if there is a verdict, the text of a
//! failure, and a line with its progress. It stops early when a certain file appears.

use crate::build::Binary;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whippet_report::Exit;

/// The directories through which test processes report.
pub(crate) struct Place {
    directory: PathBuf,
    schedules: PathBuf,
}

impl Place {
    /// Creates the directories below `home`, Whippet's own directory. The one for reports is removed after this run.
    pub(crate) fn new(home: &Path) -> Result<Place, String> {
        let place =
            Place { directory: home.join(format!("run-{}", std::process::id())), schedules: home.join("schedules") };
        for directory in [&place.directory, &place.schedules] {
            fs::create_dir_all(directory).map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        }
        Ok(place)
    }

    fn file(&self, test: &str, end: &str) -> PathBuf {
        self.directory.join(format!("{}.{end}", test.replace("::", "-")))
    }

    /// Returns the progress of each running test: its name and a short text.
    pub(crate) fn progress(&self) -> Vec<(String, String)> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let mut found: Vec<(String, String)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().to_str()?.strip_suffix(".progress")?.replace('-', "::");
                Some((name, fs::read_to_string(entry.path()).ok()?.trim().to_string()))
            })
            .filter(|(_, text)| !text.is_empty())
            .collect();
        found.sort();
        found
    }

    /// Asks all test processes to stop.
    pub(crate) fn stop(directory: &Path) {
        // If this fails, the second Ctrl-C still ends the run.
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

/// The prefix of a failure text that does not concern the test itself: misuse, or an operation that is not modelled.
const MISUSE: &str = "whippet: ";

/// A test to run.
pub(crate) struct Process<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) name: String,
    /// `true` if the test's own output is shown.
    pub(crate) show: bool,
    /// `true` if the test runs although it is marked `#[ignore]`.
    pub(crate) ignored: bool,
    /// The schedule to replay, if any.
    pub(crate) replay: Option<PathBuf>,
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
    /// `true` if the test ran a future without exploring it.
    pub(crate) one_order: bool,
}

impl Process<'_> {
    /// Returns the command that runs only this test.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary.file);
        command.args([&self.name, "--exact", "--nocapture", "--test-threads=1"]);
        if self.ignored {
            command.arg("--include-ignored");
        }
        command.current_dir(&self.binary.directory).env("CARGO_MANIFEST_DIR", &self.binary.directory);
        command.envs(self.binary.search.variables());
        if let Some(file) = &self.replay {
            command.env("WHIPPET_REPLAY", file);
        }
        command
    }

    /// Runs the test to its end.
    pub(crate) fn run(&self, place: &Place) -> Ended {
        let file = |end| place.file(&self.name, end);
        let (report, failure, progress) = (file("report"), file("failure"), file("progress"));
        let mut command = self.command();
        command
            .env("WHIPPET_REPORT", &report)
            .env("WHIPPET_FAILURE", &failure)
            .env("WHIPPET_PROGRESS", &progress)
            .env("WHIPPET_STOP", place.directory.join("stop"))
            .env("WHIPPET_OPTIONS", &self.binary.options)
            .env("WHIPPET_SCHEDULES", &place.schedules);
        // Only this process receives Ctrl-C. It asks the tests to stop, and they report their findings so far.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let output = command.output();
        let ended = match output {
            Ok(output) => self.ended(&output, &read(&report), &read(&failure)),
            Err(error) => Ended {
                exit: Some(Exit::NoVerdict),
                text: format!("cannot run {}: {error}", self.binary.file.display()),
                ..Ended::default()
            },
        };
        for file in [&report, &failure, &progress] {
            let _ = fs::remove_file(file);
        }
        ended
    }

    fn ended(&self, output: &std::process::Output, report: &str, failure: &str) -> Ended {
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if self.show {
            print!("{}", own_output(&stdout));
        }
        let passed = output.status.success();
        if passed && stdout.contains("1 ignored;") {
            return Ended::default();
        }
        let report: Value = serde_json::from_str(report).unwrap_or_default();
        let nothing = report["findings"].as_array().is_none_or(Vec::is_empty);
        // A test with `#[should_panic]` must not pass because no verdict was reached.
        let open = report["complete"] == false && nothing || failure.starts_with(MISUSE);
        let exit = match passed {
            _ if open => Exit::NoVerdict,
            true => Exit::Holds,
            false => Exit::Found,
        };
        let crashed = if output.status.code().is_none() {
            format!("\nthe process ended by {}", output.status)
        } else {
            String::new()
        };
        let text = match failure {
            "" => format!("{}{stderr}{crashed}", own_output(&stdout)),
            _ => failure.trim_start_matches(MISUSE).to_string(),
        };
        Ended {
            exit: Some(exit),
            text,
            executions: report["executions"].as_u64(),
            seconds: report["seconds"].as_f64().unwrap_or(0.0),
            one_order: report["one_order"] == true,
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Returns the output of a test without the lines of the test harness.
fn own_output(stdout: &str) -> String {
    let harness =
        |line: &&str| line.starts_with("running 1 test") || line.starts_with("test result: ") || line.is_empty();
    stdout.lines().filter(|line| !harness(line)).map(|line| format!("{line}\n")).collect()
}
