//! The paper's search: Figure 2 with TransDPOR's backtracking, the actor selection of Section 4, and the marks on tasks
//! of Figure 6.
//!
//! `SelectionSearch::explore` walks the tree of configurations depth first. At each configuration it selects one actor (`pick`)
//! and explores all enabled tasks of this actor. Further actors are added to the backtrack set `backtrack` of a
//! configuration when a race is found: a pending task belongs to an actor that took a step at an earlier
//! configuration, the task was created after that step, and the step does not happen before its creation. The two
//! could occur in the other order, so the actor of the ancestor of the task that was pending at the earlier
//! configuration is added there. The configuration is then frozen (`freeze`): no other actor is added until the
//! exploration of the next actor in `backtrack` begins.
//!
//! Marked tasks are not selected ([`Marks`]). A configuration whose selected actor has only marked tasks is cut off.

use crate::machine::{AbsMachine, AbsProgram};
use std::collections::BTreeSet;
use whippet_model::{
    Choice, Clocks, ConflictRule, Fingerprint, Machine, MachineConfig, MachineError, Marks, Pending, Program, Pruning,
    StateComparison,
};

/// The rule that selects an actor.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("cell.abs", r#"
/// #     interface Cell { Unit set(Int v); }
/// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
/// #     { Cell c = new Cell(); c!set(1); c!set(2); }
/// # "#).unwrap();
/// use whippet_abs::selection::{ActorSelection, Selection, search};
/// let [stable, highest] = [ActorSelection::Stable, ActorSelection::Highest]
///     .map(|pick| search(&program, &Selection { pick, ..Selection::default() }).unwrap());
/// assert_eq!(stable.finals, highest.finals, "another order, the same ends");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum ActorSelection {
    /// A stable actor, or else one with the lowest level; among equals, the one created first.
    #[default]
    Stable,
    /// As printed in the paper: a stable actor, or else one with the highest level.
    Highest,
}

/// The options of the search.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("cell.abs", r#"
/// #     interface Cell { Unit set(Int v); }
/// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
/// #     { Cell c = new Cell(); c!set(1); c!set(2); }
/// # "#).unwrap();
/// use whippet_abs::selection::{Selection, search};
/// let cut = search(&program, &Selection { max_executions: Some(1), ..Selection::default() }).unwrap();
/// assert_eq!((cut.executions, cut.complete), (1, false));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Selection {
    /// The rule that selects an actor.
    pub pick: ActorSelection,
    /// The kind of marks to use, if any.
    pub marks: Option<Marks>,
    /// `true` to ignore races: at each configuration only the selected actor is explored.
    pub skip_races: bool,
    /// The number of complete executions after which the search stops.
    pub max_executions: Option<u64>,
}

/// The counters of a search.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("cell.abs", r#"
/// #     interface Cell { Unit set(Int v); }
/// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
/// #     { Cell c = new Cell(); c!set(1); c!set(2); }
/// # "#).unwrap();
/// use whippet_abs::selection::{Selection, search};
/// let count = search(&program, &Selection::default()).unwrap();
/// assert_eq!((count.executions, count.finals.len()), (2, 2), "the last one to set the value wins");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectionCounts {
    /// The number of complete executions.
    pub executions: u64,
    /// The number of nodes in the tree, starting with the one after the main block.
    pub states: u64,
    /// The number of nodes where no actor is provably stable (`H`).
    pub unstable: u64,
    /// The fingerprints of the final states.
    pub finals: BTreeSet<u128>,
    /// `true` if the search finished.
    pub complete: bool,
}

/// Runs the paper's search on a program.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("cell.abs", r#"
/// #     interface Cell { Unit set(Int v); }
/// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
/// #     { Cell c = new Cell(); c!set(1); c!set(2); }
/// # "#).unwrap();
/// use whippet_abs::selection::{Selection, search};
/// let count = search(&program, &Selection::default()).unwrap();
/// assert!(count.complete && count.states > count.executions);
/// ```
pub fn search(program: &AbsProgram, selection: &Selection) -> Result<SelectionCounts, MachineError> {
    let rule = selection.marks.map_or(ConflictRule::Actors, ConflictRule::Marks);
    let machine = program.clone().conflict_rule(rule).machine(&MachineConfig::default())?;
    let mut run = SelectionSearch {
        machine,
        clocks: Clocks::new(),
        selection: *selection,
        nodes: Vec::new(),
        count: SelectionCounts { complete: true, ..SelectionCounts::default() },
    };
    // As in the paper, the main block is not part of the tree.
    run.execute(0)?;
    run.explore()?;
    Ok(run.count)
}

/// A configuration on the current path.
struct SearchNode {
    depth: usize,
    backtrack: Vec<u32>,
    frozen: bool,
}

struct SelectionSearch {
    machine: AbsMachine,
    clocks: Clocks,
    selection: Selection,
    nodes: Vec<SearchNode>,
    count: SelectionCounts,
}

impl SelectionSearch {
    fn execute(&mut self, task: u32) -> Result<(), MachineError> {
        self.machine.execute(Choice::first(Pending(task)))?;
        self.clocks.push(&self.machine);
        Ok(())
    }

    fn explore(&mut self) -> Result<(), MachineError> {
        if self.selection.max_executions.is_some_and(|max_executions| self.count.executions >= max_executions) {
            self.count.complete = false;
            return Ok(());
        }
        self.count.states += 1;
        self.add_backtrack_points();
        let mut choices = Vec::new();
        self.machine.enabled(&mut choices)?;
        if choices.is_empty() {
            self.count.executions += 1;
            let end = self.machine.of_configuration(StateComparison::Canonical)?;
            self.count.finals.insert(end);
            return Ok(());
        }
        let first = self.select_actor(&choices);
        let depth = self.machine.depth();
        self.nodes.push(SearchNode { depth, backtrack: vec![first], frozen: false });
        let mut done = 0;
        while let Some(&actor) = self.nodes.last().expect("the node was pushed above").backtrack.get(done) {
            done += 1;
            self.nodes.last_mut().expect("the node was pushed above").frozen = false;
            self.explore_tasks_of(actor, &choices)?;
        }
        self.nodes.pop();
        Ok(())
    }

    /// Explores the unmarked tasks of an actor, in queue order.
    fn explore_tasks_of(&mut self, actor: u32, choices: &[Choice]) -> Result<(), MachineError> {
        let depth = self.machine.depth();
        for choice in choices {
            let task = choice.what.0;
            if self.machine.actor(choice.what).0 != actor || self.machine.is_pruned(choice.what) {
                continue;
            }
            self.execute(task)?;
            self.explore()?;
            self.machine.rewind(depth);
            self.clocks.truncate(depth);
        }
        Ok(())
    }

    fn select_actor(&mut self, choices: &[Choice]) -> u32 {
        let mut actors: Vec<u32> = choices.iter().map(|choice| self.machine.actor(choice.what).0).collect();
        actors.sort_unstable();
        actors.dedup();
        let levels: Vec<u64> =
            actors.iter().map(|&actor| self.machine.stability().level(&self.machine, actor)).collect();
        let stable = levels.iter().position(|&level| level == 0);
        if stable.is_none() {
            self.count.unstable += 1;
        }
        let at = match (self.selection.pick, stable) {
            (_, Some(stable)) => stable,
            (ActorSelection::Stable, None) => {
                (0..actors.len()).min_by_key(|&k| (levels[k], k)).expect("an actor is enabled")
            }
            (ActorSelection::Highest, None) => {
                (0..actors.len()).min_by_key(|&k| (u64::MAX - levels[k], k)).expect("an actor is enabled")
            }
        };
        actors[at]
    }

    /// Adds backtrack points: a pending task that races with the last step of its actor must also be tried before
    /// that step.
    fn add_backtrack_points(&mut self) {
        if self.selection.skip_races {
            return;
        }
        for k in 0..self.machine.live.len() {
            let task = self.machine.live[k];
            let actor = self.machine.tasks[task as usize].group;
            let Some(step) = self.clocks.last_of(actor) else { continue };
            let Some(made) = self.machine.creation_step(task) else { continue };
            if made < step || self.clocks.before(step, made) {
                continue;
            }
            // Find the ancestor of this task that was pending before that step.
            let mut ancestor = task;
            while let Some(made) = self.machine.creation_step(ancestor)
                && made >= step
            {
                ancestor = self.machine.caller_of(ancestor);
            }
            let wanted = self.machine.tasks[ancestor as usize].group;
            if let Some(node) = self.nodes.iter_mut().find(|node| node.depth == step)
                && !node.frozen
                && !node.backtrack.contains(&wanted)
            {
                node.backtrack.push(wanted);
                node.frozen = true;
            }
        }
    }
}
