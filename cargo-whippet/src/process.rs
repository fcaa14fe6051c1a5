//! Runs one test in its own process.
//!
//! The process gets its settings, and answers, through the messages of [`whippet_protocol`].

use crate::build::Binary;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use whippet_protocol::{Files, Progress, Reply, SESSION, Session};
use whippet_report::{Exit, grouped};

/// The directories through which test processes report.
pub(crate) struct Place {
    directory: PathBuf,
    schedules: PathBuf,
}

impl Place {
    /// Creates the directories below `home`, Whippet's own directory. The one for replies is removed after this run.
    pub(crate) fn new(home: &Path) -> Result<Place, String> {
        let place =
            Place { directory: home.join(format!("run-{}", std::process::id())), schedules: home.join("schedules") };
        for directory in [&place.directory, &place.schedules] {
            fs::create_dir_all(directory).map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
        }
        Ok(place)
    }

    fn files(&self, test: &str) -> Files {
        let file = |end: &str| self.directory.join(format!("{}.{end}", test.replace("::", "-")));
        Files {
            reply: file("reply"),
            progress: file("progress"),
            stop: self.directory.join("stop"),
            schedules: self.schedules.clone(),
        }
    }

    /// Returns the progress of each running test: its name and a short text.
    pub(crate) fn progress(&self) -> Vec<(String, String)> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let mut found: Vec<(String, String)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().to_str()?.strip_suffix(".progress")?.replace('-', "::");
                Some((name, describe(&Progress::read(&entry.path())?)))
            })
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

fn describe(progress: &Progress) -> String {
    let rate = progress.executions as f64 / progress.seconds;
    let (executions, rate) = (grouped(progress.executions), grouped(rate as u64));
    let mut text = format!("{executions} executions · {rate}/s · depth {}", progress.depth);
    if let Some(estimate) = &progress.estimate {
        text += &format!(" · {estimate} in all");
    }
    text
}

/// The test processes that are running, by their ids. A process leaves the map when it is waited for, so the id of a
/// process in the map is not used again.
static RUNNING: Mutex<BTreeMap<u32, Child>> = Mutex::new(BTreeMap::new());

fn running() -> MutexGuard<'static, BTreeMap<u32, Child>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all test processes, removes their directory and ends this process with `code`.
pub(crate) fn kill_all_and_exit(directory: &Path, code: i32) -> ! {
    // The lock is held to the end, so that no other process starts.
    let mut running = running();
    for child in running.values_mut() {
        kill(child);
    }
    let _ = fs::remove_dir_all(directory);
    std::process::exit(code)
}

/// Kills a test process, and the processes that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the call has no requirements. The group is that of a child that was not waited for.
        unsafe { libc::killpg(group, libc::SIGKILL) };
    }
    // It may have ended already.
    let _ = child.kill().and_then(|()| child.wait());
}

/// Runs a command to its end and returns its output. Meanwhile, it is in [`RUNNING`].
fn output(command: &mut Command) -> io::Result<Output> {
    // Only this process receives Ctrl-C. It asks the tests to stop, and they report their findings so far.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (id, mut stdout, mut stderr) = {
        let mut running = running();
        let mut child = command.spawn()?;
        let id = child.id();
        let pipes = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
        running.insert(id, child);
        (id, pipes.0, pipes.1)
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let read = std::thread::scope(|scope| {
        let errors = scope.spawn(|| stderr.read_to_end(&mut err));
        let read = stdout.read_to_end(&mut out);
        read.and(errors.join().expect("reading does not panic"))
    });
    let status = loop {
        let mut running = running();
        let child = running.get_mut(&id).expect("only this function removes it");
        if let Some(status) = child.try_wait()? {
            running.remove(&id);
            break status;
        }
        drop(running);
        std::thread::sleep(Duration::from_millis(1));
    };
    read.map(|_| Output { status, stdout: out, stderr: err })
}

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

impl Ended {
    fn no_verdict(text: String) -> Ended {
        Ended { exit: Some(Exit::NoVerdict), text, ..Ended::default() }
    }
}

impl Process<'_> {
    /// Returns the command that runs only this test.
    pub(crate) fn command(&self, files: Option<Files>) -> Command {
        let mut command = Command::new(&self.binary.file);
        command.args([&self.name, "--exact", "--nocapture", "--test-threads=1"]);
        if self.ignored {
            command.arg("--include-ignored");
        }
        command.current_dir(&self.binary.directory).env("CARGO_MANIFEST_DIR", &self.binary.directory);
        let session = Session {
            settings: self.binary.search.settings(),
            replay: self.replay.clone(),
            files,
            replay_options: self.binary.options.clone(),
        };
        command.env(SESSION, session.to_text());
        command
    }

    /// Runs the test to its end.
    pub(crate) fn run(&self, place: &Place) -> Ended {
        let files = place.files(&self.name);
        let ended = match output(&mut self.command(Some(files.clone()))) {
            Ok(output) => match Reply::read(&files.reply) {
                Ok(reply) => self.ended(&output, reply.unwrap_or_default()),
                Err(error) => Ended::no_verdict(error.to_string()),
            },
            Err(error) => Ended::no_verdict(format!("cannot run {}: {error}", self.binary.file.display())),
        };
        for file in [&files.reply, &files.progress] {
            let _ = fs::remove_file(file);
        }
        ended
    }

    fn ended(&self, output: &Output, reply: Reply) -> Ended {
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if self.show {
            print!("{}", own_output(&stdout));
        }
        let passed = output.status.success();
        if passed && stdout.contains("1 ignored;") {
            return Ended::default();
        }
        let partial = reply.search.as_ref().is_some_and(|search| !search.complete && search.findings == 0);
        // A test with `#[should_panic]` must not pass because no verdict was reached.
        let open = partial || reply.failure.as_ref().is_some_and(|failure| failure.no_verdict);
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
        let text = match reply.failure {
            None => format!("{}{stderr}{crashed}", own_output(&stdout)),
            Some(failure) => failure.text,
        };
        let executions = reply.search.as_ref().map(|search| search.executions);
        let seconds = reply.search.map_or(0.0, |search| search.seconds);
        Ended { exit: Some(exit), text, executions, seconds, one_order: reply.one_order }
    }
}

/// Returns the output of a test without the lines of the test harness.
fn own_output(stdout: &str) -> String {
    let harness =
        |line: &&str| line.starts_with("running 1 test") || line.starts_with("test result: ") || line.is_empty();
    stdout.lines().filter(|line| !harness(line)).map(|line| format!("{line}\n")).collect()
}
