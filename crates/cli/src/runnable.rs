//! A common interface to programs of every kind. Each kind has its own type of machine.

use crate::shape::Shape;
use std::sync::Arc;
use whippet::prebuilt;
use whippet_actors::ActorProgram;
use whippet_explorer::{Explorer, ServeError, Server};
use whippet_model::{Decides, Limits, MachineError, Program, Schedule, Verdict};
use whippet_search::{Observer, Options, ReplayError, Replayed, SearchError, Unfolded};

/// A program that can be searched and replayed.
pub(crate) trait Runnable {
    /// Searches the program: see [`whippet_search::explore`].
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError>;

    /// Replays a schedule, which is assumed to belong to this program: see [`whippet_search::replay`].
    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError>;

    /// Explains a schedule that fails: see [`whippet_search::explain`].
    fn explain(&self, schedule: &Schedule) -> Option<Decides>;

    /// Starts an explorer of the program: see [`whippet_explorer`].
    fn serve(&self, explorer: Explorer) -> Result<Server, ServeError>;

    /// Computes the unfolding: see [`whippet_search::unfold`].
    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError>;

    /// Returns the shape of the program's communication.
    fn shape(&self) -> Result<Shape, MachineError>;

    /// Returns the places of the checks of several actors, each with their number.
    fn wide_checks(&self) -> Vec<(String, usize)> {
        Vec::new()
    }
}

impl<P: Program + Send + 'static> Runnable for Arc<P> {
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
        whippet_search::explore(self.clone(), options, observer)
    }

    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError> {
        whippet_search::replay_within(self.clone(), &adopted(&**self, schedule), Limits::default().handler)
    }

    fn explain(&self, schedule: &Schedule) -> Option<Decides> {
        whippet_search::explain(self.clone(), &adopted(&**self, schedule))
    }

    fn serve(&self, explorer: Explorer) -> Result<Server, ServeError> {
        explorer.serve(self.clone())
    }

    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError> {
        whippet_search::unfold(self.clone(), options)
    }

    fn shape(&self) -> Result<Shape, MachineError> {
        Shape::of(self.machine(&Default::default())?)
    }
}

/// Returns a schedule as one of this program.
fn adopted(program: &impl Program, schedule: &Schedule) -> Schedule {
    Schedule::new(program.name(), program.parameters().into_iter().collect(), schedule.decisions.clone())
}

/// A program of actors. Its searches are those that the crate `whippet` has compiled for such programs.
pub(crate) struct Actors(pub(crate) Arc<ActorProgram>);

impl Runnable for Actors {
    fn explore(&self, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
        prebuilt::explore(self.0.clone(), options, observer)
    }

    fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError> {
        self.0.replay(schedule)
    }

    fn explain(&self, schedule: &Schedule) -> Option<Decides> {
        self.0.explain(schedule)
    }

    fn serve(&self, explorer: Explorer) -> Result<Server, ServeError> {
        self.0.serve(explorer)
    }

    fn unfold(&self, options: &Options) -> Result<Unfolded, SearchError> {
        self.0.unfold(options)
    }

    fn shape(&self) -> Result<Shape, MachineError> {
        self.0.shape()
    }

    fn wide_checks(&self) -> Vec<(String, usize)> {
        self.0.wide_checks()
    }
}
