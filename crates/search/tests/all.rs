//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod completeness;
mod driver;
mod footprints;
mod limits;
mod never_returns;
mod optimal;
mod papers;
mod parsimonious;
mod refinement;
mod sampling;
mod source;
mod stateful;
#[path = "wakeup/main.rs"]
mod wakeup;
