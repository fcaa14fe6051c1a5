//! What all measurements share: the workloads, the tools by name, the measuring process, the table.
//!
//! No tool is linked here. Loom and TraceForge use two versions of a library that cannot be in one program together,
//! so there are two programs that measure: `peers` with everybody but loom, and `peer-loom`.

mod actors;
mod measure;
mod table;
mod tool;
mod workload;

pub use actors::{Msg, Threads, deliveries, execute};
pub use measure::{Sample, apart, measure};
pub use table::{Line, table};
pub use tool::{Counts, Cuts, Tool};
pub use workload::{Colour, Number, Process, Workload, keep, part_of_pi, small_fib};
