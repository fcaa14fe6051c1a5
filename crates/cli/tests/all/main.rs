//! End-to-end tests of the built command.

mod checkpoint;
mod common;
mod docs;
mod files;
mod replay;
mod selection;
mod tables;
mod usage;
mod verdicts;
