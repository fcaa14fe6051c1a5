//! Exhaustive search: explores every interleaving. It is the baseline that all reductions are compared with.
//!
//! Depth-first: executes each enabled choice in turn, with each of its branches, explores what follows, and rewinds.

pub(crate) mod divisible;

use crate::driver::run::{Run, Stop};
use crate::driver::weights::way;
use whippet_model::{Choice, Machine};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    // One stack of choices for all levels: each level owns the entries above its mark.
    let mut choices = Vec::new();
    explore(run, &mut choices, 1.0)
}

/// Explores the subtree below the current configuration. `weight` is the fraction of the whole tree that this subtree
/// would have if all children of a node had subtrees of the same size.
fn explore<M: Machine>(run: &mut Run<'_, M>, choices: &mut Vec<Choice>, weight: f64) -> Result<(), Stop> {
    let mark = choices.len();
    run.enabled(choices)?;
    if choices.len() == mark {
        run.weights.leaf(weight);
        return run.complete();
    }
    let weight = weight / (choices.len() - mark) as f64;
    let depth = run.depth();
    for k in mark..choices.len() {
        let (mut choice, mut left) = (choices[k], weight);
        loop {
            let next = run.execute(choice)?.next_branch;
            explore(run, choices, way(&mut left, next.is_some()))?;
            run.rewind(depth);
            match next {
                Some(branch) => choice.branch = branch,
                None => break,
            }
        }
    }
    choices.truncate(mark);
    Ok(())
}
