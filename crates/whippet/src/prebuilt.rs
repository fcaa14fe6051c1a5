//! The searches of actor programs, compiled in this crate.
//!
//! `explore_specialized` compiles all searches in each crate that calls it. The other packages of the repository
//! call this function instead, which saves a large part of their build time. It is not part of the public
//! interface.

use std::sync::Arc;
use whippet_actors::ActorProgram;
use whippet_model::Verdict;
use whippet_search::{Observer, Options, SearchError};

/// Calls [`whippet_search::explore_specialized`].
#[doc(hidden)]
#[inline(never)]
pub fn explore(program: Arc<ActorProgram>, options: &Options, observer: &dyn Observer) -> Result<Verdict, SearchError> {
    whippet_search::explore_specialized(program, options, observer)
}
