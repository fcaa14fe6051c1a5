//! A history that is not allowed, as text: the interval of each operation, and how far an order of them goes.
//!
//! ```text
//! the history of register is not linearizable: no order of the operations gives these answers
//!   client 1  Write(1) → Done   ├─┤
//!   client 2  Read → Value(0)       ├─┤
//! the longest order that fits: Write(1) of client 1
//! then Read of client 2 would return Value(1), not Value(0)
//! ```

use super::record::{HistoryLog, Operation};
use super::search::perform;
use super::{Consistency, Sequential};
use std::any::Any;

/// The columns between two ends of operations.
const COLUMNS: usize = 2;

/// Describes a history that is not allowed, given one of the longest orders that fit.
pub(super) fn violation<S: Sequential>(
    log: &HistoryLog,
    operations: &[Operation],
    order: &[usize],
    initial: &S,
    labels: &[String],
) -> String {
    let property = match log.consistency {
        Consistency::Linearizable => "linearizable",
        Consistency::Sequential => "sequentially consistent",
    };
    let mut text =
        format!("the history of {} is not {property}: no order of the operations gives these answers", log.object);
    let told: Vec<(String, String)> =
        operations.iter().map(|one| (labels[one.actor as usize].clone(), told::<S>(one))).collect();
    let width = |column: fn(&(String, String)) -> &String| {
        told.iter().map(|told| column(told).chars().count()).max().unwrap_or(0)
    };
    let (actors, texts) = (width(|told| &told.0), width(|told| &told.1));
    for (operation, (actor, told)) in operations.iter().zip(&told) {
        let line = format!("\n  {actor:<actors$}  {told:<texts$}   {}", interval(operation, log.ends.len()));
        text += line.trim_end();
    }
    let names = order.iter().map(|&k| format!("{} of {}", op::<S>(&operations[k]), told[k].0));
    let names: Vec<String> = names.collect();
    let state = order.iter().fold(initial.clone(), |state, &k| perform(&state, &operations[k]).unwrap_or(state));
    text += &match names.is_empty() {
        true => "\nno operation can come first".to_owned(),
        false => format!("\nthe longest order that fits: {}", names.join(", ")),
    };
    for (k, operation) in operations.iter().enumerate().filter(|(k, _)| !order.contains(k)) {
        let Some(ret) = operation.ret.as_ref() else { continue };
        if perform(&state, operation).is_none() {
            let would = state.clone().apply(downcast::<S::Op>(&*operation.op));
            let did = downcast::<S::Ret>(&**ret);
            text += &format!("\nthen {} of {} would return {would:?}, not {did:?}", op::<S>(operation), told[k].0);
        }
    }
    text
}

fn downcast<T: 'static>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("the type was checked when the value was recorded")
}

fn op<S: Sequential>(operation: &Operation) -> String {
    format!("{:?}", downcast::<S::Op>(&*operation.op))
}

/// Describes an operation and its answer: `Read → Value(0)`.
fn told<S: Sequential>(operation: &Operation) -> String {
    match &operation.ret {
        Some(ret) => format!("{} → {:?}", op::<S>(operation), downcast::<S::Ret>(&**ret)),
        None => format!("{} → ?", op::<S>(operation)),
    }
}

/// Draws the interval of an operation, in a history with this number of ends.
fn interval(operation: &Operation, ends: usize) -> String {
    let from = operation.invoked * COLUMNS;
    let (to, last) = match operation.returned {
        Some(returned) => (returned * COLUMNS, "┤"),
        None => (ends * COLUMNS, "…"),
    };
    format!("{}├{}{last}", " ".repeat(from), "─".repeat(to - from - 1))
}
