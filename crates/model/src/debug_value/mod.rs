//! Values as trees, parsed from the text that `#[derive(Debug)]` writes, and the differences between two of them.

mod parse;

use crate::Change;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value as a tree, or as text where it has no structure that is known.
///
/// ```
/// use whippet_model::DebugValue;
/// let value = DebugValue::parse("Stock { apples: 5, kinds: [\"red, ripe\"] }");
/// let DebugValue::Struct { name, fields, .. } = &value else { panic!("{value:?}") };
/// assert_eq!((name.as_str(), fields[0].0.as_str()), ("Stock", "apples"));
/// assert_eq!(value.to_string(), "Stock { apples: 5, kinds: [\"red, ripe\"] }");
/// assert_eq!(serde_json::to_string(&fields[1].1).unwrap(), r#"["\"red, ripe\""]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DebugValue {
    /// A number, a string with its quotes, a variant without fields, or anything that is not understood.
    Text(String),
    /// `[1, 2]`
    List(Vec<DebugValue>),
    /// `Point { x: 1, y: 2 }`
    Struct {
        /// The name of the type or variant.
        name: String,
        /// The names and values of the fields.
        fields: Vec<(String, DebugValue)>,
        /// `true` if further fields are not shown: `Point { x: 1, .. }`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
    },
    /// `Some(1)`, or `(1, 2)` with an empty name.
    Tuple {
        /// The name of the type or variant.
        name: String,
        /// The values.
        items: Vec<DebugValue>,
    },
    /// `{1: "one"}`
    Map {
        /// The keys and values.
        entries: Vec<(DebugValue, DebugValue)>,
    },
    /// `{1, 2}`
    Set {
        /// The values.
        set: Vec<DebugValue>,
    },
}

/// The length in characters up to which a value is shown as a whole if a part of it changes.
const SHORT: usize = 40;

impl DebugValue {
    /// Parses the text that `{:?}` writes.
    ///
    /// ```
    /// use whippet_model::DebugValue;
    /// assert!(matches!(DebugValue::parse("Some(1)"), DebugValue::Tuple { .. }));
    /// assert_eq!(DebugValue::parse("Broken { a: "), DebugValue::Text("Broken { a: ".into()));
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> DebugValue {
        parse::parse(text).unwrap_or_else(|| DebugValue::Text(text.to_owned()))
    }

    /// Returns the parts that differ between two states of an actor: the fields of a struct, and where these are long,
    /// the parts in which they differ.
    ///
    /// ```
    /// use whippet_model::DebugValue;
    /// let [before, after] = ["Till { cash: 5, open: true }", "Till { cash: 3, open: true }"].map(DebugValue::parse);
    /// assert_eq!(before.changes(&after)[0].to_string(), "cash: 5 → 3");
    /// ```
    #[must_use]
    pub fn changes(&self, after: &DebugValue) -> Vec<Change> {
        let mut changes = Vec::new();
        match (self.parts(), after.parts()) {
            (Some(was), Some(is)) if same_names(&was, &is) => {
                for ((name, was), (_, is)) in was.into_iter().zip(is) {
                    // The items of a tuple have no names that a reader knows.
                    let name = if matches!(self, DebugValue::Struct { .. }) { name } else { String::new() };
                    was.compare(is, name, &mut changes);
                }
            }
            _ => self.compare(after, String::new(), &mut changes),
        }
        changes
    }

    /// Appends the differences to another value at the given path.
    fn compare(&self, after: &DebugValue, path: String, out: &mut Vec<Change>) {
        if self == after {
            return;
        }
        let (was, is) = (self.to_string(), after.to_string());
        let short = |text: &str| text.chars().nth(SHORT).is_none();
        if !(short(&was) && short(&is))
            && let (Some(mut parts), Some(other)) = (self.parts(), after.parts())
            && same_names(&parts, &other)
        {
            for ((name, was), (_, is)) in parts.drain(..).zip(other) {
                let name = if name.starts_with('[') || path.is_empty() { name } else { format!(".{name}") };
                was.compare(is, format!("{path}{name}"), out);
            }
            return;
        }
        out.push(Change::new(path, was, is));
    }

    /// Returns the parts of a value with their names, or `None` for text.
    fn parts(&self) -> Option<Vec<(String, &DebugValue)>> {
        let numbered = |items: &'_ [DebugValue]| (0..items.len()).map(|k| format!("[{k}]")).collect::<Vec<_>>();
        Some(match self {
            DebugValue::Text(_) | DebugValue::Set { .. } => return None,
            DebugValue::List(items) => numbered(items).into_iter().zip(items).collect(),
            DebugValue::Tuple { name, items } => (0..items.len()).map(|k| format!("{name}.{k}")).zip(items).collect(),
            DebugValue::Struct { fields, .. } => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
            DebugValue::Map { entries } => entries.iter().map(|(key, value)| (format!("[{key}]"), value)).collect(),
        })
    }
}

fn same_names(a: &[(String, &DebugValue)], b: &[(String, &DebugValue)]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0)
}

impl fmt::Display for DebugValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, items: &[DebugValue]) -> fmt::Result {
            for (k, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if k == 0 { "" } else { ", " })?;
            }
            Ok(())
        }
        match self {
            DebugValue::Text(text) => f.write_str(text),
            DebugValue::List(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            DebugValue::Tuple { name, items } => {
                write!(f, "{name}(")?;
                list(f, items)?;
                // A tuple of one item has a comma, a variant with one item has none.
                f.write_str(if name.is_empty() && items.len() == 1 { ",)" } else { ")" })
            }
            DebugValue::Set { set } => {
                f.write_str("{")?;
                list(f, set)?;
                f.write_str("}")
            }
            DebugValue::Map { entries } => {
                f.write_str("{")?;
                for (k, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if k == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            DebugValue::Struct { name, fields, more } => {
                write!(f, "{name} {{ ")?;
                for (k, (field, value)) in fields.iter().enumerate() {
                    write!(f, "{}{field}: {value}", if k == 0 { "" } else { ", " })?;
                }
                match (more, fields.is_empty()) {
                    (true, true) => f.write_str(".. }"),
                    (true, false) => f.write_str(", .. }"),
                    (false, _) => f.write_str(" }"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_compared_by_their_parts() {
        let texts = |before: &str, after: &str| {
            let changes = DebugValue::parse(before).changes(&DebugValue::parse(after));
            changes.iter().map(Change::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts("Pair(1, 2)", "Pair(1, 3)"), ["2 → 3"]);
        assert_eq!(texts("On", "Off"), ["On → Off"]);
        assert_eq!(
            texts("A { p: P { x: 1, y: 2 } }", "A { p: P { x: 1, y: 3 } }"),
            ["p: P { x: 1, y: 2 } → P { x: 1, y: 3 }"]
        );
        let long = "1234567890123456789012345678901234567890";
        assert_eq!(
            texts(&format!("A {{ p: P {{ x: {long}, y: [1] }} }}"), &format!("A {{ p: P {{ x: {long}, y: [2] }} }}")),
            ["p.y: [1] → [2]"]
        );
        assert_eq!(
            texts(
                &format!("A {{ stock: {{\"a\": 1, \"b\": {long}}} }}"),
                &format!("A {{ stock: {{\"a\": 2, \"b\": {long}}} }}")
            ),
            ["stock[\"a\"]: 1 → 2"]
        );
        assert_eq!(texts("[1]", "[1, 2]"), ["[1] → [1, 2]"]);
    }
}
