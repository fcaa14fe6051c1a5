//! A common interface to programs of every kind. Each kind has its own type of machine.

use crate::shape::Shape;
use std::sync::Arc;
use whippet_model::{Limits, MachineError, Program, Schedule, Verdict};
use whippet_search::{Observer, Options, ReplayError, Replayed, SearchError, Unfolded};

/// A program that can be searched and replayed.
pub(crate) trait Runnable {
    /// Searches the program: see [`whippet_search::explore`].
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError>;

    /// Replays a schedule, which is assumed to belong to this program: see [`whippet_search::replay`].
    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError>;

    /// Computes the unfolding: see [`whippet_search::unfold`].
    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError>;

    /// Returns the shape of the program's communication.
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
        whippet_search::unfold(self.clone(), options)
    }

    fn shape(&self) -> Result<Shape, MachineError> {
        Shape::of(self.machine(&Default::default())?)
    }
}
