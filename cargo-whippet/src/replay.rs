//! Replays the schedule of a finding.

use crate::arguments::Replay;
use crate::build::What;
use crate::process::{Place, Process, Work};
use crate::project::Project;
use crate::tests::list;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use whippet_model::Schedule;
use whippet_report::Exit;

/// The supported debuggers in order of preference, each with the argument that precedes the command to debug.
const DEBUGGERS: [(&str, &str); 4] = [("rust-gdb", "--args"), ("rust-lldb", "--"), ("gdb", "--args"), ("lldb", "--")];

pub(crate) fn run(arguments: &Replay) -> Result<Exit, String> {
    let file = fs::canonicalize(&arguments.file)
        .map_err(|error| format!("cannot read {}: {error}", arguments.file.display()))?;
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let schedule = Schedule::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut project = Project::open(&arguments.cargo, &arguments.own)?;
    let name = schedule.test.as_ref().unwrap_or(&schedule.program);
    let wanted = [name.clone(), "--exact".into()];
    for binary in project.build(What::Tests)? {
        if list(&binary, &wanted)?.is_empty() {
            continue;
        }
        let process = Process { binary: &binary, name: name.clone(), show: true, ignored: true, report: false };
        return if arguments.debug { debug(&process, &file) } else { show(&process, &file, &project) };
    }
    Err(format!("no test is named `{name}`: was it renamed, or is it in another package? (select one with -p)"))
}

fn show(process: &Process<'_>, file: &Path, project: &Project) -> Result<Exit, String> {
    let place = Place::new(&project.home)?;
    let outcome = process.replay_with_page(&place, Work::Replay(file))?;
    let ended =
        if outcome.is_cut_short() { process.replay_cut_short(&outcome) } else { process.ended(&place, &outcome) };
    if let Some(page) = &ended.reply.page {
        println!("look at it: {}", page.display());
    }
    match ended.exit {
        Some(Exit::Holds) | None => {
            println!("the schedule no longer fails");
            Ok(Exit::Holds)
        }
        Some(exit) => {
            println!("{}", ended.text.trim_end());
            Ok(exit)
        }
    }
}

/// Runs the test under a debugger, which takes over the terminal.
fn debug(process: &Process<'_>, file: &Path) -> Result<Exit, String> {
    let command = process.command(Work::Replay(file), None);
    let words: Vec<&OsStr> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    let set = |(name, value): (&OsStr, Option<&OsStr>)| Some(format!("{}={}", name.to_string_lossy(), quote(value?)));
    let variables: Vec<String> = command.get_envs().filter_map(set).collect();
    let directory = command.get_current_dir().map_or_else(String::new, |path| quote(path.as_os_str()));
    for (debugger, link) in DEBUGGERS {
        let installed = Command::new(debugger).arg("--version").output().is_ok_and(|output| output.status.success());
        println!("cd {directory} && {} {debugger} {link} {}", variables.join(" "), quoted.join(" "));
        if !installed {
            println!("({debugger} is not installed)");
            continue;
        }
        let mut child = Command::new(debugger);
        child
            .arg(link)
            .args(&words)
            .current_dir(&process.binary.directory)
            .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        return match child.status() {
            Ok(_) => Ok(Exit::Holds),
            Err(error) => Err(format!("cannot run {debugger}: {error}")),
        };
    }
    Err("no debugger is installed; run the command above with another one".into())
}

/// Quotes a word for a shell.
pub(crate) fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    shlex::try_quote(&word).map_or_else(|_| word.to_string(), Into::into)
}
