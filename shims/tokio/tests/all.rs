//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod attributes;
mod common;
mod counts;
mod generated;
mod merging;
mod names;
mod orders;
mod outside;
mod panics;
mod points;
mod shapes;
mod spinning;
mod stalls;
mod system;
mod threads;
