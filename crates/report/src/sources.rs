//! Excerpts of the source files that a trace mentions.

use crate::TraceFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use whippet_model::TraceEvent;

/// The number of lines before and after a line that are part of its excerpt.
const AROUND: u32 = 5;

impl TraceFile {
    /// Adds excerpts of the source files that the trace mentions. `read` returns the text of a file, or `None` if it
    /// cannot be read.
    ///
    /// ```
    /// # let verdict = whippet::Checker::new("picky").explore(|sys| {
    /// #     let picky = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| assert!(inbox.receive().await == 1, "not mine"));
    /// #     sys.send(picky, 2);
    /// # }).unwrap();
    /// use whippet_report::TraceFile;
    /// let file = TraceFile::of_finding(&verdict.findings[0]).with_sources(|_file| Some("fn main() {}\n".repeat(100)));
    /// assert!(file.sources.iter().all(|excerpt| excerpt.lines.len() < 20));
    /// ```
    #[must_use]
    pub fn with_sources(mut self, read: impl Fn(&str) -> Option<String>) -> TraceFile {
        let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let passing = self.passing.iter().flat_map(|passing| &passing.trace.events);
        let events = self.trace.events.iter().chain(passing);
        let touched = |event: &TraceEvent| event.touches.iter().map(|touch| touch.place.clone()).collect::<Vec<_>>();
        let places =
            events.flat_map(|event| [event.place.clone(), event.sent_at.clone()].into_iter().chain(touched(event)));
        let actors = self.trace.actors.iter().map(|actor| actor.place.clone());
        let places = places.chain(actors).chain([self.finding.place.clone()]);
        for place in places.flatten() {
            if let Some((file, line)) = place.rsplit_once(':')
                && let Ok(line) = line.parse()
            {
                wanted.entry(file.to_string()).or_default().insert(line);
            }
        }
        for (file, lines) in wanted {
            let Some(text) = read(&file) else { continue };
            let text: Vec<&str> = text.lines().collect();
            let mut excerpts: Vec<(u32, u32)> = Vec::new();
            for line in lines.into_iter().filter(|&line| line >= 1 && line as usize <= text.len()) {
                let (first, last) = (line.saturating_sub(AROUND).max(1), (line + AROUND).min(text.len() as u32));
                match excerpts.last_mut() {
                    Some(before) if before.1 + 1 >= first => before.1 = last,
                    _ => excerpts.push((first, last)),
                }
            }
            self.sources.extend(excerpts.into_iter().map(|(first, last)| Excerpt {
                file: file.clone(),
                first,
                lines: text[first as usize - 1..last as usize].iter().map(ToString::to_string).collect(),
            }));
        }
        self
    }
}

/// Some lines of a source file.
///
/// ```
/// let excerpt = whippet_report::Excerpt { file: "src/lib.rs".into(), first: 10, lines: vec!["fn main() {}".into()] };
/// assert_eq!(excerpt.lines.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The file, as in the places of the trace.
    pub file: String,
    /// The number of the first line, counted from 1.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
}
