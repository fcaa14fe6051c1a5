//! The tree of the executions that a search has completed, and the problems that it has met, while it is running.
//!
//! Both are bounded: a search may complete millions of executions. What is not kept is counted.

use crate::background::lock;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;
use whippet_model::{Branch, FindingKind, Machine, Name};

/// The number of nodes that are kept.
const MOST_NODES: usize = 1_500;

/// The number of problems that are kept.
const MOST_FOUND: usize = 100;

/// A step as a search knows it: the thread that acts, and its branch.
pub(crate) type Taken = (Name, Branch);

/// One step of the tree.
#[derive(Debug, Serialize)]
pub(crate) struct Node {
    /// The step before it; `None` for the first steps.
    parent: Option<u32>,
    text: String,
    /// The problem of the execution that ends here, or "passes"; `None` if the execution goes on.
    end: Option<String>,
    #[serde(skip)]
    taken: Taken,
    #[serde(skip)]
    children: BTreeMap<Taken, u32>,
}

/// A problem that was met.
#[derive(Debug)]
pub(crate) struct Met {
    pub(crate) kind: FindingKind,
    pub(crate) message: String,
    pub(crate) path: Vec<Taken>,
}

/// Everything that is kept of a running search.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    first: BTreeMap<Taken, u32>,
    /// The executions that are in the tree, and all.
    kept: u64,
    all: u64,
    met: BTreeMap<(FindingKind, Name), Met>,
    refinements: u64,
}

impl Tree {
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of executions in the tree, and of all.
    pub(crate) fn executions(&self) -> (u64, u64) {
        (self.kept, self.all)
    }

    /// Returns the problems met so far.
    pub(crate) fn met(&self) -> Vec<&Met> {
        self.met.values().collect()
    }

    /// Returns the way to a node.
    pub(crate) fn path(&self, node: u32) -> Option<Vec<Taken>> {
        let mut path = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            let node = self.nodes.get(node as usize)?;
            path.push(node.taken);
            at = node.parent;
        }
        path.reverse();
        Some(path)
    }

    /// Returns the length of the longest beginning of a path that is known, or `None` if there is no room for the rest.
    fn known(&self, path: &[Taken]) -> Option<usize> {
        let (mut at, mut known) = (None, 0);
        while let Some(&child) = path.get(known).and_then(|taken| self.children(at).get(taken)) {
            (at, known) = (Some(child), known + 1);
        }
        (self.nodes.len() + path.len() - known <= MOST_NODES).then_some(known)
    }

    /// Adds an execution. `texts` describes its steps from `from` on.
    fn insert(&mut self, path: &[Taken], from: usize, texts: Vec<String>, end: String) {
        self.kept += 1;
        let mut at = None;
        let mut texts = texts.into_iter();
        for (k, &taken) in path.iter().enumerate() {
            let text = if k < from { None } else { texts.next() };
            if let Some(&child) = self.children(at).get(&taken) {
                at = Some(child);
                continue;
            }
            let id = self.nodes.len() as u32;
            let text = text.unwrap_or_default();
            self.nodes.push(Node { parent: at, text, end: None, taken, children: BTreeMap::new() });
            match at {
                Some(parent) => self.nodes[parent as usize].children.insert(taken, id),
                None => self.first.insert(taken, id),
            };
            at = Some(id);
        }
        if let Some(last) = at {
            self.nodes[last as usize].end = Some(end);
        }
    }

    fn children(&self, node: Option<u32>) -> &BTreeMap<Taken, u32> {
        node.map_or(&self.first, |node| &self.nodes[node as usize].children)
    }
}

/// Adds the execution that a machine has completed. If the dependence relation was refined since the last one, the
/// search has started again, and so does the tree.
pub(crate) fn add(tree: &Mutex<Tree>, machine: &mut dyn Machine, refinements: u64) {
    let mut problems = Vec::new();
    machine.data_races(&mut problems);
    problems.extend((0..machine.depth()).filter_map(|at| machine.problem(at)));
    if problems.is_empty() {
        // An error here is reported by the search itself, which asks next.
        let _ = machine.final_problems(&mut problems);
    }
    problems.retain(|problem| !problem.warning);
    let taken = |at| {
        let step = machine.step(at);
        (step.thread, step.choice.branch)
    };
    let path: Vec<Taken> = (0..machine.depth()).map(taken).collect();
    let known = {
        let mut tree = lock(tree);
        if tree.refinements != refinements {
            *tree = Tree { refinements, ..Tree::default() };
        }
        tree.all += 1;
        for problem in &problems {
            let key = (problem.kind, problem.key);
            if tree.met.len() < MOST_FOUND && !tree.met.contains_key(&key) {
                let met = Met { kind: problem.kind, message: problem.message.clone(), path: path.clone() };
                tree.met.insert(key, met);
            }
        }
        tree.known(&path)
    };
    let Some(from) = known else { return };
    // User code runs only while the tree is not locked: it may not return.
    let texts: Vec<String> = (from..path.len())
        .map(|at| {
            let step = machine.describe(at);
            format!("{} {}", step.actor, step.action)
        })
        .collect();
    let end = problems.first().map_or_else(|| "passes".to_owned(), |problem| problem.kind.to_string());
    lock(tree).insert(&path, from, texts, end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use whippet_model::Observed;
    use whippet_search::{Options, explore};

    /// Returns the tree of all executions of `n` messages to one actor that fails if the last one is not the last.
    fn tree(n: u32) -> Tree {
        let tree = Arc::new(Mutex::new(Tree::default()));
        let program = whippet::Checker::new("sink").program(move |sys| {
            let sink = sys.spawn_fn(async move |inbox: &mut whippet::Inbox<u32>| {
                for k in 1..=n {
                    assert!(inbox.receive().await < n || k == n, "too early");
                }
            });
            (1..=n).for_each(|k| sys.send(sink, k));
        });
        let seen = tree.clone();
        let observed = Observed::new(program, move |machine: &mut _, refinements| add(&seen, machine, refinements));
        explore(Arc::new(observed), &Options::default(), &()).unwrap();
        Arc::into_inner(tree).unwrap().into_inner().unwrap()
    }

    #[test]
    fn executions_share_their_beginnings() {
        let tree = tree(3);
        let (kept, all) = tree.executions();
        assert!(kept == all && all > 2);
        let firsts = tree.nodes().iter().filter(|node| node.parent.is_none()).count();
        assert_eq!(firsts, 3);
        assert_eq!(tree.nodes()[0].text, "actor receives 1");
        let ends: Vec<_> = tree.nodes().iter().filter_map(|node| node.end.as_deref()).collect();
        assert!(ends.contains(&"passes") && ends.contains(&"panic"), "{ends:?}");
        assert_eq!(tree.met().len(), 1);
        let last = tree.nodes().len() as u32 - 1;
        assert_eq!(tree.path(last).unwrap().last(), Some(&tree.nodes()[last as usize].taken));
        assert_eq!(tree.path(last + 1), None);
    }

    #[test]
    fn the_tree_stays_small() {
        let tree = tree(7);
        let (kept, all) = tree.executions();
        assert!(tree.nodes().len() <= MOST_NODES && kept < all, "{} nodes, {kept} of {all}", tree.nodes().len());
    }
}
