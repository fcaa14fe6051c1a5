//! `whippet compare`: searches one program with every reduction and order, and recommends an order.

use crate::args::Compare;
use crate::failure::{Answer, Failure};
use crate::output::{remark, say, say_json};
use crate::shape::Shape;
use crate::table::table;
use crate::target::Target;
use crate::watch::Watch;
use serde::Serialize;
use whippet_model::{LimitHit, Limits};
use whippet_report::{Exit, grouped};
use whippet_search::{Observer, Options, Order, Reduction, SearchError};

/// The columns of the table: name, reduction, use of sleep sets.
const COLUMNS: [(&str, Reduction, bool); 8] = [
    ("dcute", Reduction::Dcute, false),
    ("persistent", Reduction::Persistent, false),
    ("persistent+sleep", Reduction::Persistent, true),
    ("transdpor", Reduction::Transdpor, false),
    ("transdpor+sleep", Reduction::Transdpor, true),
    ("source", Reduction::Source, true),
    ("optimal", Reduction::Optimal, false),
    ("exhaustive", Reduction::Exhaustive, false),
];

/// The rows of the table.
const ORDERS: [Order; 8] =
    [Order::Fifo, Order::Lifo, Order::Eca, Order::Lca, Order::Ldm, Order::Hdm, Order::Hms, Order::Sgr];

/// One cell of the table.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    reduction: &'static str,
    sleep: bool,
    order: &'static str,
    executions: u64,
    transitions: u64,
    /// `true` if the search was complete.
    complete: bool,
    #[serde(skip)]
    column: usize,
    #[serde(skip)]
    by: Order,
}

pub(crate) fn compare(command: &Compare) -> Answer {
    let target = Target::find(&command.which)?;
    let shape = target.program.shape().map_err(Failure::misuse)?;
    let watch = Watch::new("");
    let mut entries = Vec::new();
    for (column, &(name, ..)) in COLUMNS.iter().enumerate() {
        // The exhaustive search visits the same tree in every order.
        let orders: &[Order] = if name == "exhaustive" { &ORDERS[..1] } else { &ORDERS };
        for &order in orders {
            watch.show(format!("{name}, order {order}"));
            match run(command, &target, column, order, &watch) {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => {
                    remark("interrupted: the table is not complete");
                    return report(command, &target, shape, &entries).map(|_| Exit::NoVerdict);
                }
                Err(SearchError::Unsupported(why)) => {
                    remark(format_args!("{name} is left out: {why}"));
                    break;
                }
                Err(error) => return Err(Failure::misuse(error)),
            }
        }
    }
    drop(watch);
    report(command, &target, shape, &entries)
}

/// Runs one cell. Returns `None` if the user interrupted it.
fn run(
    command: &Compare,
    target: &Target,
    column: usize,
    order: Order,
    watch: &Watch,
) -> Result<Option<Entry>, SearchError> {
    let (_, reduction, sleep) = COLUMNS[column];
    let limits =
        Limits { executions: Some(command.limit_executions), time: Some(command.limit_seconds), ..Limits::default() };
    // One worker, because several workers may explore slightly more than necessary.
    let options = Options { reduction, sleep, order, jobs: 1, limits, ..Options::default() };
    let verdict = target.program.explore(&options, &Quiet(watch))?;
    if verdict.limits.contains(&LimitHit::Interrupted) {
        return Ok(None);
    }
    let (executions, transitions) = (verdict.counters.executions, verdict.counters.transitions);
    let (reduction, order, by) = (reduction.name(), order.name(), order);
    Ok(Some(Entry { reduction, sleep, order, executions, transitions, complete: verdict.complete, column, by }))
}

/// An observer that only forwards interruptions.
struct Quiet<'a>(&'a Watch);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

fn report(command: &Compare, target: &Target, shape: Shape, entries: &[Entry]) -> Answer {
    let traces = entries.iter().find(|e| e.reduction == "optimal" && e.complete).map(|e| e.executions);
    let (expected, why) = shape.advice();
    let best = best_orders(entries);
    if command.json {
        say_json(&serde_json::json!({
            "format": "whippet comparison",
            "version": 1,
            "subject": target.name,
            "parameters": target.parameters.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "traces": traces,
            "cells": entries,
            "best": best.iter().map(|(name, orders)| (*name, names(orders))).collect::<std::collections::BTreeMap<_, _>>(),
            "expected": expected.name(),
            "why": why,
        }))?;
    } else {
        say(&tell(target, traces, entries, &best, expected, why))?;
    }
    Ok(if traces.is_some() { Exit::Holds } else { Exit::NoVerdict })
}

fn names(orders: &[Order]) -> Vec<&'static str> {
    orders.iter().map(|order| order.name()).collect()
}

/// Returns the best orders of each reduction whose cost depends on the order: those with the fewest executions, then
/// transitions.
fn best_orders(entries: &[Entry]) -> Vec<(&'static str, Vec<Order>)> {
    let mut best = Vec::new();
    for (column, &(name, reduction, _)) in COLUMNS.iter().enumerate() {
        let cost = |entry: &&Entry| (!entry.complete, entry.executions, entry.transitions);
        let cells: Vec<&Entry> = entries.iter().filter(|e| e.column == column).collect();
        let (Some(least), Some(most)) = (cells.iter().map(cost).min(), cells.iter().map(cost).max()) else { continue };
        // An optimal search has one execution per trace in every order.
        if least < most && reduction != Reduction::Optimal {
            best.push((name, cells.iter().filter(|e| cost(e) == least).map(|e| e.by).collect()));
        }
    }
    best
}

fn tell(
    target: &Target,
    traces: Option<u64>,
    entries: &[Entry],
    best: &[(&str, Vec<Order>)],
    expected: Order,
    why: &str,
) -> String {
    let mut text = match traces {
        Some(traces) => format!(
            "{} has {} traces: no complete search can do with fewer executions.\n",
            target.title(),
            grouped(traces)
        ),
        None => format!("{}: the number of traces is not known within the limits.\n", target.title()),
    };
    text += &format!("\n{}\n\nexecutions / transitions; + means that a limit cut the search\n", cells(entries));
    for (name, orders) in best {
        text += &format!("\nbest for {name}: {}", names(orders).join(", "));
    }
    text += if best.is_empty() { "\nNo order is better than another here.\n" } else { "\n" };
    let agree = best.iter().filter(|(_, orders)| orders.contains(&expected)).count();
    text += &format!("\nThe program is {why}.\n");
    text += &match (agree, best.len()) {
        (_, 0) => String::new(),
        (0, _) => format!("That speaks for {expected}, but other orders do better here.\n"),
        (agree, all) => {
            format!("That speaks for {expected}, and it is best for {agree} of the {all} reductions above.\n")
        }
    };
    text
}

fn cells(entries: &[Entry]) -> String {
    let used: Vec<usize> = (0..COLUMNS.len()).filter(|&c| entries.iter().any(|e| e.column == c)).collect();
    let header = std::iter::once("order").chain(used.iter().map(|&c| COLUMNS[c].0));
    let rows = ORDERS.iter().map(|order| {
        let cell = |&column: &usize| {
            entries.iter().find(|e| e.column == column && e.by == *order).map_or_else(String::new, |e| {
                let cut = if e.complete { "" } else { "+" };
                format!("{}{cut} / {}{cut}", grouped(e.executions), grouped(e.transitions))
            })
        };
        std::iter::once(order.name().to_string()).chain(used.iter().map(cell)).collect()
    });
    table(header, rows, 1).to_string()
}
