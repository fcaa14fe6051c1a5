//! Random actor programs, and searches compared on them.
//!
//! [`draw`] makes a program of the little language ([`whippet_search::toy`]) from a seed; [`judge`] runs every search on it
//! and compares what they see: the traces, the states in which these end, the problems and their stories.
//! The exhaustive search is the measure, and is itself compared with [`reference()`], which shares no code with
//! machines and searches. [`alike`] runs the same program as native actors, with handlers and with
//! explicit receive, and compares that too. What fails is [shrunk](shrink) and printed as a program that a
//! person can read, with its seed and the command that shows it again.
//!
//! The tests judge a fixed sample and a fresh one, whose seed is printed. Environment variables make them larger:
//!
//! * `WHIPPET_SEED`: the first seed;
//! * `WHIPPET_PROGRAMS`: how many programs, one per seed;
//! * `WHIPPET_ONLY`: only searches whose command line contains one of these words, separated by commas.
//!
//! The full number:
//!
//! ```text
//! WHIPPET_SEED=1 WHIPPET_PROGRAMS=24000 cargo test --release -p whippet-generate a_fixed_sample -- --nocapture
//! ```
//!
//! About one program in six has too many executions to be judged: it is skipped and counted.

mod draw;
mod judge;
mod likeness;
mod mixed;
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
pub use mixed::{Act, Mixed, Results, judge_mixed, mixed_settings};
pub use native::{Style, native};
pub use random::Random;
pub use reference::{End, reference};
pub use sample::{Sample, Tally};
pub use setting::{Promise, Setting};
pub use shrink::shrink;
pub use steady::{Tried, steady};
pub use trace::Trace;
pub use watch::{Log, Seen, Watch, Watched};
