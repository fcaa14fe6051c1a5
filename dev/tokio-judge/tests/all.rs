//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod judge;
mod known;
mod one_thread;
mod traces;
