//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod borders;
#[path = "cache.rs"]
mod cache_example;
mod crashes;
mod examples;
mod faults;
mod fields;
mod futures;
mod histories;
mod messages;
mod outcomes;
mod output;
#[path = "register.rs"]
mod register_example;
mod selection;
mod sync;
