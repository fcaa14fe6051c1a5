//! Runs tests, each in its own process, and reports the results.

use crate::arguments::Test;
use crate::build::{Binary, Kept, What};
use crate::memory::{self, Unseen};
use crate::process::{Ended, Place, Process};
use crate::project::Project;
use crate::watch::Watch;
use crate::{again, reports, running};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use whippet_protocol::{Beyond, RegressionState, TestKind};
use whippet_report::{Exit, grouped};

/// The default number of random executions beside a search, if the tests use memory that the search does not see.
const BESIDE: u64 = 1_000;

/// The addition to the line of a test that has findings only on several threads.
const SEVERAL_THREADS: &str = ", would fail on a multi-thread runtime";

/// A test that has ended.
pub(crate) struct Tested {
    /// The name of its package.
    pub(crate) package: String,
    /// The source of its target, relative to the package.
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) ended: Ended,
}

impl Tested {
    /// Returns the package and the source of the target, such as `bank tests/bank.rs`.
    pub(crate) fn target(&self) -> String {
        format!("{} {}", self.package, self.source)
    }

    /// Returns the findings that only a runtime with several threads can show, if the test's has one.
    pub(crate) fn beyond(&self) -> Option<&Beyond> {
        self.ended.reply.beyond.as_ref().filter(|_| self.ended.exit != Some(Exit::NoVerdict))
    }

    /// Returns `true` if every order of this test was explored.
    fn is_covered(&self) -> bool {
        self.ended.complete && self.ended.exit != Some(Exit::NoVerdict)
    }
}

/// The results of a run.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) tests: Vec<Tested>,
    /// Memory that the tests' tasks share unseen.
    pub(crate) unseen: Unseen,
    /// The time that running them took.
    pub(crate) time: Duration,
}

pub(crate) fn run(arguments: &Test) -> Result<Exit, String> {
    if arguments.reports.json {
        reports::take_stdout();
    }
    let mut tally = Tally::default();
    let first = Pass { arguments, own: &arguments.own, only: None, tries_hooks: false };
    let (mut project, random) = first.run(&mut tally)?;
    again::run(arguments, &mut project, &mut tally);
    let notes = tally.notes(&project, random);
    let exit = tally.report(&notes);
    reports::write(&arguments.reports, &tally, &notes, exit, tally.time, &project.root)?;
    Ok(exit)
}

/// One build and a run of its tests.
pub(crate) struct Pass<'a> {
    pub(crate) arguments: &'a Test,
    /// Whippet's own arguments.
    pub(crate) own: &'a [String],
    /// The tests to run, each with the target of [`Tested::target`]; all tests if `None`.
    pub(crate) only: Option<&'a BTreeSet<(String, String)>>,
    /// `true` if hooks in libraries are only tried. They are the last of `own`.
    pub(crate) tries_hooks: bool,
}

impl Pass<'_> {
    /// Builds the tests and runs them. Returns the project, which others may build in again, and the number of random executions beside
    /// each search.
    pub(crate) fn run(&self, tally: &mut Tally) -> Result<(Project, u64), String> {
        let arguments = self.arguments;
        let mut project = Project::open(&arguments.cargo, self.own)?;
        project.tries_hooks = self.tries_hooks;
        let mut binaries = project.build(What::Tests)?;
        let roots: BTreeSet<String> = binaries.iter().map(|binary| binary.package.clone()).collect();
        let users = memory::users(&project.graph, &roots);
        let clocks = memory::clocks(&project.graph, &roots, project.has_tokio());
        project.notes.extend(clocks.iter().map(|clock| {
            format!("{clock} reads the real clock, but explored tests run in virtual time: use tokio::time::Instant")
        }));
        tally.unseen = Unseen::new(&users, &project.hooked, &memory::reached(&project.graph));
        for binary in &mut binaries {
            binary.search.random = binary.search.random.or(tally.unseen.is_any().then_some(BESIDE));
        }
        // From here on, nothing of the overlay is used: another run may build.
        let _kept = Kept::link(&mut binaries);
        project.release();
        let (start, place) = (Instant::now(), Place::new(&project.home)?);
        let watch = Watch::new(&place);
        for binary in &binaries {
            self.explore(binary, &place, &watch, tally)?;
        }
        tally.time += start.elapsed();
        let random = binaries.iter().filter_map(|binary| binary.search.random).max().unwrap_or(0);
        Ok((project, random))
    }

    /// Runs the tests of one binary.
    fn explore(&self, binary: &Binary, place: &Place, watch: &Watch, tally: &mut Tally) -> Result<(), String> {
        let filter = &self.arguments.filter;
        let show = filter.iter().any(|word| ["--nocapture", "--no-capture"].contains(&word.as_str()));
        let ignored = filter.iter().any(|word| ["--ignored", "--include-ignored"].contains(&word.as_str()));
        let mut names = list(binary, filter)?;
        if let Some(only) = self.only {
            let target = format!("{} {}", binary.package_name, binary.source);
            names.retain(|name| only.contains(&(target.clone(), name.clone())));
            if names.is_empty() {
                return Ok(());
            }
        }
        say!("\n     Exploring {} {}", binary.package_name, binary.source);
        say!("\nrunning {} test{}", names.len(), if names.len() == 1 { "" } else { "s" });
        let jobs = binary.search.jobs.map_or_else(cores, |n| n as usize);
        let report = self.arguments.reports.json;
        let process = |name: &str| Process { binary, name: name.into(), show, ignored, report };
        all(&names, jobs, watch, place, &process, |name, event| match event {
            Event::Ended(ended) => tally.add(binary, name, *ended),
            Event::Found(text) => say!("found in {name}, whose search goes on:\n{}\n", text.trim_end()),
        });
        Ok(())
    }
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

/// A message about a test.
enum Event {
    Ended(Box<Ended>),
    /// A finding of a search that goes on.
    Found(String),
}

/// Runs tests, `jobs` at a time, and passes what happens to `tell` as soon as it does.
fn all<'a>(
    names: &'a [String],
    jobs: usize,
    watch: &Watch,
    place: &Place,
    process: &(impl Fn(&str) -> Process<'a> + Sync),
    mut tell: impl FnMut(&str, Event),
) {
    let (next, (done, results)) = (AtomicUsize::new(0), channel());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(names.len()) {
            let (done, next): (Sender<(usize, Event)>, _) = (done.clone(), &next);
            scope.spawn(move || {
                while let Some((k, name)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, names.get(k)?)))
                {
                    // The receiver exists until all tests have ended.
                    let found = |text| drop(done.send((k, Event::Found(text))));
                    let ended = if running::is_stopped() {
                        Ended::no_verdict("no verdict: not run, because of an interruption".into())
                    } else {
                        process(name).run(place, &found)
                    };
                    if done.send((k, Event::Ended(Box::new(ended)))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        loop {
            match results.recv_timeout(Duration::from_millis(200)) {
                Ok((k, event)) => {
                    watch.hide();
                    tell(&names[k], event);
                }
                Err(RecvTimeoutError::Timeout) => watch.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
}

impl Tally {
    /// Adds a result and shows it at once: what is found must not be lost if this process is killed.
    fn add(&mut self, binary: &Binary, name: &str, ended: Ended) {
        let counted = match ended.executions {
            Some(executions) => {
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
        let beyond = ended.reply.beyond.as_ref().filter(|_| ended.exit != Some(Exit::NoVerdict));
        let is_one =
            ended.exit == Some(Exit::Holds) && ended.executions == Some(1) && ended.reply.kind != TestKind::Native;
        let unseen = if is_one && self.unseen.is_any() { self.unseen.in_line() } else { String::new() };
        say!("test {name} ... {word}{counted}{unseen}{}", if beyond.is_some() { SEVERAL_THREADS } else { "" });
        for kept in ended.reply.regressions.iter().filter(|kept| kept.state != RegressionState::Fails) {
            say!("  regression {kept}");
        }
        for warning in ended.reply.warnings.iter().filter(|_| ended.exit == Some(Exit::Holds)) {
            say!("  warning: {}", warning.headline());
        }
        if let Some(page) = ended.reply.page.as_ref().filter(|_| ended.exit == Some(Exit::Holds)) {
            say!("  look at it: {}", page.display());
        }
        let tested =
            Tested { package: binary.package_name.clone(), source: binary.source.clone(), name: name.into(), ended };
        if [Some(Exit::Found), Some(Exit::NoVerdict)].contains(&tested.ended.exit) {
            say!("\n---- {}: {name} ----\n{}\n", tested.target(), tested.ended.text.trim_end());
            if let Some(places) = self.unseen.explain(tested.ended.reason) {
                say!("{places}\n");
            }
        }
        if let Some(beyond) = tested.beyond() {
            say!("\n---- {}: {name}{SEVERAL_THREADS} ----\n{}\n", tested.target(), beyond.text.trim_end());
        }
        self.tests.push(tested);
    }

    fn with(&self, exit: Option<Exit>) -> impl Iterator<Item = &Tested> {
        self.tests.iter().filter(move |test| test.ended.exit == exit)
    }

    /// Returns the notes about the whole run.
    fn notes(&self, project: &Project, random: u64) -> Vec<String> {
        let mut notes = Vec::new();
        let tokio = |test: &&Tested| test.ended.reply.kind != TestKind::Native;
        let explored = self.tests.iter().filter(tokio).filter(|test| test.ended.executions.is_some()).count();
        let covered = self.tests.iter().filter(tokio).filter(|test| test.is_covered()).count();
        if project.has_tokio() {
            notes.extend(memory::note(&self.unseen, &project.hooked, random, (covered, explored)));
        }
        notes.extend(project.notes.iter().map(|note| format!("note: {note}")));
        if self.tests.is_empty() {
            notes
                .push("note: no test was run: the package has none, or none that the filter after `--` selects".into());
        }
        let one_order = self.tests.iter().filter(|test| test.ended.one_order).count();
        if one_order > 0 {
            notes.push(format!(
                "note: {} ran in one order only: the body of `block_on` or of a main function cannot be called again",
                if one_order == 1 { "a test".into() } else { format!("{one_order} tests") }
            ));
        }
        let doubtful = |doubt: &str| -> Vec<&str> {
            let has = |test: &&Tested| test.ended.reply.doubts.iter().any(|other| other == doubt);
            self.tests.iter().filter(has).map(|test| test.name.as_str()).collect()
        };
        let doubts: BTreeSet<&String> = self.tests.iter().flat_map(|test| &test.ended.reply.doubts).collect();
        notes.extend(doubts.into_iter().map(|doubt| format!("warning: {doubt}: {}", doubtful(doubt).join(", "))));
        notes
    }

    pub(crate) fn report(&self, notes: &[String]) -> Exit {
        for (title, exit) in [("failures", Exit::Found), ("no verdict", Exit::NoVerdict)] {
            let mut tests: Vec<String> =
                self.with(Some(exit)).map(|test| format!("    {}: {}", test.target(), test.name)).collect();
            tests.sort();
            if !tests.is_empty() {
                say!("\n{title}:\n{}", tests.join("\n"));
            }
        }
        let several = self.tests.iter().filter(|test| test.beyond().is_some());
        let mut several: Vec<String> = several.map(|test| format!("    {}: {}", test.target(), test.name)).collect();
        several.sort();
        if !several.is_empty() {
            say!("\nwould fail on a multi-thread runtime:\n{}", several.join("\n"));
        }
        say!("");
        for note in notes {
            say!("{note}\n");
        }
        let (failed, open) = (self.with(Some(Exit::Found)).count(), self.with(Some(Exit::NoVerdict)).count());
        let (exit, result) = match (failed, open) {
            (0, 0) => (Exit::Holds, "ok"),
            (0, _) => (Exit::NoVerdict, "NO VERDICT"),
            _ => (Exit::Found, "FAILED"),
        };
        say!(
            "test result: {result}. {} passed; {failed} failed; {open} without a verdict; {} ignored; {} executions; finished in {:.2}s\n",
            self.with(Some(Exit::Holds)).count(),
            self.with(None).count(),
            grouped(self.tests.iter().filter_map(|test| test.ended.executions).sum()),
            self.time.as_secs_f64()
        );
        exit
    }
}
