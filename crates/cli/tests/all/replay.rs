//! Tests of `whippet replay`.

use crate::common::{called, command, directory, whippet};
use serde_json::Value;
use std::path::Path;

#[test]
fn saved_schedule_replays() {
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
    let steps =
        |text: &str| text.lines().filter(|l| l.starts_with("  ")).take(20).map(String::from).collect::<Vec<_>>();
    assert!(again.out.contains("inconsistent read"), "{}", again.out);
    assert!(steps(&again.out).iter().all(|line| found.out.contains(line)), "{}\n{}", again.out, found.out);
    // The second file is the warning, which is not an error.
    assert_eq!(called(command(&["replay", "kept/server-2.json"]).current_dir(&here).output().unwrap()).code, 0);
}

#[test]
fn report_replays_from_standard_input() {
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
fn invalid_schedules_are_rejected() {
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
    assert!(replay(&schedule(1, "hanoi", "0")).contains("unknown subject `hanoi`"));
    assert!(replay(&schedule(1, "pi", "12")).contains("step 1"));
    let missing = whippet(&["replay", here.join("nowhere.json").to_str().unwrap()]);
    assert!(missing.code == 2 && missing.err.contains("cannot read"), "{}", missing.err);
}
