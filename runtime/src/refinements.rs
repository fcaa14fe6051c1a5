//! Refinements: facts about a program that are learnt while it runs.
//!
//! Some facts are visible only in an execution in which they occur: the objects that a task waits for together, the
//! tasks that are aborted, the selects and joins with branches that act as soon as they are polled, the operations
//! that cannot be merged. They are collected over all executions. A machine works with a snapshot from its creation,
//! and a search that has learnt something new is restarted.
//!
//! Two sends to different queues commute, unless a future of another library waits for both queues and polls them in
//! the order of the wakes. Such queues form a group.

use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use whippet_model::Name;

/// A snapshot of the refinements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refinements {
    /// The group of each object that has one.
    of: FxHashMap<Name, usize>,
    members: Vec<Vec<Name>>,
    /// The marked names: objects that are awaited together with others, tasks that are aborted, places of selects and
    /// joins with a branch that acts when it is first polled, and operations that need their own event.
    marked: FxHashSet<Name>,
    /// `true` if the happens-before order of merged events is needed, because their touches conflict with others.
    ordered: bool,
    version: u64,
}

impl Refinements {
    /// Returns the name of the group of `watched`.
    pub(crate) fn of(&self, watched: Name) -> Option<Name> {
        let group = *self.of.get(&watched)?;
        Some(self.members[group][0].mixed(0x67))
    }

    /// Returns `true` if the name was [marked](SharedRefinements::mark).
    pub(crate) fn is_marked(&self, name: Name) -> bool {
        self.marked.contains(&name)
    }

    /// Returns `true` if the happens-before order of merged events is needed.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Returns a copy with which the happens-before order of merged events is recorded.
    pub(crate) fn ordering(&self) -> Refinements {
        Refinements { ordered: true, ..self.clone() }
    }

    fn knows(&self, together: &[Name]) -> bool {
        let Some(first) = together.first() else { return true };
        let Some(group) = self.of.get(first) else { return false };
        together.iter().all(|name| self.of.get(name) == Some(group))
    }

    fn learn(&mut self, together: &[Name]) {
        let mut all: Vec<Name> = together.to_vec();
        for name in together {
            if let Some(&group) = self.of.get(name) {
                all.append(&mut self.members[group]);
            }
        }
        all.sort_unstable();
        all.dedup();
        let group = self.members.len();
        self.of.extend(all.iter().map(|&name| (name, group)));
        self.members.push(all);
        self.version += 1;
    }
}

/// Formats the refinements for schedules: a name for each mark, names with `+` between them for each group.
impl fmt::Display for Refinements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = self.marked.iter().map(Name::to_string).collect();
        let members = self.members.iter().filter(|members| !members.is_empty());
        words.extend(members.map(|members| members.iter().map(Name::to_string).collect::<Vec<_>>().join("+")));
        words.sort_unstable();
        f.write_str(&words.join(" "))
    }
}

/// The current refinements, shared by all machines of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedRefinements(Arc<Mutex<Refinements>>);

impl SharedRefinements {
    fn lock(&self) -> MutexGuard<'_, Refinements> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Refinements {
        self.lock().clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// Parses the text form of [`Refinements`]. Invalid words are skipped.
    pub(crate) fn of(text: &str) -> SharedRefinements {
        let learnt = SharedRefinements::default();
        for word in text.split(' ') {
            let names: Vec<Name> = word.split('+').filter_map(|name| name.parse().ok()).collect();
            match names[..] {
                [name] => drop(learnt.mark(&Refinements::default(), name)),
                _ => drop(learnt.together(&Refinements::default(), &names)),
            }
        }
        learnt
    }

    /// Records that a task waits for all of these. Returns `true` if `known` lacks it.
    pub(crate) fn together(&self, known: &Refinements, together: &[Name]) -> bool {
        if known.knows(together) {
            return false;
        }
        let mut refinements = self.lock();
        if !refinements.knows(together) {
            refinements.learn(together);
        }
        true
    }

    /// Records that the happens-before order of merged events is needed. Returns `true` if `known` lacks it.
    pub(crate) fn order(&self, known: &Refinements) -> bool {
        if known.ordered {
            return false;
        }
        let mut refinements = self.lock();
        if !refinements.ordered {
            refinements.ordered = true;
            refinements.version += 1;
        }
        true
    }

    /// Marks a name: see [`Refinements`]. Returns `true` if `known` lacks it.
    pub(crate) fn mark(&self, known: &Refinements, name: Name) -> bool {
        if known.is_marked(name) {
            return false;
        }
        let mut refinements = self.lock();
        if refinements.marked.insert(name) {
            refinements.version += 1;
        }
        true
    }
}

/// The refinements that an execution learns.
pub(crate) struct Learning {
    pub(crate) shared: SharedRefinements,
    /// `true` if a refinement was learnt that the machine lacks.
    pub(crate) grew: bool,
    /// `true` if the machine knows a place that polls by hand.
    pub(crate) polls_by_hand: bool,
    /// `true` if nothing is learnt: see [`crate::leaving`].
    pub(crate) is_muted: bool,
}

impl Learning {
    pub(crate) fn new(shared: SharedRefinements, polls_by_hand: bool) -> Learning {
        Learning { shared, grew: false, polls_by_hand, is_muted: false }
    }

    /// Marks a name: see [`SharedRefinements::mark`].
    pub(crate) fn mark(&mut self, known: &Refinements, name: Name) -> bool {
        if self.is_muted {
            return !known.is_marked(name);
        }
        let new = self.shared.mark(known, name);
        self.grew |= new;
        new
    }

    /// Records that the happens-before order is needed: see [`SharedRefinements::order`].
    pub(crate) fn order(&mut self, known: &Refinements) {
        self.grew |= !self.is_muted && self.shared.order(known);
    }

    /// Records objects that a task waits for together: see [`SharedRefinements::together`].
    pub(crate) fn together(&mut self, known: &Refinements, names: &[Name]) {
        self.grew |= !self.is_muted && self.shared.together(known, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_together() {
        let learnt = SharedRefinements::default();
        let [a, b, c, d] = [1, 2, 3, 4].map(Name);
        assert!(learnt.together(&learnt.snapshot(), &[a, b]));
        assert!(learnt.together(&learnt.snapshot(), &[c, d]));
        let known = learnt.snapshot();
        assert!(!learnt.together(&known, &[b, a]));
        assert_ne!(known.of(a).unwrap(), known.of(c).unwrap());
        assert!(learnt.together(&known, &[b, c]));
        assert!(learnt.mark(&known, b));
        let text = learnt.snapshot().to_string();
        assert_eq!(SharedRefinements::of(&text).snapshot().to_string(), text);
        assert_eq!(learnt.snapshot().of(a).unwrap(), learnt.snapshot().of(d).unwrap());
    }
}
