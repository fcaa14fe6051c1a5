//! Random actor programs, and searches compared on them.

mod draw;
mod judge;
mod likeness;
mod native;
mod random;
mod reference;
mod sample;
mod setting;
mod shrink;
mod steady;
mod trace;
mod watch;

pub use draw::{Family, draw, draw_from};
pub use judge::{Answer, Failure, Judged, Size, answer, compare, compare_stories, judge};
pub use likeness::alike;
pub use native::{Style, native};
pub use random::Random;
pub use reference::{End, reference};
pub use sample::{Sample, Tally};
pub use setting::{Promise, Setting};
pub use shrink::shrink;
pub use steady::{Tried, steady};
pub use trace::Trace;
pub use watch::{Log, Seen, Watch, Watched};
