//! The state of a search with wakeup trees or source sets as a value.
//!
//! It cannot be divided into independent parts, because what is found in one part changes the trees of others. But it
//! is small: for each configuration of the current execution, the step taken there, the events that fell asleep there, and
//! the wakeup tree. What is asleep because of earlier configurations follows from this. The trials that were made
//! ([`Tried`](crate::reductions::optimal::reversals::Tried)) are not saved: making one again inserts nothing new.

use super::{Keep, Levels, Node, Search};
use crate::driver::checkpoint::Open;
use crate::driver::parts::{self, Mark, PartStep, misfit};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::EventLabel;
use serde::{Deserialize, Serialize};
use whippet_model::{Branch, Machine, Name, Touch};

/// The state of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedTrees {
    /// Set if only the first event of a sequence is kept: source sets.
    source: bool,
    discovered: bool,
    examined: usize,
    levels: Vec<SavedLevel>,
}

/// One configuration of the current execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedLevel {
    /// The step that was taken; the newest configuration has none.
    taken: Option<(Name, Branch)>,
    begun: bool,
    /// The events that fell asleep here.
    asleep: Vec<SavedEvent>,
    /// The nodes of the tree, from the root, each with its depth: children follow their parent.
    tree: Vec<(u32, SavedEvent)>,
}

/// An [`EventLabel`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedEvent(Name, Branch, Option<Branch>, Vec<Touch>);

impl SavedEvent {
    fn of(event: &EventLabel) -> SavedEvent {
        SavedEvent(event.thread, event.branch, event.next, event.touches.to_vec())
    }

    fn label(self) -> EventLabel {
        let SavedEvent(thread, branch, next, touches) = self;
        EventLabel { thread, branch, next, touches: touches.into() }
    }
}

/// Appends the nodes of a tree to a list.
fn flatten(nodes: &[Node], depth: u32, list: &mut Vec<(u32, SavedEvent)>) {
    for node in nodes {
        list.push((depth, SavedEvent::of(&node.event)));
        flatten(&node.children, depth + 1, list);
    }
}

/// Returns the nodes of a list, up to the first one that is less deep. Returns `None` if a node has no parent.
fn unflatten(list: &mut std::iter::Peekable<std::vec::IntoIter<(u32, SavedEvent)>>, depth: u32) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    while let Some(&(next, _)) = list.peek().filter(|(next, _)| *next >= depth) {
        if next == depth {
            let (_, event) = list.next()?;
            nodes.push(Node { event: event.label(), children: Vec::new() });
        } else {
            nodes.last_mut()?.children = unflatten(list, depth + 1)?;
        }
    }
    Some(nodes)
}

impl Levels {
    fn saved(&self, at: usize, taken: Option<(Name, Branch)>) -> SavedLevel {
        let level = &self.levels[at];
        let end = if at + 1 < self.len { self.levels[at + 1].sleepers } else { self.sleepers.len() };
        let asleep = self.sleepers[level.sleepers..end].iter().map(SavedEvent::of).collect();
        let mut tree = Vec::new();
        flatten(&level.tree, 0, &mut tree);
        SavedLevel { taken, begun: level.begun, asleep, tree }
    }
}

impl Search {
    /// Saves the state of the search.
    #[cold]
    pub(super) fn save<M: Machine>(&self, run: &mut Run<'_, M>) {
        let taken = self.record.steps.iter().map(|step| Some((step.event.thread, step.event.branch)));
        let levels = taken.chain([None]).enumerate().map(|(at, taken)| self.levels.saved(at, taken)).collect();
        run.publish();
        run.control.save(Open::Trees(SavedTrees {
            source: self.levels.keep == Keep::First,
            discovered: self.levels.discovered,
            examined: self.examined,
            levels,
        }));
    }

    /// Continues from a state that was saved. The machine is in the initial configuration.
    pub(super) fn restore<M: Machine>(&mut self, run: &mut Run<'_, M>, saved: SavedTrees) -> Result<(), Stop> {
        if saved.source != (self.levels.keep == Keep::First) {
            return Err(Stop::unsupported("this search cannot continue another kind of search"));
        }
        if saved.levels.is_empty() {
            self.levels.len = 0;
        }
        let last = saved.levels.len().saturating_sub(1);
        for (at, level) in saved.levels.into_iter().enumerate() {
            level.asleep.into_iter().for_each(|event| self.levels.fall_asleep(event.label()));
            let mut nodes = level.tree.into_iter().peekable();
            let tree = unflatten(&mut nodes, 0).filter(|_| nodes.next().is_none());
            self.levels.levels[at].tree = tree.ok_or_else(|| misfit(at))?;
            match level.taken {
                Some((thread, branch)) if at < last => {
                    self.take_again(run, PartStep { thread, branch, mark: Mark::Plain })?;
                }
                None if at == last => {}
                _ => return Err(misfit(at)),
            }
            self.levels.levels[at].begun = level.begun;
        }
        self.levels.discovered = saved.discovered;
        self.examined = saved.examined.min(self.record.len());
        Ok(())
    }

    /// Takes a step that was counted when it was first taken.
    fn take_again<M: Machine>(&mut self, run: &mut Run<'_, M>, step: PartStep) -> Result<(), Stop> {
        let choice = parts::find(run, step)?;
        let several = self.has_several(run, choice)?;
        let executed = run.redo(choice)?;
        self.orders.arrived(run.machine());
        self.record.push(run.machine(), executed, several);
        let event = &self.record.steps[self.record.len() - 1].event;
        self.levels.enter(event);
        Ok(())
    }
}
