//! Programs that use unmodified libraries.

pub mod clients;
pub mod ping_pong;
