//! `whippet compare`: searches one program with every reduction and order, and recommends an order.

use crate::args::Compare;
use crate::chosen::ChosenProgram;
use crate::error::{CommandError, CommandResult};
use crate::output::{print, print_json, print_note};
use crate::progress::ProgressDisplay;
use crate::shape::Shape;
use crate::table::table;
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
struct ComparisonCell {
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

pub(crate) fn compare(command: &Compare) -> CommandResult {
    let target = ChosenProgram::find(&command.program)?;
    let shape = target.program.shape().map_err(CommandError::usage)?;
    let display = ProgressDisplay::new("");
    let mut entries = Vec::new();
    for (column, &(name, ..)) in COLUMNS.iter().enumerate() {
        // The exhaustive search visits the same tree in every order.
        let orders: &[Order] = if name == "exhaustive" { &ORDERS[..1] } else { &ORDERS };
        for &order in orders {
            display.show(format!("{name}, order {order}"));
            match run(command, &target, column, order, &display) {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => {
                    print_note("interrupted: the table is incomplete");
                    return report(command, &target, shape, &entries).map(|_| Exit::NoVerdict);
                }
                Err(SearchError::Unsupported(why)) => {
                    print_note(format_args!("{name} is not included: {why}"));
                    break;
                }
                Err(error) => return Err(CommandError::usage(error)),
            }
        }
    }
    drop(display);
    report(command, &target, shape, &entries)
}

/// Runs one cell. Returns `None` if the user interrupted it.
fn run(
    command: &Compare,
    target: &ChosenProgram,
    column: usize,
    order: Order,
    display: &ProgressDisplay,
) -> Result<Option<ComparisonCell>, SearchError> {
    let (_, reduction, sleep) = COLUMNS[column];
    let limits =
        Limits { executions: Some(command.limit_executions), time: Some(command.limit_seconds), ..Limits::default() };
    // One worker, because several workers may explore slightly more than necessary.
    let options = Options { reduction, sleep, order, jobs: 1, limits, ..Options::default() };
    let verdict = target.program.explore(&options, &InterruptOnly(display))?;
    if verdict.limits.contains(&LimitHit::Interrupted) {
        return Ok(None);
    }
    let (executions, transitions) = (verdict.counters.executions, verdict.counters.transitions);
    let (reduction, order, by) = (reduction.name(), order.name(), order);
    Ok(Some(ComparisonCell {
        reduction,
        sleep,
        order,
        executions,
        transitions,
        complete: verdict.complete,
        column,
        by,
    }))
}

/// An observer that only forwards interruptions.
struct InterruptOnly<'a>(&'a ProgressDisplay);

impl Observer for InterruptOnly<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

fn report(command: &Compare, target: &ChosenProgram, shape: Shape, entries: &[ComparisonCell]) -> CommandResult {
    let traces = entries.iter().find(|e| e.reduction == "optimal" && e.complete).map(|e| e.executions);
    let (expected, why) = shape.advice();
    let best = best_orders(entries);
    if command.json {
        print_json(&serde_json::json!({
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
        print(&render(target, traces, entries, &best, expected, why))?;
    }
    Ok(if traces.is_some() { Exit::Holds } else { Exit::NoVerdict })
}

fn names(orders: &[Order]) -> Vec<&'static str> {
    orders.iter().map(|order| order.name()).collect()
}

/// Returns the best orders of each reduction whose cost depends on the order: those with the fewest executions, then
/// transitions.
fn best_orders(entries: &[ComparisonCell]) -> Vec<(&'static str, Vec<Order>)> {
    let mut best = Vec::new();
    for (column, &(name, reduction, _)) in COLUMNS.iter().enumerate() {
        let cost = |entry: &&ComparisonCell| (!entry.complete, entry.executions, entry.transitions);
        let cells: Vec<&ComparisonCell> = entries.iter().filter(|e| e.column == column).collect();
        let (Some(least), Some(most)) = (cells.iter().map(cost).min(), cells.iter().map(cost).max()) else { continue };
        // An optimal search has one execution per trace in every order.
        if least < most && reduction != Reduction::Optimal {
            best.push((name, cells.iter().filter(|e| cost(e) == least).map(|e| e.by).collect()));
        }
    }
    best
}

fn render(
    target: &ChosenProgram,
    traces: Option<u64>,
    entries: &[ComparisonCell],
    best: &[(&str, Vec<Order>)],
    expected: Order,
    why: &str,
) -> String {
    let mut text = match traces {
        Some(traces) => format!(
            "{} has {} traces: every complete search needs at least as many executions.\n",
            target.title(),
            grouped(traces)
        ),
        None => format!("{}: the limits were too low to count the traces.\n", target.title()),
    };
    text +=
        &format!("\n{}\n\nexecutions / transitions; + means that the search was stopped by a limit\n", cells(entries));
    for (name, orders) in best {
        text += &format!("\nbest for {name}: {}", names(orders).join(", "));
    }
    text += if best.is_empty() { "\nAll orders are equally good here.\n" } else { "\n" };
    let agree = best.iter().filter(|(_, orders)| orders.contains(&expected)).count();
    text += &format!("\nThe program is {why}.\n");
    text += &match (agree, best.len()) {
        (_, 0) => String::new(),
        (0, _) => format!("This suggests {expected}, but other orders are better here.\n"),
        (agree, all) => {
            format!("This suggests {expected}, which is best for {agree} of the {all} reductions above.\n")
        }
    };
    text
}

fn cells(entries: &[ComparisonCell]) -> String {
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
