//! The shape of a program's communication, and the order of search that it suggests.
//!
//! Section 4.3.2 of the Basset dissertation found that the best order follows from the communication graph: pipelines
//! should run the actor created earliest first, divide-and-conquer trees the one created latest, and arbitrary graphs
//! should deliver the earliest message first. All three follow one principle: a reduction is effective if the
//! messages that race for an actor are all pending before the first of them is delivered, so senders should run
//! before receivers. In a star (a hub and its clients), the best order depends on whether the hub was created before
//! or after the clients.

use std::collections::BTreeSet;
use whippet_model::{ActorNo, Choice, Machine, MachineError, Pending};
use whippet_search::Order;

/// The shape of a program's communication in one execution.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each actor sends only to the next one.
    Pipeline,
    /// Requests go from parents to children, and results back.
    Tree,
    /// All actors communicate with one actor, which was created before most of them.
    StarEarlyHub,
    /// All actors communicate with one actor, which was created after most of them.
    StarLateHub,
    /// Any other graph.
    Graph,
}

/// Maximal number of steps of the execution, for programs that do not terminate.
const STEPS: usize = 2_000;

impl Shape {
    /// Determines the shape by executing a machine to the end, always with its first enabled choice.
    pub(crate) fn of<M: Machine>(mut machine: M) -> Result<Shape, MachineError> {
        let mut edges = BTreeSet::new();
        let mut choices = Vec::new();
        while machine.depth() < STEPS {
            choices.clear();
            machine.enabled(&mut choices)?;
            let Some(&choice) = choices.first() else { break };
            edges.extend(sends(&mut machine, choice)?);
        }
        Ok(classify(&edges))
    }

    /// Returns the order that should be best according to section 4.3.2, and the reason.
    pub(crate) fn advice(self) -> (Order, &'static str) {
        match self {
            Shape::Pipeline => (
                Order::Eca,
                "a pipeline: early stages were created first; if they run first, all messages for the later stages are pending together",
            ),
            Shape::Tree => (
                Order::Lca,
                "a divide-and-conquer tree: children were created after their parents; if they run first, all results for the parent are pending together",
            ),
            Shape::StarEarlyHub => (
                Order::Lca,
                "a hub and its clients: the clients were created after the hub; if they run first, all messages for the hub are pending together",
            ),
            Shape::StarLateHub => (
                Order::Eca,
                "a hub and its clients: the clients were created before the hub; if they run first, all messages for the hub are pending together",
            ),
            Shape::Graph => (
                Order::Fifo,
                "an arbitrary graph: no order of actors suits it, and the earliest message first is never the worst",
            ),
        }
    }
}

/// Executes one step and returns the sender and receiver of each of its sends.
fn sends<M: Machine>(machine: &mut M, choice: Choice) -> Result<Vec<(u32, u32)>, MachineError> {
    machine.execute(choice)?;
    let at = machine.depth() - 1;
    let ActorNo(from) = machine.step(at).actor;
    Ok(machine
        .sent(at)
        .map(|handle| (from, machine.actor(Pending(handle)).0))
        .filter(|(from, to)| from != to)
        .collect())
}

/// Classifies a graph of sends. The first sender is ignored if it is a driver that only starts another actor.
fn classify(all: &BTreeSet<(u32, u32)>) -> Shape {
    let edges: BTreeSet<(u32, u32)> = match driver(all) {
        Some(driver) => all.iter().copied().filter(|&(from, _)| from != driver).collect(),
        None => all.clone(),
    };
    let actors: BTreeSet<u32> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    let targets = |actor: u32| edges.iter().filter(move |e| e.0 == actor).count();
    let sources = |actor: u32| edges.iter().filter(move |e| e.1 == actor).count();
    let mutual = |actor: u32, other: u32| edges.contains(&(actor, other)) && edges.contains(&(other, actor));
    if actors.iter().all(|&a| targets(a) <= 1 && sources(a) <= 1)
        && !edges.iter().any(|&(a, b)| mutual(a, b))
        && !cyclic(&edges)
    {
        return Shape::Pipeline;
    }
    let pairs: BTreeSet<(u32, u32)> = edges.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    let hub = actors.iter().copied().find(|&hub| pairs.len() >= 2 && pairs.iter().all(|&(a, b)| a == hub || b == hub));
    if let Some(hub) = hub {
        let later = actors.iter().filter(|&&actor| actor > hub).count();
        return if 2 * later >= actors.len() { Shape::StarEarlyHub } else { Shape::StarLateHub };
    }
    let is_tree = pairs.len() + 1 == actors.len() && !has_cycle(&pairs);
    if is_tree && pairs.iter().all(|&(a, b)| edges.contains(&(b, a))) { Shape::Tree } else { Shape::Graph }
}

/// Returns the driver, if there is one: an actor that receives nothing and sends to a single other actor.
fn driver(edges: &BTreeSet<(u32, u32)>) -> Option<u32> {
    let &(from, _) = edges.iter().next()?;
    let alone = edges.iter().filter(|e| e.0 == from).count() == 1 && edges.iter().all(|e| e.1 != from);
    (alone && edges.len() > 1).then_some(from)
}

/// Returns `true` if the directed graph has a cycle.
fn cyclic(edges: &BTreeSet<(u32, u32)>) -> bool {
    let mut left: BTreeSet<(u32, u32)> = edges.clone();
    loop {
        let before = left.len();
        let targets: BTreeSet<u32> = left.iter().map(|e| e.1).collect();
        left.retain(|e| targets.contains(&e.0));
        if left.is_empty() || left.len() == before {
            return !left.is_empty();
        }
    }
}

/// Returns `true` if the undirected graph has a cycle.
fn has_cycle(pairs: &BTreeSet<(u32, u32)>) -> bool {
    let mut left = pairs.clone();
    loop {
        let leaf = |actor: u32| left.iter().filter(|p| p.0 == actor || p.1 == actor).count() == 1;
        let Some(&pair) = left.iter().find(|p| leaf(p.0) || leaf(p.1)) else { return !left.is_empty() };
        left.remove(&pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(edges: &[(u32, u32)]) -> Shape {
        classify(&edges.iter().copied().collect())
    }

    #[test]
    fn shapes_are_recognised() {
        assert_eq!(shape(&[(0, 1), (1, 2), (2, 3)]), Shape::Pipeline);
        assert_eq!(shape(&[(0, 1), (1, 2), (2, 3), (3, 1)]), Shape::Graph, "a ring behind a driver");
        let tree = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (1, 4), (4, 1)];
        assert_eq!(shape(&tree), Shape::Tree);
        assert_eq!(shape(&[(0, 1), (1, 2), (2, 1), (1, 3), (3, 1)]), Shape::StarEarlyHub);
        assert_eq!(shape(&[(3, 1), (1, 3), (3, 2), (2, 3)]), Shape::StarLateHub);
        assert_eq!(shape(&[(0, 1), (0, 2), (1, 2), (2, 0)]), Shape::Graph);
    }
}
