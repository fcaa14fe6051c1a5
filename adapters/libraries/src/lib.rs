//! Programs on unmodified libraries.

pub mod clients;
pub mod ping_pong;
