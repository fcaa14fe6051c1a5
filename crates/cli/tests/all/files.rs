//! Tests of program files and of unfoldings.

use crate::common::{called, command, directory, json, whippet};

#[test]
fn net_file() {
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

/// A misspelt path is an error and not a new tree of directories, and what was found is not lost.
#[test]
fn files_that_cannot_be_written() {
    let here = directory("unwritable");
    let run = |arguments: &[&str]| {
        let arguments = [&["explore", "server", "--set", "assert=true"], arguments].concat();
        called(command(&arguments).current_dir(&here).output().unwrap())
    };
    let saved = run(&["--save", "no/such/directory"]);
    assert_eq!(saved.code, 2, "{}", saved.out);
    assert!(saved.err.contains("the directory above no/such/directory does not exist"), "{}", saved.err);
    for option in ["--html", "--trace"] {
        let missing = run(&[option, "no/page.html"]);
        assert_eq!((missing.code, missing.out.as_str()), (2, ""));
        assert_eq!(missing.err, "whippet: cannot write no/page.html: there is no directory no\n");
        std::fs::create_dir_all(here.join("taken.html")).unwrap();
        let written = run(&[option, "taken.html"]);
        assert!(written.code == 2 && written.err.contains("cannot write taken.html"), "{}", written.err);
        assert!(written.out.contains("inconsistent read"), "{}", written.out);
    }
    let unknown = run(&["--trace", "page.svg"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""), "before the search");
    assert!(unknown.err.contains("the ending decides the format"), "{}", unknown.err);
    assert!(!here.join("no").exists());
    assert_eq!(run(&["--save", "new"]).code, 1);
    assert!(here.join("new/server-1.json").exists());
}

/// The page and the trace of a finding, and of a replay; the command that replays it does not write them again.
#[test]
fn pages_of_findings_and_replays() {
    let here = directory("pages");
    let run = |arguments: &[&str]| called(command(arguments).current_dir(&here).output().unwrap());
    let found = run(&["explore", "server", "--set", "assert=true", "--html", "page.html", "--save", "."]);
    assert!(found.code == 1 && found.out.contains("look at it: page.html"), "{}", found.out);
    let again = run(&["replay", "server-1.json", "--html", "replay.html", "--trace", "replay.json"]);
    assert_eq!(again.code, 1, "{}", again.err);
    for file in ["page.html", "replay.html", "replay.json"] {
        let text = std::fs::read_to_string(here.join(file)).unwrap();
        assert!(text.contains("inconsistent read") && text.contains("all would hold"), "{file}");
    }
    let found = run(&["explore", "server", "--set", "assert=true", "--html=page.html"]);
    assert!(
        found.out.contains("replay: whippet explore server --set assert=true --json | whippet replay -\n"),
        "{}",
        found.out
    );
}

#[test]
fn net_file_with_relation() {
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
    assert!(run(&["explore", "pi", "--relation", "paper"]).err.contains("--relation applies to mailbox programs"));
}

#[test]
fn udpor_reports_events() {
    let (report, code) = json(&["explore", "rmq-receiving", "--set", "n=5", "--reduction", "udpor"]);
    assert_eq!((code, &report["executions"], &report["blocked"]), (0, &24.into(), &0.into()));
    assert_eq!(report["events"]["avoided"], 6);
    assert!(report["events"]["known"].as_u64() < report["events"]["created"].as_u64());
    let text = whippet(&["explore", "rmq-receiving", "--set", "n=5", "--reduction", "udpor"]).out;
    assert!(["blocked", "events", "largest U", "largest D"].iter().all(|row| text.contains(row)), "{text}");
}

#[test]
fn unfold_as_dot_and_json() {
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
fn abs_file() {
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

/// Several files and a directory form one program, and its schedules replay.
#[test]
fn several_files_form_one_program() {
    let here = directory("several");
    std::fs::create_dir_all(here.join("lib/deep")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(here.join(name), text).unwrap();
    write("main.abs", "module Main; import * from Numbers; { assert two() == three(); }");
    write("lib/numbers.abs", "module Numbers; export *; export * from Deep; import * from Deep; def Int two() = 2;");
    write("lib/deep/deep.abs", "module Deep; export *; def Int three() = 3; { skip; }");
    let run = |args: &[&str]| called(command(args).current_dir(&here).output().unwrap());
    let found = run(&["explore", "main.abs", "lib", "--save", "."]);
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("assert two() == three()"), "{}", found.out);
    let again = run(&["replay", "main-1.json"]);
    assert!(again.out.contains("assert two() == three()"), "{}{}", again.out, again.err);
    assert_eq!(run(&["explore", "lib"]).code, 0, "the only main block is in the directory");
    let both = run(&["explore", "."]);
    assert!(both.code == 2 && both.err.contains("several files have a main block"), "{}{}", both.out, both.err);
    let wrong = run(&["explore", "main.abs", "Cargo.toml"]);
    assert!(wrong.code == 2 && wrong.err.contains("expected an .abs file or a directory"), "{}", wrong.err);
    write("older.abs", "interface I { } class C implements I { } { I i = new cog C(); I j = new C(); }");
    assert!(run(&["explore", "older.abs"]).out.contains("note: `new cog` is used"));
}

/// A schedule of a method with chosen inputs keeps the method and the bounds.
#[test]
fn methods_with_chosen_inputs_replay() {
    let here = directory("method");
    let run = |args: &[&str]| called(command(args).current_dir(&here).output().unwrap());
    let text = "module M; interface T { Unit m(Int n); } class T implements T { Unit m(Int n) { assert n < 3; } }";
    std::fs::write(here.join("t.abs"), text).unwrap();
    let found = run(&["explore", "t.abs", "--method", "T.m", "--ints", "-1..3", "--depth", "0", "--save", "."]);
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("in 1 of 5 executions"), "{}", found.out);
    let again = run(&["replay", "t-1.json"]);
    assert_eq!(again.code, 1, "{}", again.err);
    assert!(again.out.contains("T runs m(3)"), "{}", again.out);
    let none = run(&["explore", "t.abs", "--method", "T.m"]);
    assert_eq!(none.code, 0, "the numbers end at 2: {}", none.out);
    let unsaved = run(&["explore", "t.abs", "--method", "T.m", "--checkpoint", "saved"]);
    assert!(unsaved.code == 0 && unsaved.err.contains("--checkpoint has no effect with --method"), "{}", unsaved.err);
    assert!(!here.join("saved").exists());
    let wrong = run(&["explore", "pi", "--method", "T.m"]);
    assert!(wrong.code == 2 && wrong.err.contains("--method applies to .abs programs only"), "{}", wrong.err);
}
