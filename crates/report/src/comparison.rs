//! A comparison of searches: one program with every reduction and order.

use crate::grouped;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use whippet_search::{Order, Reduction};

/// A column of the table: a reduction, with or without sleep sets.
///
/// ```
/// assert_eq!(whippet_report::Comparison::COLUMNS[2].name, "persistent+sleep");
/// ```
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct ComparedSearch {
    /// The name of the column.
    pub name: &'static str,
    /// The reduction.
    pub reduction: Reduction,
    /// `true` if sleep sets are used.
    pub sleep: bool,
}

/// One cell of the table: the cost of one search.
///
/// ```
/// use whippet_report::ComparisonCell;
/// let cell = ComparisonCell::new(6, whippet_search::Order::Fifo, 16, 91, true);
/// assert_eq!((cell.reduction, cell.sleep), ("optimal", false));
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ComparisonCell {
    /// The name of the reduction.
    pub reduction: &'static str,
    /// `true` if sleep sets are used.
    pub sleep: bool,
    /// The name of the order.
    pub order: &'static str,
    /// The number of executions.
    pub executions: u64,
    /// The number of transitions.
    pub transitions: u64,
    /// `true` if the search was complete.
    pub complete: bool,
    #[serde(skip)]
    column: usize,
    #[serde(skip)]
    by: Order,
}

impl ComparisonCell {
    /// Creates the cell of a column of [`Comparison::COLUMNS`].
    #[must_use]
    pub fn new(column: usize, order: Order, executions: u64, transitions: u64, complete: bool) -> ComparisonCell {
        let ComparedSearch { reduction, sleep, .. } = Comparison::COLUMNS[column];
        ComparisonCell {
            reduction: reduction.name(),
            sleep,
            order: order.name(),
            executions,
            transitions,
            complete,
            column,
            by: order,
        }
    }
}

/// The searches of one program.
///
/// ```
/// use whippet_report::{Comparison, ComparisonCell};
/// let mut comparison = Comparison::new("two_customers");
/// comparison.cells.push(ComparisonCell::new(6, whippet_search::Order::Fifo, 2, 5, true));
/// assert_eq!(comparison.traces(), Some(2));
/// assert!(comparison.text().starts_with("two_customers has 2 traces: "));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Comparison {
    /// The program.
    pub subject: String,
    /// The program's parameters with their values.
    pub parameters: Vec<(String, String)>,
    /// The cells, in the order in which they were measured.
    pub cells: Vec<ComparisonCell>,
    /// The order that the shape of the program suggests, and the shape, if it is known.
    pub expected: Option<(Order, &'static str)>,
    /// Reasons why columns are missing.
    pub notes: Vec<String>,
}

const fn search(name: &'static str, reduction: Reduction, sleep: bool) -> ComparedSearch {
    ComparedSearch { name, reduction, sleep }
}

impl Comparison {
    /// The columns of the table.
    ///
    /// ```
    /// assert_eq!(whippet_report::Comparison::COLUMNS[0].name, "dcute");
    /// ```
    pub const COLUMNS: [ComparedSearch; 8] = [
        search("dcute", Reduction::Dcute, false),
        search("persistent", Reduction::Persistent, false),
        search("persistent+sleep", Reduction::Persistent, true),
        search("transdpor", Reduction::Transdpor, false),
        search("transdpor+sleep", Reduction::Transdpor, true),
        search("source", Reduction::Source, true),
        search("optimal", Reduction::Optimal, false),
        search("exhaustive", Reduction::Exhaustive, false),
    ];

    /// The rows of the table.
    ///
    /// ```
    /// assert_eq!(whippet_report::Comparison::ORDERS[0], whippet_search::Order::Fifo);
    /// ```
    pub const ORDERS: [Order; 8] =
        [Order::Fifo, Order::Lifo, Order::Eca, Order::Lca, Order::Ldm, Order::Hdm, Order::Hms, Order::Sgr];

    /// Creates a comparison without cells.
    #[must_use]
    pub fn new(subject: impl Into<String>) -> Comparison {
        Comparison { subject: subject.into(), ..Comparison::default() }
    }

    /// Returns the orders that make a difference in a column: the exhaustive search visits the same tree in every order.
    ///
    /// ```
    /// use whippet_report::Comparison;
    /// assert_eq!((Comparison::orders_of(0).len(), Comparison::orders_of(7).len()), (8, 1));
    /// ```
    #[must_use]
    pub fn orders_of(column: usize) -> &'static [Order] {
        match Comparison::COLUMNS[column].reduction {
            Reduction::Exhaustive => &Comparison::ORDERS[..1],
            _ => &Comparison::ORDERS,
        }
    }

    /// Returns the number of traces, if the optimal search was complete.
    #[must_use]
    pub fn traces(&self) -> Option<u64> {
        self.cells.iter().find(|cell| cell.reduction == "optimal" && cell.complete).map(|cell| cell.executions)
    }

    /// Returns the comparison as one JSON object.
    ///
    /// ```
    /// assert_eq!(whippet_report::Comparison::new("fib").json()["format"], "whippet comparison");
    /// ```
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "format": "whippet comparison",
            "version": 1,
            "subject": self.subject,
            "parameters": self.parameters.iter().cloned().collect::<BTreeMap<_, _>>(),
            "traces": self.traces(),
            "cells": self.cells,
            "best": self.best().iter().map(|(name, orders)| (*name, names(orders))).collect::<BTreeMap<_, _>>(),
            "expected": self.expected.map(|(order, _)| order.name()),
            "why": self.expected.map(|(_, why)| why),
        })
    }

    /// Returns the best orders of each reduction whose cost depends on the order: those with the fewest executions, then
    /// transitions.
    fn best(&self) -> Vec<(&'static str, Vec<Order>)> {
        let mut best = Vec::new();
        for (column, search) in Comparison::COLUMNS.iter().enumerate() {
            let cost = |cell: &&ComparisonCell| (!cell.complete, cell.executions, cell.transitions);
            let cells: Vec<&ComparisonCell> = self.cells.iter().filter(|cell| cell.column == column).collect();
            let (Some(least), Some(most)) = (cells.iter().map(cost).min(), cells.iter().map(cost).max()) else {
                continue;
            };
            // An optimal search has one execution per trace in every order.
            if least < most && search.reduction != Reduction::Optimal {
                best.push((search.name, cells.iter().filter(|cell| cost(cell) == least).map(|cell| cell.by).collect()));
            }
        }
        best
    }

    /// Returns the subject with its parameters: `fib(n=5)`.
    fn title(&self) -> String {
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { self.subject.clone() } else { format!("{}({})", self.subject, values.join(", ")) }
    }

    /// Returns the table with a conclusion.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = match self.traces() {
            Some(traces) => format!(
                "{} has {}: every complete search needs at least as many executions.\n",
                self.title(),
                crate::numbers::count(traces, "trace")
            ),
            None => format!("{}: the limits were too low to count the traces.\n", self.title()),
        };
        text +=
            &format!("\n{}\nexecutions / transitions; + means that the search was stopped by a limit\n", self.table());
        let best = self.best();
        for (name, orders) in &best {
            text += &format!("\nbest for {name}: {}", names(orders).join(", "));
        }
        text += if best.is_empty() { "\nAll orders are equally good here.\n" } else { "\n" };
        let Some((expected, why)) = self.expected else { return text };
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

    fn table(&self) -> String {
        let used = (0..Comparison::COLUMNS.len()).filter(|&column| self.cells.iter().any(|cell| cell.column == column));
        let mut columns: Vec<Vec<String>> = vec![
            std::iter::once("order")
                .chain(Comparison::ORDERS.iter().map(|order| order.name()))
                .map(Into::into)
                .collect(),
        ];
        for column in used {
            let cell = |order: &Order| {
                let found = self.cells.iter().find(|cell| cell.column == column && cell.by == *order);
                found.map_or_else(String::new, |cell| {
                    let cut = if cell.complete { "" } else { "+" };
                    format!("{}{cut} / {}{cut}", grouped(cell.executions), grouped(cell.transitions))
                })
            };
            let name = Comparison::COLUMNS[column].name.to_string();
            columns.push(std::iter::once(name).chain(Comparison::ORDERS.iter().map(cell)).collect());
        }
        let widths: Vec<usize> =
            columns.iter().map(|column| column.iter().map(|text| text.chars().count()).max().unwrap_or(0)).collect();
        let mut text = String::new();
        for row in 0..=Comparison::ORDERS.len() {
            let mut line = format!("  {:<width$}", columns[0][row], width = widths[0]);
            for (column, width) in columns.iter().zip(&widths).skip(1) {
                line += &format!("   {:>width$}", column[row]);
            }
            text += &format!("{}\n", line.trim_end());
            if row == 0 {
                text += &format!("{}\n", "─".repeat(widths.iter().map(|width| width + 3).sum::<usize>()));
            }
        }
        text
    }
}

fn names(orders: &[Order]) -> Vec<&'static str> {
    orders.iter().map(|order| order.name()).collect()
}
