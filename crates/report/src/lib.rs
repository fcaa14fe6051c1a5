//! Presents a verdict as JSON, as terminal text, or as the text of a failing test.
//!
//! One [`Verdict`](whippet_model::Verdict) and one [`RunInfo`] (the program, the options and the cost) become
//! * [`json`]: one versioned object, which scripts and `whippet replay` read;
//! * [`text`]: a short table and the counterexamples, for a terminal;
//! * [`failure`]: the text of a failing test.
//!
//! A [`TraceFile`] holds one finding as data; [`html`] and [`TraceFormat`] show it in other forms.
//!
//! Nothing here prints: everything is returned. Texts contain colours as escape codes; [`plain`] removes them, and the
//! streams of `anstream` remove them automatically where colours cannot be shown.

#![warn(missing_debug_implementations)]

mod advice;
pub mod assets;
mod comparison;
mod counterexample;
mod exit;
mod export;
mod failure;
mod file;
mod html;
mod json;
mod numbers;
mod run;
mod shell;
mod sources;
mod style;
mod text;
mod trace_file;
mod traced;
mod usage;

pub use advice::{Advised, advice, doubts, passing, wide_checks};
pub use comparison::{ComparedSearch, Comparison, ComparisonCell};
pub use counterexample::{Links, counterexample, headline};
pub use exit::Exit;
pub use export::TraceFormat;
pub use failure::failure;
pub use file::{create_directory, write_file};
pub use html::{html, html_of_verdict, read_source};
pub use json::{FORMAT, REPORT_VERSION, json, json_text, schedule_in};
pub use numbers::{grouped, guess, time};
pub use run::RunInfo;
pub use shell::quoted;
pub use sources::Excerpt;
pub use style::plain;
pub use text::{shortfall, text};
pub use trace_file::{TRACE_FORMAT, TRACE_VERSION, TraceFile, TraceFileError};
pub use traced::{DecidingRace, Passing, TracedFinding, TracedProgram, TracedWait};
pub use usage::{Meter, Usage};
