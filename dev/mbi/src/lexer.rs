//! Tokens of C.

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(i64),
    Text,
    /// An operator or a bracket.
    Sign(&'static str),
}

const SIGNS: &[&str] = &[
    "<<=", ">>=", "++", "--", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "&&", "||", "->", "(", ")", "{",
    "}", "[", "]", ";", ",", "=", "+", "-", "*", "/", "%", "<", ">", "!", "&", "|", "?", ":", ".",
];

/// The tokens of a program, and the values of its `#define`s.
type Tokens = (Vec<Token>, Vec<(String, i64)>);

/// Returns the tokens of a program, without comments and directives, and the values of its `#define`s.
pub(crate) fn tokens(text: &str) -> Result<Tokens, String> {
    let mut defines = Vec::new();
    let mut code = String::new();
    for line in without_comments(text).lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            code.push_str(line);
            code.push('\n');
            continue;
        };
        let mut words = directive.split_whitespace();
        if let (Some("define"), Some(name), Some(value)) = (words.next(), words.next(), words.next()) {
            defines.extend(value.parse().map(|value| (name.to_string(), value)));
        }
    }
    Ok((split(&code)?, defines))
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        let (end, length) = if rest[at..].starts_with("/*") { ("*/", 2) } else { ("\n", 0) };
        rest = rest[at..].find(end).map_or("", |to| &rest[at + to + length..]);
    }
    out + rest
}

fn split(code: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if first == '"' || first == '\'' {
            out.push(Token::Text);
            rest[1..].find(first).ok_or("a text does not end")? + 2
        } else if first.is_ascii_digit() {
            out.push(Token::Number(rest[..word].parse().map_err(|_| format!("number {}", &rest[..word]))?));
            word
        } else if word > 0 {
            out.push(Token::Name(rest[..word].to_string()));
            word
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or(format!("character {first}"))?;
            out.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}
