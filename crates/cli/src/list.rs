//! `whippet list`: lists the programs that can be explored.

use crate::args::List;
use crate::error::CommandResult;
use crate::output::{print, print_json};
use serde::Serialize;
use whippet_report::Exit;

/// A subject of any kind.
#[derive(Serialize)]
struct SubjectEntry {
    name: &'static str,
    about: &'static str,
    parameters: Vec<ParameterEntry>,
    /// The basis of the reconstruction, if the original is not public.
    reconstructed: Option<&'static str>,
}

#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    default: String,
    values: String,
    help: &'static str,
}

pub(crate) fn list(command: &List) -> CommandResult {
    let entries: Vec<SubjectEntry> = actors().chain(nets()).collect();
    if command.json {
        print_json(&entries)?;
    } else {
        print(&entries.iter().map(render).collect::<String>())?;
    }
    Ok(Exit::Holds)
}

/// Lists the programs of native actors.
fn actors() -> impl Iterator<Item = SubjectEntry> {
    let parameter = |p: &whippet_subjects::Parameter| ParameterEntry {
        name: p.name,
        default: p.default.into(),
        values: p.allowed(),
        help: p.help,
    };
    whippet_subjects::all().iter().map(move |subject| SubjectEntry {
        name: subject.name,
        about: subject.about,
        parameters: subject.parameters.iter().map(parameter).collect(),
        reconstructed: subject.reconstructed,
    })
}

/// Lists the programs of processes and mailboxes.
fn nets() -> impl Iterator<Item = SubjectEntry> {
    let parameter = |p: whippet_net::ProcessCount| ParameterEntry {
        name: "n",
        default: p.default.to_string(),
        values: format!("{} or more", p.min),
        help: "number of processes",
    };
    whippet_net::subjects().into_iter().map(move |subject| SubjectEntry {
        name: subject.name,
        about: subject.description,
        parameters: subject.processes.map(parameter).into_iter().collect(),
        reconstructed: None,
    })
}

/// Returns one line about the subject, followed by one line for each parameter.
fn render(entry: &SubjectEntry) -> String {
    let bold = anstyle::Style::new().bold();
    let mark = entry.reconstructed.map_or_else(String::new, |from| format!(" (reconstructed {from})"));
    let mut text = format!("{bold}{:<21}{bold:#} {}{mark}\n", entry.name, entry.about);
    for p in &entry.parameters {
        let setting = format!("{}={}", p.name, p.default);
        text += &format!("{:<21}   {setting:<20} {} ({})\n", "", p.help, p.values);
    }
    text
}
