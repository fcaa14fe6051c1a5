//! The HTML report: one file without references to others, made from the files in `assets/`.

use crate::numbers::count;
use crate::{Links, TraceFile, assets};
use serde_json::json;
use whippet_model::Verdict;

/// Returns an HTML page that shows the given traces, the first of them at first. `summary` is a line about the whole
/// search, for example "1 finding in 6 executions".
///
/// ```
/// # let verdict = whippet::Checker::new("picky").explore(|sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
/// #     sys.send(picky, 2);
/// # }).unwrap();
/// use whippet_report::{TraceFile, html};
/// let page = html("picky", "1 finding in 1 execution", &[TraceFile::of_finding(&verdict.findings[0])]);
/// assert!(page.starts_with("<!doctype html>") && page.contains("<title>picky</title>"));
/// assert!(!page.contains("http://") || !page.contains("src="), "nothing is loaded");
/// ```
#[must_use]
pub fn html(title: &str, summary: &str, traces: &[TraceFile]) -> String {
    let data = json!({ "summary": summary, "traces": traces });
    // `<` does not occur, so that no text of the program can end the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let text: String = traces.iter().map(as_text).collect();
    fill(include_str!("../assets/page.html"), |name| match name {
        "title" => escaped(title),
        "css" => assets::CSS.to_string(),
        "text" => escaped(&text),
        "data" => data.clone(),
        "layout" => assets::LAYOUT.to_string(),
        "diagram" => assets::DIAGRAM.to_string(),
        "values" => assets::VALUES.to_string(),
        "script" => include_str!("../assets/page.js").to_string(),
        other => unreachable!("internal error: the page has no part `{other}`"),
    })
}

/// The number of findings on one page.
const MOST: usize = 50;

/// Returns the page of all findings and warnings of a search, with excerpts of the sources that can be read from the
/// current directory or its ancestors. `links` belong to the findings, then to the warnings. Returns `None` if there is
/// neither.
///
/// ```
/// let verdict = whippet::Checker::new("picky").explore(|sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
///     sys.send(picky, 2);
/// }).unwrap();
/// let page = whippet_report::html_of_verdict("picky", &verdict, &[]).unwrap();
/// assert!(page.contains("1 finding in 1 execution"));
/// ```
#[must_use]
pub fn html_of_verdict(title: &str, verdict: &Verdict, links: &[Links]) -> Option<String> {
    let findings = verdict.findings.iter().chain(&verdict.warnings).take(MOST);
    let files = findings.enumerate().map(|(k, finding)| {
        let file = TraceFile::of_finding(finding).with_sources(read_source);
        let file = if k < verdict.findings.len() { file } else { file.as_warning() };
        match links.get(k).and_then(|links| links.replay.clone()) {
            Some(command) => file.with_replay(command),
            None => file,
        }
    });
    let files: Vec<TraceFile> = files.collect();
    let findings = count(verdict.findings.len() as u64, "finding");
    let mut summary = format!("{findings} in {}", count(verdict.counters.executions, "execution"));
    if !verdict.warnings.is_empty() {
        summary += &format!(", {}", count(verdict.warnings.len() as u64, "warning"));
    }
    (!files.is_empty()).then(|| html(title, &summary, &files))
}

/// Reads a source file. Its path is relative to the workspace, and tests run in the directory of their package.
///
/// ```
/// assert!(whippet_report::read_source("crates/report/Cargo.toml").unwrap().contains("whippet-report"));
/// assert_eq!(whippet_report::read_source("no/such/file.rs"), None);
/// ```
#[must_use]
pub fn read_source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().take(8).find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
}

/// Returns the steps as plain text, for readers without JavaScript.
fn as_text(file: &TraceFile) -> String {
    let kind = file.finding.kind.map_or_else(|| "execution".to_owned(), |kind| kind.to_string());
    let mut text = format!("{kind}: {}\n", file.finding.message);
    for (k, event) in file.trace.events.iter().enumerate() {
        text += &format!("{}. {} {}\n", k + 1, file.trace.actors[event.actor as usize].name, event.text);
    }
    text
}

/// Replaces every `{{name}}` of a template.
fn fill(template: &str, mut part: impl FnMut(&str) -> String) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("internal error: the page's template is broken");
        page += before;
        page += &part(name);
        rest = after;
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
