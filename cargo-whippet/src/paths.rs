//! Finds the paths in a source file, such as `std::sync::Mutex`. A `use` with braces stands for several paths.

/// A token that is relevant here.
enum Token<'a> {
    Word(&'a str),
    /// `::`
    Into,
    Sign(char),
}

/// Returns every path in `text`, with the line of its last word. Skips comments and strings.
pub(crate) fn paths(text: &str) -> Vec<(Vec<String>, usize)> {
    let tokens = tokens(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let begins = matches!(tokens[at].0, Token::Word(_)) && matches!(tokens.get(at + 1), Some((Token::Into, _)));
        if begins {
            tree(&tokens, &mut at, &mut Vec::new(), &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Parses a path, or a tree of paths, that begins at token `at`.
fn tree(
    tokens: &[(Token<'_>, usize)],
    at: &mut usize,
    before: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, usize)>,
) {
    let depth = before.len();
    let mut line = tokens.get(*at).map_or(0, |(_, line)| *line);
    loop {
        match tokens.get(*at) {
            Some((Token::Word(word), here)) => {
                before.push((*word).into());
                line = *here;
                *at += 1;
            }
            Some((Token::Sign('*'), here)) if before.len() > depth || depth > 0 => {
                before.push("*".into());
                line = *here;
                *at += 1;
                break;
            }
            Some((Token::Sign('{'), _)) => {
                *at += 1;
                branches(tokens, at, before, found);
                before.truncate(depth);
                return;
            }
            _ => break,
        }
        match tokens.get(*at) {
            Some((Token::Into, _)) => *at += 1,
            _ => break,
        }
    }
    if before.len() > depth {
        found.push((before.clone(), line));
    }
    before.truncate(depth);
}

/// Parses the paths inside braces.
fn branches(
    tokens: &[(Token<'_>, usize)],
    at: &mut usize,
    before: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, usize)>,
) {
    loop {
        match tokens.get(*at) {
            None => return,
            Some((Token::Sign('}'), _)) => {
                *at += 1;
                return;
            }
            Some((Token::Sign(','), _)) => *at += 1,
            Some((Token::Word("as"), _)) => *at += 2,
            Some(_) => {
                let here = *at;
                tree(tokens, at, before, found);
                *at = (*at).max(here + 1);
            }
        }
    }
}

fn tokens(text: &str) -> Vec<(Token<'_>, usize)> {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut tokens) = (0, 1, Vec::new());
    while at < bytes.len() {
        let rest = &text[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if rest.starts_with('"') {
            string(rest)
        } else if rest.starts_with("r\"")
            || rest.starts_with("r#") && rest.trim_start_matches(['r', '#']).starts_with('"')
        {
            raw_string(rest)
        } else if rest.starts_with('\'') {
            character(rest)
        } else {
            0
        };
        if skipped > 0 {
            line += rest.as_bytes()[..skipped].iter().filter(|byte| **byte == b'\n').count();
            at += skipped;
            continue;
        }
        let first = rest.chars().next().expect("there is more");
        let mut length = first.len_utf8();
        if first.is_alphabetic() || first == '_' {
            length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((Token::Word(&rest[..length]), line));
        } else if rest.starts_with("::") {
            length = 2;
            tokens.push((Token::Into, line));
        } else if !first.is_whitespace() {
            tokens.push((Token::Sign(first), line));
        }
        line += usize::from(first == '\n');
        at += length;
    }
    tokens
}

/// Returns the length of a block comment, which may contain others.
fn comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if text[at..].starts_with("*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn raw_string(text: &str) -> usize {
    let signs = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(signs));
    let start = signs + 2;
    text.get(start..).and_then(|rest| rest.find(&end)).map_or(text.len(), |at| start + at + end.len())
}

/// Returns the length of a character literal, or 0 at the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut inside = text[1..].char_indices();
    match (inside.next(), inside.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let rest = 1 + at + c.len_utf8();
            text[rest..].find('\'').map_or(0, |end| rest + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[&str]) {
        let found: Vec<String> =
            paths(text).into_iter().map(|(path, line)| format!("{}:{line}", path.join("::"))).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn paths_and_trees_of_them() {
        check("let x = std::sync::Mutex::new(5);", &["std::sync::Mutex::new:1"]);
        check(
            "use std::{\n  fmt,\n  sync::{Arc, Mutex as M, atomic::{self, AtomicU8}},\n};\nuse a::*;",
            &[
                "std::fmt:2",
                "std::sync::Arc:3",
                "std::sync::Mutex:3",
                "std::sync::atomic::self:3",
                "std::sync::atomic::AtomicU8:3",
                "a::*:5",
            ],
        );
    }

    #[test]
    fn comments_strings_and_lifetimes() {
        check(
            "// std::a\n/* std::b /* c */ */ \"std::d\" r#\"std::e\"# '\\'' 'x' fn f<'a>() {}\nstd::f",
            &["std::f:3"],
        );
    }
}
