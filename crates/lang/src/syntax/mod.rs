//! Source text to syntax tree.

pub(crate) mod ast;
mod decl;
mod expr;
mod lexer;
mod modules;
mod parser;
mod stmt;

use crate::source::Fault;
use std::rc::Rc;

/// Parses a whole program. Main blocks behind `first`, where its first file ends, are not its own and left out.
pub(crate) fn parse(text: &str, first: u32) -> Result<ast::File, Fault> {
    let mut parser = parser::Parser::new(lexer::tokens(text)?);
    let mut file = parser.file(first)?;
    if file.main.as_ref().is_some_and(|(_, span)| span.start >= first) {
        file.main = None;
    }
    Ok(file)
}

/// The modules that a file has, and those that it imports from. Nothing of a file that is no ABS.
pub(crate) fn modules(text: &str) -> (Vec<Rc<str>>, Vec<Rc<str>>) {
    lexer::tokens(text).map(|tokens| modules::Modules::of(&tokens).names()).unwrap_or_default()
}
