//! Runs tests one by one, each in a process of its own, and says what came out.

use crate::arguments::{Replay, Test};
use crate::memory;
use crate::project::{Binary, Project};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use whippet_model::Schedule;
use whippet_report::{Exit, grouped};

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<(String, String)>,
    ignored: usize,
    unfinished: usize,
    executions: u64,
}

pub(crate) fn run(arguments: &Test) -> Result<Exit, String> {
    let project = Project::open(&arguments.cargo)?;
    let binaries = project.build(&arguments.cargo)?;
    let schedules = project.home.join("schedules");
    fs::create_dir_all(&schedules).map_err(|error| format!("cannot make {}: {error}", schedules.display()))?;
    let (start, mut tally) = (Instant::now(), Tally::default());
    for binary in &binaries {
        let names = list(binary, &arguments.filter)?;
        println!("\n     Exploring {}", binary.source);
        println!("\nrunning {} test{}", names.len(), if names.len() == 1 { "" } else { "s" });
        let variables = arguments.search.variables(&binary.metadata);
        for name in names {
            print!("test {name} ... ");
            let _ = std::io::stdout().flush();
            println!("{}", one(&project, binary, &name, &variables, &mut tally)?);
        }
    }
    Ok(tally.report(&project, start))
}

fn list(binary: &Binary, filter: &[String]) -> Result<Vec<String>, String> {
    let output = Command::new(&binary.file)
        .args(filter)
        .args(["--list", "--format", "terse"])
        .current_dir(&binary.directory)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", binary.file.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(Into::into).collect())
}

fn command(binary: &Binary, name: &str) -> Command {
    let mut command = Command::new(&binary.file);
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).current_dir(&binary.directory);
    command.env("CARGO_MANIFEST_DIR", &binary.directory);
    command
}

/// Runs one test; the answer is the end of its line.
fn one(
    project: &Project,
    binary: &Binary,
    name: &str,
    variables: &[(&'static str, String)],
    tally: &mut Tally,
) -> Result<String, String> {
    let (report, failure) = (project.home.join("report.json"), project.home.join("failure.txt"));
    for file in [&report, &failure] {
        let _ = fs::remove_file(file);
    }
    let output = command(binary, name)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("WHIPPET_REPORT", &report)
        .env("WHIPPET_FAILURE", &failure)
        .env("WHIPPET_SCHEDULES", project.home.join("schedules"))
        .output()
        .map_err(|error| format!("cannot run {}: {error}", binary.file.display()))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && stdout.contains("1 ignored;") {
        tally.ignored += 1;
        return Ok("ignored".into());
    }
    let report: Value =
        fs::read_to_string(&report).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let counted = report["executions"].as_u64().map_or(String::new(), |executions| {
        tally.executions += executions;
        let seconds = report["seconds"].as_f64().unwrap_or(0.0);
        format!(" ({} execution{}, {seconds:.2} s)", grouped(executions), if executions == 1 { "" } else { "s" })
    });
    if output.status.success() {
        tally.passed += 1;
        return Ok(format!("ok{counted}"));
    }
    let cut = report["complete"] == false && report["findings"].as_array().is_some_and(Vec::is_empty);
    tally.unfinished += usize::from(cut || report.is_null() && failure.exists());
    let text =
        fs::read_to_string(&failure).unwrap_or_else(|_| format!("{stdout}{}", String::from_utf8_lossy(&output.stderr)));
    tally.failed.push((name.to_string(), text));
    Ok(format!("{}{counted}", if cut { "NO VERDICT" } else { "FAILED" }))
}

impl Tally {
    fn report(self, project: &Project, start: Instant) -> Exit {
        if !self.failed.is_empty() {
            println!("\nfailures:");
        }
        for (name, text) in &self.failed {
            println!("\n---- {name} ----\n{}", text.trim_end());
        }
        if let Some(line) = memory::notes(&project.users_of_tokio()) {
            println!("\n{line}");
        }
        let result = if self.failed.is_empty() { "ok" } else { "FAILED" };
        println!(
            "\ntest result: {result}. {} passed; {} failed; {} ignored; {} executions; finished in {:.2}s\n",
            self.passed,
            self.failed.len(),
            self.ignored,
            grouped(self.executions),
            start.elapsed().as_secs_f64()
        );
        match self.failed.len() {
            0 => Exit::Holds,
            failed if failed == self.unfinished => Exit::NoVerdict,
            _ => Exit::Found,
        }
    }
}

pub(crate) fn replay(arguments: &Replay) -> Result<Exit, String> {
    let file = fs::canonicalize(&arguments.file)
        .map_err(|error| format!("cannot read {}: {error}", arguments.file.display()))?;
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let schedule = Schedule::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let project = Project::open(&arguments.cargo)?;
    for binary in project.build(&arguments.cargo)? {
        let wanted = [schedule.program.clone(), "--exact".into()];
        if !list(&binary, &wanted)?.is_empty() {
            return show(&project, &binary, &schedule.program, &file, arguments.debug);
        }
    }
    Err(format!("no test is called `{}`: has it been renamed, or is it in another package?", schedule.program))
}

fn show(project: &Project, binary: &Binary, name: &str, file: &Path, debug: bool) -> Result<Exit, String> {
    if debug {
        println!(
            "cd {} && WHIPPET_REPLAY={} rust-gdb --args {} {name} --exact --nocapture --test-threads=1",
            binary.directory.display(),
            file.display(),
            binary.file.display()
        );
        return Ok(Exit::Holds);
    }
    let failure = project.home.join("failure.txt");
    let _ = fs::remove_file(&failure);
    let output = command(binary, name)
        .env("WHIPPET_REPLAY", file)
        .env("WHIPPET_FAILURE", &failure)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", binary.file.display()))?;
    if output.status.success() {
        println!("the schedule ends well now");
        return Ok(Exit::Holds);
    }
    let text = fs::read_to_string(&failure).unwrap_or_else(|_| String::from_utf8_lossy(&output.stderr).into_owned());
    println!("{}", text.trim_end());
    Ok(if text.starts_with("whippet:") { Exit::NoVerdict } else { Exit::Found })
}
