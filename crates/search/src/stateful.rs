//! Stateful search: what follows from a configuration that was seen before is not explored again.
//!
//! Configurations are compared by a hash of 128 bits that the machine computes. The open choices lie in one list, each with
//! the configuration it belongs to: taken from its end the search goes depth first, taken from its beginning
//! breadth first. The machine is led from one configuration to the next over their common way.
//!
//! Every configuration is reached once, and with it every final state, deadlock and failing step; not every execution, and
//! not every trace. An execution that has failed is kept apart from one that has not: what is wrong with an
//! end is not told of executions that failed before.
//!
//! With big steps (section 3.5.3 of the Basset dissertation) a configuration with only one choice is passed over without
//! looking whether it is known.

use crate::options::StepSize;
use crate::run::{Run, Stop};
use crate::seen::Seen;
use std::collections::VecDeque;
use whippet_model::{Choice, LimitHit, Machine};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    let mut search = Stateful::default();
    search.arrive(run, None)?;
    while let Some(open) = search.next(run) {
        search.lead(run, open.at)?;
        search.explore(run, open)?;
    }
    Ok(())
}

/// A configuration that was reached first by a step from another one.
#[derive(Copy, Clone, Debug)]
struct Node {
    before: Option<u32>,
    choice: Choice,
    depth: u32,
}

/// A choice that is still to be explored.
#[derive(Copy, Clone, Debug)]
struct Open {
    /// The configuration it belongs to; `None` is the first one.
    at: Option<u32>,
    choice: Choice,
}

#[derive(Debug, Default)]
struct Stateful {
    seen: Seen,
    nodes: Vec<Node>,
    open: VecDeque<Open>,
    /// The nodes that the machine's steps lead through.
    way: Vec<u32>,
    enabled: Vec<Choice>,
}

impl Stateful {
    fn next<M: Machine>(&mut self, run: &Run<'_, M>) -> Option<Open> {
        if run.options.breadth_first {
            return self.open.pop_front();
        }
        let open = self.open.pop_back()?;
        // Depth first: nothing that came after this configuration is still open.
        self.nodes.truncate(open.at.map_or(0, |node| node as usize + 1));
        Some(open)
    }

    /// Leads the machine to a configuration.
    fn lead<M: Machine>(&mut self, run: &mut Run<'_, M>, to: Option<u32>) -> Result<(), Stop> {
        let mut missing = Vec::new();
        let mut node = to;
        while let Some(at) = node {
            let depth = self.nodes[at as usize].depth as usize;
            if self.way.get(depth) == Some(&at) {
                break;
            }
            missing.push(at);
            node = self.nodes[at as usize].before;
        }
        let common = node.map_or(0, |at| self.nodes[at as usize].depth as usize + 1);
        run.rewind(common);
        self.way.truncate(common);
        for at in missing.into_iter().rev() {
            run.redo(self.nodes[at as usize].choice)?;
            self.way.push(at);
        }
        Ok(())
    }

    /// Carries out one open choice.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, Open { at, choice }: Open) -> Result<(), Stop> {
        let depth = run.depth() as u32;
        run.execute(choice)?;
        if let Some(branch) = run.machine.next_branch() {
            let way = Open { at, choice: Choice { branch, ..choice } };
            if run.options.breadth_first { self.open.push_front(way) } else { self.open.push_back(way) }
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { before: at, choice, depth });
        self.way.push(node);
        self.arrive(run, Some(node))
    }

    /// The machine has reached a configuration, perhaps a known one.
    fn arrive<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Option<u32>) -> Result<(), Stop> {
        self.enabled.clear();
        // With little steps nobody needs to know what follows from a known configuration.
        if run.options.step == StepSize::Little && !self.is_new(run)? {
            return run.given_up();
        }
        run.enabled(&mut self.enabled);
        let passed = self.enabled.len() == 1;
        if run.options.step == StepSize::Big && !passed && !self.is_new(run)? {
            return run.given_up();
        }
        if self.enabled.is_empty() {
            return run.complete();
        }
        let open = self.enabled.iter().map(|&choice| Open { at: node, choice });
        if run.options.breadth_first {
            self.open.extend(open);
        } else {
            self.open.extend(open.rev());
        }
        self.remember(run)
    }

    fn is_new<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<bool, Stop> {
        let failed = u128::from(run.machine.problems() > 0);
        let fingerprint = run.machine.fingerprint(run.options.comparison)?;
        let new = self.seen.insert(fingerprint ^ failed);
        run.counters.states = Some(self.seen.len() as u64);
        Ok(new)
    }

    /// Keeps to the limit on memory.
    fn remember<M: Machine>(&self, run: &Run<'_, M>) -> Result<(), Stop> {
        let bytes =
            self.seen.bytes() + self.nodes.capacity() * size_of::<Node>() + self.open.capacity() * size_of::<Open>();
        if bytes > run.options.limits.memory { Err(Stop::Limit(LimitHit::Memory)) } else { Ok(()) }
    }
}
