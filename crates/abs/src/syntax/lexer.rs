//! Splits source text into tokens.

use crate::error::Diagnostic;
use crate::source::Span;
use std::fmt;

/// One token. Keywords are identifiers: the parser recognizes them where they have a meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// An identifier that starts with a lowercase letter, or a keyword.
    Word(String),
    /// An identifier that starts with an uppercase letter: a type, a constructor or a class.
    Type(String),
    /// The digits of a whole number.
    Int(String),
    Float(f64),
    Str(String),
    /// The pieces of a template string: texts and the tokens of embedded expressions, alternating.
    Template(Vec<Piece>),
    Sign(&'static str),
    End,
}

/// A piece of a template string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// The tokens of `$expression$`.
    Code(Vec<(Token, Span)>),
}

/// All operators and delimiters. An operator comes before its prefixes, since the first match is taken.
const SIGNS: &[&str] = &[
    "<->", "=>", "==", "!=", "<=", ">=", "&&", "||", "->", "!", "-", "*", "/", "%", "+", "<", ">", "=", "(", ")", "{",
    "}", "[", "]", ",", ";", ".", "?", "&", ":", "|", "_", "~", "'",
];

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Type(text) | Token::Int(text) => write!(f, "`{text}`"),
            Token::Float(number) => write!(f, "`{number}`"),
            Token::Str(text) => write!(f, "the string \"{text}\""),
            Token::Template(_) => f.write_str("a template string"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// Splits text into tokens; the last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    if text.len() > u32::MAX as usize / 2 {
        return Err(Diagnostic::new(Span::new(0, 0), "the file is larger than two gigabytes"));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut out = Vec::new();
    loop {
        lexer.skip_space()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let end = token == Token::End;
        out.push((token, Span::new(start, lexer.at)));
        if end {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let start = self.at;
                match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => return Err(Diagnostic::new(Span::new(start, start + 2), "unterminated comment")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let Some(c) = self.peek() else { return Ok(Token::End) };
        if c.is_ascii_alphabetic() {
            let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_string();
            return Ok(if c.is_ascii_uppercase() { Token::Type(word) } else { Token::Word(word) });
        }
        if c.is_ascii_digit() || (c == '.' && self.rest()[1..].starts_with(|d: char| d.is_ascii_digit())) {
            return self.number();
        }
        if c == '"' {
            return self.string();
        }
        if c == '`' {
            return self.template();
        }
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.at += sign.len();
            return Ok(Token::Sign(sign));
        }
        let span = Span::new(start, start + c.len_utf8());
        Err(Diagnostic::new(span, format!("unexpected character `{}`", c.escape_default())))
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        let mut float = false;
        if self.rest().starts_with('.') && self.rest()[1..].starts_with(|d: char| d.is_ascii_digit()) {
            float = true;
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
            let mark = self.at;
            if self.rest().starts_with(['e', 'E']) {
                self.at += 1;
                if self.rest().starts_with(['+', '-']) {
                    self.at += 1;
                }
                if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                    self.at = mark;
                }
            }
        }
        let text = &self.text[start..self.at];
        if float {
            return Ok(Token::Float(text.parse().expect("digits, a dot and digits are a number")));
        }
        if text.len() > 1000 {
            return Err(Diagnostic::new(Span::new(start, self.at), "a number has more than a thousand digits"));
        }
        Ok(Token::Int(text.into()))
    }

    fn string(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(Token::Str(text)),
                '\\' => text.push(self.escape(start)?),
                '\n' => break,
                c => text.push(c),
            }
        }
        Err(Diagnostic::new(Span::new(start, start + 1), "unterminated string").label("starts here"))
    }

    fn escape(&mut self, start: usize) -> Result<char, Diagnostic> {
        let Some(c) = self.peek() else {
            return Err(Diagnostic::new(Span::new(start, start + 1), "unterminated string").label("starts here"));
        };
        self.at += c.len_utf8();
        match c {
            'n' => Ok('\n'),
            't' => Ok('\t'),
            'r' => Ok('\r'),
            '"' | '\\' | '`' | '$' => Ok(c),
            other => {
                Err(Diagnostic::new(Span::new(self.at - other.len_utf8() - 1, self.at), "unknown escape sequence")
                    .help("expected one of \\\\ \\\" \\n \\t \\r"))
            }
        }
    }

    /// Reads a template string: `` `text $expression$ text` ``.
    fn template(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '`' => {
                    pieces.push(Piece::Text(text));
                    return Ok(Token::Template(pieces));
                }
                '\\' if self.rest().starts_with(['`', '$']) => text.push(self.escape(start)?),
                '$' => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Code(self.template_code(start)?));
                }
                c => text.push(c),
            }
        }
        Err(Diagnostic::new(Span::new(start, start + 1), "unterminated template string").label("starts here"))
    }

    fn template_code(&mut self, start: usize) -> Result<Vec<(Token, Span)>, Diagnostic> {
        let from = self.at;
        let unclosed = || Diagnostic::new(Span::new(start, start + 1), "unterminated template string");
        let length = self.rest().find(['$', '`']).ok_or_else(unclosed)?;
        if !self.rest()[length..].starts_with('$') {
            return Err(unclosed().help("an expression in a template string ends with `$`"));
        }
        let inner = tokens(&self.text[from..from + length]).map_err(|mut diagnostic| {
            diagnostic.span = Span::new(diagnostic.span.start as usize + from, diagnostic.span.end as usize + from);
            diagnostic
        })?;
        self.at = from + length + 1;
        let moved = |span: Span| Span::new(span.start as usize + from, span.end as usize + from);
        Ok(inner.into_iter().map(|(token, span)| (token, moved(span))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_words_numbers_signs() {
        let texts: Vec<String> = tokens("Int x1 = 12 <= 1.5e3; // end\n/* c */ o!m()")
            .unwrap()
            .into_iter()
            .map(|(token, _)| token.to_string())
            .collect();
        let expected = "`Int` `x1` `=` `12` `<=` `1500` `;` `o` `!` `m` `(` `)` the end of the file";
        assert_eq!(texts.join(" "), expected);
    }

    #[test]
    fn errors_have_spans() {
        assert_eq!(tokens("x = \"abc").unwrap_err().span, Span::new(4, 5));
        assert_eq!(tokens("x § y").unwrap_err().span, Span::new(2, 4));
        assert!(tokens("/* never").unwrap_err().message.contains("unterminated"));
        assert!(tokens("`a $x").unwrap_err().message.contains("unterminated"));
    }

    #[test]
    fn template_string_pieces() {
        let (token, _) = tokens("`a $x+1$ b`").unwrap().remove(0);
        let Token::Template(pieces) = token else { panic!("no template") };
        assert_eq!(pieces.len(), 3);
    }
}
