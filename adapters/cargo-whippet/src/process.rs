//! One test in a process of its own.
//!
//! The process writes what it has to say to files that are named in its environment: a report when there is a verdict,
//! the text of a failure, a line on how far it is. It stops early when a certain file appears.

use crate::build::Binary;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whippet_report::Exit;

/// Where processes leave what they have to say.
pub(crate) struct Place {
    directory: PathBuf,
    schedules: PathBuf,
}

impl Place {
    /// A place below whippet's own directory; only for this run.
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

    /// How far each running test is: its name and a few words.
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

    /// Asks all processes to come to an end.
    pub(crate) fn stop(directory: &Path) {
        // Whoever does not hear it is ended by the second Ctrl-C.
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

/// How the text of a failure begins that is none of the test.
const MISUSE: &str = "whippet: ";

/// A test to run.
pub(crate) struct Process<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) name: String,
    /// Whether the test's own output is shown.
    pub(crate) show: bool,
    /// Whether it is run although it says `#[ignore]`.
    pub(crate) ignored: bool,
    /// The one schedule to carry out.
    pub(crate) replay: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// `None` if the test is ignored.
    pub(crate) exit: Option<Exit>,
    /// What there is to say about a failure.
    pub(crate) text: String,
    pub(crate) executions: Option<u64>,
    pub(crate) seconds: f64,
    /// It ran a future without exploring it.
    pub(crate) one_order: bool,
}

impl Process<'_> {
    /// The command that runs just this test.
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

    /// Runs it to its end.
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
        // Ctrl-C is for us: tests are asked to stop, and say what they have found so far.
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
        // A test that should panic must not pass because no verdict was reached.
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

/// What a test printed, without the lines of the test harness.
fn own_output(stdout: &str) -> String {
    let harness =
        |line: &&str| line.starts_with("running 1 test") || line.starts_with("test result: ") || line.is_empty();
    stdout.lines().filter(|line| !harness(line)).map(|line| format!("{line}\n")).collect()
}
