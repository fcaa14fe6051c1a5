//! Finds the paths in a source file, such as `std::sync::Mutex`. A `use` with braces stands for several paths.
//!
//! The file is split into tokens and not parsed any further: so paths in the arguments of macros are found too, and files
//! for which the syntax of this compiler is too old or too new are understood.

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// A path and the line of its last word.
pub(crate) type Found = (Vec<String>, usize);

/// Returns every path in `text`. Comments and strings have none.
pub(crate) fn paths(text: &str) -> Result<Vec<Found>, LexError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A first line for the shell is not Rust. It is kept as a comment, because lines are counted.
    let script = text.starts_with("#!") && !text[2..].trim_start().starts_with('[');
    let stream = if script { format!("//{text}").parse() } else { text.parse::<TokenStream>() };
    let mut found = Vec::new();
    let result = stream.map(|stream| walk(stream, &mut found));
    // The positions of the tokens are not needed any more. Without this, the texts of all files are kept.
    proc_macro2::extra::invalidate_current_thread_spans();
    result.map(|()| found)
}

fn walk(stream: TokenStream, found: &mut Vec<Found>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(_) if is_separator(&tokens, at + 1) => tree(&tokens, &mut at, &mut Vec::new(), found),
            TokenTree::Group(group) => {
                walk(group.stream(), found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Returns `true` if `::` is at this position.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_sign(tokens.get(at), ':') && is_sign(tokens.get(at + 1), ':')
}

/// Reads a path, or a tree of paths, that begins at token `at`.
fn tree(tokens: &[TokenTree], at: &mut usize, before: &mut Vec<String>, found: &mut Vec<Found>) {
    let depth = before.len();
    let mut line = 0;
    loop {
        match tokens.get(*at) {
            Some(TokenTree::Ident(word)) => {
                before.push(word.to_string());
                line = word.span().start().line;
                *at += 1;
            }
            Some(TokenTree::Punct(sign)) if sign.as_char() == '*' && !before.is_empty() => {
                before.push("*".into());
                line = sign.span().start().line;
                *at += 1;
                break;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && !before.is_empty() => {
                branches(group.stream(), before, found);
                *at += 1;
                before.truncate(depth);
                return;
            }
            _ => break,
        }
        if !is_separator(tokens, *at) {
            break;
        }
        *at += 2;
    }
    if before.len() > depth {
        found.push((before.clone(), line));
    }
    before.truncate(depth);
}

/// Reads the paths inside braces.
fn branches(stream: TokenStream, before: &mut Vec<String>, found: &mut Vec<Found>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "as" => at += 2,
            TokenTree::Punct(sign) if sign.as_char() == ',' => at += 1,
            _ => {
                let here = at;
                tree(&tokens, &mut at, before, found);
                at = at.max(here + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[&str]) {
        let found = paths(text).unwrap();
        let found: Vec<String> = found.into_iter().map(|(path, line)| format!("{}:{line}", path.join("::"))).collect();
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
        check(
            "f(&Vec::<std::sync::Once>::new()) { m!(a::b ? ::c::d) }",
            &["Vec:1", "std::sync::Once:1", "a::b:1", "c::d:1"],
        );
    }

    #[test]
    fn comments_strings_and_lifetimes() {
        check(
            "// std::a\n/* std::b /* c */ */ \"std::d\" r#\"std::e\"# '\\'' 'x' fn f<'a>() {}\nstd::f",
            &["std::f:3"],
        );
        check("/// std::a\n//! std::b\nstd::c", &["std::c:3"]);
        check("#!/usr/bin/env run\nstd::a", &["std::a:2"]);
        check("\u{feff}#![allow(a::b)]\nstd::c", &["a::b:1", "std::c:2"]);
    }

    #[test]
    fn what_is_not_rust_is_an_error() {
        assert!(paths("fn f( {").is_err());
    }
}
