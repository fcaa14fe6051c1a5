//! The machine of a walk, on its way: undoes and executes steps, and describes where it is.

use super::destination::{Configuration, Destination, WalkChoice, WalkError, WalkStep};
use super::{NONE, Request, TRIAL};
use crate::driver::confirm::{schedule, words};
use crate::driver::control::{PathStep, Worker};
use crate::driver::erased::{AnyMachine, AnyProgram};
use crate::driver::findings;
use crate::driver::replay::GuidedMachine;
use crate::options::Options;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::time::Instant;
use whippet_model::{
    Branch, Choice, Clocks, Executed, Machine, MachineConfig, MachineError, Name, Problem, StepDescription,
};

/// The time after which no further choice is tried, because trying them takes too long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of choices that are shown.
const MOST_CHOICES: usize = 500;

/// The number of times that a walk starts again because the dependence relation was refined.
const RESTARTS: usize = 100;

/// Answers a request, with a new machine where the dependence relation was refined.
pub(super) fn answer(
    program: &dyn AnyProgram,
    options: &Options,
    worker: &Arc<Worker>,
    trying: &AtomicU32,
    walk: &mut Option<WalkedMachine>,
    request: &Request,
) -> Result<Configuration, WalkError> {
    for _ in 0..RESTARTS {
        let session = match walk {
            Some(session) => session,
            None => walk.insert(WalkedMachine::new(program, options, worker.clone())?),
        };
        let arrived =
            session.go(&request.destination).and_then(|()| session.configuration(program, trying, &request.avoid));
        trying.store(NONE, Ordering::Relaxed);
        match arrived {
            Err(WalkError::Program(MachineError::Refined)) => *walk = None,
            Err(error @ WalkError::Program(_)) => {
                *walk = None;
                return Err(error);
            }
            arrived => return arrived,
        }
    }
    Err(WalkError::Program(MachineError::Nondeterministic(
        "the dependence relation of the program was refined again and again".into(),
    )))
}

/// A machine on its way.
pub(super) struct WalkedMachine {
    walk: GuidedMachine,
    steps: Vec<WalkStep>,
    clocks: Clocks,
    enabled: Vec<Choice>,
    /// The descriptions of the first steps, with the number of actors that existed when they were made: the labels of
    /// actors depend on it.
    described: (usize, Vec<StepDescription>),
    most: usize,
}

impl WalkedMachine {
    fn new(program: &dyn AnyProgram, options: &Options, worker: Arc<Worker>) -> Result<WalkedMachine, MachineError> {
        Ok(WalkedMachine {
            walk: GuidedMachine::new(program, &MachineConfig::default(), worker)?,
            steps: Vec::new(),
            clocks: Clocks::new(),
            enabled: Vec::new(),
            described: (0, Vec::new()),
            most: options.limits.steps,
        })
    }

    fn machine(&self) -> &AnyMachine {
        self.walk.guarded.machine()
    }

    fn go(&mut self, destination: &Destination) -> Result<(), WalkError> {
        match destination {
            Destination::Steps(steps) => self.follow(steps),
            Destination::End(steps) => {
                self.follow(steps)?;
                self.finish(&[])
            }
            Destination::Decisions(decisions) => {
                self.rewind(0);
                for decision in decisions {
                    self.act(decision.thread, decision.branch)?;
                    let now = words(&self.walk.guarded.describe(self.steps.len() - 1));
                    if now != decision.text {
                        let why = format!("«{}» is «{now}» now; the program has changed", decision.text);
                        return Err(WalkError::Impossible { number: self.steps.len(), why });
                    }
                }
                Ok(())
            }
            Destination::Threads(path) => {
                self.rewind(0);
                path.iter().try_for_each(|&(thread, branch)| self.act(thread, branch))
            }
            &Destination::Reversed { ref steps, first, second } => {
                self.follow(steps)?;
                self.reverse(first, second)
            }
        }
    }

    /// Undoes all steps from `depth` on.
    fn rewind(&mut self, depth: usize) {
        self.walk.guarded.rewind(depth);
        self.clocks.truncate(depth);
        self.steps.truncate(depth);
        self.described.1.truncate(depth);
        self.check_descriptions();
    }

    /// Forgets the descriptions if they have other labels now.
    fn check_descriptions(&mut self) {
        let actors = self.machine().actors();
        if self.described.0 != actors {
            self.described = (actors, Vec::new());
        }
    }

    /// Goes to the configuration after these steps, with as few changes as possible.
    fn follow(&mut self, steps: &[WalkStep]) -> Result<(), WalkError> {
        let common = self.steps.iter().zip(steps).take_while(|(a, b)| a == b).count();
        if common < self.steps.len() {
            self.rewind(common);
        }
        for &step in &steps[common..] {
            self.ask()?;
            let listed = self.enabled.get(step.choice as usize).copied();
            let Some(listed) = listed else { return Err(self.impossible(self.too_few(step))) };
            self.take(step, Choice { branch: step.branch.unwrap_or(listed.branch), ..listed })?;
        }
        Ok(())
    }

    fn too_few(&self, step: WalkStep) -> String {
        match self.enabled.len() {
            0 => "nothing is enabled there".into(),
            most => format!("choice {} does not exist, there are {most}", step.choice + 1),
        }
    }

    fn impossible(&self, why: impl Into<String>) -> WalkError {
        WalkError::Impossible { number: self.steps.len() + 1, why: why.into() }
    }

    fn ask(&mut self) -> Result<(), MachineError> {
        self.enabled.clear();
        self.walk.guarded.enabled(&mut self.enabled)
    }

    fn take(&mut self, step: WalkStep, choice: Choice) -> Result<(), WalkError> {
        if self.steps.len() >= self.most {
            return Err(self.impossible(format!("the limit on steps is {}", self.most)));
        }
        self.walk.guarded.execute(choice)?;
        self.clocks.push(self.walk.guarded.machine());
        self.steps.push(step);
        Ok(())
    }

    /// Lets a thread act.
    fn act(&mut self, thread: Name, branch: Branch) -> Result<(), WalkError> {
        self.ask()?;
        let found = self.find(thread, branch);
        match found {
            Some((step, choice)) => self.take(step, choice),
            None if self.machine().find(thread).is_some() => Err(self.impossible("it is pending but not enabled")),
            None => Err(self.impossible("nothing of this name is pending")),
        }
    }

    /// Finds the enabled choice of a thread. A branch that is not listed is executed anyway, because some
    /// machines list only the first one.
    fn find(&self, thread: Name, branch: Branch) -> Option<(WalkStep, Choice)> {
        let of_thread =
            || self.enabled.iter().enumerate().filter(|(_, choice)| self.machine().thread(choice.what) == thread);
        let (k, choice) = of_thread().find(|(_, choice)| choice.branch == branch).or_else(|| of_thread().next())?;
        let other = (choice.branch != branch).then_some(branch);
        Some((WalkStep { choice: k as u32, branch: other }, Choice { branch, ..*choice }))
    }

    /// Goes on to the end of the execution: the threads of `wanted` in this order where they are enabled, otherwise
    /// the first choice. Stops at the limit on steps.
    fn finish(&mut self, wanted: &[PathStep]) -> Result<(), WalkError> {
        let mut wanted = wanted.to_vec();
        while self.steps.len() < self.most {
            self.ask()?;
            let next = wanted.iter().position(|step| self.find(step.thread, step.branch).is_some());
            let found = match next.map(|k| wanted.remove(k)) {
                Some(step) => self.find(step.thread, step.branch),
                None => self.enabled.first().map(|&choice| (WalkStep { choice: 0, branch: None }, choice)),
            };
            let Some((step, choice)) = found else { break };
            self.take(step, choice)?;
        }
        Ok(())
    }

    /// Goes back to step `first`, takes `second` and what it needs before, and continues like the old execution.
    fn reverse(&mut self, first: usize, second: usize) -> Result<(), WalkError> {
        if first >= second || second >= self.steps.len() {
            return Err(self.impossible("there are no two such steps"));
        }
        let path = findings::path(self.machine());
        let needed: Vec<usize> = (first + 1..second).filter(|&at| !self.clocks.before(first, at)).collect();
        let later: Vec<PathStep> =
            (first..path.len()).filter(|at| *at != second && !needed.contains(at)).map(|at| path[at]).collect();
        self.rewind(first);
        for at in needed.into_iter().chain([second]) {
            self.act(path[at].thread, path[at].branch)?;
        }
        self.finish(&later)
    }

    /// Describes the current configuration.
    fn configuration(
        &mut self,
        program: &dyn AnyProgram,
        trying: &AtomicU32,
        avoid: &[u32],
    ) -> Result<Configuration, WalkError> {
        self.check_descriptions();
        for at in self.described.1.len()..self.steps.len() {
            let description = self.walk.guarded.describe(at);
            self.described.1.push(description);
        }
        let trace = self.walk.trace(&self.described.1);
        let path = findings::path(self.machine());
        let schedule = schedule(program, &path, &self.described.1);
        let races = (0..self.steps.len() as u32)
            .flat_map(|at| self.clocks.races(at as usize).iter().map(move |&earlier| [earlier, at]))
            .collect();
        self.ask()?;
        let problems = if self.enabled.is_empty() {
            self.walk.problems()?
        } else {
            let steps = (0..self.steps.len()).filter_map(|at| self.machine().problem(at));
            self.walk.races().into_iter().chain(steps).collect()
        };
        let states = self.walk.guarded.states();
        let choices = self.choices(trying, avoid)?;
        Ok(Configuration { steps: self.steps.clone(), trace, races, choices, problems, states, schedule })
    }

    /// Tries every enabled choice, with all its branches.
    fn choices(&mut self, trying: &AtomicU32, avoid: &[u32]) -> Result<Vec<WalkChoice>, WalkError> {
        let began = Instant::now();
        let mut choices = Vec::new();
        let more = self.steps.len() < self.most;
        for (k, listed) in self.enabled.clone().into_iter().enumerate().filter(|_| more) {
            let mut next = Some(listed.branch);
            while let Some(branch) = next
                && choices.len() < MOST_CHOICES
            {
                let choice = Choice { branch, ..listed };
                let step = WalkStep { choice: k as u32, branch: (branch != listed.branch).then_some(branch) };
                let number = choices.len() as u32;
                let untried = if avoid.contains(&number) {
                    Some(format!("did not return within {TRIAL:?} when it was tried"))
                } else if began.elapsed() > PATIENCE {
                    Some("not tried: the other choices took too long".into())
                } else {
                    None
                };
                next = None;
                if untried.is_some() {
                    let actor = format!("actor {}", self.machine().actor(listed.what).0);
                    let description = StepDescription::new(actor, "acts");
                    choices.push(WalkChoice { step, description, problem: None, remark: untried });
                    continue;
                }
                trying.store(number, Ordering::Relaxed);
                let tried = self.try_out(choice)?;
                trying.store(NONE, Ordering::Relaxed);
                let (description, problem, executed) = tried;
                // A branch that is listed is not discovered as well.
                next = executed.next_branch;
                choices.push(WalkChoice { step, description, problem, remark: None });
            }
        }
        Ok(choices)
    }

    /// Executes a choice, describes it and undoes it.
    fn try_out(&mut self, choice: Choice) -> Result<(StepDescription, Option<Problem>, Executed), WalkError> {
        let depth = self.steps.len();
        let executed = self.walk.guarded.execute(choice)?;
        let description = self.walk.guarded.describe(depth);
        let problem = self.machine().problem(depth);
        self.walk.guarded.rewind(depth);
        Ok((description, problem, executed))
    }
}
