//! The interpreter on the shim.

use shim as tokio;

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
