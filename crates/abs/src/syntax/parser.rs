//! Basic operations of the parser: inspecting and consuming tokens, and reporting what was expected instead.
//!
//! The parser works by recursive descent, with one file each for declarations, statements and expressions. Every
//! recursion goes through [`Parser::nested`], which bounds its depth: no input can exhaust the stack.

use super::ast::{Ident, Param, TypeUse};
use super::lexer::Token;
use super::modules::Modules;
use crate::error::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

pub(super) type Parse<T> = Result<T, Diagnostic>;

/// The maximum nesting depth of expressions, statements and types.
const MAX_NESTING: u32 = 200;

/// Words that cannot be names.
pub(super) const KEYWORDS: &[&str] = &[
    "assert",
    "await",
    "builtin",
    "case",
    "catch",
    "class",
    "data",
    "def",
    "else",
    "exception",
    "export",
    "extends",
    "finally",
    "foreach",
    "from",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "interface",
    "let",
    "local",
    "module",
    "new",
    "null",
    "return",
    "skip",
    "suspend",
    "switch",
    "then",
    "this",
    "throw",
    "try",
    "type",
    "when",
    "while",
];

/// Words that begin an unsupported construct, with the name of the construct.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("delta", "deltas"),
    ("trait", "traits"),
    ("uses", "traits"),
    ("productline", "product lines"),
    ("product", "product lines"),
    ("root", "feature models"),
    ("extension", "feature models"),
    ("recover", "recover blocks"),
    ("die", "killing objects with `die`"),
    ("movecogto", "moving object groups"),
    ("original", "deltas"),
    ("stateupd", "deltas"),
];

pub(super) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u32,
    /// The declarations and imports of all modules, to resolve names.
    pub(super) modules: Rc<Modules>,
    /// The module that is being parsed.
    pub(super) module: Rc<str>,
}

impl Parser {
    /// Creates a parser. The tokens must end with [`Token::End`].
    pub(super) fn new(tokens: Vec<(Token, Span)>) -> Parser {
        let modules = Rc::new(Modules::of(&tokens));
        Parser { tokens, at: 0, depth: 0, modules, module: "".into() }
    }

    /// Creates a parser for code embedded in the text that this one parses.
    pub(super) fn within(&self, tokens: Vec<(Token, Span)>) -> Parser {
        let (modules, module) = (self.modules.clone(), self.module.clone());
        Parser { tokens, at: 0, depth: self.depth, modules, module }
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Returns the place of the token consumed last.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(super) fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(super) fn mark(&self) -> usize {
        self.at
    }

    pub(super) fn back_to(&mut self, mark: usize) {
        self.at = mark;
    }

    /// Returns the names and dots consumed since `mark`.
    pub(super) fn text_since(&self, mark: usize) -> String {
        let part = |(token, _): &(Token, Span)| match token {
            Token::Type(word) | Token::Word(word) => word.clone(),
            _ => ".".into(),
        };
        self.tokens[mark..self.at].iter().map(part).collect()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.is_ahead(0, text)
    }

    pub(super) fn is_ahead(&self, n: usize, text: &str) -> bool {
        match self.ahead(n) {
            Token::Word(word) => word == text,
            Token::Sign(sign) => *sign == text,
            _ => false,
        }
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Parse<Span> {
        if self.is(text) { Ok(self.next().1) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Returns the diagnostic that `what` was expected at the current token.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        if let Token::Word(word) = self.peek()
            && let Some(diagnostic) = self.outside(word)
        {
            return diagnostic;
        }
        Diagnostic::new(self.span(), format!("expected {what}, found {}", self.peek()))
            .label(format!("expected {what}"))
    }

    /// Returns the diagnostic "not supported" if the word begins an unsupported construct.
    pub(super) fn outside(&self, word: &str) -> Option<Diagnostic> {
        let (_, what) = OUTSIDE.iter().find(|(begin, _)| *begin == word)?;
        Some(Diagnostic::new(self.span(), format!("not supported: {what}")).label("not supported"))
    }

    /// Runs a recursive part of the grammar one level deeper, or fails beyond the maximum depth.
    pub(super) fn nested<T>(&mut self, part: impl FnOnce(&mut Parser) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_NESTING {
            let message = format!("nested deeper than {MAX_NESTING} levels");
            return Err(Diagnostic::new(self.span(), message).help("split it into functions, methods or variables"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Parses a name that starts with a lowercase letter.
    pub(super) fn word(&mut self, what: &str) -> Parse<Ident> {
        match self.peek() {
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                let text = word.as_str().into();
                Ok(Ident { text, span: self.next().1 })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Parses a name that starts with an uppercase letter, optionally qualified with the name of a module.
    pub(super) fn type_name(&mut self, what: &str) -> Parse<Ident> {
        let mut qualifier = String::new();
        loop {
            let Token::Type(word) = self.peek() else { return Err(self.expected(what)) };
            let word = word.clone();
            let span = self.next().1;
            if !(self.is(".") && matches!(self.ahead(1), Token::Type(_))) {
                return Ok(Ident { text: self.modules.resolve(&word, &qualifier, &self.module), span });
            }
            self.next();
            if !qualifier.is_empty() {
                qualifier.push('.');
            }
            qualifier.push_str(&word);
        }
    }

    /// Parses the name of a function or selector. `qualifier` is the module written before it, or empty.
    pub(super) fn function_name(&mut self, qualifier: &str, what: &str) -> Parse<Ident> {
        let Ident { text, span } = self.word(what)?;
        Ok(Ident { text: self.modules.resolve(&text, qualifier, &self.module), span })
    }

    pub(super) fn type_use(&mut self) -> Parse<TypeUse> {
        self.nested(|p| {
            p.annotations()?;
            let name = p.type_name("a type")?;
            let mut args = Vec::new();
            if p.take("<") {
                args = p.list(Parser::type_use)?;
                p.expect(">")?;
            }
            Ok(TypeUse { name, args })
        })
    }

    /// Parses one or more parts, separated by commas.
    pub(super) fn list<T>(&mut self, mut part: impl FnMut(&mut Parser) -> Parse<T>) -> Parse<Vec<T>> {
        let mut parts = vec![part(self)?];
        while self.take(",") {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    /// Parses zero or more parts, separated by commas, and the closing delimiter.
    pub(super) fn list_until<T>(&mut self, close: &str, part: impl FnMut(&mut Parser) -> Parse<T>) -> Parse<Vec<T>> {
        if self.take(close) {
            return Ok(Vec::new());
        }
        let parts = self.list(part)?;
        self.expect(close)?;
        Ok(parts)
    }

    pub(super) fn param(&mut self) -> Parse<Param> {
        let ty = self.type_use()?;
        Ok(Param { ty, name: self.word("the name of a parameter")? })
    }

    pub(super) fn params(&mut self) -> Parse<Vec<Param>> {
        self.expect("(")?;
        self.list_until(")", Parser::param)
    }

    /// Skips annotations such as `[Cost: 5]`. They describe time or location and have no effect here.
    pub(super) fn annotations(&mut self) -> Parse<()> {
        while self.is("[") {
            self.next();
            self.list(|p| {
                let span = p.span();
                if let Token::Type(name) = p.peek() {
                    let what = match name.as_str() {
                        "Scheduler" => Some("user-defined schedulers"),
                        "Foreign" => Some("foreign code"),
                        _ => None,
                    };
                    if let Some(what) = what {
                        return Err(Diagnostic::new(span, format!("not supported: {what}")));
                    }
                }
                let mark = p.mark();
                if p.type_use().is_err() || !p.take(":") {
                    p.back_to(mark);
                }
                p.expr().map(drop)
            })?;
            self.expect("]")?;
        }
        Ok(())
    }
}
