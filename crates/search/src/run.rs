//! What all searches share: one machine, moved through [`Run`], which counts, keeps to the limits and
//! collects what is wrong.
//!
//! A search is a function from a [`Run`] to `Result<(), Stop>`: it asks what is [`enabled`](Run::enabled),
//! [`execute`](Run::execute)s, calls [`complete`](Run::complete) where nothing is enabled, [`rewind`](Run::rewind)s,
//! and returns when it has covered everything. A limit or an error unwinds it as a [`Stop`].

use crate::collect::Collector;
use crate::control::Control;
use crate::options::Options;
use whippet_model::{Choice, Clocks, Counters, LimitHit, Machine, MachineError};

/// Why a search ends before it has covered everything.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A limit was hit.
    Limit(LimitHit),
    /// The machine cannot go on.
    Machine(MachineError),
}

impl From<MachineError> for Stop {
    fn from(error: MachineError) -> Stop {
        Stop::Machine(error)
    }
}

/// One worker's machine and what it has seen.
pub(crate) struct Run<'a, M: Machine> {
    pub(crate) machine: M,
    /// Happens-before of the current execution, kept up by searches that ask for it.
    pub(crate) clocks: Clocks,
    pub(crate) counters: Counters,
    pub(crate) options: &'a Options,
    collector: Collector,
    control: &'a Control,
    follows: bool,
    /// Steps until the control is asked again.
    patience: u32,
}

/// How many steps are taken between two looks at the clock.
const PATIENCE: u32 = 1024;

impl<'a, M: Machine> Run<'a, M> {
    pub(crate) fn new(machine: M, options: &'a Options, control: &'a Control) -> Run<'a, M> {
        Run {
            machine,
            clocks: Clocks::new(),
            counters: Counters::default(),
            options,
            collector: Collector::new(options),
            control,
            follows: false,
            patience: PATIENCE,
        }
    }

    /// From now on `clocks` knows every step.
    pub(crate) fn follow_clocks(&mut self) {
        self.follows = true;
        self.clocks.follow(&self.machine);
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.machine.depth()
    }

    /// Appends what can be done now. An execution that is too long ends here, and `complete` says so.
    #[inline]
    pub(crate) fn enabled(&mut self, out: &mut Vec<Choice>) {
        if self.machine.depth() < self.options.limits.steps {
            self.machine.enabled(out);
        }
    }

    /// Takes one step and counts it.
    #[inline]
    pub(crate) fn execute(&mut self, choice: Choice) -> Result<(), Stop> {
        self.counters.transitions += 1;
        self.redo(choice)
    }

    /// Takes a step that has been counted before.
    #[inline]
    pub(crate) fn redo(&mut self, choice: Choice) -> Result<(), Stop> {
        self.machine.execute(choice)?;
        if self.follows {
            self.clocks.push(&self.machine);
        }
        if self.options.first_bug && self.machine.problems() > 0 {
            self.complete()?;
        }
        self.patience -= 1;
        if self.patience == 0 {
            self.patience = PATIENCE;
            self.control.look(&self.counters, self.machine.depth()).map_err(Stop::Limit)?;
        }
        Ok(())
    }

    /// Takes back all steps from `depth` on.
    #[inline]
    pub(crate) fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
        if self.follows {
            self.clocks.truncate(depth);
        }
    }

    /// Nothing is enabled: an execution is complete. Looks at what is wrong with it.
    pub(crate) fn complete(&mut self) -> Result<(), Stop> {
        self.counters.executions += 1;
        self.counters.depth = self.counters.depth.max(self.machine.depth());
        let found = self.collector.execution(&mut self.machine, &mut self.counters, self.options);
        if found && self.options.first_bug {
            return Err(Stop::Limit(LimitHit::FirstBug));
        }
        match self.options.limits.executions {
            Some(most) => self.control.executed(most).map_err(Stop::Limit),
            None => Ok(()),
        }
    }

    /// Everything enabled has been explored elsewhere: the execution is given up.
    pub(crate) fn blocked(&mut self) {
        self.counters.blocked += 1;
    }

    pub(crate) fn into_parts(self) -> (Counters, Collector) {
        (self.counters, self.collector)
    }
}
