//! Tests of help, errors of usage, and output to closed pipes.

use crate::common::{called, command, whippet};
use std::process::Stdio;

#[test]
fn unknown_names_list_known_ones() {
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
    assert!(
        wrong(&["reproduce", "--table", "udpor", "--subject", "fib"]).contains("unknown subject of this table `fib`")
    );
    assert!(
        wrong(&["reproduce", "--table", "4.2", "--subject", "qsrt"]).contains("unknown subject of this table `qsrt`")
    );
    assert!(wrong(&["explore", "dtg", "--delivery", "fifo"]).contains("--delivery applies to native actors"));
    wrong(&["explore"]);
    wrong(&[]);
}

#[test]
fn unused_flags_are_reported() {
    let called = whippet(&["explore", "helloworld", "--rule", "table1"]);
    assert_eq!(called.code, 0);
    assert!(called.err.contains("--transdpor-rule has no effect with --reduction optimal"), "{}", called.err);
}

#[test]
fn help_and_completions() {
    let help = whippet(&["explore", "--help"]);
    assert_eq!(help.code, 0);
    for word in ["--reduction", "exactly one execution", "Examples:", "--limit-seconds", "--save"] {
        assert!(help.out.contains(word), "{word} is not in\n{}", help.out);
    }
    assert!(whippet(&["completions", "bash"]).out.contains("--reduction"));
}

#[test]
fn help_examples_parse() {
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

#[cfg(unix)]
#[test]
fn closed_pipe() {
    // The pipe is closed before the command writes to it.
    let mut child = command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = called(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
}
