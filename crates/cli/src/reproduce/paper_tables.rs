//! Tables of programs other than native actors, for `whippet reproduce`. Each paper has its own columns.

use crate::error::CommandError;
use crate::table::table;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use whippet_report::grouped;
use whippet_search::{Options, Order, Reduction};

/// A table that was run again.
pub(crate) struct TableOutput {
    /// The text for a terminal.
    pub(crate) text: String,
    /// The object for `--json`.
    pub(crate) object: Value,
    /// `true` if a row that should be equal is not.
    pub(crate) wrong: bool,
}

/// A function that runs a table, or only its rows about one subject.
type Runs = fn(Option<&str>) -> Result<TableOutput, CommandError>;

/// The tables by name.
pub(crate) const TABLES: [(&str, Runs); 2] = [("udpor", unfoldings), ("selection", selections)];

/// Returns the subjects of one of these tables.
pub(crate) fn subjects(table: &str) -> BTreeSet<String> {
    match table {
        "udpor" => whippet_net::subjects().into_iter().map(|subject| subject.name.to_owned()).collect(),
        "selection" => whippet_abs::selection::subjects(),
        _ => BTreeSet::new(),
    }
}

/// Runs table 1 of the paper on unfoldings.
fn unfoldings(subject: Option<&str>) -> Result<TableOutput, CommandError> {
    const TITLE: &str = "UDPOR and exhaustive search · Pham, Jéron, Quinson (FORTE 2019), Table 1";
    let mut rows = whippet_net::reproduce().map_err(CommandError::usage)?;
    rows.retain(|row| subject.is_none_or(|name| name == row.subject));
    let yes = |found: bool| if found { "yes" } else { "no" };
    let lines = rows.iter().map(|row| {
        vec![
            row.subject.into(),
            row.n.map_or_else(String::new, |n| n.to_string()),
            format!("{} / {}", yes(row.deadlock.0), yes(row.deadlock.1)),
            format!("{} / {}", row.interleavings.0.map_or("time-out".into(), |n| n.to_string()), row.interleavings.1),
            format!("{} / {}", grouped(row.traces.0), grouped(row.traces.1)),
            if row.agrees() { "=" } else { "✗" }.into(),
        ]
    });
    let shown = table(["subject", "n", "deadlock", "interleavings", "traces", ""], lines, 1);
    let equal = rows.iter().filter(|row| row.agrees()).count();
    let all = rows.len();
    let text = format!("Table udpor · {TITLE}\n\n{shown}\npublished / here\nudpor: {equal} of {all} rows equal\n\n");
    let row = |row: &whippet_net::UdporRow| {
        let counts = |deadlock, interleavings: Option<u128>, traces, seconds| {
            // Some exceed the range of JSON numbers.
            let interleavings = interleavings.map(|number| number.to_string());
            json!({ "deadlock": deadlock, "interleavings": interleavings, "traces": traces, "seconds": seconds })
        };
        json!({
            "subject": row.subject,
            "n": row.n,
            "published": counts(row.deadlock.0, row.interleavings.0, row.traces.0, row.seconds.0),
            "here": counts(row.deadlock.1, Some(row.interleavings.1), row.traces.1, row.seconds.1),
            "mark": if row.agrees() { "equal" } else { "wrong" },
        })
    };
    let cells: Vec<Value> = rows.iter().map(row).collect();
    let object = json!({ "table": "udpor", "title": TITLE, "equal": equal, "wrong": all - equal, "cells": cells });
    Ok(TableOutput { text, object, wrong: equal < all })
}

/// Runs the example of Figure 4, whose tree is that of TransDPOR with the earliest message first.
fn figure_4() -> Result<whippet_abs::selection::SelectionRow, CommandError> {
    let options = Options::new(Reduction::Transdpor).with_order(Order::Fifo);
    let program = Arc::new(whippet_abs::selection::running_example());
    let counters = whippet_search::explore(program, &options, &()).map_err(CommandError::usage)?.counters;
    // The first step is the main block and leads to the root of the tree, so there are as many states as steps.
    Ok(whippet_abs::selection::figure_4(counters.executions, counters.transitions))
}

/// Returns the share of the states in which some actor is known to be stable, over all rows: published and here.
fn stable_share(rows: &[whippet_abs::selection::SelectionRow]) -> String {
    let share = |of: &dyn Fn(&whippet_abs::selection::SelectionRow) -> Option<whippet_abs::selection::Counts>| {
        let (states, unstable) = rows.iter().filter_map(of).fold((0, 0), |(s, u), counts| (s + counts.1, u + counts.2));
        100.0 * (1.0 - unstable as f64 / f64::max(1.0, states as f64))
    };
    let (published, here) = (share(&|row| row.ours.map(|_| row.published)), share(&|row| row.ours));
    format!("an actor is known to be stable in {published:.2} % of the published states, and in {here:.2} % of ours")
}

/// Returns the reason why a row differs, or the note on a row that does not.
fn remark(row: &whippet_abs::selection::SelectionRow) -> &'static str {
    if row.why.is_empty() { row.note } else { row.why }
}

/// Runs table 1 of the paper on selecting actors and tasks.
fn selections(subject: Option<&str>) -> Result<TableOutput, CommandError> {
    const TITLE: &str = "Selecting actors and tasks · Albert, Arenas, Gómez-Zamalloa (FORTE 2014), Table 1";
    let mut rows = whippet_abs::selection::reproduce(false).map_err(CommandError::usage)?;
    rows.push(figure_4()?);
    rows.retain(|row| subject.is_none_or(|name| row.subject() == name));
    let lines = rows.iter().map(|row| {
        let ours = row.ours.map_or_else(String::new, |ours| ours.to_string());
        vec![row.test.clone(), row.how.clone(), row.published.to_string(), ours, row.mark.into(), remark(row).into()]
    });
    let shown = table(["test", "how", "published", "here", "", ""], lines, 2);
    let equal = rows.iter().filter(|row| row.mark == "=").count();
    let is_wrong = |row: &&whippet_abs::selection::SelectionRow| row.mark == "≠" && row.why.is_empty();
    let wrong = rows.iter().filter(is_wrong).count();
    let all = rows.len();
    let text = format!(
        "Table selection · {TITLE}\n\n{shown}\nexecutions/states/H; with task selection, a mark lasts until a dependent task runs\n\
         {}\nselection: {equal} of {all} rows equal\n\n",
        stable_share(&rows)
    );
    let row = |row: &whippet_abs::selection::SelectionRow| {
        let counts = |t: whippet_abs::selection::Counts| json!({ "executions": t.0, "states": t.1, "unstable": t.2 });
        json!({
            "subject": row.test,
            "technique": row.how,
            "published": counts(row.published),
            "here": row.ours.map(counts),
            "mark": match row.mark { "=" => "equal", "–" => "not run", _ if is_wrong(&row) => "wrong", _ => "differs" },
            "note": remark(row),
        })
    };
    let cells: Vec<Value> = rows.iter().map(row).collect();
    let object = json!({ "table": "selection", "title": TITLE, "equal": equal, "wrong": wrong, "cells": cells });
    Ok(TableOutput { text, object, wrong: wrong > 0 })
}
