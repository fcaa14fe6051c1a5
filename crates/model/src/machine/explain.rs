//! The part of a machine that tells the reader what happened.

use crate::{MachineError, Problem, StepDescription};

/// Problems and descriptions of the current execution: what ends up in findings and reports.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Explain, FindingKind, Machine, Program};
/// # let program = ActorProgram::new("wrong", |sys| {
/// #     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
/// #     sys.send(picky, 2);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// # let mut enabled = Vec::new();
/// # machine.enabled(&mut enabled).unwrap();
/// // An actor that expected 1 receives 2.
/// machine.execute(enabled[0]).unwrap();
/// assert_eq!(machine.problems(), 1);
/// assert_eq!(machine.problem(0).unwrap().kind, FindingKind::Assertion);
/// assert!(machine.describe(0).action.starts_with("receives 2"));
/// assert!(machine.handler_runs() >= 1);
/// let mut problems = Vec::new();
/// machine.data_races(&mut problems);
/// machine.final_problems(&mut problems).unwrap();
/// assert!(problems.is_empty(), "the actor has failed, and nobody waits");
/// ```
pub trait Explain {
    /// Returns the number of steps of the current execution that have a problem. Called after every step.
    fn problems(&self) -> usize;

    /// Returns the problem of step `at`, if it has one.
    fn problem(&self, at: usize) -> Option<Problem>;

    /// Appends the data races of the current execution: conflicting accesses that happens-before does not order. A
    /// data race does not end the execution, and other problems are reported as well. Steps with a data race are not
    /// independent even where the dependence relation considers them so.
    fn data_races(&self, out: &mut Vec<Problem>);

    /// Appends the problems of the current configuration, in which nothing is enabled, as a final one. Appends
    /// nothing if the execution ended properly. Problems with [`Problem::warning`] set do not count as findings.
    /// May run user code.
    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError>;

    /// Returns a description of step `at` for the reader. May run user code, for example an implementation of
    /// `Debug`.
    fn describe(&mut self, at: usize) -> StepDescription;

    /// Returns the number of times that user code was run to execute steps, including re-execution after a rewind.
    fn handler_runs(&self) -> u64;
}
