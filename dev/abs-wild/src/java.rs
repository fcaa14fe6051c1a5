//! Extracts the checks of the reference implementation from the Java sources of its tests.
//!
//! A check is a call such as `assertTypeErrors("…")`. Its program is a string, a concatenation of strings, a text block, a
//! constant of the file, or `new File("…")`. Calls with other arguments (programs that the test computes) are left out.

use rustc_hash::FxHashMap;

/// A call of a method whose name begins with `assert`.
pub(crate) struct Call {
    pub(crate) name: String,
    /// The program, or the path of its file.
    pub(crate) program: Program,
    /// The other arguments, as written.
    pub(crate) rest: String,
    pub(crate) line: usize,
}

pub(crate) enum Program {
    Text(String),
    File(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Str(String),
    Sign(char),
}

/// Returns all checks in a Java source.
pub(crate) fn calls(source: &str) -> Vec<Call> {
    let tokens = tokens(source);
    let mut constants: FxHashMap<String, String> = FxHashMap::default();
    let mut calls = Vec::new();
    for at in 0..tokens.len() {
        let Token::Word(name) = &tokens[at].0 else { continue };
        if let Some((Token::Sign('='), _)) = tokens.get(at + 1)
            && let Some((text, end)) = text(&tokens, at + 2, &constants)
            && is(&tokens, end, ';')
        {
            constants.insert(name.clone(), text);
        }
        if !name.starts_with("assert") || !is(&tokens, at + 1, '(') {
            continue;
        }
        let found = match text(&tokens, at + 2, &constants) {
            Some((text, end)) => Some((Program::Text(text), end)),
            None => file(&tokens, at + 2).map(|(path, end)| (Program::File(path), end)),
        };
        let Some((program, end)) = found else { continue };
        if !is(&tokens, end, ',') && !is(&tokens, end, ')') {
            continue;
        }
        let rest = rest(&tokens, end);
        calls.push(Call { name: name.clone(), program, rest, line: tokens[at].1 });
    }
    calls
}

fn is(tokens: &[(Token, usize)], at: usize, sign: char) -> bool {
    matches!(tokens.get(at), Some((Token::Sign(found), _)) if *found == sign)
}

/// Reads strings and constants joined by `+`; returns their text and the index after them.
fn text(tokens: &[(Token, usize)], mut at: usize, constants: &FxHashMap<String, String>) -> Option<(String, usize)> {
    let mut all = String::new();
    loop {
        match &tokens.get(at)?.0 {
            Token::Str(part) => all.push_str(part),
            Token::Word(name) => all.push_str(constants.get(name)?),
            Token::Sign(_) => return None,
        }
        at += 1;
        if !is(tokens, at, '+') {
            return Some((all, at));
        }
        at += 1;
    }
}

/// Reads `new File("…")`; returns the path and the index after it.
fn file(tokens: &[(Token, usize)], at: usize) -> Option<(String, usize)> {
    let word = |at: usize, text: &str| matches!(tokens.get(at), Some((Token::Word(word), _)) if word == text);
    let Some((Token::Str(path), _)) = tokens.get(at + 3) else { return None };
    (word(at, "new") && word(at + 1, "File") && is(tokens, at + 2, '(') && is(tokens, at + 4, ')'))
        .then(|| (path.clone(), at + 5))
}

/// Returns the arguments from `at` to the end of the call, as words.
fn rest(tokens: &[(Token, usize)], at: usize) -> String {
    let (mut depth, mut words) = (1, Vec::new());
    for (token, _) in &tokens[at..] {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            Token::Word(word) => words.push(word.clone()),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words.join(" ")
}

fn tokens(source: &str) -> Vec<(Token, usize)> {
    let (mut rest, mut line, mut tokens) = (source, 1, Vec::new());
    while let Some(first) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(inner) = rest.strip_prefix("\"\"\"") {
            let end = inner.find("\"\"\"").unwrap_or(inner.len());
            tokens.push((
                Token::Str(unescape(inner[..end].trim_start_matches([' ', '\r']).trim_start_matches('\n'))),
                line,
            ));
            (end + 6).min(rest.len())
        } else if first == '"' || first == '\'' {
            let end = quoted(rest, first);
            if first == '"' {
                tokens.push((Token::Str(unescape(&rest[1..end - 1])), line));
            }
            end
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            tokens.push((Token::Word(rest[..end].into()), line));
            end
        } else {
            if !first.is_whitespace() {
                tokens.push((Token::Sign(first), line));
            }
            first.len_utf8()
        };
        line += rest[..skip].matches('\n').count();
        rest = &rest[skip..];
    }
    tokens
}

/// Returns the length of a quoted literal, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn unescape(text: &str) -> String {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
