//! Further passes over tests whose first result may be due to hooks, or to their absence.
//!
//! A search that meets memory it does not see gives up. It says which crates it may be, and to hook them often helps; so this is tried
//! before a person has to. And a test that is not explored may fail only because of hooks: it compares the size of a type, for example. Each
//! pass has a build of its own, and runs only the tests in question.

use crate::arguments::Test;
use crate::project::Project;
use crate::running;
use crate::tests::{Pass, Tally, Tested};
use std::collections::BTreeSet;
use whippet_report::Exit;

/// Runs tests again with hooks in the libraries that they may have stumbled over, or without any.
pub(crate) fn run(arguments: &Test, project: &mut Project, tally: &mut Tally) {
    if !project.hooked.is_empty() && !arguments.own.iter().any(|word| word == "--no-hook") {
        again(arguments, project, tally, &["--no-hook".into()], |test| {
            test.ended.is_plain && test.ended.exit == Some(Exit::Found)
        });
    }
    if tally.tests.iter().any(may_be_helped) && project.may_hook() {
        let names = tally.unseen.suspects();
        if !names.is_empty() {
            again(arguments, project, tally, &["--hook".into(), names.join(",")], may_be_helped);
        }
    }
}

/// Returns `true` if a test has no verdict for a reason that hooks may remove.
fn may_be_helped(test: &Tested) -> bool {
    test.ended.exit == Some(Exit::NoVerdict) && test.ended.reason.is_some()
}

/// Runs the tests again for which `which` holds, with further arguments. Their new results replace the old ones.
fn again(arguments: &Test, project: &mut Project, tally: &mut Tally, with: &[String], which: impl Fn(&Tested) -> bool) {
    if running::is_stopped() {
        return;
    }
    let (chosen, others): (Vec<Tested>, Vec<Tested>) = std::mem::take(&mut tally.tests).into_iter().partition(which);
    tally.tests = others;
    if chosen.is_empty() {
        return;
    }
    let (count, with_text) = (chosen.len(), with.join(" "));
    say!("\nrunning {count} test{} again with {with_text}", if count == 1 { "" } else { "s" });
    // A schedule of this build is of no use to the first pass of the next run.
    let mut own = arguments.own.clone();
    if !own.iter().any(|word| word.starts_with("--regressions")) {
        own.push("--regressions=off".into());
    }
    let before = own.len();
    own.extend(with.iter().cloned());
    let identity = |test: &Tested| (test.target(), test.name.clone());
    let only = chosen.iter().map(identity).collect();
    let (unseen, known) = (std::mem::take(&mut tally.unseen), tally.tests.len());
    // Two words are `--hook` and names.
    let result = Pass { arguments, own: &own, only: Some(&only), tries_hooks: with.len() == 2 }.run(tally);
    tally.unseen = unseen;
    let with_text = match result {
        // Some hooks may have been left out.
        Ok((second, _)) => second.own[before..].join(" "),
        Err(text) => {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            project.notes.push(format!("tests should have been run again with {with_text}, but this failed: {first}"));
            with_text
        }
    };
    // What was not run again keeps its first result.
    let new: BTreeSet<(String, String)> = tally.tests[known..].iter().map(identity).collect();
    tally.tests.extend(chosen.into_iter().filter(|test| !new.contains(&identity(test))));
    if !new.is_empty() {
        let was = if new.len() == 1 { " was" } else { "s were" };
        project.notes.push(format!("{} test{was} run again with {with_text}", new.len()));
    }
}
