//! Explores exactly one execution per trace, with the algorithm that fits the program.

pub(crate) mod acts;
pub(crate) mod reversals;
pub(crate) mod wakeup;

use crate::driver::run::{Run, Stop};
use crate::reductions::revisit;
use whippet_model::{Dependence, Machine};

/// Explores each trace once, and adds a note that names the algorithm.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    match run.machine.relation() {
        // Revisits must not rely on choices that the machine's own rule prunes.
        Dependence::PerActor if !run.caveat() => {
            run.control.note(REVISIT);
            revisit::search(run)
        }
        _ => {
            run.control.note("optimal: wakeup trees");
            wakeup::search(run)
        }
    }
}

/// The note in the verdict for an optimal search of plain actors.
pub(crate) const REVISIT: &str = "optimal: revisit search";
