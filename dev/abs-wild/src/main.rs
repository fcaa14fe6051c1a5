//! Runs ABS programs that others wrote, and counts what becomes of them.
//!
//! ```text
//! abs-wild files DIR...          every .abs file below the directories, each text once
//! abs-wild checks DIR            the checks in the Java tests below DIR (a `src/test` folder of the reference implementation)
//! ```
//!
//! Every program runs in a process of its own (`abs-wild one KIND NAME`, with the text on its input), so that a crash or a
//! hang is counted and does not end the run. `--all` prints a line for every program, not only for unexpected results. README.md
//! says where to get the programs.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod java;

use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use whippet_abs::{AbsError, AbsProgram};
use whippet_model::FindingKind;
use whippet_search::Options;

/// The limit on the time of one search.
const SEARCH: Duration = Duration::from_secs(5);
/// The time after which a process counts as a hang: the search has stopped long before.
const HANG: Duration = Duration::from_secs(20);
/// The limit on executions: a program that reaches it is counted as one that runs.
const EXECUTIONS: u64 = 2_000;
/// The limit on the steps of a check: some of them call a method ten thousand times.
const STEPS: usize = 100_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let show_all = args.iter().any(|arg| arg == "--all");
    let words: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "--all").collect();
    match words.as_slice() {
        ["one", kind, name] => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).expect("the input is readable");
            println!("{}", one(kind, name, &text));
        }
        ["files", dirs @ ..] if !dirs.is_empty() => files(dirs, show_all),
        ["checks", dir] => checks(Path::new(dir), show_all),
        _ => {
            eprintln!("usage: abs-wild files DIR... | abs-wild checks DIR   [--all]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Runs one program of a kind and returns its result: a word, and a reason.
fn one(kind: &str, name: &str, text: &str) -> String {
    let first = |error: &AbsError| {
        let place = &error.places()[0];
        format!("{}:{}: {}", place.line, place.column, place.message).replace('\n', " ")
    };
    match kind {
        "parse" => match AbsProgram::parse_syntax(name, text) {
            Ok(()) => "accepted".into(),
            Err(error) => refused(&first(&error)),
        },
        "type" => match AbsProgram::check(name, text) {
            Ok(()) => "accepted".into(),
            Err(error) => refused(&first(&error)),
        },
        _ => match AbsProgram::parse_with(name, text, || around(Path::new(name))) {
            Ok(program) => explored(program, (kind == "evaluate").then_some(STEPS)),
            Err(error) => refused(&first(&error)),
        },
    }
}

/// Tells a construct that is not supported, a program without a main block, and a missing module from errors.
fn refused(message: &str) -> String {
    let word = match message {
        _ if message.contains("not supported") => "unsupported",
        _ if message.contains("no main block") => "no-main",
        _ if message.contains("unknown module") => "no-module",
        _ => "refused",
    };
    format!("{word} {message}")
}

fn explored(program: AbsProgram, steps: Option<usize>) -> String {
    let mut options = Options::default();
    options.limits.time = Some(SEARCH);
    options.limits.executions = Some(EXECUTIONS);
    options.limits.steps = steps.unwrap_or(options.limits.steps);
    match whippet_search::explore(program.into(), &options, &()) {
        Err(error) => format!("error {error}"),
        Ok(verdict) => {
            let of = |kind: FindingKind| verdict.findings.iter().find(|finding| finding.kind == kind);
            if let Some(finding) = of(FindingKind::Assertion) {
                return format!("assertion {}", finding.message.replace('\n', " "));
            }
            match verdict.findings.first() {
                Some(finding) => format!("finding {:?} {}", finding.kind, finding.message.replace('\n', " ")),
                None if verdict.complete => "holds".into(),
                None => format!("limit {:?}", verdict.limits),
            }
        }
    }
}

/// Returns the other ABS files of the directory of a file and of the directories around it, nearest first.
fn around(path: &Path) -> Vec<(String, String)> {
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in path.ancestors().skip(1).take(4).filter(|directory| directory.components().count() > 1) {
        let mut all = Vec::new();
        abs_files(directory, &mut all);
        all.sort();
        for file in all {
            if file != path && !found.contains(&file) {
                found.push(file);
            }
        }
        if found.len() > 100 {
            break;
        }
    }
    found.truncate(300);
    found.iter().filter_map(|file| Some((file.to_string_lossy().into_owned(), read(file)?))).collect()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn abs_files(directory: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            abs_files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "abs" || ending == "java") {
            out.push(path);
        }
    }
}

/// Runs a program in a process of its own.
fn spawned(kind: &str, name: &str, text: &str) -> String {
    let me = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(me);
    command.args(["one", kind, name]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("this program can be started");
    let mut input = child.stdin.take().expect("the input is piped");
    let text = text.to_string();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let started = Instant::now();
    loop {
        match child.try_wait().expect("the process is ours") {
            Some(_) => break,
            None if started.elapsed() > HANG => {
                let _ = child.kill();
                let _ = child.wait();
                return "hang".into();
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    let _ = writer.join();
    let output = child.wait_with_output().expect("the process has ended");
    if output.status.success() {
        return String::from_utf8_lossy(&output.stdout).trim().to_string();
    }
    let error = String::from_utf8_lossy(&output.stderr);
    format!("crash {}", error.lines().take(2).collect::<Vec<_>>().join(" "))
}

/// Counts results by their first word.
#[derive(Default)]
struct Tally(BTreeMap<String, usize>);

impl Tally {
    fn add(&mut self, result: &str) {
        *self.0.entry(result.split(' ').next().unwrap_or("").into()).or_default() += 1;
    }

    fn text(&self) -> String {
        self.0.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(" · ")
    }
}

fn files(dirs: &[&str], show_all: bool) {
    let mut paths = Vec::new();
    dirs.iter().for_each(|dir| abs_files(Path::new(dir), &mut paths));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "abs"));
    paths.sort();
    let (mut seen, mut tally) = (FxHashSet::default(), Tally::default());
    for path in paths {
        let Some(text) = read(&path) else { continue };
        if !seen.insert(text.clone()) {
            continue;
        }
        let result = spawned("run", &path.to_string_lossy(), &text);
        tally.add(&result);
        let plain = ["holds", "finding", "assertion", "limit", "no-main"].iter().any(|word| result.starts_with(word));
        if show_all || !plain {
            println!("{}: {result}", path.display());
        }
    }
    println!("{} files: {}", seen.len(), tally.text());
}

/// The declarations that the reference's tests put before a program.
const PREAMBLE: &str = "module UnitTest;\nexport *;\nimport * from ABS.StdLib;\n";

fn checks(dir: &Path, show_all: bool) {
    let mut sources = Vec::new();
    abs_files(dir, &mut sources);
    sources.retain(|path| path.extension().is_some_and(|ending| ending == "java"));
    sources.sort();
    let mut tallies: BTreeMap<&str, (Tally, usize, usize)> = BTreeMap::new();
    for source in sources {
        let Some(text) = read(&source) else { continue };
        for call in java::calls(&text) {
            let Some((group, kind, expected, program)) = check(dir, &call) else { continue };
            let name = match &call.program {
                java::Program::File(path) => dir.join("resources").join(path).to_string_lossy().into_owned(),
                java::Program::Text(_) => "check.abs".into(),
            };
            let result = spawned(kind, &name, &program);
            let right = expected.iter().any(|word| result.split(' ').next() == Some(word));
            let (tally, all, passed) = tallies.entry(group).or_default();
            tally.add(&result);
            *all += 1;
            *passed += usize::from(right);
            if show_all || !right {
                let file = source.file_name().unwrap_or_default().to_string_lossy();
                let shown: String = program.split_whitespace().collect::<Vec<_>>().join(" ");
                println!("{group} {file}:{} {result}\n    {shown}", call.line);
            }
        }
    }
    for (group, (tally, all, passed)) in tallies {
        println!("{group}: {passed} of {all} ({})", tally.text());
    }
}

/// Returns the group of a check, how to run its program, the results that are right, and the program.
fn check(dir: &Path, call: &java::Call) -> Option<(&'static str, &'static str, &'static [&'static str], String)> {
    let is_set = |word: &str| call.rest.split(' ').any(|found| found == word);
    let text = match &call.program {
        java::Program::Text(text) => text.clone(),
        java::Program::File(path) => read(&dir.join("resources").join(path))?,
    };
    let with_preamble = || if is_set("WITHOUT_MODULE_NAME") { text.clone() } else { format!("{PREAMBLE}{text}") };
    Some(match call.name.as_str() {
        "assertEvalTrue" => {
            let whole = if matches!(call.program, java::Program::File(_)) {
                text
            } else {
                format!("module BackendTest; {text}")
            };
            ("evaluates to True", "evaluate", &["holds"], with_assertion(&whole)?)
        }
        "assertTypeOK" => ("type-checks", "type", &["accepted"], with_preamble()),
        "assertTypeErrors" if is_set("EXPECT_WARNING") => return None,
        "assertTypeErrors" => ("type error", "type", &["refused", "no-module"], with_preamble()),
        "assertParseError" => ("parse error", "parse", &["refused"], with_preamble()),
        "assertParse" if is_set("EXPECT_PARSE_ERROR") => ("parse error", "parse", &["refused"], with_preamble()),
        "assertParse" if is_set("EXPECT_TYPE_ERROR") => {
            ("type error", "type", &["refused", "no-module"], with_preamble())
        }
        "assertParse" if is_set("TYPE_CHECK") => ("type-checks", "type", &["accepted"], with_preamble()),
        "assertParse" => ("parses", "parse", &["accepted"], with_preamble()),
        _ => return None,
    })
}

/// Adds `assert testresult;` to the end of the main block: the reference compares this variable with `True`.
fn with_assertion(text: &str) -> Option<String> {
    let end = text.rfind('}')?;
    Some(format!("{} assert testresult; {}", &text[..end], &text[end..]))
}
