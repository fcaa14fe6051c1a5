//! Parses source text into a syntax tree.

pub(crate) mod ast;
mod decl;
mod expr;
mod lexer;
mod modules;
mod parser;
mod stmt;

use crate::error::Diagnostic;
use std::rc::Rc;

/// Parses a whole program. Main blocks after `first`, the end of the first file, are ignored.
pub(crate) fn parse(text: &str, first: u32) -> Result<ast::File, Diagnostic> {
    let mut parser = parser::Parser::new(lexer::tokens(text)?);
    let mut file = parser.file(first)?;
    if file.main.as_ref().is_some_and(|(_, span)| span.start >= first) {
        file.main = None;
    }
    Ok(file)
}

/// Returns the modules that a file declares and the modules it imports from. Both are empty if the text is not ABS.
pub(crate) fn modules(text: &str) -> (Vec<Rc<str>>, Vec<Rc<str>>) {
    lexer::tokens(text).map(|tokens| modules::Modules::of(&tokens).names()).unwrap_or_default()
}
