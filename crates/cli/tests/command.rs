//! End-to-end tests of the built command.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The result of one run of the command.
struct Called {
    code: i32,
    out: String,
    err: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whippet"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn called(output: Output) -> Called {
    Called {
        code: output.status.code().expect("it ended by itself"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn whippet(arguments: &[&str]) -> Called {
    called(command(arguments).output().expect("it starts"))
}

/// Returns the object printed with `--json`, and the exit code.
fn json(arguments: &[&str]) -> (Value, i32) {
    let called = whippet(&[arguments, &["--json"]].concat());
    (serde_json::from_str(&called.out).unwrap_or_else(|e| panic!("{e}: {} {}", called.out, called.err)), called.code)
}

/// Creates a directory used only by this test.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the build's own directory can be written to");
    path
}

#[test]
fn nothing_found_is_exit_0() {
    let (report, code) = json(&["explore", "server", "--reduction", "exhaustive"]);
    assert_eq!(code, 0);
    assert_eq!((&report["executions"], &report["transitions"]), (&6.into(), &26.into()));
    assert_eq!(report["warnings"][0]["kind"], "undeliverable");
}

#[test]
fn something_found_is_exit_1() {
    let (report, code) = json(&["explore", "server", "--set", "assert=true"]);
    assert_eq!(code, 1);
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &report["complete"]), (&"assertion".into(), &true.into()));
    assert!(finding["message"].as_str().unwrap().contains("inconsistent read"), "{finding}");
    assert_eq!(finding["story"].as_array().unwrap().len(), finding["schedule"]["steps"].as_array().unwrap().len());
}

#[test]
fn another_delivery_gives_another_verdict() {
    let (report, code) = json(&["explore", "server", "--set", "assert=true", "--delivery", "fifo"]);
    assert_eq!((code, &report["delivery"]), (0, &"fifo".into()));
    assert_eq!(report["findings"], Value::Array(vec![]));
}

#[test]
fn an_undeliverable_message_is_a_finding_on_request() {
    let (report, code) = json(&["explore", "server", "--undeliverable", "error"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (1, &"undeliverable".into()));
}

#[test]
fn a_closed_environment_wants_everybody_to_stop() {
    let (report, code) = json(&["explore", "helloworld", "--environment", "closed"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (1, &"environment".into()));
    assert_eq!(whippet(&["explore", "helloworld"]).code, 0);
}

#[test]
fn a_limit_is_exit_2_with_a_reason_and_what_was_counted() {
    let called = whippet(&["explore", "pi", "--set", "workers=6", "--limit-executions", "100", "--json"]);
    assert_eq!(called.code, 2);
    assert!(called.err.contains("no verdict") && called.err.contains("limit on executions"), "{}", called.err);
    let report: Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((&report["executions"], &report["complete"]), (&100.into(), &false.into()));
    assert_eq!(report["limits"][0], "executions");
}

#[test]
fn the_object_has_the_fields_of_the_contract() {
    let (report, _) = json(&["explore", "pi", "--set", "workers=3"]);
    let fields = [
        "version",
        "subject",
        "parameters",
        "reduction",
        "order",
        "sleep",
        "delivery",
        "executions",
        "blocked",
        "transitions",
        "handler_runs",
        "findings",
        "warnings",
        "complete",
        "seconds",
        "cpu_seconds",
        "peak_memory_bytes",
    ];
    for field in fields {
        assert!(!report[field].is_null(), "{field} is missing in {report}");
    }
    assert!(report.get("states").is_none(), "only a stateful search counts states");
    assert_eq!(report["parameters"]["workers"], 3);
    assert_eq!((&report["reduction"], &report["executions"]), (&"optimal".into(), &6.into()));
}

#[test]
fn the_report_says_the_same_as_the_object() {
    let called = whippet(&["explore", "pi"]);
    assert_eq!(called.code, 0);
    assert!(
        called.out.starts_with("pi(workers=4, variant=actorfoundry) · optimal, delivery unordered\n"),
        "{}",
        called.out
    );
    assert!(called.out.contains("executions           24\n"), "{}", called.out);
    assert!(called.out.contains("Nothing found: every order was covered, in 24 executions."), "{}", called.out);
    assert!(!called.out.contains('\u{1b}'), "no colours in a pipe");
    assert_eq!(called.err, "", "no progress in a pipe");
}

#[test]
fn a_saved_schedule_replays() {
    let here = directory("saved");
    let found = called(
        command(&["explore", "server", "--set", "assert=true", "--save", "kept"]).current_dir(&here).output().unwrap(),
    );
    let printed = found.out.lines().find_map(|line| line.trim().strip_prefix("replay: whippet ")).expect("a command");
    assert_eq!(printed, format!("replay {}", Path::new("kept").join("server-1.json").display()));
    let words: Vec<&str> = printed.split(' ').collect();
    let again = called(command(&words).current_dir(&here).output().unwrap());
    assert_eq!(again.code, 1, "{}", again.err);
    // The counterexample is printed again, step by step.
    let story =
        |text: &str| text.lines().filter(|l| l.starts_with("  ")).take(20).map(String::from).collect::<Vec<_>>();
    assert!(again.out.contains("inconsistent read"), "{}", again.out);
    assert!(story(&again.out).iter().all(|line| found.out.contains(line)), "{}\n{}", again.out, found.out);
    // The second file is the warning, which is not an error.
    assert_eq!(called(command(&["replay", "kept/server-2.json"]).current_dir(&here).output().unwrap()).code, 0);
}

#[test]
fn a_report_replays_from_standard_input() {
    let report = whippet(&["explore", "server", "--set", "assert=true", "--json"]).out;
    let file = directory("report").join("report.json");
    std::fs::write(&file, report).unwrap();
    let input = std::fs::File::open(&file).unwrap();
    let replayed = called(command(&["replay", "-", "--json"]).stdin(input).output().unwrap());
    assert_eq!(replayed.code, 1, "{}", replayed.err);
    let replayed: Value = serde_json::from_str(&replayed.out).unwrap();
    assert_eq!(replayed["problems"][0]["kind"], "assertion");
    let none = whippet(&["replay", file.to_str().unwrap(), "--finding", "9"]);
    assert!(none.code == 2 && none.err.contains("none with number 9"), "{}", none.err);
}

#[test]
fn files_that_are_no_schedules_get_a_clear_error() {
    let here = directory("damaged");
    let file = here.join("s.json");
    let replay = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let called = whippet(&["replay", file.to_str().unwrap()]);
        assert_eq!((called.code, called.out.as_str()), (2, ""));
        called.err
    };
    assert!(replay("{").contains("damaged"));
    let schedule = |version: u32, program: &str, name: &str| {
        format!(
            "{{\"format\": \"whippet schedule\", \"version\": {version}, \"program\": \"{program}\", \"settings\": {{}}, \
             \"steps\": [{{\"name\": \"{name}\", \"text\": \"x\"}}]}}"
        )
    };
    assert!(replay(&schedule(99, "pi", "0")).contains("version 99"));
    assert!(replay(&schedule(1, "hanoi", "0")).contains("there is no subject `hanoi`"));
    assert!(replay(&schedule(1, "pi", "12")).contains("step 1"));
    let missing = whippet(&["replay", here.join("nowhere.json").to_str().unwrap()]);
    assert!(missing.code == 2 && missing.err.contains("cannot read"), "{}", missing.err);
}

#[test]
fn unknown_names_list_the_known_ones() {
    let wrong = |arguments: &[&str]| {
        let called = whippet(arguments);
        assert_eq!((called.code, called.out.as_str()), (2, ""), "{}", called.err);
        called.err
    };
    let error = wrong(&["explore", "sever"]);
    assert!(error.contains("Did you mean `server`?") && error.contains("helloworld"), "{error}");
    let error = wrong(&["explore", "pi", "--set", "worker=3"]);
    assert!(error.contains("`pi` has no parameter `worker`; it has: workers"), "{error}");
    assert!(wrong(&["explore", "pi", "--set", "workers=many"]).contains("1 to"));
    let error = wrong(&["explore", "pi", "--reduction", "optmal"]);
    assert!(error.contains("similar value exists: 'optimal'") && error.contains("transdpor"), "{error}");
    assert!(wrong(&["explore", "pi.rs"]).contains(".net"));
    assert!(wrong(&["explore", "nowhere.net"]).contains("cannot read nowhere.net"));
    assert!(wrong(&["reproduce", "--table", "9"]).contains("4.2"));
    assert!(wrong(&["reproduce", "--subject", "pie"]).contains("Did you mean `pi`?"));
    assert!(wrong(&["reproduce", "--table", "selection", "--subject", "qsrt"]).contains("Did you mean `qsort`?"));
    // A subject of another table only: no row would be left.
    assert!(wrong(&["reproduce", "--table", "udpor", "--subject", "fib"]).contains("no subject in this table `fib`"));
    assert!(wrong(&["reproduce", "--table", "4.2", "--subject", "qsrt"]).contains("no subject in this table `qsrt`"));
    assert!(wrong(&["explore", "dtg", "--delivery", "fifo"]).contains("--delivery is for native actors"));
    wrong(&["explore"]);
    wrong(&[]);
}

#[test]
fn a_file_of_mailboxes_is_explored_and_replayed() {
    let here = directory("net");
    std::fs::write(here.join("two.net"), "R0 W0 S1 W2\nR1 W0 S0 W2\n").unwrap();
    let found = called(command(&["explore", "two.net", "--save", "."]).current_dir(&here).output().unwrap());
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("deadlock:"), "{}", found.out);
    let again = called(command(&["replay", "two-1.json"]).current_dir(&here).output().unwrap());
    assert!(again.code == 1 && again.out.contains("deadlock:"), "{} {}", again.out, again.err);
    std::fs::write(here.join("bad.net"), "R0 X0\n").unwrap();
    let bad = called(command(&["explore", "bad.net"]).current_dir(&here).output().unwrap());
    assert!(bad.code == 2 && bad.err.contains("line 1, column 4"), "{}", bad.err);
}

#[test]
fn the_relation_of_mailbox_programs_can_be_chosen() {
    let here = directory("relation");
    std::fs::write(here.join("two.net"), "R0 W0 S1 W2\nR1 W0 S0 W2\n").unwrap();
    let run = |arguments: &[&str]| called(command(arguments).current_dir(&here).output().unwrap());
    let printed = run(&["explore", "two.net", "--relation", "paper", "--save", "."]);
    assert!(printed.code == 1 && printed.out.contains("deadlocks may be missed"), "{}{}", printed.out, printed.err);
    let again = run(&["replay", "two-1.json"]);
    assert!(again.code == 1 && again.out.contains("relation=paper"), "{}{}", again.out, again.err);
    let ranked = run(&["explore", "two.net", "--relation", "ranked"]);
    assert!(ranked.code == 1 && !ranked.out.contains("may be missed"), "{}", ranked.out);
    assert!(run(&["explore", "two.net", "--relation", "paper", "-r", "udpor"]).err.contains("no unfolding"));
    assert!(run(&["explore", "pi", "--relation", "paper"]).err.contains("--relation is for programs of mailboxes"));
}

#[test]
fn the_unfolding_search_says_what_it_knew() {
    let (report, code) = json(&["explore", "rmq-receiving", "--set", "n=5", "--reduction", "udpor"]);
    assert_eq!((code, &report["executions"], &report["blocked"]), (0, &24.into(), &0.into()));
    assert_eq!(report["events"]["avoided"], 6);
    assert!(report["events"]["known"].as_u64() < report["events"]["created"].as_u64());
    let text = whippet(&["explore", "rmq-receiving", "--set", "n=5", "--reduction", "udpor"]).out;
    assert!(["blocked", "events", "largest U", "largest D"].iter().all(|row| text.contains(row)), "{text}");
}

#[test]
fn an_unfolding_can_be_drawn() {
    let dot = whippet(&["unfold", "any_src-can-deadlock3"]);
    assert_eq!(dot.code, 0, "{}", dot.err);
    assert!(dot.out.starts_with("digraph") && dot.out.contains("style=dashed"), "{}", dot.out);
    let (json, _) = json(&["unfold", "any_src-can-deadlock3"]);
    let events = json["events"].as_array().unwrap();
    assert_eq!(dot.out.matches("[label=").count(), events.len());
    assert!(events.iter().any(|event| !event["conflicts"].as_array().unwrap().is_empty()));
    let large = whippet(&["unfold", "rmq-receiving", "--set", "n=6", "--limit-executions", "10"]);
    assert!(large.code == 2 && large.err.contains("the limit on executions"), "{}", large.err);
}

#[test]
fn a_file_of_abs_is_explored_and_replayed() {
    let here = directory("abs");
    let source = "interface I { Unit set(Int v); Int look(); }\n\
                  class C implements I { Int value = 0; Unit set(Int v) { value = v; } Int look() { return value; } }\n\
                  { I c = new C(); c!set(1); Fut<Int> f = c!look(); Int v = f.get; assert(v == 1); }\n";
    std::fs::write(here.join("cell.abs"), source).unwrap();
    let found = called(command(&["explore", "cell.abs", "--save", "."]).current_dir(&here).output().unwrap());
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(found.out.contains("cell.abs:3"), "{}", found.out);
    let again = called(command(&["replay", "cell-1.json"]).current_dir(&here).output().unwrap());
    assert_eq!(again.code, 1, "{} {}", again.out, again.err);
    std::fs::write(here.join("bad.abs"), "{ Int v = nothing; }").unwrap();
    let bad = called(command(&["explore", "bad.abs"]).current_dir(&here).output().unwrap());
    assert!(bad.code == 2 && bad.err.contains("nothing"), "{}", bad.err);
}

#[test]
fn flags_without_effect_are_named() {
    let called = whippet(&["explore", "helloworld", "--rule", "table1"]);
    assert_eq!(called.code, 0);
    assert!(called.err.contains("--rule has no effect with --reduction optimal"), "{}", called.err);
}

#[test]
fn first_bug_stops_early() {
    let (all, _) = json(&["explore", "philosophers", "--jobs", "1"]);
    let (first, code) = json(&["explore", "philosophers", "--jobs", "1", "--first-bug"]);
    assert_eq!(code, 1);
    assert_eq!((&first["complete"], &first["findings"][0]["kind"]), (&false.into(), &"deadlock".into()));
    assert!(first["executions"].as_u64() <= all["executions"].as_u64());
}

#[test]
fn help_teaches_and_completions_exist() {
    let help = whippet(&["explore", "--help"]);
    assert_eq!(help.code, 0);
    for word in ["--reduction", "exactly one execution", "Examples:", "--limit-seconds", "--save"] {
        assert!(help.out.contains(word), "{word} is not in\n{}", help.out);
    }
    assert!(whippet(&["completions", "bash"]).out.contains("--reduction"));
}

#[test]
fn every_example_of_the_help_parses() {
    for page in [&["--help"][..], &["explore", "--help"], &["unfold", "--help"]] {
        let help = whippet(page).out;
        let examples = help.split("Examples:").nth(1).expect("there are examples");
        for line in examples.lines().filter_map(|line| line.strip_prefix("  whippet ")) {
            let line = line.split("  ").next().unwrap_or(line).split(" | ").next().unwrap_or(line);
            // With `--help` appended, a command only checks its flags.
            let words: Vec<&str> = line.split(' ').chain(["--help"]).collect();
            assert_eq!(whippet(&words).code, 0, "{line}");
        }
    }
}

#[test]
fn the_list_has_every_subject_with_its_parameters() {
    let (list, code) = json(&["list"]);
    assert_eq!(code, 0);
    let pi = list.as_array().unwrap().iter().find(|subject| subject["name"] == "pi").expect("pi is a subject");
    assert_eq!((&pi["parameters"][0]["name"], &pi["parameters"][0]["default"]), (&"workers".into(), &"4".into()));
    assert!(whippet(&["list"]).out.contains("workers=4"));
}

#[test]
fn a_comparison_knows_the_traces_and_the_shape() {
    let (comparison, code) = json(&["compare", "fib", "--limit-executions", "5000"]);
    assert_eq!(code, 0);
    assert_eq!((&comparison["traces"], &comparison["expected"]), (&16.into(), &"lca".into()));
    assert_eq!(comparison["best"]["persistent"], serde_json::json!(["lca"]));
    let cell = |order: &str| {
        let cells = comparison["cells"].as_array().unwrap();
        let is = |c: &&Value| c["reduction"] == "persistent" && c["sleep"] == false && c["order"] == order;
        cells.iter().find(is).expect("every cell is there")["executions"].clone()
    };
    assert_eq!((cell("lca"), cell("eca")), (16.into(), 327.into()));
}

#[test]
fn a_table_is_reproduced() {
    let (result, code) = json(&["reproduce", "--table", "4.2", "--subject", "fib"]);
    assert_eq!(code, 0);
    let table = &result["tables"][0];
    assert_eq!((&table["equal"], &table["wrong"]), (&16.into(), &0.into()), "{}", table["summary"]);
    let text = whippet(&["reproduce", "--table", "4.2", "--subject", "fib"]).out;
    assert!(text.contains("16 / 92 =") && text.contains("4.2: 16 of 16 cells equal"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_panic() {
    // The pipe is closed before the command writes to it.
    let mut child = command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = called(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
}

#[cfg(unix)]
#[test]
fn an_interruption_gives_the_partial_verdict() {
    let mut search = command(&["explore", "pi", "--set", "workers=12", "--json"]);
    let child = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is a kill");
    assert!(killed.success());
    let ended = called(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 2, "{}", ended.err);
    let report: Value = serde_json::from_str(&ended.out).expect("a report in spite of the interruption");
    assert_eq!((&report["limits"][0], &report["complete"]), (&"interrupted".into(), &false.into()));
    assert!(report["executions"].as_u64() > Some(0));
}

/// The running example of the paper on selecting actors and tasks: 6 executions, or 2 with marks or fields.
#[test]
fn actors_and_tasks_are_selected() {
    let running = concat!(env!("CARGO_MANIFEST_DIR"), "/../lang/subjects/running.abs");
    for (tasks, executions) in [("actors", 6), ("marks", 2), ("marks-literal", 2)] {
        let (report, code) = json(&["explore", running, "-r", "persistent", "--order", "stable", "--tasks", tasks]);
        let counted = (&report["executions"], &report["unstable"], code);
        assert_eq!(counted, (&executions.into(), &0.into(), 0), "{tasks}");
        assert_eq!(report["may_miss"], tasks != "actors", "{}", report["notes"]);
    }
    assert_eq!(json(&["explore", running]).0["executions"], 2);
    let marks = whippet(&["explore", running, "--tasks", "marks"]);
    assert!(marks.out.contains("what may have been missed") && !marks.out.contains("every order"), "{}", marks.out);
}

#[test]
fn native_actors_are_selected_by_what_samples_show() {
    let (report, code) = json(&["explore", "pi", "--order", "stable", "--tasks", "marks"]);
    assert!(code == 0 && report["unstable"].is_u64(), "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("may miss") && notes.contains("sample executions showed"), "{notes}");
    let (plain, _) = json(&["explore", "pi", "--tasks", "actors"]);
    assert_eq!(plain["executions"], report["executions"], "it has no tracked fields");
}

#[test]
fn selection_is_refused_where_nothing_tells_who_sends_to_whom() {
    let stable = whippet(&["explore", "rmq-receiving", "--order", "stable"]);
    assert_eq!(stable.code, 2);
    assert!(stable.err.contains("known of .abs programs") && stable.err.contains("fifo, lifo, eca"), "{}", stable.err);
}
