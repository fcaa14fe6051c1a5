//! `whippet explore`: searches one program and reports the result.

use crate::args::{ConflictsArg, Explore, ProgramArgs};
use crate::checkpoint::{Keeper, SavedCommand, this_command};
use crate::chosen::{ChosenProgram, ExploredMethod};
use crate::error::{CommandError, CommandResult};
use crate::output::{print, print_note};
use crate::progress::{ProgressDisplay, interruptions};
use std::path::{Path, PathBuf};
use whippet_model::{Finding, Verdict};
use whippet_report::{
    Advised, Exit, Links, Meter, RunInfo, TraceFile, TraceFormat, advice, create_directory, html_of_verdict, json_text,
    read_source, shortfall, text, wide_checks,
};
use whippet_search::{Options, Reduction, Rule};

pub(crate) fn explore(command: &Explore) -> CommandResult {
    explore_saved(command, &this_command())
}

/// Searches a program for the command with this line, which may have been called in another process.
pub(crate) fn explore_saved(command: &Explore, line: &SavedCommand) -> CommandResult {
    let options = command.options();
    check_files(command.html.as_deref(), command.trace.as_deref())?;
    check_files(command.program.cases.as_deref(), None)?;
    warn_unused_flags(command, &options);
    let target = ChosenProgram::find(&with_default_conflicts(&command.program, options.reduction))?;
    if let Some(directory) = &command.save {
        create_directory(directory).map_err(|why| cannot_write(directory, &why))?;
    }
    let meter = Meter::start();
    // From now on, a request to end the process waits until the search is saved.
    interruptions();
    let keeper = Keeper::new(command, line, &target, &options)?;
    let mut verdict = {
        let display = ProgressDisplay::new("").saving(keeper.clone());
        target.program.explore(&options, &display).map_err(CommandError::usage)?
    };
    if let Some(keeper) = keeper {
        keeper.finish(&verdict);
    }
    verdict.notes.extend(target.notes.iter().cloned());
    verdict.notes.extend(target.method.as_ref().and_then(ExploredMethod::coverage));
    let mut run = RunInfo::new(&target.name, &options);
    run.parameters.clone_from(&target.parameters);
    run.delivery.clone_from(&target.delivery);
    run.usage = meter.read();
    for finding in verdict.findings.iter_mut().chain(&mut verdict.warnings) {
        target.record_in(&mut finding.schedule);
    }
    // What was found is printed even if a file cannot be written.
    let mut failed = None;
    let saved = command.save.as_ref().map_or(Ok(Vec::new()), |directory| save(directory, &target.name, &verdict));
    let saved = saved.unwrap_or_else(|error| {
        failed = Some(error);
        Vec::new()
    });
    let mut links = links(&verdict, &saved, &line.arguments);
    if let Some(file) = &command.html {
        failed = failed.or(write_page(file, &target.name, &verdict, &mut links).err());
    }
    if let Some(file) = &command.trace {
        failed = failed.or(write_trace(file, &verdict, &links).err());
    }
    if let (Some(file), Some(cases)) = (&command.program.cases, target.method.as_ref().and_then(ExploredMethod::cases))
    {
        failed = failed.or(write(file, &cases).err());
    }
    if command.json {
        print(&json_text(&run, &verdict))?;
    } else {
        print(&text(&run, &verdict, &links))?;
        print(&advice_on(&target, &run, &verdict))?;
    }
    let exit = Exit::of(&verdict);
    if exit == Exit::NoVerdict {
        print_note(format_args!("no verdict. {}", shortfall(&run, &verdict)));
    }
    failed.map_or(Ok(exit), Err)
}

/// Returns lines of advice on a search that did not end.
fn advice_on(target: &ChosenProgram, run: &RunInfo, verdict: &Verdict) -> String {
    let mut lines = advice(run, verdict, Advised::Command);
    if !lines.is_empty() && run.reduction != Reduction::Stateful {
        lines.splice(0..0, wide_checks(&target.program.wide_checks(), Advised::Command));
    }
    lines.iter().map(|line| format!("help: {line}\n")).collect()
}

/// Sets the default of `--conflicts` for ABS programs: two reductions require that all tasks of an actor conflict.
pub(crate) fn with_default_conflicts(args: &ProgramArgs, reduction: Reduction) -> ProgramArgs {
    let mut args = args.clone();
    let abs = args.program.ends_with(".abs") || Path::new(&args.program).is_dir();
    if abs && matches!(reduction, Reduction::Dcute | Reduction::Transdpor) {
        args.conflicts = args.conflicts.or(Some(ConflictsArg::Actors));
    }
    args
}

/// Warns about flags that have no effect on the chosen search.
fn warn_unused_flags(command: &Explore, options: &Options) {
    let reduction = options.reduction;
    let stateful = reduction == Reduction::Stateful;
    let sample = matches!(reduction, Reduction::Random | Reduction::Pct | Reduction::Pos);
    let sleeps =
        matches!(reduction, Reduction::Dcute | Reduction::Persistent | Reduction::Transdpor | Reduction::Source);
    let is_saved = Keeper::can_save(reduction);
    let unused = [
        ("--sleep-sets", options.sleep && !sleeps),
        ("--transdpor-rule", options.rule != Rule::default() && reduction != Reduction::Transdpor),
        ("--breadth-first", options.breadth_first && !stateful),
        ("--step-size", options.step != Options::default().step && !stateful),
        ("--state-comparison", options.comparison != Options::default().comparison && !stateful),
        ("--samples", command.search.samples.is_some() && !sample),
        ("--seed", options.seed != 0 && !sample),
        ("--checkpoint", command.checkpoint.is_some() && !is_saved),
        ("--alternatives", options.alternatives.is_some() && reduction != Reduction::Udpor),
    ];
    for (flag, _) in unused.iter().filter(|(_, is_unused)| *is_unused) {
        print_note(format_args!("{flag} has no effect with --reduction {reduction}"));
    }
    if command.checkpoint.is_some() && is_saved && command.program.method.is_some() {
        print_note("--checkpoint has no effect with --method: the branches reached are counted in one process");
    }
}

/// Writes the schedules of all findings, then of all warnings, to numbered files, and returns the files in that
/// order.
fn save(directory: &Path, name: &str, verdict: &Verdict) -> Result<Vec<PathBuf>, CommandError> {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let all: Vec<&Finding> = verdict.findings.iter().chain(&verdict.warnings).collect();
    let mut files = Vec::new();
    for (i, finding) in all.into_iter().enumerate() {
        let file = directory.join(format!("{stem}-{}.json", i + 1));
        std::fs::write(&file, finding.schedule.to_json()).map_err(|why| cannot_write(&file, &why))?;
        files.push(file);
    }
    Ok(files)
}

/// Writes a page that shows all findings and warnings. Without findings and warnings, nothing is written.
fn write_page(file: &Path, name: &str, verdict: &Verdict, links: &mut [Links]) -> Result<(), CommandError> {
    let Some(page) = html_of_verdict(&format!("Whippet: {name}"), verdict, links) else {
        print_note(format_args!("{} is not written: nothing was found", file.display()));
        return Ok(());
    };
    write(file, &page)?;
    match links.first_mut() {
        Some(first) => first.page = Some(file.display().to_string()),
        None => print_note(format_args!("the page of the warnings is {}", file.display())),
    }
    Ok(())
}

/// Writes the trace of the first finding, or else of the first warning.
fn write_trace(file: &Path, verdict: &Verdict, links: &[Links]) -> Result<(), CommandError> {
    let trace = match (verdict.findings.first(), verdict.warnings.first()) {
        (Some(finding), _) => TraceFile::of_finding(finding),
        (None, Some(warning)) => TraceFile::of_finding(warning).as_warning(),
        (None, None) => {
            print_note(format_args!("{} is not written: nothing was found", file.display()));
            return Ok(());
        }
    };
    let mut trace = trace.with_sources(read_source);
    trace.replay = links.first().and_then(|links| links.replay.clone());
    write_trace_file(file, &trace)
}

/// Checks the names of the files to write, so that no search is done in vain.
pub(crate) fn check_files(html: Option<&Path>, trace: Option<&Path>) -> Result<(), CommandError> {
    for file in [html, trace].into_iter().flatten() {
        let above = file.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(missing) = above.filter(|above| !above.is_dir()) {
            return Err(CommandError::usage(format_args!(
                "cannot write {}: there is no directory {}",
                file.display(),
                missing.display()
            )));
        }
    }
    trace.map_or(Ok(()), |file| trace_format(file).map(drop))
}

/// Returns the format that the ending of a file's name stands for.
fn trace_format(file: &Path) -> Result<TraceFormat, CommandError> {
    TraceFormat::of_file(&file.to_string_lossy()).ok_or_else(|| {
        CommandError::usage(format_args!(
            "{}: the ending decides the format; use one of .json, .html, .shiviz, .dot, .mmd, .trace",
            file.display()
        ))
    })
}

/// Writes a trace in the format that the ending of the file's name stands for.
pub(crate) fn write_trace_file(file: &Path, trace: &TraceFile) -> Result<(), CommandError> {
    write(file, &trace_format(file)?.write(trace))
}

pub(crate) fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::write(file, text).map_err(|why| cannot_write(file, &why))
}

fn cannot_write(file: &Path, why: &std::io::Error) -> CommandError {
    CommandError::usage(format_args!("cannot write {}: {why}", file.display()))
}

/// Returns for each finding the command that replays it: from its file, or else by repeating the search.
fn links(verdict: &Verdict, saved: &[PathBuf], line: &[String]) -> Vec<Links> {
    let again = || quoted(without_files(line.iter().map(String::as_str)));
    (0..verdict.findings.len())
        .map(|i| {
            Links::replay(match saved.get(i) {
                Some(file) => format!("whippet replay {}", quoted([&*file.to_string_lossy()])),
                None if i == 0 => format!("whippet {} --json | whippet replay -", again()),
                None => format!("whippet {} --json | whippet replay - --finding {}", again(), i + 1),
            })
        })
        .collect()
}

/// Leaves out the options that write files or select the output: a replay needs only the report.
fn without_files<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut is_value = false;
    for word in words {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let writes = ["--html", "--trace", "--checkpoint", "--cases"].contains(&name);
        if !is_value && !writes && word != "--json" {
            kept.push(word);
        }
        is_value = writes && name == word;
    }
    kept
}

/// Joins words into a shell command, quoting only the words that need it.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
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
    use super::{quoted, without_files};

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(quoted(["explore", "pi", "--set", "workers=4"]), "explore pi --set workers=4");
        assert_eq!(quoted(["my file.net", ""]), "'my file.net' ''");
    }

    #[test]
    fn the_command_that_replays_writes_no_files() {
        let line = "explore pi --html page.html --set workers=4 --trace=t.json --first-bug --json";
        assert_eq!(quoted(without_files(line.split(' '))), "explore pi --set workers=4 --first-bug");
    }
}
