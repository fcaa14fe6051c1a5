//! The parts of the report that the page of the explorer uses, too.

/// The colours and the style of the diagram.
///
/// ```
/// assert!(whippet_report::assets::CSS.contains("prefers-color-scheme: dark"));
/// ```
pub const CSS: &str = include_str!("../assets/page.css");

/// The layout of the diagram: a script that defines `WhippetLayout`, pure functions on traces.
///
/// ```
/// assert!(whippet_report::assets::LAYOUT.contains("globalThis.WhippetLayout"));
/// ```
pub const LAYOUT: &str = include_str!("../assets/layout.js");

/// Values as trees with their differences: a script that defines `WhippetValues`.
///
/// ```
/// assert!(whippet_report::assets::VALUES.contains("globalThis.WhippetValues"));
/// ```
pub const VALUES: &str = include_str!("../assets/values.js");

/// The diagram beside the steps: a script that defines `WhippetDiagram`, which draws a trace with that layout.
///
/// ```
/// assert!(whippet_report::assets::DIAGRAM.contains("globalThis.WhippetDiagram"));
/// ```
pub const DIAGRAM: &str = include_str!("../assets/diagram.js");
