//! Stateful search: the continuations of a configuration that was visited before are not explored again.
//!
//! Configurations are compared by a 128-bit hash that the machine computes. The open choices are stored in one list,
//! each with the configuration that it belongs to. The search is depth-first if it takes choices from the end of the
//! list, and breadth-first if it takes them from the beginning. To get from one configuration to the next, the
//! machine rewinds to the end of their common path and executes the remaining steps.
//!
//! Every configuration is reached once, and with it every final state, deadlock and failing step; but not every
//! execution, and not every trace. Configurations after a failure are distinguished from equal ones without a
//! failure, because the problems of a final configuration are not reported for an execution that failed before.
//!
//! With big steps (section 3.5.3 of the Basset dissertation), a configuration with a single choice is passed without
//! checking whether it was visited before. A big step begins where there is a choice, and the depth of an execution is the
//! number of its big steps.
//!
//! Basset ends an execution by telling its model checker to ignore the final state. A comparison like Basset's therefore never
//! finds that a final configuration was visited before.

mod idle;
pub(crate) mod seen;

use crate::driver::run::{Run, Stop};
use crate::options::StepSize;
use crate::reductions::stateful::idle::{Idle, Left};
use crate::reductions::stateful::seen::Seen;
use std::collections::VecDeque;
use whippet_model::{Choice, LimitHit, Machine, StateComparison};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    let puts_off = run.options.put_off_idle && run.options.comparison == StateComparison::Canonical;
    let idle = (puts_off && run.knows_idle_deliveries()).then(Idle::default);
    let mut search = Stateful { idle, ..Stateful::default() };
    search.arrive(run, None)?;
    while let Some(open) = search.next(run) {
        search.lead(run, open.at)?;
        search.explore(run, open)?;
    }
    Ok(())
}

/// A configuration, with the step from another one by which it was first reached.
#[derive(Copy, Clone, Debug)]
struct Node {
    before: Option<u32>,
    choice: Choice,
    depth: u32,
    /// The number of steps that began where there was a choice, up to this configuration.
    big_steps: u32,
    /// `true` if there is a choice in this configuration.
    chooses: bool,
}

/// A choice that is still to be explored.
#[derive(Copy, Clone, Debug)]
struct Open {
    /// The configuration that it belongs to; `None` is the initial one.
    at: Option<u32>,
    choice: Choice,
}

#[derive(Debug, Default)]
struct Stateful {
    seen: Seen,
    nodes: Vec<Node>,
    open: VecDeque<Open>,
    /// The nodes along the machine's current path.
    way: Vec<u32>,
    enabled: Vec<Choice>,
    /// Deliveries that change nothing, if they are put off.
    idle: Option<Idle>,
    /// The final configurations, where idle deliveries are not stored.
    ends: Seen,
    /// `true` if there is a choice in the initial configuration.
    chooses: bool,
    /// The number of final configurations, if they are not compared.
    finals: u64,
}

impl Stateful {
    fn next<M: Machine>(&mut self, run: &Run<'_, M>) -> Option<Open> {
        if run.options.breadth_first {
            return self.open.pop_front();
        }
        let open = self.open.pop_back()?;
        // Depth-first: no choice of a configuration that was reached after this one is still open.
        self.nodes.truncate(open.at.map_or(0, |node| node as usize + 1));
        Some(open)
    }

    /// Moves the machine to a configuration.
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

    /// Executes one open choice.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, Open { at, choice }: Open) -> Result<(), Stop> {
        let depth = run.depth() as u32;
        if let Some(branch) = run.execute(choice)?.next_branch {
            let other = Open { at, choice: Choice { branch, ..choice } };
            if run.options.breadth_first { self.open.push_front(other) } else { self.open.push_back(other) }
        }
        let node = self.nodes.len() as u32;
        let (before, chooses) = at.map_or((0, self.chooses), |at| {
            let node = &self.nodes[at as usize];
            (node.big_steps, node.chooses)
        });
        self.nodes.push(Node { before: at, choice, depth, big_steps: before + u32::from(chooses), chooses: false });
        self.way.push(node);
        self.arrive(run, Some(node))
    }

    /// Handles the configuration that the machine has reached, which may have been visited before.
    fn arrive<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Option<u32>) -> Result<(), Stop> {
        self.enabled.clear();
        let little = run.options.step == StepSize::Little;
        let merges_final = run.options.comparison.merges_final();
        // With little steps, the enabled choices of a visited configuration are not needed.
        if little && merges_final && !self.is_new(run)? {
            return run.given_up();
        }
        run.enabled(&mut self.enabled)?;
        if self.enabled.is_empty() && !merges_final {
            self.finals += 1;
            self.count_states(run);
            return self.complete(run, node);
        }
        let passed = self.enabled.len() == 1;
        let compared = if little { !merges_final } else { !passed };
        if compared && !self.is_new(run)? {
            return run.given_up();
        }
        if self.enabled.is_empty() {
            return self.complete(run, node);
        }
        *node.map_or(&mut self.chooses, |node| &mut self.nodes[node as usize].chooses) = !passed;
        if let Some(idle) = &mut self.idle
            && idle.prune(run, &mut self.enabled)? == Left::Idle
        {
            return self.end(run, node);
        }
        let open = self.enabled.iter().map(|&choice| Open { at: node, choice });
        if run.options.breadth_first {
            self.open.extend(open);
        } else {
            self.open.extend(open.rev());
        }
        self.remember(run)
    }

    /// Ends an execution in which only idle deliveries are left: performs them.
    fn end<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Option<u32>) -> Result<(), Stop> {
        while let Some(&choice) = self.enabled.first() {
            run.execute(choice)?;
            self.enabled.clear();
            run.enabled(&mut self.enabled)?;
        }
        let failed = u128::from(run.machine().problems() > 0);
        let fingerprint = run.fingerprint()?;
        if self.ends.insert(fingerprint ^ failed) { self.complete(run, node) } else { run.given_up() }
    }

    fn is_new<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<bool, Stop> {
        let failed = u128::from(run.machine().problems() > 0);
        let fingerprint = run.fingerprint()?;
        let new = self.seen.insert(fingerprint ^ failed);
        self.count_states(run);
        Ok(new)
    }

    fn count_states<M: Machine>(&self, run: &mut Run<'_, M>) {
        run.counters.states = Some(self.seen.len() as u64 + self.finals);
    }

    /// Ends an execution, and counts its depth in steps of the chosen size.
    fn complete<M: Machine>(&self, run: &mut Run<'_, M>, node: Option<u32>) -> Result<(), Stop> {
        let before = run.counters.depth;
        let completed = run.complete();
        if run.options.step == StepSize::Big {
            let big_steps = node.map_or(0, |node| self.nodes[node as usize].big_steps as usize);
            run.counters.depth = before.max(big_steps);
        }
        completed
    }

    /// Returns an error if the limit on memory is exceeded.
    fn remember<M: Machine>(&self, run: &Run<'_, M>) -> Result<(), Stop> {
        let bytes = self.seen.bytes()
            + self.idle.as_ref().map_or(0, Idle::bytes)
            + self.nodes.capacity() * size_of::<Node>()
            + self.open.capacity() * size_of::<Open>();
        if bytes > run.options.limits.memory { Err(Stop::Limit(LimitHit::Memory)) } else { Ok(()) }
    }
}
