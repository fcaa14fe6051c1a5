//! Selection of actors and tasks by what they can do ("Actor- and Task-Selection Strategies for Pruning
//! Redundant State-Exploration in Testing", Albert, Arenas and Gómez-Zamalloa).
//!
//! [`search()`] is the paper's own search, to reproduce its numbers. It is not complete: its theorem on stable
//! actors fails when a message stores a reference, and its marks lose executions when the chosen
//! actor is not stable. Whippet's default for ABS, an optimal search with field-level conflicts, prunes more
//! and misses nothing.
//!
//! ```
//! use whippet_abs::Marks;
//! use whippet_abs::selection::{Selection, running_example, search};
//! let example = running_example();
//! let stable = search(&example, &Selection::default()).unwrap();
//! assert_eq!((stable.executions, stable.states, stable.unstable), (6, 18, 0));
//! let marked = search(&example, &Selection { marks: Some(Marks::Literal), ..Selection::default() }).unwrap();
//! assert_eq!((marked.executions, marked.states), (2, 12));
//! assert!(marked.finals == stable.finals, "here the marks miss nothing");
//! ```

mod search;
mod stability;
mod table;

pub use search::{ActorSelection, Selection, SelectionCounts, search};
pub(crate) use stability::Stability;
pub use table::{Counts, SelectionRow, figure_4, reproduce, running_example, subjects};
