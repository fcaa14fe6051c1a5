//! Basic operations of the parser: inspecting and consuming tokens, and reporting what was expected instead.
//!
//! The parser works by recursive descent, with one file each for declarations, statements and expressions. Every
//! recursion goes through [`Parser::nested`], which bounds its depth: no input can exhaust the stack.

use super::ast::{Annotation, Expr, ExprKind, Ident, Param, TypeUse};
use super::lexer::Token;
use super::modules::{Modules, NameKind, Names};
use crate::error::Diagnostic;
use crate::source::Span;
use std::cell::RefCell;
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
    ("uses", "deltas"),
    ("productline", "product lines"),
    ("product", "product lines"),
    ("root", "feature models"),
    ("extension", "feature models"),
    ("recover", "recover blocks"),
    ("die", "killing objects with `die`"),
    ("movecogto", "moving object groups"),
    ("stateupd", "deltas"),
];

/// Names, each with the diagnostic that it is not visible.
type InvisibleNames = Vec<(Rc<str>, Diagnostic)>;

pub(super) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u32,
    /// The declarations and imports of all modules, to resolve names.
    pub(super) modules: Rc<Modules>,
    /// The module that is being parsed.
    pub(super) module: Rc<str>,
    /// The files that contain `new cog`, as ranges of the text.
    pub(super) older: Rc<[std::ops::Range<u32>]>,
    /// The names that are not visible where they are used.
    invisible: Rc<RefCell<InvisibleNames>>,
}

impl Parser {
    /// Creates a parser. The tokens must end with [`Token::End`].
    pub(super) fn new(tokens: Vec<(Token, Span)>, files: &[std::ops::Range<u32>], library: Rc<Names>) -> Parser {
        let modules = Rc::new(Modules::of(&tokens, library));
        let older = |file: &&std::ops::Range<u32>| {
            let is = |k: usize, text: &str| matches!(&tokens[k].0, Token::Word(word) if word == text);
            let inside = |k: usize| file.contains(&tokens[k].1.start);
            (1..tokens.len()).any(|k| is(k, "cog") && is(k - 1, "new") && inside(k))
        };
        let older = files.iter().filter(older).cloned().collect();
        Parser { tokens, at: 0, depth: 0, modules, module: "".into(), older, invisible: Rc::default() }
    }

    /// Creates a parser for code embedded in the text that this one parses.
    pub(super) fn within(&self, tokens: Vec<(Token, Span)>) -> Parser {
        let (modules, module) = (self.modules.clone(), self.module.clone());
        Parser {
            tokens,
            at: 0,
            depth: self.depth,
            modules,
            module,
            older: self.older.clone(),
            invisible: self.invisible.clone(),
        }
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
        let start = self.span().start;
        self.invisible.borrow_mut().retain(|(_, diagnostic)| diagnostic.span.start < start);
    }

    /// Returns the unique name of a name that was read, and records it if it is not visible.
    fn resolve(&self, kind: NameKind, name: &str, qualifier: &str, span: Span) -> Rc<str> {
        let (unique, why) = self.modules.resolve(kind, name, qualifier, &self.module);
        if let Some(why) = why {
            self.invisible.borrow_mut().push((name.into(), Diagnostic::new(span, why)));
        }
        unique
    }

    /// Removes the names among the type parameters of a declaration that begins at `start` from the names that are not
    /// visible.
    pub(super) fn keep_generics(&self, start: Span, generics: &[Ident]) {
        let generic = |name: &Rc<str>| generics.iter().any(|generic| generic.text == *name);
        let begins = |diagnostic: &Diagnostic| diagnostic.span.start >= start.start;
        self.invisible.borrow_mut().retain(|(name, diagnostic)| !(begins(diagnostic) && generic(name)));
    }

    /// Returns the errors of modules: of imports, of exports, and of names that are not visible.
    pub(super) fn invisible_names(&self) -> Vec<Diagnostic> {
        let mut all = self.modules.problems();
        all.extend(self.invisible.borrow().iter().map(|(_, diagnostic)| diagnostic.clone()));
        all
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
    pub(super) fn type_name(&mut self, kind: NameKind, what: &str) -> Parse<Ident> {
        let mut qualifier = String::new();
        loop {
            let Token::Type(word) = self.peek() else { return Err(self.expected(what)) };
            let word = word.clone();
            let span = self.next().1;
            if !(self.is(".") && matches!(self.ahead(1), Token::Type(_))) {
                return Ok(Ident { text: self.resolve(kind, &word, &qualifier, span), span });
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
        Ok(Ident { text: self.resolve(NameKind::Function, &text, qualifier, span), span })
    }

    pub(super) fn type_use(&mut self) -> Parse<TypeUse> {
        self.nested(|p| {
            let annotations = p.annotations()?;
            let name = p.type_name(NameKind::Type, "a type")?;
            let mut args = Vec::new();
            if p.take("<") {
                args = p.list(Parser::type_use)?;
                p.expect(">")?;
            }
            let mut ty = TypeUse { name, args, nonnull: None };
            ty.annotate(&annotations);
            Ok(ty)
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

    /// Parses annotations such as `[Cost: 5]`.
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut all = Vec::new();
        while self.is("[") {
            self.next();
            all.extend(self.list(Parser::annotation)?);
            self.expect("]")?;
        }
        Ok(all)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let span = self.span();
        let word = match self.peek() {
            Token::Type(name) => Rc::from(name.as_str()),
            _ => Rc::from(""),
        };
        let what = match &*word {
            "Scheduler" => Some("user-defined schedulers"),
            "Foreign" => Some("foreign code"),
            "DataSize" | "Size" => Some("bandwidth: the time that sending data takes"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(Diagnostic::new(span, format!("not supported: {what}")).label("not supported"));
        }
        let mark = self.mark();
        if self.type_use().is_ok() && self.take(":") {
            let value = self.expr()?;
            return Ok(Annotation { name: word, span: span.to(value.span), value: Some(value) });
        }
        self.back_to(mark);
        let value: Expr = self.expr()?;
        let name = match &value.kind {
            ExprKind::Construct(..) => word,
            _ => Rc::from(""),
        };
        Ok(Annotation { name, span: span.to(value.span), value: None })
    }
}

impl TypeUse {
    /// Adds the annotations that were written before the type.
    pub(super) fn annotate(&mut self, annotations: &[Annotation]) {
        if let Some(annotation) = super::ast::annotation(annotations, "Nonnull") {
            self.nonnull = Some(annotation.span);
        }
    }
}
