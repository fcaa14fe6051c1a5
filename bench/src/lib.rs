//! The parts that all measurements share: the workloads, the tools by name, the measuring process, the table.
//!
//! No tool is linked here. Loom and TraceForge need two versions of a library that cannot be linked into one program,
//! so two programs measure: `peers` for all tools except loom, and `peer-loom`.

mod actors;
mod measure;
mod table;
mod tool;
mod workload;

pub use actors::{Msg, ThreadTool, deliveries, execute};
pub use measure::{Sample, measure, measure_in_child};
pub use table::{TableLine, table};
pub use tool::{Counts, SearchLimits, Tool};
pub use workload::{Colour, Number, Process, Workload, keep, part_of_pi, small_fib};
