//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod asides;
mod common;
mod counts;
mod generated;
mod names;
mod orders;
mod shapes;
