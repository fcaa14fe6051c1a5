//! All tests of mailbox-and-mutex programs, in one binary.

mod common;
mod examples;
mod mpi;
mod mpi_patterns;
mod processes;
mod relation;
mod searches;
mod specification;
mod table;
mod unfolding;
