//! Explores exactly one execution per trace, with the algorithm that fits the program.

pub(crate) mod events;
pub(crate) mod reversals;
pub(crate) mod wakeup;

use crate::driver::run::{Run, Stop};
use crate::reductions::revisit;
use whippet_model::{Algorithm, Dependence, Machine};

/// Explores each trace once, and records the algorithm in the verdict.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    match run.profile().dependence {
        // Revisits must not rely on choices that the machine's own rule prunes.
        Dependence::PerActor if !run.prunes() => {
            run.control.set_algorithm(Algorithm::RevisitSearch);
            revisit::search(run)
        }
        _ => {
            run.control.set_algorithm(Algorithm::WakeupTrees);
            wakeup::search(run)
        }
    }
}
