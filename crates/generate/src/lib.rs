//! Random actor programs, and searches compared on them.

mod draw;
mod random;
mod shrink;

pub use draw::{Family, draw, draw_from};
pub use random::Random;
pub use shrink::shrink;
