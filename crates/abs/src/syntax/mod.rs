//! Parses source text into a syntax tree.

pub(crate) mod ast;
mod decl;
mod expr;
mod lexer;
mod modules;
mod parser;
mod stmt;
mod traits;

pub(crate) use traits::apply as apply_traits;

use crate::error::Diagnostic;
use std::ops::Range;
use std::rc::Rc;

/// Parses a whole program whose files are these ranges of the text. Main blocks after `first`, the end of the first
/// file, are ignored.
pub(crate) fn parse(text: &str, first: u32, files: &[Range<u32>]) -> Result<ast::File, Diagnostic> {
    let mut parser = parser::Parser::new(lexer::tokens(text)?, files, library_names(text));
    let mut file = parser.file(first)?;
    file.older = parser.older.to_vec();
    file.visibility = parser.invisible_names();
    if file.main.as_ref().is_some_and(|(_, span)| span.start >= first) {
        file.main = None;
    }
    Ok(file)
}

/// Returns the modules that a file declares and the modules it imports from. Both are empty if the text is not ABS.
pub(crate) fn modules(text: &str) -> (Vec<Rc<str>>, Vec<Rc<str>>) {
    lexer::tokens(text).map(|tokens| modules::Modules::of(&tokens, Rc::default()).names()).unwrap_or_default()
}

/// The library, in ABS.
pub(crate) const PRELUDE: &str = include_str!("../prelude.abs");

/// Returns the names that the library declares; none for the library itself.
fn library_names(text: &str) -> Rc<modules::Names> {
    thread_local! {
        static NAMES: Rc<modules::Names> = {
            let tokens = lexer::tokens(PRELUDE).expect("the prelude is valid");
            Rc::new(modules::Modules::of(&tokens, Rc::default()).declarations())
        };
    }
    if std::ptr::eq(text, PRELUDE) { Rc::default() } else { NAMES.with(Rc::clone) }
}
