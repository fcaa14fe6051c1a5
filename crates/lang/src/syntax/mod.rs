//! Source text to syntax tree.

pub(crate) mod ast;
mod decl;
mod expr;
mod lexer;
mod parser;
mod stmt;

use crate::source::Fault;

/// Parses a whole file.
pub(crate) fn parse(text: &str) -> Result<ast::File, Fault> {
    let mut parser = parser::Parser::new(lexer::tokens(text)?);
    parser.file()
}
