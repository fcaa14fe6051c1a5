//! Parts: pieces of a search tree as values.
//!
//! A [`Part`] is the path from the initial configuration to a piece of the tree. Its steps are given by stable names,
//! so it has the same meaning for every machine of the program, in every process that runs the same executable. The
//! last step says what is to be explored; each step has a [`Mark`], by which a search knows what belongs to the part
//! and what other parts explore. The empty path is the whole tree.
//!
//! The open parts of a search have most of their steps in common. A [`PartTree`] stores common beginnings once: its
//! size is the number of open parts plus the length of the paths on which they lie.

use crate::driver::run::{Run, Stop};
use serde::{Deserialize, Serialize};
use whippet_model::{Branch, Branches, Choice, Machine, MachineError, Name};

/// What a search notes at a step of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mark {
    /// Nothing.
    Plain,
    /// The revisit search took the first choice of a configuration.
    Canonical,
    /// The step is not to follow the others: it replaces the step with this number, and of the steps behind that one
    /// only those remain that are needed.
    Replaces(u32),
    /// The reverse search took another branch of the thread whose first branch is the default.
    Other,
    /// The step belongs to a detour of the reverse search, before its head.
    Via,
    /// The step is the head of a detour, which avoids a default.
    Head {
        /// The depth at which the detour begins.
        base: u32,
        /// The thread of the default there, and its branch.
        against: Name,
        branch: Branch,
    },
}

/// A step of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartStep {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    pub(crate) mark: Mark,
}

impl PartStep {
    /// Returns a choice of this machine as a step of a path. The choice is valid in the current configuration.
    pub(crate) fn of<M: Machine>(machine: &M, choice: Choice, mark: Mark) -> PartStep {
        PartStep { thread: machine.thread(choice.what), branch: choice.branch, mark }
    }
}

/// A piece of the search tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The path; its last step, with its further branches, is to be explored.
    pub(crate) steps: Vec<PartStep>,
    /// The weight of the piece: see `weights.rs`.
    pub(crate) weight: f64,
}

/// Open parts, with common beginnings stored once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub(crate) struct PartTree {
    /// Each step with the node before it: 0 is the root, k the step with index k - 1.
    steps: Vec<(u32, Name, Branch, Mark)>,
    /// The node at which each part ends, and its weight.
    parts: Vec<(u32, f64)>,
    /// The nodes of the path to which the next step is added.
    #[serde(skip)]
    path: Vec<u32>,
}

/// A [`PartTree`] as it is read, before it is checked.
#[derive(Deserialize)]
struct Unchecked {
    steps: Vec<(u32, Name, Branch, Mark)>,
    parts: Vec<(u32, f64)>,
}

impl TryFrom<Unchecked> for PartTree {
    type Error = String;

    fn try_from(Unchecked { steps, parts }: Unchecked) -> Result<PartTree, String> {
        if let Some(at) = steps.iter().enumerate().position(|(at, step)| step.0 as usize > at) {
            return Err(format!("step {at} of the open parts is before the step that it follows"));
        }
        let fits = |&(end, weight): &(u32, f64)| end as usize <= steps.len() && weight.is_finite() && weight >= 0.0;
        match parts.iter().position(|part| !fits(part)) {
            Some(at) => Err(format!("open part {at} has no end, or no weight")),
            None => Ok(PartTree { steps, parts, path: Vec::new() }),
        }
    }
}

impl PartTree {
    /// Returns the tree whose only part is everything.
    pub(crate) fn everything() -> PartTree {
        let mut all = PartTree::default();
        all.open(1.0);
        all
    }

    /// Returns the number of parts.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Goes back to the first `depth` steps of the current path.
    pub(crate) fn go_to(&mut self, depth: usize) {
        self.path.truncate(depth);
    }

    /// Adds a step to the current path.
    pub(crate) fn step(&mut self, step: PartStep) {
        let before = self.path.last().copied().unwrap_or(0);
        self.steps.push((before, step.thread, step.branch, step.mark));
        self.path.push(self.steps.len() as u32);
    }

    /// Adds the part at the end of the current path.
    pub(crate) fn open(&mut self, weight: f64) {
        self.parts.push((self.path.last().copied().unwrap_or(0), weight));
    }

    /// Moves the current path to these steps, and keeps the beginning that both have in common.
    pub(crate) fn follow(&mut self, steps: &[PartStep]) {
        let common = self.path.iter().zip(steps).take_while(|&(&node, step)| self.at(node) == *step).count();
        self.go_to(common);
        steps[common..].iter().for_each(|&step| self.step(step));
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, part: &Part) {
        self.follow(&part.steps);
        self.open(part.weight);
    }

    /// Adds all parts of another tree, without steps that lead to none.
    pub(crate) fn append(&mut self, other: &PartTree) {
        let mut moved = vec![0; other.steps.len() + 1];
        let mut missing = Vec::new();
        for &(end, weight) in &other.parts {
            let mut node = end;
            while node != 0 && moved[node as usize] == 0 {
                missing.push(node);
                node = other.steps[node as usize - 1].0;
            }
            for node in missing.drain(..).rev() {
                let (before, thread, branch, mark) = other.steps[node as usize - 1];
                self.steps.push((moved[before as usize], thread, branch, mark));
                moved[node as usize] = self.steps.len() as u32;
            }
            self.parts.push((moved[end as usize], weight));
        }
        self.path.clear();
    }

    /// Removes and returns the newest part.
    pub(crate) fn pop(&mut self) -> Option<Part> {
        let (mut node, weight) = self.parts.pop()?;
        let mut steps = Vec::new();
        while node != 0 {
            steps.push(self.at(node));
            node = self.steps[node as usize - 1].0;
        }
        steps.reverse();
        if self.parts.is_empty() {
            *self = PartTree::default();
        }
        Some(Part { steps, weight })
    }

    fn at(&self, node: u32) -> PartStep {
        let (_, thread, branch, mark) = self.steps[node as usize - 1];
        PartStep { thread, branch, mark }
    }
}

/// Returns the number of steps that the machine has in common with a path.
pub(crate) fn common<M: Machine>(machine: &M, steps: &[PartStep]) -> usize {
    let is_same = |&(at, step): &(usize, &PartStep)| {
        let taken = machine.step(at);
        (taken.thread, taken.choice.branch) == (step.thread, step.branch)
    };
    steps.iter().enumerate().take(machine.depth()).take_while(|(at, step)| is_same(&(*at, step))).count()
}

/// Takes a step of a path that was counted when it was first taken.
pub(crate) fn redo<M: Machine>(run: &mut Run<'_, M>, step: PartStep) -> Result<(), Stop> {
    let choice = find(run, step)?;
    run.redo(choice).map(drop)
}

/// Returns the choice for a step of a path. The path may come from another process, so it is checked that the machine can
/// take it.
pub(crate) fn find<M: Machine>(run: &mut Run<'_, M>, step: PartStep) -> Result<Choice, Stop> {
    let mut enabled = Vec::new();
    run.all_enabled(&mut enabled)?;
    let listed = run.profile().branches == Branches::Listed;
    let machine = run.machine();
    let is_step = |choice: &&Choice| {
        machine.thread(choice.what) == step.thread
            && if listed { choice.branch == step.branch } else { step.branch.belongs_to(choice.branch) }
    };
    match enabled.iter().find(is_step) {
        Some(choice) => Ok(Choice { branch: step.branch, ..*choice }),
        None => Err(misfit(machine.depth())),
    }
}

/// Creates the error that a path cannot be taken.
#[cold]
pub(crate) fn misfit(depth: usize) -> Stop {
    Stop::Machine(MachineError::Misuse(format!(
        "an open part of the search does not fit the program: step {} of its path is not possible. The program has \
         changed since the part was saved, or it is not deterministic",
        depth + 1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: u64) -> PartStep {
        let mark = if thread.is_multiple_of(2) { Mark::Plain } else { Mark::Replaces(7) };
        PartStep { thread: Name(thread), branch: Branch(thread % 3), mark }
    }

    fn part(threads: &[u64]) -> Part {
        Part { steps: threads.iter().map(|&thread| step(thread)).collect(), weight: 0.5 }
    }

    /// Removes all parts, the newest first.
    fn all(mut tree: PartTree) -> Vec<Part> {
        std::iter::from_fn(|| tree.pop()).collect()
    }

    #[test]
    fn common_beginnings_are_stored_once() {
        let parts = [part(&[1, 2, 3]), part(&[1, 2, 4, 5]), part(&[1, 2]), part(&[6]), part(&[])];
        let mut tree = PartTree::default();
        parts.iter().for_each(|part| tree.add(part));
        assert_eq!((tree.steps.len(), tree.len()), (6, 5));
        let mut other = PartTree::default();
        other.add(&part(&[9]));
        other.append(&tree);
        assert_eq!(other.steps.len(), 7);
        let mut expected: Vec<Part> = parts.to_vec();
        expected.reverse();
        assert_eq!(all(tree), expected);
        expected.push(part(&[9]));
        assert_eq!(all(other), expected);
    }

    #[test]
    fn steps_without_parts_are_dropped() {
        let mut tree = PartTree::default();
        [part(&[1, 2, 3]), part(&[1, 4, 5, 6])].iter().for_each(|part| tree.add(part));
        tree.pop();
        let mut other = PartTree::default();
        other.append(&tree);
        assert_eq!(other.steps.len(), 3);
        assert_eq!(all(other), [part(&[1, 2, 3])]);
    }

    #[test]
    fn a_tree_is_read_as_it_was_written() {
        let mut tree = PartTree::default();
        [part(&[1, 2, 3]), part(&[1, 4])].iter().for_each(|part| tree.add(part));
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(all(serde_json::from_str(&text).unwrap()), all(tree));
        for (from, to) in [("[1,", "[9,"), ("0.5", "-0.5"), ("\"plain\"", "\"simple\"")] {
            assert!(text.contains(from), "{from} is in {text}");
            assert!(serde_json::from_str::<PartTree>(&text.replacen(from, to, 1)).is_err(), "{from} → {to}");
        }
    }
}
