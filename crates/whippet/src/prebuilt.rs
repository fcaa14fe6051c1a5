//! The searches of actor programs, compiled in this crate.
//!
//! Searches are generic over the program, and a crate that calls one compiles it. The other packages of the repository
//! call these functions instead, which saves a large part of their build time. They are not part of the public
//! interface.

use std::sync::Arc;
use std::time::Duration;
use whippet_actors::ActorProgram;
use whippet_explorer::{Explorer, ServeError, Server};
use whippet_model::{Decides, Schedule, Verdict};
use whippet_search::{Observer, Options, ReplayError, Replayed, SearchError, Unfolded};

/// Calls [`whippet_search::explore`].
#[doc(hidden)]
#[inline(never)]
pub fn explore(program: Arc<ActorProgram>, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
    whippet_search::explore(program, options, observer)
}

/// Calls [`whippet_search::replay_within`].
#[doc(hidden)]
#[inline(never)]
pub fn replay(program: Arc<ActorProgram>, schedule: &Schedule, limit: Duration) -> Result<Replayed, ReplayError> {
    whippet_search::replay_within(program, schedule, limit)
}

/// Calls [`whippet_search::explain`].
#[doc(hidden)]
#[inline(never)]
pub fn explain(program: Arc<ActorProgram>, schedule: &Schedule) -> Option<Decides> {
    whippet_search::explain(program, schedule)
}

/// Calls [`whippet_search::unfold`].
#[doc(hidden)]
#[inline(never)]
pub fn unfold(program: Arc<ActorProgram>, options: &Options) -> Result<Unfolded, SearchError> {
    whippet_search::unfold(program, options)
}

/// Calls [`Explorer::serve`].
#[doc(hidden)]
#[inline(never)]
pub fn serve(program: Arc<ActorProgram>, explorer: Explorer) -> Result<Server, ServeError> {
    explorer.serve(program)
}
