//! What a verdict looks like to whoever asked for it.
//!
//! One [`Verdict`](whippet_model::Verdict) and one [`Run`] (what was searched, how, and at what cost) become
//! * [`json`]: one versioned object, which scripts and `whippet replay` read;
//! * [`text`]: a short table and the stories, for a terminal;
//! * [`failure`]: what a failing test says.
//!
//! Nothing here prints: everything is returned. Texts carry colours as escape codes; [`plain`] takes
//! them out, and streams of `anstream` do so by themselves where nobody can see them.

mod exit;
mod failure;
mod json;
mod numbers;
mod run;
mod story;
mod style;
mod text;
mod usage;

pub use exit::Exit;
pub use failure::failure;
pub use json::{FORMAT, REPORT_VERSION, json, json_text, schedule_in};
pub use numbers::{grouped, guess};
pub use run::Run;
pub use story::{headline, story};
pub use style::plain;
pub use text::{shortfall, text};
pub use usage::{Meter, Usage};
