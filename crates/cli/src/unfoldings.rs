//! The table of the unfolding paper, for `whippet reproduce --table udpor`.

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::output::say;
use crate::table::table;
use serde_json::{Value, json};
use whippet_net::Row;
use whippet_report::grouped;

/// The table's name on the command line.
pub(crate) const NAME: &str = "udpor";

const TITLE: &str = "Table udpor · UDPOR and exhaustive search · Pham, Jéron, Quinson (FORTE 2019), Table 1";

/// The subjects that the table is about.
pub(crate) fn subjects() -> impl Iterator<Item = &'static str> {
    whippet_net::subjects().into_iter().map(|subject| subject.name)
}

/// Whether the command asks for any row of it.
pub(crate) fn wanted(command: &Reproduce) -> bool {
    command.table.as_deref().is_none_or(|name| name == NAME)
        && command.subject.as_deref().is_none_or(|name| subjects().any(|known| known == name))
}

/// Runs the table and shows it.
pub(crate) fn run(command: &Reproduce) -> Result<Vec<Row>, Failure> {
    let mut rows = whippet_net::reproduce().map_err(Failure::misuse)?;
    rows.retain(|row| command.subject.as_deref().is_none_or(|name| name == row.subject));
    if !command.json {
        say(&tell(&rows))?;
    }
    Ok(rows)
}

/// Whether every row is as printed.
pub(crate) fn as_printed(rows: &[Row]) -> bool {
    rows.iter().all(Row::agrees)
}

fn tell(rows: &[Row]) -> String {
    let header = ["subject", "n", "deadlock", "interleavings", "traces", ""];
    let lines = rows.iter().map(|row| {
        let deadlock = |found: bool| if found { "yes" } else { "no" };
        let n = row.n.map_or_else(String::new, |n| n.to_string());
        let interleavings = row.interleavings.0.map_or_else(|| "time-out".into(), |number| number.to_string());
        vec![
            row.subject.into(),
            n,
            format!("{} / {}", deadlock(row.deadlock.0), deadlock(row.deadlock.1)),
            format!("{interleavings} / {}", row.interleavings.1),
            format!("{} / {}", grouped(row.traces.0), grouped(row.traces.1)),
            if row.agrees() { "=".into() } else { "✗".into() },
        ]
    });
    let equal = rows.iter().filter(|row| row.agrees()).count();
    let table = table(header, lines, 1);
    format!("{TITLE}\n\n{table}\npublished / here\n{NAME}: {equal} of {} rows equal\n", rows.len())
}

/// The table as a JSON object, if it was run.
pub(crate) fn object(rows: &[Row]) -> Option<Value> {
    let row = |row: &Row| {
        json!({
            "subject": row.subject,
            "n": row.n,
            "published": {
                "deadlock": row.deadlock.0, "interleavings": row.interleavings.0.map(|n| n as u64),
                "traces": row.traces.0, "seconds": row.seconds.0,
            },
            "here": {
                "deadlock": row.deadlock.1, "interleavings": row.interleavings.1.to_string(),
                "traces": row.traces.1, "blocked": row.blocked, "seconds": row.seconds.1,
            },
            "mark": if row.agrees() { "equal" } else { "wrong" },
        })
    };
    (!rows.is_empty())
        .then(|| json!({ "table": NAME, "title": TITLE, "cells": rows.iter().map(row).collect::<Vec<_>>() }))
}
