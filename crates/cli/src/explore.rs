//! `whippet explore`: searches one program and reports the result.

use crate::args::{ConflictsArg, Explore, Which};
use crate::failure::{Answer, Failure};
use crate::output::{remark, say};
use crate::target::Target;
use crate::watch::Watch;
use std::path::{Path, PathBuf};
use whippet_model::{Finding, Verdict};
use whippet_report::{Exit, Meter, Run, json_text, shortfall, text};
use whippet_search::{Options, Reduction, Rule};

pub(crate) fn explore(command: &Explore) -> Answer {
    let options = command.options();
    idle_flags(command, &options);
    let target = Target::find(&suited(&command.which, options.reduction))?;
    let meter = Meter::start();
    let mut verdict = {
        let watch = Watch::new("");
        target.program.explore(&options, &watch).map_err(Failure::misuse)?
    };
    let mut run = Run::new(&target.name, &options);
    run.parameters.clone_from(&target.parameters);
    run.delivery.clone_from(&target.delivery);
    run.usage = meter.read();
    for finding in verdict.findings.iter_mut().chain(&mut verdict.warnings) {
        target.sign(&mut finding.schedule);
    }
    let saved = match &command.save {
        Some(directory) => save(directory, &target.name, &verdict)?,
        None => Vec::new(),
    };
    if command.json {
        say(&json_text(&run, &verdict))?;
    } else {
        say(&text(&run, &verdict, &replays(&verdict, &saved)))?;
    }
    let exit = Exit::of(&verdict);
    if exit == Exit::NoVerdict {
        remark(format_args!("no verdict. {}", shortfall(&run, &verdict)));
    }
    Ok(exit)
}

/// Sets the default of `--conflicts` for ABS programs: two reductions require that all tasks of an actor conflict.
fn suited(which: &Which, reduction: Reduction) -> Which {
    let mut which = which.clone();
    if which.program.ends_with(".abs") && matches!(reduction, Reduction::Dcute | Reduction::Transdpor) {
        which.conflicts = which.conflicts.or(Some(ConflictsArg::Actors));
    }
    which
}

/// Warns about flags that have no effect on the chosen search.
fn idle_flags(command: &Explore, options: &Options) {
    let reduction = options.reduction;
    let stateful = reduction == Reduction::Stateful;
    let sample = matches!(reduction, Reduction::Random | Reduction::Pct | Reduction::Pos);
    let sleeps =
        matches!(reduction, Reduction::Dcute | Reduction::Persistent | Reduction::Transdpor | Reduction::Source);
    let idle = [
        ("--sleep", options.sleep && !sleeps),
        ("--rule", options.rule != Rule::default() && reduction != Reduction::Transdpor),
        ("--breadth-first", options.breadth_first && !stateful),
        ("--step", options.step != Options::default().step && !stateful),
        ("--compare", options.comparison != Options::default().comparison && !stateful),
        ("--samples", command.how.samples.is_some() && !sample),
        ("--seed", options.seed != 0 && !sample),
        ("--alternatives", options.alternatives.is_some() && reduction != Reduction::Udpor),
    ];
    for (flag, _) in idle.iter().filter(|(_, is_idle)| *is_idle) {
        remark(format_args!("{flag} has no effect with --reduction {reduction}"));
    }
}

/// Writes the schedules of all findings, then of all warnings, to numbered files, and returns the files in that
/// order.
fn save(directory: &Path, name: &str, verdict: &Verdict) -> Result<Vec<PathBuf>, Failure> {
    let failed =
        |what: &Path, why: std::io::Error| Failure::misuse(format_args!("cannot write {}: {why}", what.display()));
    std::fs::create_dir_all(directory).map_err(|why| failed(directory, why))?;
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let all: Vec<&Finding> = verdict.findings.iter().chain(&verdict.warnings).collect();
    let mut files = Vec::new();
    for (i, finding) in all.into_iter().enumerate() {
        let file = directory.join(format!("{stem}-{}.json", i + 1));
        std::fs::write(&file, finding.schedule.to_json()).map_err(|why| failed(&file, why))?;
        files.push(file);
    }
    Ok(files)
}

/// Returns for each finding the command that replays it: from its file, or else by repeating the search.
fn replays(verdict: &Verdict, saved: &[PathBuf]) -> Vec<String> {
    let again = || {
        let line: Vec<String> = std::env::args().skip(1).collect();
        quoted(line.iter().map(String::as_str))
    };
    (0..verdict.findings.len())
        .map(|i| match saved.get(i) {
            Some(file) => format!("whippet replay {}", quoted([&*file.to_string_lossy()])),
            None if i == 0 => format!("whippet {} --json | whippet replay -", again()),
            None => format!("whippet {} --json | whippet replay - --finding {}", again(), i + 1),
        })
        .collect()
}

/// Joins words into a shell command, quoting only the words that need it.
fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c));
    let quote = |word: &'a str| match shlex::try_quote(word) {
        Ok(quoted) if !plain(word) => quoted,
        _ => word.into(),
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(quoted(["explore", "pi", "--set", "workers=4"]), "explore pi --set workers=4");
        assert_eq!(quoted(["my file.net", ""]), "'my file.net' ''");
    }
}
