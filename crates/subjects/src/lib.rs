//! The programs of the papers, with their published counts and the correct ones.
//!
//! [`all`] lists the subjects. [`Subject::program`] turns a subject into a program for any search.
//!
//! [`tables`] are the published tables. A [`Reproducer`] runs their cells again and compares the counts; `cargo run
//! --release -p whippet-cli -- reproduce` does this for all tables.

mod programs;
mod published;
mod registry;
mod reproduce;
mod settings;

pub use published::{
    Figures, PrintedProgram, PublishedCell, Standing, StandingRule, Table, Technique, TraceCount, UnknownTable, table,
    tables, trace_counts,
};
pub use registry::{Subject, UnknownSubject, all, find};
pub use reproduce::{Mark, Plan, Reproduced, Reproducer, Reproduction, Watcher};
pub use settings::{Parameter, Settings, SettingsError};
