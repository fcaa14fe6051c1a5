//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod borders;
#[path = "cache.rs"]
mod cache_example;
mod examples;
mod faults;
mod fields;
mod futures;
mod messages;
mod output;
mod selection;
mod sync;
