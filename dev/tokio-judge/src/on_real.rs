//! The interpreter on the real tokio.

use real as tokio;

#[path = "interpret/hands.rs"]
mod hands;
#[path = "interpret/leaves.rs"]
mod leaves;
#[path = "interpret/now.rs"]
mod now;
#[path = "interpret/objects.rs"]
mod objects;
#[path = "interpret/tasks.rs"]
mod tasks;

pub use tasks::{Shared, begin};
