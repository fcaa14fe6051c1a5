//! Programs on unmodified libraries.

pub mod clients;
