//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod clients;
#[path = "../../../shims/tokio/tests/common/mod.rs"]
mod common;
mod streams;
