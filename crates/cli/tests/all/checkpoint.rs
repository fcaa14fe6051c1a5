//! Tests of `--checkpoint` and `whippet resume`: searches that are killed, stopped, refused.
//!
//! The full run kills searches a thousand times:
//!
//! ```text
//! WHIPPET_KILLS=1000 cargo test --release -p whippet-cli a_killed -- --nocapture
//! ```

use crate::common::{called, command, directory, json, whippet};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// Eight messages to one object, one of which must not follow another.
const ABS: &str = "module Orders;
interface Sink { Unit put(Int n); }
class Sink implements Sink {
    Int last = 0;
    Unit put(Int n) { assert n != 7 || last != 3; last = n; }
}
{
    Sink sink = new Sink();
    Fut<Unit> a = sink!put(1); Fut<Unit> b = sink!put(2); Fut<Unit> c = sink!put(3); Fut<Unit> d = sink!put(4);
    Fut<Unit> e = sink!put(5); Fut<Unit> f = sink!put(6); Fut<Unit> g = sink!put(7); Fut<Unit> h = sink!put(8);
}
";

/// Eight senders, and a receiver for seven of them: it can end without the message that the last sender waits for.
const NET: &str = "a: S0
b: S0
c: S0
d: S0
e: S0
f: S0
g: S0
h: S0 W0
r: R0 W0 R0 W2 R0 W4 R0 W6 R0 W8 R0 W10 R0 W12
";

/// Returns what must not depend on interruptions.
fn essence(report: &Value) -> Vec<Value> {
    let mut essence: Vec<Value> = ["executions", "blocked", "complete", "limits", "algorithm"]
        .iter()
        .map(|&field| report[field].clone())
        .collect();
    for list in ["findings", "warnings"] {
        for finding in report[list].as_array().expect("it is a list") {
            let fields = ["kind", "message", "schedule", "executions"];
            essence.extend(fields.iter().map(|&field| finding[field].clone()));
        }
    }
    essence
}

/// The number of kills that the environment asks for.
fn kills() -> Option<usize> {
    std::env::var("WHIPPET_KILLS").ok().map(|kills| kills.parse().expect("WHIPPET_KILLS is a number"))
}

/// Waits until a file has changed `times` times, or the process has ended.
fn wait_for_changes(process: &mut Child, file: &Path, times: usize) {
    let modified = || fs::metadata(file).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut last = modified();
    let mut seen = 0;
    while seen < times && process.try_wait().expect("it is our child").is_none() {
        sleep(Duration::from_millis(1));
        let now = modified();
        if now != last {
            (last, seen) = (now, seen + 1);
        }
    }
}

/// Begins a search, and lets it save itself at a limit on time.
fn begin_saved(arguments: &[&str], saved: &Path) {
    let saved = saved.to_str().expect("text");
    for seconds in ["0.2", "0.5", "1", "2"] {
        let called = whippet(&[arguments, &["--checkpoint", saved, "--limit-seconds", seconds]].concat());
        if called.code != 2 || called.err.contains("the search is saved") {
            return;
        }
    }
}

/// Runs a search to its end, and kills it again and again on the way. Returns the report, and the numbers of kills and of
/// processes that continued.
fn run_killed(arguments: &[&str], saved: &Path, seed: &mut u64) -> (Value, usize, usize) {
    let file = saved.join("search.redb");
    let (mut killed, mut continued) = (0, 0);
    if kills().is_none() {
        begin_saved(arguments, saved);
    }
    loop {
        let mut command = command(arguments);
        command.args(["--json", "--checkpoint-seconds", "0.01", "--checkpoint"]).arg(saved);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = (*seed >> 33) as usize;
        if kills().is_some() {
            sleep(Duration::from_millis(random as u64 % 700));
            let _ = process.kill();
        } else if killed < 2 {
            // The file also changes when it is opened.
            wait_for_changes(&mut process, &file, 6 + 3 * killed);
            let _ = process.kill();
        }
        let output = process.wait_with_output().expect("it ends");
        continued += usize::from(String::from_utf8_lossy(&output.stderr).contains("the search continues from"));
        match output.status.code() {
            None => killed += 1,
            Some(_) => {
                let called = called(output);
                let report = serde_json::from_str(&called.out).unwrap_or_else(|_| panic!("{}", called.err));
                return (report, killed, continued);
            }
        }
    }
}

/// Checks that a search that is killed has the same result as one that is not.
#[expect(clippy::print_stdout, reason = "the full run says how many processes it killed")]
fn check_killed(name: &str, arguments: &[&str]) {
    let (expected, _) = json(arguments);
    assert!(expected["complete"].as_bool().unwrap(), "{expected}");
    let saved = directory("killed").join(name);
    let (mut seed, mut killed, mut continued) = (name.bytes().map(u64::from).sum(), 0, 0);
    loop {
        let (report, kills_here, continued_here) = run_killed(arguments, &saved, &mut seed);
        (killed, continued) = (killed + kills_here, continued + continued_here);
        assert_eq!(essence(&report), essence(&expected), "{name}, after {killed} kills");
        assert!(!saved.exists(), "{name}: nothing remains to be continued");
        if killed >= kills().unwrap_or(0) / 5 {
            break;
        }
    }
    println!("{name}: {killed} kills, {continued} processes continued a search");
    // Optimized code may be done before anything was saved.
    assert!(continued > 0 || !cfg!(debug_assertions), "{name}: no search was continued");
}

/// Writes a program to a file, and returns the path.
fn program(name: &str, text: &str) -> String {
    let file = directory(&format!("checkpoint-{name}")).join(name);
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn a_killed_search_of_actors_loses_nothing() {
    check_killed("pi", &["explore", "pi", "--set", "workers=9"]);
}

#[test]
fn a_killed_search_of_two_workers_loses_nothing() {
    check_killed("leader", &["explore", "leader", "--set", "n=6", "--jobs", "2"]);
}

#[test]
fn a_killed_search_of_abs_loses_nothing() {
    check_killed("orders", &["explore", &program("orders.abs", ABS)]);
}

#[test]
fn a_killed_parsimonious_search_loses_nothing() {
    let file = program("parts.abs", ABS);
    check_killed("parts", &["explore", &file, "--reduction", "parsimonious", "--jobs", "2"]);
}

#[test]
fn a_killed_search_of_mailboxes_loses_nothing() {
    check_killed("senders", &["explore", &program("senders.net", NET)]);
}

/// Begins a search that is stopped by the limit on time after it was saved.
fn begin(saved: &str, more: &[&str]) {
    let arguments = ["explore", "pi", "--set", "workers=12", "--checkpoint", saved, "--limit-seconds", "0.3"];
    let called = whippet(&[&arguments[..], more].concat());
    assert_eq!(called.code, 2, "{}", called.err);
    assert!(called.err.contains("the search is saved: `whippet resume"), "{}", called.err);
}

#[test]
fn a_search_continues_after_a_limit() {
    let saved = directory("after-a-limit");
    let saved = saved.to_str().unwrap();
    begin(saved, &[]);
    let (first, _) = json(&["explore", "pi", "--set", "workers=12", "--checkpoint", saved, "--limit-seconds", "0.1"]);
    let more = ["explore", "pi", "--set", "workers=12", "--checkpoint", saved, "--limit-seconds", "1", "--jobs", "1"];
    let (second, code) = json(&more);
    assert_eq!((code, &second["limits"][0]), (2, &"time".into()));
    assert!(second["executions"].as_u64() > first["executions"].as_u64(), "{first} {second}");
    // Executions count over all processes, even if they were not limited before.
    let before = second["executions"].as_u64().unwrap();
    let limit = (before + 10).to_string();
    let arguments = ["explore", "pi", "--set", "workers=12", "--checkpoint", saved, "--limit-executions", &limit];
    let (third, code) = json(&arguments);
    assert_eq!((code, &third["limits"][0], third["executions"].as_u64()), (2, &"executions".into(), Some(before + 10)));
    // The limit of its command has been reached.
    let called = whippet(&["resume", saved]);
    assert!(called.code == 2 && called.err.contains("the search continues from"), "{}", called.err);
}

#[test]
fn another_search_is_refused() {
    let saved = directory("refused");
    let saved = saved.to_str().unwrap();
    begin(saved, &["--order", "eca"]);
    let refused = |arguments: &[&str]| {
        let called = whippet(&[arguments, &["--checkpoint", saved]].concat());
        assert_eq!(called.code, 2, "{}", called.err);
        called.err
    };
    let other = refused(&["explore", "pi", "--set", "workers=11", "--order", "eca"]);
    assert!(other.contains("its setting workers is `12`, here it is `11`"), "{other}");
    let other = refused(&["explore", "pi", "--set", "workers=12", "--reduction", "source"]);
    assert!(other.contains("its --order is `eca`, here it is `own`; its --reduction is `optimal`"), "{other}");
    let unused = whippet(&["explore", "server", "--reduction", "udpor", "--checkpoint", saved]).err;
    assert!(unused.contains("--checkpoint has no effect with --reduction udpor"), "{unused}");
}

#[test]
fn another_source_is_refused() {
    let (saved, file) = (directory("refused-source"), program("changed.net", NET));
    let saved = saved.to_str().unwrap();
    let arguments = ["explore", &file, "--reduction", "exhaustive", "--limit-seconds", "0.3", "--checkpoint", saved];
    assert!(whippet(&arguments).err.contains("the search is saved"));
    fs::write(&file, NET.replace("a: S0", "a: S0 W0")).unwrap();
    let refused = whippet(&arguments);
    assert!(refused.code == 2 && refused.err.contains("the source of the program has changed"), "{}", refused.err);
}

#[test]
fn a_damaged_file_and_a_missing_one_are_errors() {
    let saved = directory("damaged");
    let (file, saved) = (saved.join("search.redb"), saved.to_str().unwrap());
    let missing = whippet(&["resume", saved]);
    assert!(missing.code == 2 && missing.err.contains("has no saved search"), "{}", missing.err);
    begin(saved, &[]);
    fs::write(&file, "something else").unwrap();
    for arguments in [&["resume", saved][..], &["explore", "pi", "--checkpoint", saved]] {
        let damaged = whippet(arguments);
        assert!(damaged.code == 2 && damaged.err.contains("is damaged and cannot be continued"), "{}", damaged.err);
    }
}

#[cfg(unix)]
#[test]
fn a_request_to_terminate_saves_the_search() {
    let saved = directory("terminated");
    let (file, saved) = (saved.join("search.redb"), saved.to_str().unwrap());
    for signal in ["TERM", "INT"] {
        let mut process = command(&["explore", "pi", "--set", "workers=12", "--checkpoint", saved])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // The command listens before it opens the file, which is not there yet or closed.
        wait_for_changes(&mut process, &file, 1);
        let id = process.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let called = called(process.wait_with_output().expect("it ends"));
        assert!(called.code == 2 && called.err.contains("the search is saved"), "{}", called.err);
        assert_eq!(signal == "INT", called.err.contains("the search continues from"), "{}", called.err);
    }
}
