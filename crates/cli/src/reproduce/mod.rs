//! `whippet reproduce`: runs the papers' tables again and prints the published figures next to ours.
//!
//! `speedup.rs` compares the two columns of a table, `page.rs` writes everything as a page, and `paper_tables.rs` has the
//! tables of programs other than native actors.

mod page;
mod paper_tables;
mod speedup;

use crate::args::Reproduce;
use crate::error::{CommandError, CommandResult, unknown};
use crate::output::{print, print_json, print_note};
use crate::progress::ProgressDisplay;
use crate::table::table;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use whippet_model::Limits;
use whippet_report::{Exit, grouped};
use whippet_search::{Observer, Progress};
use whippet_subjects::{
    Figures, Mark, Plan, PublishedCell, Reproduced, Reproducer, Reproduction, Table, Watcher, tables,
};

pub(crate) fn reproduce(command: &Reproduce) -> CommandResult {
    let all = tables();
    let chosen = chosen(command, &all)?;
    let mut reproducer = Reproducer::new(plan(command, &chosen)?);
    let display = ProgressDisplay::new("");
    let mut done = Vec::new();
    for table in chosen {
        let result = reproducer.run(table, &display);
        // Each table is printed as soon as it is complete, except with `--json`, which prints one object for all.
        if !command.json && !result.cells.is_empty() {
            display.hide();
            print(&render(&result))?;
        }
        done.push(result);
        if Observer::interrupted(&display) {
            break;
        }
    }
    let mut objects: Vec<Value> = done.iter().map(object).collect();
    let mut others: Vec<String> = Vec::new();
    let mut wrong = done.iter().any(|table| table.wrong() > 0);
    for (name, run) in paper_tables::TABLES {
        if wants(command, name) && !Observer::interrupted(&display) {
            display.show(format!("table {name}"));
            let printed = run(command.subject.as_deref())?;
            display.hide();
            if !command.json {
                print(&printed.text)?;
            }
            wrong |= printed.wrong;
            others.push(printed.text);
            objects.push(printed.object);
        }
    }
    drop(display);
    if let Some(file) = &command.html {
        crate::explore::write(file, &page::page(&done, &others))?;
    }
    if command.json {
        print_json(&json!({ "format": "whippet reproduction", "version": 1, "tables": objects }))?;
    }
    Ok(if wrong { Exit::Found } else { unfinished(&done) })
}

/// Returns `true` if the command selects this table of `paper_tables`: by its name, by default, or by one of its subjects.
fn wants(command: &Reproduce, name: &str) -> bool {
    match (&command.table, &command.subject) {
        (Some(table), _) => table == name,
        (None, None) => true,
        (None, Some(subject)) => name == "udpor" && paper_tables::subjects(name).contains(subject),
    }
}

/// Returns the exit code for tables without wrong cells. Prints a remark if some cells have no result.
fn unfinished(done: &[Reproduction]) -> Exit {
    let open = |mark: &Mark| matches!(mark, Mark::Cut(_) | Mark::NotRun(_));
    let cells = done.iter().flat_map(|table| &table.cells).filter(|cell| open(&cell.mark)).count();
    if cells == 0 && !done.iter().any(|table| table.interrupted) {
        return Exit::Holds;
    }
    print_note(format_args!("{cells} cells were not run to the end: raise --limit-seconds"));
    Exit::NoVerdict
}

/// Returns the tables that the command selects.
fn chosen<'a>(command: &Reproduce, all: &'a [Table]) -> Result<Vec<&'a Table>, CommandError> {
    let Some(name) = &command.table else { return Ok(all.iter().collect()) };
    if paper_tables::TABLES.iter().any(|(known, _)| known == name) {
        return Ok(Vec::new());
    }
    let known = all.iter().map(|table| table.name.as_str()).chain(paper_tables::TABLES.map(|(name, _)| name));
    let found = all.iter().find(|table| table.name == *name).ok_or_else(|| unknown("table", name, known))?;
    Ok(vec![found])
}

/// Returns what to run of the chosen tables. Fails if none of the selected tables has the subject.
fn plan(command: &Reproduce, chosen: &[&Table]) -> Result<Plan, CommandError> {
    let limits = Limits::default().with_time(Some(command.limit_seconds));
    let programs = chosen.iter().flat_map(|table| &table.programs);
    let mut known: BTreeSet<String> = programs.flat_map(|p| p.subject.iter().chain([&p.printed]).cloned()).collect();
    known.extend(paper_tables::subjects(command.table.as_deref().unwrap_or("udpor")));
    match &command.subject {
        Some(name) if !known.contains(name) => {
            let place = if command.table.is_some() { "subject of this table" } else { "subject of the tables" };
            Err(unknown(place, name, known.iter().map(String::as_str)))
        }
        subject => Ok(Plan { subjects: subject.iter().cloned().collect(), rule: command.rule, limits }),
    }
}

/// Lets the kernel forget the peak of this process's memory, where it can.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

impl Watcher for ProgressDisplay {
    fn begins(&self, table: &Table, cell: &PublishedCell, k: usize, of: usize) {
        let label = format!("table {}, cell {} of {of}: {} {}", table.name, k + 1, cell.subject, cell.technique);
        self.show(label.clone());
        self.rename(label + " · ");
        forget_peak();
    }

    fn peak_memory(&self) -> Option<u64> {
        Some(whippet_report::Meter::start().read().peak_memory_bytes).filter(|&bytes| bytes > 0)
    }

    fn progress(&self, progress: &Progress) {
        Observer::progress(self, progress);
    }

    fn interrupted(&self) -> bool {
        Observer::interrupted(self)
    }
}

/// Returns the labels of a cell's row: the subject and the order.
fn row(cell: &PublishedCell) -> (String, String) {
    let language = cell.language.as_ref().map_or_else(String::new, |language| format!(" ({language})"));
    let first_bug = if cell.first_bug { ", first bug" } else { "" };
    let order = cell.order.map_or_else(String::new, |order| order.to_string());
    (format!("{}{language}{first_bug}", cell.subject), order)
}

fn render(result: &Reproduction) -> String {
    let mut techniques: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, String)> = Vec::new();
    for cell in &result.cells {
        if !techniques.contains(&cell.cell.technique.as_str()) {
            techniques.push(&cell.cell.technique);
        }
        if !rows.contains(&row(&cell.cell)) {
            rows.push(row(&cell.cell));
        }
    }
    let header = ["subject", "order"].into_iter().chain(techniques.iter().copied());
    let lines = rows.iter().map(|key| {
        let cells = techniques.iter().map(|technique| {
            let is_here = |cell: &&Reproduced| row(&cell.cell) == *key && cell.cell.technique == *technique;
            result.cells.iter().find(is_here).map_or_else(String::new, show)
        });
        [key.0.clone(), key.1.clone()].into_iter().chain(cells).collect()
    });
    let mut text =
        format!("Table {} · {} · {}\n\n{}\n", result.name, result.title, result.source, table(header, lines, 2));
    if let Some(remark) = added(result) {
        text += &format!("  {remark}\n");
    }
    for (why, cells) in reasons(result) {
        text += &format!("  {why}\n    {}\n", cells.join(", "));
    }
    if let Some(speedups) = speedup::Speedups::of(result) {
        text += &speedups.text();
    }
    text + &format!("{}: {}\n\n", result.name, result.summary())
}

/// Returns a remark on the deliveries that are added to our counts, if there are any.
fn added(result: &Reproduction) -> Option<String> {
    let mut of: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for cell in result.cells.iter().filter(|cell| cell.added > 0) {
        of.entry(cell.added).or_default().insert(&cell.cell.subject);
    }
    let parts: Vec<String> = of
        .iter()
        .map(|(added, subjects)| format!("{added} ({})", subjects.iter().copied().collect::<Vec<_>>().join(", ")))
        .collect();
    (!parts.is_empty()).then(|| {
        format!("our transitions include deliveries to the driver that only the original has: {}", parts.join("; "))
    })
}

/// Groups the cells that are not equal by reason.
fn reasons(result: &Reproduction) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for cell in result.cells.iter().filter(|cell| cell.mark != Mark::Equal) {
        let (subject, order) = row(&cell.cell);
        let note = if cell.note.is_empty() { String::new() } else { format!(": {}", cell.note) };
        let why = format!("{}{note}", cell.mark);
        let words = [subject.as_str(), &order, &cell.cell.technique];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    reasons
}

/// Formats a cell, published figures first: `40 / 204 =`, or `392 / 1,465 ≠ 393 / 1,466`.
fn show(cell: &Reproduced) -> String {
    let published = figures(&cell.cell.figures);
    match &cell.mark {
        Mark::Equal => format!("{published} ="),
        Mark::NotRun(_) => format!("{published} ?"),
        Mark::NoProgram => format!("{published} –"),
        Mark::Cut(_) => format!("{published} ? {}+", figures(&cell.ours)),
        Mark::Beyond(_) => format!("{published} < {}+", figures(&cell.ours)),
        Mark::Differs(_) => format!("{published} ≠ {}", figures(&cell.ours)),
        Mark::Wrong => format!("{published} ✗ {}", figures(&cell.ours)),
    }
}

fn figures(figures: &Figures) -> String {
    let all = [figures.paths, figures.transitions, figures.states, figures.depth];
    all.into_iter().flatten().map(grouped).collect::<Vec<_>>().join(" / ")
}

fn object(result: &Reproduction) -> Value {
    json!({
        "table": result.name,
        "title": result.title,
        "source": result.source,
        "equal": result.equal(),
        "wrong": result.wrong(),
        "summary": result.summary(),
        "interrupted": result.interrupted,
        "speedups": speedup::Speedups::of(result).map(|speedups| speedups.object()),
        "cells": result.cells.iter().map(cell_object).collect::<Vec<_>>(),
    })
}

/// Returns the memory that a cell took here.
fn megabytes(cell: &Reproduced) -> Option<f64> {
    cell.memory.map(|bytes| bytes as f64 / f64::from(1 << 20))
}

fn cell_object(cell: &Reproduced) -> Value {
    let counts = |figures: &Figures, seconds: f64, megabytes: Option<f64>| {
        json!({
            "paths": figures.paths,
            "transitions": figures.transitions,
            "states": figures.states,
            "depth": figures.depth,
            "seconds": seconds,
            "megabytes": megabytes,
        })
    };
    json!({
        "subject": cell.cell.subject,
        "language": cell.cell.language,
        "technique": cell.cell.technique,
        "order": cell.cell.order.map(|order| order.name()),
        "first_bug": cell.cell.first_bug,
        "program": cell.program,
        "published": counts(&cell.cell.figures, cell.cell.seconds, cell.cell.megabytes),
        "here": counts(&cell.ours, cell.time.as_secs_f64(), megabytes(cell)),
        "mark": match &cell.mark {
            Mark::Equal => "equal",
            Mark::Differs(_) => "differs",
            Mark::Wrong => "wrong",
            Mark::Cut(_) => "cut",
            Mark::Beyond(_) => "beyond",
            Mark::NotRun(_) => "not run",
            Mark::NoProgram => "no program",
        },
        "why": cell.mark.to_string(),
        "added": cell.added,
        "note": cell.note,
    })
}
