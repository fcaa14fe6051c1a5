//! Programs of every kind behind one face: each kind has a machine of its own, the command does not care.

use crate::shape::Shape;
use std::sync::Arc;
use whippet_model::{Limits, MachineError, Program, Schedule, Verdict};
use whippet_search::{Observer, Options, ReplayError, Replayed, SearchError, Unfolded};

/// A program that can be searched and replayed.
pub(crate) trait Runnable {
    /// See [`whippet_search::explore`].
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError>;

    /// See [`whippet_search::replay`]; the schedule is taken to be for this program.
    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError>;

    /// See [`whippet_search::unfold`].
    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError>;

    /// Who sends to whom.
    fn shape(&self) -> Result<Shape, MachineError>;
}

impl<P: Program + Send + 'static> Runnable for Arc<P> {
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
        whippet_search::explore(self.clone(), options, observer)
    }

    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError> {
        let program = P::name(self);
        let settings = P::parameters(self).into_iter().collect();
        let schedule = Schedule { program, settings, decisions: schedule.decisions.clone() };
        whippet_search::replay_within(self.clone(), &schedule, Limits::default().handler)
    }

    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError> {
        whippet_search::unfold(&**self, options)
    }

    fn shape(&self) -> Result<Shape, MachineError> {
        Shape::of(self.machine()?)
    }
}
