//! The papers' programs, with the published and the true counts beside each.
//!
//! [`all`] subjects can be listed, and each set up as a program ([`Subject::program`]) that every search takes.
//!
//! [`tables`] are what the papers printed; a [`Reproducer`] runs them again and compares, as
//! `cargo run --release -p whippet-cli -- reproduce` does with all of them.

mod programs;
mod published;
mod registry;
mod reproduce;
mod settings;

pub use published::{
    Cell, Figures, PrintedProgram, Standing, StandingRule, Table, Technique, TraceCount, UnknownTable, table, tables,
    trace_counts,
};
pub use registry::{Subject, UnknownSubject, all, find};
pub use reproduce::{Mark, Plan, Reproduced, Reproducer, Reproduction, Watcher};
pub use settings::{Parameter, Settings, SettingsError};
