//! `whippet list`: what there is to explore.

use crate::args::List;
use crate::failure::Answer;
use crate::output::{say, say_json};
use serde_json::{Value, json};
use whippet_report::Exit;
use whippet_subjects::Subject;

pub(crate) fn list(command: &List) -> Answer {
    let subjects = whippet_subjects::all();
    if command.json {
        say_json(&subjects.iter().map(describe).collect::<Vec<_>>())?;
    } else {
        say(&subjects.iter().map(tell).collect::<String>())?;
    }
    Ok(Exit::Holds)
}

fn describe(subject: &Subject) -> Value {
    let parameter = |p: &whippet_subjects::Parameter| json!({ "name": p.name, "default": p.default, "values": p.allowed(), "help": p.help });
    json!({
        "name": subject.name,
        "about": subject.about,
        "parameters": subject.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "reconstructed": subject.reconstructed,
    })
}

/// A line on the subject, and one on each parameter below it.
fn tell(subject: &Subject) -> String {
    let bold = anstyle::Style::new().bold();
    let mark = subject.reconstructed.map_or_else(String::new, |from| format!(" (rebuilt {from})"));
    let mut text = format!("{bold}{:<14}{bold:#} {}{mark}\n", subject.name, subject.about);
    for p in subject.parameters {
        let setting = format!("{}={}", p.name, p.default);
        text += &format!("{:<14}   {setting:<22} {} ({})\n", "", p.help, p.allowed());
    }
    text
}
