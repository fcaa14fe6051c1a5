//! Resolves which module a name belongs to.
//!
//! Nearly all programs declare a name in one module only, and the name then means the same in all modules. A name
//! that several modules declare is renamed to `M.name` with its module `M`. A use of the name is resolved, in this
//! order, by its qualifier, by the module that contains the use, and by the imports of that module.

use super::lexer::Token;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One import: a single name, or all names of a module (`None`).
struct Import {
    into: Rc<str>,
    from: Rc<str>,
    name: Option<String>,
}

/// The declarations and imports of the modules of a program.
#[derive(Default)]
pub(super) struct Modules {
    all: Vec<Rc<str>>,
    /// The modules that declare each name.
    declared: FxHashMap<String, Vec<Rc<str>>>,
    imports: Vec<Import>,
}

impl Modules {
    /// Collects declarations and imports from the tokens of a program. The parser later checks that they are well
    /// formed.
    pub(super) fn of(tokens: &[(Token, Span)]) -> Modules {
        let (mut modules, mut module, mut at) = (Modules::default(), Rc::<str>::from(""), 0);
        let token = |at: usize| tokens.get(at).map(|(token, _)| token);
        while let Some(next) = token(at) {
            at += 1;
            let Token::Word(word) = next else { continue };
            match (word.as_str(), token(at)) {
                ("module", Some(Token::Type(_))) => {
                    module = dotted(tokens, &mut at).into();
                    modules.all.push(module.clone());
                }
                ("import", Some(Token::Type(_) | Token::Word(_) | Token::Sign("*"))) => {
                    modules.import(tokens, &mut at, &module);
                }
                ("class" | "interface" | "type" | "exception", Some(Token::Type(name))) => {
                    modules.declare(name, &module)
                }
                ("data", Some(Token::Type(_))) => {
                    // Declares the type, its constructors and their selectors, but not the types of the arguments.
                    let mut inside = 0;
                    while let Some(part) = token(at).filter(|part| **part != Token::Sign(";")) {
                        match part {
                            Token::Sign("(" | "<") => inside += 1,
                            Token::Sign(")" | ">") => inside -= 1,
                            Token::Type(name) if inside == 0 => modules.declare(name, &module),
                            Token::Word(name) if inside == 1 => modules.declare(name, &module),
                            _ => {}
                        }
                        at += 1;
                    }
                }
                ("def", Some(Token::Type(_))) => {
                    while !matches!(token(at), None | Some(Token::Word(_))) {
                        at += 1;
                    }
                    if let Some(Token::Word(name)) = token(at) {
                        modules.declare(name, &module);
                    }
                }
                _ => {}
            }
        }
        modules
    }

    /// Returns the declared modules and the modules imported from.
    pub(super) fn names(self) -> (Vec<Rc<str>>, Vec<Rc<str>>) {
        (self.all, self.imports.into_iter().map(|import| import.from).collect())
    }

    fn declare(&mut self, name: &str, module: &Rc<str>) {
        let modules = self.declared.entry(name.into()).or_default();
        if !modules.contains(module) {
            modules.push(module.clone());
        }
    }

    /// Reads `import A.b, C from M;` or `import * from M;`.
    fn import(&mut self, tokens: &[(Token, Span)], at: &mut usize, into: &Rc<str>) {
        let mut names = Vec::new();
        loop {
            match tokens.get(*at).map(|(token, _)| token) {
                Some(Token::Type(_) | Token::Word(_)) if !is(tokens, *at, "from") => names.push(dotted(tokens, at)),
                Some(Token::Sign("*" | ",")) => *at += 1,
                _ => break,
            }
        }
        let mut from = None;
        if is(tokens, *at, "from") {
            *at += 1;
            from = Some(dotted(tokens, at));
        }
        if let (true, Some(from)) = (names.is_empty(), &from) {
            self.imports.push(Import { into: into.clone(), from: from.as_str().into(), name: None });
        }
        for name in names {
            let (module, name) = name.rsplit_once('.').unwrap_or(("", &name));
            let from = from.as_deref().unwrap_or(module).into();
            self.imports.push(Import { into: into.clone(), from, name: Some(name.into()) });
        }
    }

    /// Returns the unique name, as used by the rest of the front end, of a `name` used in `module`. `qualifier` is
    /// the module written before the name, or empty.
    pub(super) fn resolve(&self, name: &str, qualifier: &str, module: &str) -> Rc<str> {
        let several = self.declared.get(name).filter(|modules| modules.len() > 1);
        let Some(modules) = several else { return name.into() };
        let meant = |wanted: &str| modules.iter().find(|known| &***known == wanted);
        let imported = || {
            let here = self.imports.iter().filter(|import| &*import.into == module);
            here.filter(|import| import.name.as_deref().is_none_or(|known| known == name))
                .find_map(|import| meant(&import.from))
        };
        match meant(qualifier).or_else(|| meant(module)).or_else(imported) {
            Some(module) => format!("{module}.{name}").into(),
            None => name.into(),
        }
    }
}

fn is(tokens: &[(Token, Span)], at: usize, word: &str) -> bool {
    matches!(tokens.get(at), Some((Token::Word(found), _)) if found == word)
}

/// Reads a dotted name and advances `at` past it.
fn dotted(tokens: &[(Token, Span)], at: &mut usize) -> String {
    let mut text = String::new();
    while let Some((Token::Type(part) | Token::Word(part), _)) = tokens.get(*at) {
        text.push_str(part);
        *at += 1;
        if !matches!(tokens.get(*at), Some((Token::Sign("."), _))) {
            break;
        }
        text.push('.');
        *at += 1;
    }
    text
}
