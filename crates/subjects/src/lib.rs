//! The papers' programs, with the published and the true counts beside each.

mod published;

pub use published::{
    Cell, Figures, PrintedProgram, Standing, StandingRule, Table, Technique, TraceCount, UnknownTable, table, tables,
    trace_counts,
};
