//! Random actor programs, and a comparison of all searches on them.
//!
//! [`draw`] generates a program of the toy language ([`whippet_search::toy`]) from a seed. [`judge`] runs every
//! search on it and compares the results: the traces, their final states, the problems and the counterexamples. The
//! exhaustive search serves as the standard, and is itself compared with [`reference()`], which shares no code with
//! machines and searches. [`alike`] executes the same program as native actors, with handlers and with explicit
//! receive, and compares the results too. A program that fails is [shrunk](shrink) and printed in readable form, with
//! its seed and the command that reproduces the failure.
//!
//! The tests use a fixed sample and a fresh one, whose seed is printed. Environment variables choose other samples:
//!
//! * `WHIPPET_SEED`: the first seed;
//! * `WHIPPET_PROGRAMS`: the number of programs, one per seed;
//! * `WHIPPET_ONLY`: only searches whose command line contains one of these words, separated by commas.
//!
//! The full run:
//!
//! ```text
//! WHIPPET_SEED=1 WHIPPET_PROGRAMS=24000 cargo test --release -p whippet-generate a_fixed_sample -- --nocapture
//! ```
//!
//! Each kind of fault with each other one, and each search, on 10,000 programs:
//!
//! ```text
//! WHIPPET_SEED=1 WHIPPET_PROGRAMS=10000 cargo test --release -p whippet-generate a_fixed_sample_of_pairs -- --nocapture
//! ```
//!
//! About one program in six has too many executions for the comparison. Such programs are skipped and counted.

mod declared;
mod draw;
mod faulty;
mod judge;
mod likeness;
mod mixed;
mod native;
mod pairs;
mod random;
mod reference;
mod sample;
mod setting;
mod shrink;
mod steady;
mod trace;
mod watch;

pub use declared::{DeclaredKind, declared, judge_declared};
pub use draw::{Family, draw, draw_from};
pub use faulty::{FaultKind, fault_settings, faulty, judge_faulty};
pub use judge::{Answer, Failure, Judged, Size, answer, compare, compare_stories, judge};
pub use likeness::alike;
pub use mixed::{Act, Mixed, Results, judge_mixed, mixed_settings};
pub use native::{Style, native};
pub use pairs::{Ingredient, judge_paired, paired};
pub use random::Random;
pub use reference::{End, reference};
pub use sample::{Sample, Tally};
pub use setting::{Guarantee, Setting};
pub use shrink::shrink;
pub use steady::{Tried, steady};
pub use trace::Trace;
pub use watch::{Log, Seen, SharedLog, watch};

/// The code of the page on adapters, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/write-your-own-adapter.md")]
mod write_your_own_adapter {}
