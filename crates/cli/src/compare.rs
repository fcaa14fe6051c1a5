//! `whippet compare`: searches one program with every reduction and order, and recommends an order.

use crate::args::Compare;
use crate::chosen::ChosenProgram;
use crate::error::{CommandError, CommandResult};
use crate::output::{print, print_json, print_note};
use crate::progress::ProgressDisplay;
use whippet_model::{LimitHit, Limits};
use whippet_report::{Comparison, ComparisonCell, Exit};
use whippet_search::{Observer, Options, Order, SearchError};

pub(crate) fn compare(command: &Compare) -> CommandResult {
    let target = ChosenProgram::find(&command.program)?;
    let mut comparison = Comparison::new(&target.name);
    comparison.parameters.clone_from(&target.parameters);
    comparison.expected = Some(target.program.shape().map_err(CommandError::usage)?.advice());
    let display = ProgressDisplay::new("");
    for (column, search) in Comparison::COLUMNS.iter().enumerate() {
        for &order in Comparison::orders_of(column) {
            display.show(format!("{}, order {order}", search.name));
            match run(command, &target, column, order, &display) {
                Ok(Some(cell)) => comparison.cells.push(cell),
                Ok(None) => {
                    print_note("interrupted: the table is incomplete");
                    return report(command, &comparison).map(|_| Exit::NoVerdict);
                }
                Err(SearchError::Unsupported(why)) => {
                    print_note(format_args!("{} is not included: {why}", search.name));
                    break;
                }
                Err(error) => return Err(CommandError::usage(error)),
            }
        }
    }
    drop(display);
    report(command, &comparison)
}

/// Runs one cell. Returns `None` if the user interrupted it.
fn run(
    command: &Compare,
    target: &ChosenProgram,
    column: usize,
    order: Order,
    display: &ProgressDisplay,
) -> Result<Option<ComparisonCell>, SearchError> {
    let search = Comparison::COLUMNS[column];
    let limits =
        Limits::default().with_executions(Some(command.limit_executions)).with_time(Some(command.limit_seconds));
    // One worker, because several workers may explore slightly more than necessary.
    let options =
        Options::new(search.reduction).with_sleep(search.sleep).with_order(order).with_jobs(1).with_limits(limits);
    let verdict = target.program.explore(&options, &InterruptOnly(display))?;
    if verdict.limits.contains(&LimitHit::Interrupted) {
        return Ok(None);
    }
    let (executions, transitions) = (verdict.counters.executions, verdict.counters.transitions);
    Ok(Some(ComparisonCell::new(column, order, executions, transitions, verdict.complete)))
}

/// An observer that only forwards interruptions.
struct InterruptOnly<'a>(&'a ProgressDisplay);

impl Observer for InterruptOnly<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

fn report(command: &Compare, comparison: &Comparison) -> CommandResult {
    if command.json {
        print_json(&comparison.json())?;
    } else {
        print(&comparison.text())?;
    }
    Ok(if comparison.traces().is_some() { Exit::Holds } else { Exit::NoVerdict })
}
