//! Runs tests, each in its own process, and reports the results.

use crate::arguments::Test;
use crate::build::{Binary, What};
use crate::memory::{self, User};
use crate::process::{Ended, Place, Process};
use crate::project::Project;
use crate::watch::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use whippet_report::{Exit, grouped};

/// The default number of random executions beside a search, if the tests use memory that the search does not see.
const BESIDE: u64 = 1_000;

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<(String, String)>,
    /// Tests that neither passed nor failed.
    open: Vec<(String, String)>,
    ignored: usize,
    one_order: usize,
    executions: u64,
}

pub(crate) fn run(arguments: &Test) -> Result<Exit, String> {
    let mut project = Project::open(&arguments.cargo, &arguments.own)?;
    let mut binaries = project.build(What::Tests)?;
    let roots: BTreeSet<String> = binaries.iter().map(|binary| binary.package.clone()).collect();
    let users = memory::users(&project.graph, &roots);
    let clocks = memory::clocks(&project.graph, &roots);
    project.notes.extend(clocks.iter().map(|clock| {
        format!("{clock} reads the real clock, but explored tests run in virtual time: use tokio::time::Instant")
    }));
    let unseen = users.iter().any(|user| user.tasks && !project.hooked.contains(&user.name));
    for binary in &mut binaries {
        binary.search.random = binary.search.random.or(unseen.then_some(BESIDE));
    }
    let place = Place::new(&project.home)?;
    let (start, mut tally) = (Instant::now(), Tally::default());
    let show = arguments.filter.iter().any(|word| ["--nocapture", "--no-capture"].contains(&word.as_str()));
    let ignored = arguments.filter.iter().any(|word| ["--ignored", "--include-ignored"].contains(&word.as_str()));
    let watch = Watch::new(&place);
    for binary in &binaries {
        let names = list(binary, &arguments.filter)?;
        println!("\n     Exploring {}", binary.source);
        println!("\nrunning {} test{}", names.len(), if names.len() == 1 { "" } else { "s" });
        let jobs = binary.search.jobs.map_or_else(cores, |n| n as usize);
        let process = |name: &str| Process { binary, name: name.into(), show, ignored, replay: None };
        all(&names, jobs, &watch, &place, &process, |name, ended| tally.add(name, ended));
    }
    drop(watch);
    let random = binaries.iter().filter_map(|binary| binary.search.random).max().unwrap_or(0);
    Ok(tally.report(&project, &users, random, start))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the selected tests of a binary.
pub(crate) fn list(binary: &Binary, filter: &[String]) -> Result<Vec<String>, String> {
    let output = std::process::Command::new(&binary.file)
        .args(filter)
        .args(["--list", "--format", "terse"])
        .current_dir(&binary.directory)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", binary.file.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_start_matches("error: ").trim().to_string());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(Into::into).collect())
}

/// Runs tests, `jobs` at a time, and passes the results to `tell` in the order of `names`.
fn all<'a>(
    names: &'a [String],
    jobs: usize,
    watch: &Watch,
    place: &Place,
    process: &(impl Fn(&str) -> Process<'a> + Sync),
    mut tell: impl FnMut(&str, Ended),
) {
    let (next, (done, results)) = (AtomicUsize::new(0), channel());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(names.len()) {
            let (done, next): (Sender<(usize, Ended)>, _) = (done.clone(), &next);
            scope.spawn(move || {
                while let Some((k, name)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, names.get(k)?)))
                {
                    if done.send((k, process(name).run(place))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let (mut waiting, mut told) = (BTreeMap::new(), 0);
        while told < names.len() {
            match results.recv_timeout(Duration::from_millis(200)) {
                Ok((k, ended)) => drop(waiting.insert(k, ended)),
                Err(RecvTimeoutError::Timeout) => watch.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(ended) = waiting.remove(&told) {
                watch.hide();
                tell(&names[told], ended);
                told += 1;
            }
        }
    });
}

impl Tally {
    fn add(&mut self, name: &str, ended: Ended) {
        let counted = match ended.executions {
            Some(executions) => {
                self.executions += executions;
                let s = if executions == 1 { "" } else { "s" };
                format!(" ({} execution{s}, {:.2} s)", grouped(executions), ended.seconds)
            }
            None if ended.one_order => " (one order only)".into(),
            None => String::new(),
        };
        let word = match ended.exit {
            None => "ignored",
            Some(Exit::Holds) => "ok",
            Some(Exit::Found) => "FAILED",
            Some(Exit::NoVerdict) => "NO VERDICT",
        };
        println!("test {name} ... {word}{counted}");
        self.one_order += usize::from(ended.one_order);
        match ended.exit {
            None => self.ignored += 1,
            Some(Exit::Holds) => self.passed += 1,
            Some(Exit::Found) => self.failed.push((name.into(), ended.text)),
            Some(Exit::NoVerdict) => self.open.push((name.into(), ended.text)),
        }
    }

    fn report(self, project: &Project, users: &[User], random: u64, start: Instant) -> Exit {
        for (title, list) in [("failures", &self.failed), ("no verdict", &self.open)] {
            if !list.is_empty() {
                println!("\n{title}:");
            }
            for (name, text) in list {
                println!("\n---- {name} ----\n{}", text.trim_end());
            }
        }
        println!();
        if let Some(text) = memory::note(users, &project.hooked, random).filter(|_| self.executions > 0) {
            println!("{text}\n");
        }
        for note in &project.notes {
            println!("note: {note}\n");
        }
        if self.one_order > 0 {
            println!(
                "note: {} ran in one order only: the body of `block_on` or of a main function cannot be called again\n",
                if self.one_order == 1 { "a test".into() } else { format!("{} tests", self.one_order) }
            );
        }
        let exit = match (self.failed.len(), self.open.len()) {
            (0, 0) => Exit::Holds,
            (0, _) => Exit::NoVerdict,
            _ => Exit::Found,
        };
        let result = match exit {
            Exit::Holds => "ok",
            Exit::Found => "FAILED",
            Exit::NoVerdict => "NO VERDICT",
        };
        println!(
            "test result: {result}. {} passed; {} failed; {} without a verdict; {} ignored; {} executions; finished in {:.2}s\n",
            self.passed,
            self.failed.len(),
            self.open.len(),
            self.ignored,
            grouped(self.executions),
            start.elapsed().as_secs_f64()
        );
        exit
    }
}
