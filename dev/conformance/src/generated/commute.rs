//! Checks that steps which touch no common object commute. Every reduction relies on this.
//!
//! A [`Walk`] visits the configurations of a program depth first, each trace prefix once. After each new step it
//! executes every enabled step of another task. If the two steps are independent (neither causes the other, and their
//! footprints do not conflict), it rewinds both, executes them in reverse order, and compares each step with its
//! earlier self, and the enabled tasks afterwards.

use super::judge::{Early, settings};
use super::plan::Plan;
use super::task::{Logs, program};
use std::collections::BTreeSet;
use std::sync::Arc;
use whippet_model::{
    Access, Branch, Choice, Clocks, Executed, Explain, Machine, MachineError, Name, Program, Touch, conflict,
};
use whippet_runtime::{TaskMachine, TaskProgram};

/// A step as it is compared: its event, its footprint, the events that cause it, and its next branch.
#[derive(PartialEq, Eq)]
struct Seen {
    event: Name,
    touches: Vec<(Name, Access)>,
    causes: Vec<Name>,
    next: Option<Branch>,
}

/// A depth-first walk that visits each trace prefix once.
struct Walk {
    machine: TaskMachine,
    clocks: Clocks,
    known: BTreeSet<u64>,
    left: usize,
}

/// The reason why a walk ended early.
enum Stop {
    Wrong(String),
    Machine(MachineError),
    TooLarge,
}

impl From<MachineError> for Stop {
    fn from(error: MachineError) -> Stop {
        Stop::Machine(error)
    }
}

impl Walk {
    fn newest(&self, executed: Executed) -> Seen {
        let at = self.machine.depth() - 1;
        let mut causes = Vec::new();
        self.machine.causes(at, &mut causes);
        let mut causes: Vec<Name> = causes.into_iter().map(|step| self.machine.step(step).event).collect();
        causes.sort_unstable();
        let mut touches: Vec<(Name, Access)> = self.touches(at).iter().map(|t| (t.object, t.access)).collect();
        touches.sort_unstable();
        Seen { event: self.machine.step(at).event, touches, causes, next: executed.next_branch }
    }

    fn touches(&self, at: usize) -> Vec<Touch> {
        self.machine.touches(at).to_vec()
    }

    fn tell(&mut self, at: usize) -> String {
        let text = self.machine.describe(at);
        format!("{} {} {}", text.actor, text.action, text.origin.unwrap_or_default())
    }

    fn story(&mut self) -> String {
        (0..self.machine.depth()).map(|at| format!("\n    {}", self.tell(at))).collect()
    }

    fn enabled(&mut self) -> Result<Vec<Choice>, MachineError> {
        let mut choices = Vec::new();
        self.machine.enabled(&mut choices)?;
        Ok(choices)
    }

    /// Returns the enabled tasks by name. Their numbers cannot be compared, because they depend on the order of
    /// spawning.
    fn threads(&mut self) -> Result<Vec<Name>, MachineError> {
        let mut threads: Vec<Name> = self.enabled()?.iter().map(|choice| self.machine.thread(choice.what)).collect();
        threads.sort_unstable();
        Ok(threads)
    }

    fn explore(&mut self) -> Result<(), Stop> {
        let depth = self.machine.depth();
        for mut choice in self.enabled()? {
            loop {
                let executed = self.machine.execute(choice)?;
                self.clocks.follow(&self.machine);
                if self.known.insert(self.clocks.key()) {
                    self.left = self.left.checked_sub(1).ok_or(Stop::TooLarge)?;
                    self.exchange(choice, executed)?;
                    self.explore()?;
                }
                self.machine.rewind(depth);
                self.clocks.truncate(depth);
                let Some(branch) = executed.next_branch else { break };
                choice.branch = branch;
            }
        }
        Ok(())
    }

    /// Swaps the newest step with every independent step that can follow it.
    fn exchange(&mut self, first: Choice, executed: Executed) -> Result<(), Stop> {
        let depth = self.machine.depth();
        let one = self.newest(executed);
        for mut second in self.enabled()?.into_iter().filter(|choice| choice.what != first.what) {
            loop {
                let executed = self.machine.execute(second)?;
                let mut causes = Vec::new();
                self.machine.causes(depth, &mut causes);
                let dependent =
                    causes.contains(&(depth - 1)) || conflict(&self.touches(depth - 1), &self.touches(depth));
                if !dependent {
                    let (two, after, story) = (self.newest(executed), self.threads()?, self.story());
                    self.machine.rewind(depth - 1);
                    self.compare(first, &one, second, &two, &after).map_err(|what| match what {
                        Stop::Wrong(what) => Stop::Wrong(format!("{what}{story}")),
                        other => other,
                    })?;
                    self.machine.rewind(depth - 1);
                    self.machine.execute(first)?;
                }
                self.machine.rewind(depth);
                let Some(branch) = executed.next_branch else { break };
                second.branch = branch;
            }
        }
        Ok(())
    }

    fn compare(&mut self, first: Choice, one: &Seen, second: Choice, two: &Seen, after: &[Name]) -> Result<(), Stop> {
        let wrong = |what: &str| Err(Stop::Wrong(format!("the last two steps are independent, but {what}")));
        let can = |choices: Vec<Choice>, choice: Choice| choices.iter().any(|c| c.what == choice.what);
        if !can(self.enabled()?, second) {
            return wrong("the second one is possible only after the first");
        }
        let executed = self.machine.execute(second)?;
        let seen = self.newest(executed);
        if seen != *two {
            return wrong(&format!("the second one is another without the first: {}", difference(two, &seen)));
        }
        if !can(self.enabled()?, first) {
            return wrong("the first one is not possible after the second");
        }
        let executed = self.machine.execute(first)?;
        let seen = self.newest(executed);
        if seen != *one {
            return wrong(&format!("the first one is another after the second: {}", difference(one, &seen)));
        }
        if self.threads()? != after {
            return wrong("what can follow differs");
        }
        Ok(())
    }
}

fn difference(a: &Seen, b: &Seen) -> String {
    let only = |x: &[(Name, Access)], y: &[(Name, Access)]| {
        x.iter().filter(|t| !y.contains(t)).map(|t| format!("{:x} {:?}", t.0.0, t.1)).collect::<Vec<_>>()
    };
    format!(
        "event {} touches -{:?} +{:?} causes {} branches {}",
        a.event == b.event,
        only(&a.touches, &b.touches),
        only(&b.touches, &a.touches),
        a.causes == b.causes,
        a.next == b.next
    )
}

/// The maximum number of trace prefixes to visit.
const MOST: usize = 1_000;

/// Returns a description of the first independent steps of this plan that do not commute, or of an error, if there is
/// one.
#[must_use]
pub fn commute(plan: &Plan) -> Option<String> {
    let (plan, logs) = (Arc::new(plan.clone()), Logs::default());
    let settings = settings(&plan, Early::Seldom);
    let tasks = TaskProgram::new("generated", settings, move || program(plan.clone(), logs.clone()));
    loop {
        let before = tasks.refinements();
        let machine = tasks.machine(&Default::default()).ok()?;
        let mut walk = Walk { machine, clocks: Clocks::new(), known: BTreeSet::new(), left: MOST };
        let end = walk.explore();
        drop(walk);
        if tasks.refinements() != before {
            continue;
        }
        return match end {
            Ok(()) | Err(Stop::TooLarge) => None,
            Err(Stop::Wrong(text)) => Some(text),
            Err(Stop::Machine(error)) => Some(error.to_string()),
        };
    }
}
