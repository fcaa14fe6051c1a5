//! The pasts of a long execution as vector clocks.
//!
//! A *chain* is a sequence of steps in which each happens before the next one. Every step belongs to one chain: that of its
//! actor's previous step if it happens after it, otherwise that of another step that it follows directly, otherwise a
//! new one. The past of a step contains a beginning of each chain, so it is a list of numbers: the last step of each
//! chain.
//!
//! Lists of successive steps differ in few places. So a list is a tree of nodes with eight entries, and lists share
//! their equal parts: a step adds a path of nodes for each place that changes. Nodes are never changed once their step is
//! complete, and are removed in reverse order, with the steps that added them.

use super::NONE;
use crate::BitSet;

/// Eight entries: in the lowest level the numbers of steps, counted from 1, above it the numbers of nodes. Zero means
/// that all entries below are zero.
type Node = [u32; FANOUT];

const FANOUT: usize = 8;

/// One step.
#[derive(Copy, Clone, Debug)]
struct ChainStep {
    /// The root of its list, and the number of levels above the lowest one.
    root: u32,
    height: u32,
    /// Its chain, and the step before it in the chain.
    chain: u32,
    below: u32,
    /// The number of nodes before it was added.
    nodes: u32,
}

/// The clocks of all steps.
#[derive(Clone, Debug)]
pub(super) struct ChainClocks {
    steps: Vec<ChainStep>,
    /// All nodes. The first one stands for a list of zeros.
    nodes: Vec<Node>,
    /// The last step of each chain.
    tips: Vec<u32>,
}

impl Default for ChainClocks {
    fn default() -> ChainClocks {
        ChainClocks { steps: Vec::new(), nodes: vec![[0; FANOUT]], tips: Vec::new() }
    }
}

impl ChainClocks {
    /// Returns `true` if step `a` happens before step `b`, which is another one.
    #[inline]
    pub(super) fn before(&self, a: usize, b: usize) -> bool {
        let ChainStep { root, height, .. } = self.steps[b];
        a < b && self.entry(root, height, self.steps[a].chain) > a as u32
    }

    /// Adds the past of a step, which contains the step itself, to a set.
    pub(super) fn add_past(&self, at: usize, to: &mut BitSet) {
        to.insert(at as u32);
        let ChainStep { root, height, .. } = self.steps[at];
        self.add_lists(root, height, to);
    }

    fn add_lists(&self, node: u32, level: u32, to: &mut BitSet) {
        for entry in self.nodes[node as usize].into_iter().filter(|&entry| entry != 0) {
            if level > 0 {
                self.add_lists(entry, level - 1, to);
                continue;
            }
            let mut step = entry - 1;
            while step != NONE {
                to.insert(step);
                step = self.steps[step as usize].below;
            }
        }
    }

    /// Adds a step without a past.
    pub(super) fn push(&mut self) {
        let nodes = self.nodes.len() as u32;
        self.steps.push(ChainStep { root: 0, height: 0, chain: NONE, below: NONE, nodes });
    }

    /// Adds an earlier step and its past to the past of the newest step.
    pub(super) fn join(&mut self, earlier: usize) {
        let at = self.steps.len() - 1;
        if self.before(earlier, at) {
            return;
        }
        let other = self.steps[earlier];
        let ChainStep { mut root, mut height, nodes, .. } = self.steps[at];
        let mut from = other.root;
        for level in height.min(other.height)..height.max(other.height) {
            let lower = if height == level { &mut root } else { &mut from };
            *lower = lift(&mut self.nodes, *lower);
            height = height.max(level + 1);
        }
        root = self.merge(root, from, height, nodes);
        let step = &mut self.steps[at];
        (step.root, step.height) = (root, height);
        if self.tips[other.chain as usize] == earlier as u32 {
            step.chain = other.chain;
        }
    }

    /// Completes the past of the newest step: chooses its chain.
    pub(super) fn finish(&mut self, previous: u32) {
        let at = self.steps.len() - 1;
        if previous != NONE && self.before(previous as usize, at) {
            let chain = self.steps[previous as usize].chain;
            if self.tips[chain as usize] == previous {
                self.steps[at].chain = chain;
            }
        }
        if self.steps[at].chain == NONE {
            self.steps[at].chain = self.tips.len() as u32;
            self.tips.push(NONE);
        }
        let ChainStep { mut root, mut height, chain, nodes, .. } = self.steps[at];
        self.steps[at].below = std::mem::replace(&mut self.tips[chain as usize], at as u32);
        while chain >> shift(height) >= FANOUT as u32 {
            root = lift(&mut self.nodes, root);
            height += 1;
        }
        root = self.with(root, height, chain, at as u32 + 1, nodes);
        let step = &mut self.steps[at];
        (step.root, step.height) = (root, height);
    }

    /// Removes all steps from `depth` on.
    pub(super) fn truncate(&mut self, depth: usize) {
        let Some(&first) = self.steps.get(depth) else { return };
        while self.steps.len() > depth {
            let step = self.steps.pop().expect("the loop checked");
            if step.below == NONE {
                self.tips.pop();
            } else {
                self.tips[step.chain as usize] = step.below;
            }
        }
        self.nodes.truncate(first.nodes as usize);
    }

    /// Returns the memory in use.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.steps.as_slice()) + size_of_val(self.nodes.as_slice()) + size_of_val(self.tips.as_slice())
    }

    /// Returns the entry of a chain in a list.
    #[inline]
    fn entry(&self, mut node: u32, height: u32, chain: u32) -> u32 {
        if chain >> shift(height) >= FANOUT as u32 {
            return 0;
        }
        for level in (0..=height).rev() {
            node = self.nodes[node as usize][chain as usize >> shift(level) & (FANOUT - 1)];
        }
        node
    }

    /// Returns a list with the larger one of each two entries. Nodes from `own` on are of the newest step and are changed
    /// in place.
    fn merge(&mut self, a: u32, b: u32, level: u32, own: u32) -> u32 {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let (one, other) = (self.nodes[a as usize], self.nodes[b as usize]);
        let mut both = one;
        for (entry, more) in both.iter_mut().zip(other) {
            *entry = if level == 0 { more.max(*entry) } else { self.merge(*entry, more, level - 1, own) };
        }
        if both == one {
            a
        } else if both == other {
            b
        } else {
            self.store(a, both, own)
        }
    }

    /// Returns a list with another entry for a chain.
    fn with(&mut self, node: u32, level: u32, chain: u32, entry: u32, own: u32) -> u32 {
        let mut entries = self.nodes[node as usize];
        let k = chain as usize >> shift(level) & (FANOUT - 1);
        entries[k] = if level == 0 { entry } else { self.with(entries[k], level - 1, chain, entry, own) };
        self.store(node, entries, own)
    }

    /// Replaces a node by a new one, or in place if it belongs to the newest step.
    fn store(&mut self, node: u32, entries: Node, own: u32) -> u32 {
        if node >= own {
            self.nodes[node as usize] = entries;
            return node;
        }
        self.nodes.push(entries);
        self.nodes.len() as u32 - 1
    }
}

/// Returns the position of the digit of a chain's number that selects the entry of a node.
fn shift(level: u32) -> u32 {
    level * FANOUT.trailing_zeros()
}

/// Returns a list with one more level and the same entries.
fn lift(nodes: &mut Vec<Node>, root: u32) -> u32 {
    if root == 0 {
        return 0;
    }
    let mut node = [0; FANOUT];
    node[0] = root;
    nodes.push(node);
    nodes.len() as u32 - 1
}
