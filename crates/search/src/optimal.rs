//! Exactly one execution per trace, by the algorithm that fits the program.

use crate::revisit;
use crate::run::{Run, Stop};
use crate::wakeup;
use whippet_model::{Machine, Relation};

/// Explores each trace once and says how.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    match run.machine.relation() {
        // What a machine leaves out, no revisit may count on.
        Relation::SameActor if !run.leaves_out() => {
            run.control.note(REVISIT);
            revisit::search(run)
        }
        _ => {
            run.control.note("optimal: wakeup trees");
            wakeup::search(run)
        }
    }
}

/// How an optimal search of plain actors is done, for the reader of the verdict.
pub(crate) const REVISIT: &str = "optimal: revisit search";
