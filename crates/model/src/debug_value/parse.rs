//! The parser of the text that `#[derive(Debug)]` writes.
//!
//! `{:?}` has no fixed grammar: an implementation by hand may write anything. The parser therefore checks itself. A tree
//! is written back as text, and if that is not exactly the text that was read, the value stays text.

use super::DebugValue;

/// The longest text that is parsed. A longer one is no help to a reader as a tree either.
const LONGEST: usize = 64 << 10;

/// The deepest tree. What is nested deeper stays text.
const DEEPEST: usize = 40;

/// Parses a value. Returns `None` if the text has no structure that is known.
pub(super) fn parse(text: &str) -> Option<DebugValue> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser { text, at: 0 };
    parser.value(0).filter(|value| parser.at == text.len() && value.to_string() == text)
}

/// Reads one value after the other. `None` means that the text is not as expected.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<DebugValue> {
        if depth == DEEPEST {
            return self.plain();
        }
        let name_length =
            self.rest().find(|c: char| !(c.is_alphanumeric() || "_:#".contains(c))).unwrap_or(self.rest().len());
        let name = &self.rest()[..name_length];
        // `a::b` is a name, `a: b` is a key and its value.
        let is_name = !name.starts_with(|c: char| c.is_numeric()) && !name.ends_with(':');
        let after = &self.rest()[name_length..];
        if name.is_empty() && after.starts_with('[') {
            self.at += 1;
            return self.items("]", depth).map(DebugValue::List);
        }
        if name.is_empty() && after.starts_with('{') {
            return self.braces(depth);
        }
        if is_name && after.starts_with('(') {
            self.at += name_length + 1;
            let items = self.items(")", depth)?;
            return Some(DebugValue::Tuple { name: name.to_owned(), items });
        }
        if is_name && !name.is_empty() && after.starts_with(" { ") {
            self.at += name_length + 3;
            return self.fields(name, depth);
        }
        self.plain()
    }

    /// Reads items up to a closing bracket.
    fn items(&mut self, close: &str, depth: usize) -> Option<Vec<DebugValue>> {
        let mut items = Vec::new();
        while !self.take(close) {
            if !items.is_empty() && !self.take(", ") {
                // A tuple of one item: `(1,)`.
                return (self.take(",") && self.take(close)).then_some(items);
            }
            items.push(self.value(depth + 1)?);
        }
        Some(items)
    }

    /// Reads a map or a set.
    fn braces(&mut self, depth: usize) -> Option<DebugValue> {
        self.at += 1;
        if self.take("}") {
            return Some(DebugValue::Map { entries: Vec::new() });
        }
        let first = self.value(depth + 1)?;
        if !self.take(": ") {
            let mut set = vec![first];
            while !self.take("}") {
                if !self.take(", ") {
                    return None;
                }
                set.push(self.value(depth + 1)?);
            }
            return Some(DebugValue::Set { set });
        }
        let mut entries = vec![(first, self.value(depth + 1)?)];
        while !self.take("}") {
            if !self.take(", ") {
                return None;
            }
            let key = self.value(depth + 1)?;
            if !self.take(": ") {
                return None;
            }
            entries.push((key, self.value(depth + 1)?));
        }
        Some(DebugValue::Map { entries })
    }

    /// Reads the fields of a struct, whose opening brace has been read.
    fn fields(&mut self, name: &str, depth: usize) -> Option<DebugValue> {
        let mut fields = Vec::new();
        loop {
            if self.take(".. }") {
                return Some(DebugValue::Struct { name: name.to_owned(), fields, more: true });
            }
            let length = self.rest().find(|c: char| !(c.is_alphanumeric() || "_#".contains(c)))?;
            let field = self.rest()[..length].to_owned();
            self.at += length;
            if field.is_empty() || !self.take(": ") {
                return None;
            }
            fields.push((field, self.value(depth + 1)?));
            if self.take(" }") {
                return Some(DebugValue::Struct { name: name.to_owned(), fields, more: false });
            }
            if !self.take(", ") {
                return None;
            }
        }
    }

    /// Reads a value that has no structure: up to the next `, `, `: ` or closing bracket outside of brackets and
    /// quotes.
    fn plain(&mut self) -> Option<DebugValue> {
        let start = self.at;
        let mut open = 0_usize;
        while let Some(c) = self.rest().chars().next() {
            let ends = match c {
                ',' => self.rest().starts_with(", ") || self.rest().starts_with(",)"),
                ':' => self.rest().starts_with(": "),
                ' ' => self.rest().starts_with(" }"),
                ')' | ']' | '}' => true,
                _ => false,
            };
            if ends && open == 0 {
                break;
            }
            match c {
                '"' => {
                    self.quoted()?;
                    continue;
                }
                '\'' => {
                    self.at += character(self.rest()).unwrap_or(1);
                    continue;
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        (self.at > start && open == 0).then(|| DebugValue::Text(self.text[start..self.at].to_owned()))
    }

    /// Reads a string with its quotes.
    fn quoted(&mut self) -> Option<()> {
        let mut escaped = false;
        for (k, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at += k + 1;
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns the length of the character literal at the start of a text, or `None` if there is only an apostrophe.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let length = match inner.strip_prefix('\\') {
        Some(escape) if escape.starts_with("u{") => 1 + escape.find('}')? + 1,
        Some(escape) => 1 + escape.chars().next()?.len_utf8(),
        None => inner.chars().next()?.len_utf8(),
    };
    inner[length..].starts_with('\'').then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt;

    /// Something of everything that `#[derive(Debug)]` writes.
    #[derive(Clone, Debug)]
    #[allow(dead_code, reason = "read by Debug only")]
    enum Sample {
        Unit,
        Number(i64),
        Real(f64),
        Words(String, char),
        Named { left: Box<Sample>, right: Option<Box<Sample>>, r#type: u8 },
        Many(Vec<Sample>),
        Map(BTreeMap<String, Sample>),
        Set(BTreeSet<(u8, char)>),
        Tuple((u8,), (), (bool, [u8; 2])),
        Time(std::time::Duration),
        Nothing {},
    }

    /// A stream of pseudo-random numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }

        fn text(&mut self) -> String {
            const PIECES: [&str; 14] =
                ["a", ", ", ": ", "\"", "'", "\\", "{ ", " }", ")", "]", "ß", "\n", "\u{200b}", "Some(1"];
            (0..self.below(5)).map(|_| PIECES[self.below(PIECES.len() as u64) as usize]).collect()
        }

        fn sample(&mut self, depth: u64) -> Sample {
            let next = |numbers: &mut Numbers| numbers.sample(depth - 1);
            match self.below(if depth == 0 { 4 } else { 11 }) {
                0 => Sample::Unit,
                1 => Sample::Number(self.below(2000) as i64 - 1000),
                2 => Sample::Real(self.below(2000) as f64 / 8.0),
                3 => Sample::Words(self.text(), ['x', '\'', '"', '\u{7f}', ','][self.below(5) as usize]),
                4 => Sample::Named {
                    left: Box::new(next(self)),
                    right: (self.below(2) == 0).then(|| Box::new(next(self))),
                    r#type: 1,
                },
                5 => Sample::Many((0..self.below(4)).map(|_| next(self)).collect()),
                6 => Sample::Map((0..self.below(4)).map(|_| (self.text(), next(self))).collect()),
                7 => Sample::Set((0..self.below(4)).map(|k| (k as u8, '}')).collect()),
                8 => Sample::Tuple((3,), (), (true, [1, 2])),
                9 => Sample::Time(std::time::Duration::from_millis(self.below(5000))),
                _ => Sample::Nothing {},
            }
        }
    }

    /// Returns the tree that the sample should become, written without looking at text.
    fn expected(sample: &Sample) -> DebugValue {
        let text = |value: &dyn fmt::Debug| DebugValue::Text(format!("{value:?}"));
        let tuple = |name: &str, items| DebugValue::Tuple { name: name.into(), items };
        match sample {
            Sample::Unit | Sample::Nothing {} => text(sample),
            Sample::Number(n) => tuple("Number", vec![text(n)]),
            Sample::Real(x) => tuple("Real", vec![text(x)]),
            Sample::Time(time) => tuple("Time", vec![text(time)]),
            Sample::Words(words, letter) => tuple("Words", vec![text(words), text(letter)]),
            Sample::Named { left, right, r#type } => DebugValue::Struct {
                name: "Named".into(),
                fields: vec![
                    ("left".into(), expected(left)),
                    (
                        "right".into(),
                        match right {
                            Some(right) => tuple("Some", vec![expected(right)]),
                            None => text(right),
                        },
                    ),
                    ("type".into(), text(r#type)),
                ],
                more: false,
            },
            Sample::Many(items) => tuple("Many", vec![DebugValue::List(items.iter().map(expected).collect())]),
            Sample::Map(map) => {
                let entries = map.iter().map(|(key, value)| (text(key), expected(value))).collect();
                tuple("Map", vec![DebugValue::Map { entries }])
            }
            Sample::Set(set) if set.is_empty() => tuple("Set", vec![DebugValue::Map { entries: Vec::new() }]),
            Sample::Set(set) => {
                let set = set.iter().map(|(number, letter)| tuple("", vec![text(number), text(letter)])).collect();
                tuple("Set", vec![DebugValue::Set { set }])
            }
            Sample::Tuple(..) => tuple(
                "Tuple",
                vec![
                    tuple("", vec![text(&3)]),
                    tuple("", Vec::new()),
                    tuple("", vec![text(&true), DebugValue::List(vec![text(&1), text(&2)])]),
                ],
            ),
        }
    }

    #[test]
    fn derived_output_becomes_the_expected_tree() {
        let mut numbers = Numbers(7);
        for k in 0..5_000 {
            let sample = numbers.sample(k % 5);
            assert_eq!(DebugValue::parse(&format!("{sample:?}")), expected(&sample), "{sample:?}");
        }
    }

    #[test]
    fn any_text_is_kept_as_it_is() {
        let mut numbers = Numbers(3);
        let broken = ["", "{", "}", "a {", "A { b", "A { b: 1, }", "(1, 2", "it's ok", "f(x) = [y]", "\"open", "1, 2"];
        for text in broken.map(str::to_owned).into_iter().chain((0..20_000).map(|_| numbers.text() + &numbers.text())) {
            assert_eq!(DebugValue::parse(&text).to_string(), text);
        }
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert_eq!(DebugValue::parse(&deep).to_string(), deep);
    }

    #[test]
    fn what_the_standard_library_writes_is_understood() {
        use std::sync::{Arc, Mutex, atomic::AtomicU32};
        let mutex = DebugValue::parse(&format!("{:?}", Arc::new(Mutex::new(vec![AtomicU32::new(1)]))));
        assert!(matches!(&mutex, DebugValue::Struct { more: true, fields, .. } if fields.len() == 2), "{mutex:?}");
        let address = DebugValue::parse(&format!("{:?}", (std::net::Ipv6Addr::LOCALHOST, b"a\"b", ..3)));
        assert!(matches!(&address, DebugValue::Tuple { items, .. } if items.len() == 3), "{address:?}");
    }
}
