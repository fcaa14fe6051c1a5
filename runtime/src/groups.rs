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
pub(crate) struct Groups {
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

impl Groups {
    /// Returns the name of the group of `watched`.
    pub(crate) fn of(&self, watched: Name) -> Option<Name> {
        let group = *self.of.get(&watched)?;
        Some(self.members[group][0].mixed(0x67))
    }

    /// Returns `true` if the name was [marked](Learnt::mark).
    pub(crate) fn is_marked(&self, name: Name) -> bool {
        self.marked.contains(&name)
    }

    /// Returns `true` if the happens-before order of merged events is needed.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
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
impl fmt::Display for Groups {
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
pub(crate) struct Learnt(Arc<Mutex<Groups>>);

impl Learnt {
    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Groups {
        self.lock().clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// Parses the text form of [`Groups`]. Invalid words are skipped.
    pub(crate) fn of(text: &str) -> Learnt {
        let learnt = Learnt::default();
        for word in text.split(' ') {
            let names: Vec<Name> = word.split('+').filter_map(|name| name.parse().ok()).collect();
            match names[..] {
                [name] => drop(learnt.mark(&Groups::default(), name)),
                _ => drop(learnt.together(&Groups::default(), &names)),
            }
        }
        learnt
    }

    /// Records that a task waits for all of these. Returns `true` if `known` lacks it.
    pub(crate) fn together(&self, known: &Groups, together: &[Name]) -> bool {
        if known.knows(together) {
            return false;
        }
        let mut groups = self.lock();
        if !groups.knows(together) {
            groups.learn(together);
        }
        true
    }

    /// Records that the happens-before order of merged events is needed. Returns `true` if `known` lacks it.
    pub(crate) fn order(&self, known: &Groups) -> bool {
        if known.ordered {
            return false;
        }
        let mut groups = self.lock();
        if !groups.ordered {
            groups.ordered = true;
            groups.version += 1;
        }
        true
    }

    /// Marks a name: see [`Groups`]. Returns `true` if `known` lacks it.
    pub(crate) fn mark(&self, known: &Groups, name: Name) -> bool {
        if known.is_marked(name) {
            return false;
        }
        let mut groups = self.lock();
        if groups.marked.insert(name) {
            groups.version += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_together() {
        let learnt = Learnt::default();
        let [a, b, c, d] = [1, 2, 3, 4].map(Name);
        assert!(learnt.together(&learnt.snapshot(), &[a, b]));
        assert!(learnt.together(&learnt.snapshot(), &[c, d]));
        let known = learnt.snapshot();
        assert!(!learnt.together(&known, &[b, a]));
        assert_ne!(known.of(a).unwrap(), known.of(c).unwrap());
        assert!(learnt.together(&known, &[b, c]));
        assert!(learnt.mark(&known, b));
        let text = learnt.snapshot().to_string();
        assert_eq!(Learnt::of(&text).snapshot().to_string(), text);
        assert_eq!(learnt.snapshot().of(a).unwrap(), learnt.snapshot().of(d).unwrap());
    }
}
