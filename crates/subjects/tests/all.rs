//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod counts;
mod protocols;
mod published;
mod tables;
