//! Source sets with sleep sets (Abdulla, Aronis, Jonsson, Sagonas: "Source Sets").
//!
//! Before a step e that can be reversed, some choice must be explored that can begin what would come instead of e. One is
//! enough: a set of choices that has one for everything that can happen is a source set. Each trace is explored
//! once, but without a wakeup tree nobody tells the choice how to go on, and it may run into a configuration
//! where everything sleeps: such executions are blocked and given up.
//!
//! The rest is shared with the search that has wakeup trees.

use crate::run::{Run, Stop};
use crate::wakeup::{Keep, explore};
use whippet_model::Machine;

/// Explores each trace once, and perhaps some blocked executions.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::First)
}
