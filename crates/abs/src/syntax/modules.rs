//! Resolves which declaration a name means, by the rules for modules.
//!
//! A name means the declaration in its own module, or one that the module imports; a module imports only what another one
//! exports. A name that several modules declare is renamed to `M.name` with its module `M`, so that the rest of the front end sees each
//! name declared once. Types, classes, constructors and functions have separate names.
//!
//! A qualified name `M.name` means the declaration in `M`, imported or not.

use super::lexer::Token;
use crate::error::Diagnostic;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The kinds of names.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum NameKind {
    /// Data types, synonyms and interfaces.
    Type,
    Class,
    Constructor,
    /// Functions and selectors.
    Function,
}

/// A declaration: its kind, name and module.
type Declaration = (NameKind, String, Rc<str>);
/// The names of a program or library.
pub(super) type Names = FxHashSet<(NameKind, String)>;

/// One import: a single name, or all names of a module (`None`).
struct Import {
    into: Rc<str>,
    from: Rc<str>,
    name: Option<String>,
    /// `true` for `import … from M`: the name needs no qualifier.
    plain: bool,
    span: Span,
}

/// One export: a single name, or all names (`None`), of the module itself or of another one.
struct Export {
    of: Rc<str>,
    name: Option<String>,
    from: Option<Rc<str>>,
    span: Span,
}

/// The declarations, imports and exports of the modules of a program.
#[derive(Default)]
pub(super) struct Modules {
    all: Vec<Rc<str>>,
    /// The modules that declare each name.
    declared: FxHashMap<(NameKind, String), Vec<Rc<str>>>,
    imports: Vec<Import>,
    exports: Vec<Export>,
    /// The declarations that each module exports.
    exported: FxHashMap<Rc<str>, BTreeSet<Declaration>>,
    library: Rc<Names>,
}

/// The result of resolving a name that is not visible: a diagnostic for the place of the name.
pub(super) type Invisible = String;

impl Modules {
    /// Collects declarations, imports and exports from the tokens of a program. The parser later checks that they are
    /// well formed.
    pub(super) fn of(tokens: &[(Token, Span)], library: Rc<Names>) -> Modules {
        let (mut modules, mut module, mut at) = (Modules { library, ..Modules::default() }, Rc::<str>::from(""), 0);
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
                ("export", Some(Token::Type(_) | Token::Word(_) | Token::Sign("*"))) => {
                    modules.export(tokens, &mut at, &module);
                }
                ("class", Some(Token::Type(name))) => modules.declare(NameKind::Class, name, &module),
                ("interface" | "type" | "trait", Some(Token::Type(name))) => {
                    modules.declare(NameKind::Type, name, &module)
                }
                (word @ ("data" | "exception"), Some(Token::Type(_))) => {
                    // Declares the type, its constructors and their selectors, but not the types of the arguments.
                    let (mut inside, mut kind) = (0, NameKind::Type);
                    while let Some(part) = token(at).filter(|part| **part != Token::Sign(";")) {
                        match part {
                            Token::Sign("(" | "<") => inside += 1,
                            Token::Sign(")" | ">") => inside -= 1,
                            Token::Type(name) if inside == 0 => {
                                modules.declare(kind, name, &module);
                                if word == "exception" {
                                    modules.declare(NameKind::Constructor, name, &module);
                                }
                                kind = NameKind::Constructor;
                            }
                            Token::Word(name) if inside == 1 => modules.declare(NameKind::Function, name, &module),
                            _ => {}
                        }
                        at += 1;
                    }
                }
                ("def", Some(Token::Type(_) | Token::Sign("["))) => {
                    while !matches!(token(at), None | Some(Token::Word(_))) {
                        at += 1;
                    }
                    if let Some(Token::Word(name)) = token(at) {
                        modules.declare(NameKind::Function, name, &module);
                    }
                }
                _ => {}
            }
        }
        modules.close_exports();
        modules
    }

    /// Returns the declared modules and the modules imported from.
    pub(super) fn names(self) -> (Vec<Rc<str>>, Vec<Rc<str>>) {
        (self.all, self.imports.into_iter().map(|import| import.from).collect())
    }

    /// Returns all declared names.
    pub(super) fn declarations(&self) -> Names {
        self.declared.keys().cloned().collect()
    }

    fn declare(&mut self, kind: NameKind, name: &str, module: &Rc<str>) {
        let modules = self.declared.entry((kind, name.into())).or_default();
        if !modules.contains(module) {
            modules.push(module.clone());
        }
    }

    /// Reads the names of `import A.b, C from M;`, and the module if there is one.
    fn list(tokens: &[(Token, Span)], at: &mut usize) -> (Vec<(String, Span)>, Option<String>) {
        let mut names = Vec::new();
        loop {
            match tokens.get(*at).map(|(token, _)| token) {
                Some(Token::Type(_) | Token::Word(_)) if !is(tokens, *at, "from") => {
                    let span = tokens[*at].1;
                    names.push((dotted(tokens, at), span));
                }
                Some(Token::Sign("*" | ",")) => *at += 1,
                _ => break,
            }
        }
        let mut from = None;
        if is(tokens, *at, "from") {
            *at += 1;
            from = Some(dotted(tokens, at));
        }
        (names, from)
    }

    fn import(&mut self, tokens: &[(Token, Span)], at: &mut usize, into: &Rc<str>) {
        let start = tokens[*at].1;
        let (names, from) = Modules::list(tokens, at);
        if let (true, Some(from)) = (names.is_empty(), &from) {
            let from = from.as_str().into();
            self.imports.push(Import { into: into.clone(), from, name: None, plain: true, span: start });
        }
        for (name, span) in names {
            let (module, name) = match &from {
                Some(from) => (from.as_str(), name.as_str()),
                None => name.rsplit_once('.').unwrap_or(("", &name)),
            };
            let (from, plain) = (module.into(), from.is_some());
            self.imports.push(Import { into: into.clone(), from, name: Some(name.into()), plain, span });
        }
    }

    fn export(&mut self, tokens: &[(Token, Span)], at: &mut usize, of: &Rc<str>) {
        let start = tokens[*at].1;
        let (names, from) = Modules::list(tokens, at);
        let from: Option<Rc<str>> = from.map(Into::into).filter(|from| from != of);
        if names.is_empty() {
            self.exports.push(Export { of: of.clone(), name: None, from: from.clone(), span: start });
        }
        for (name, span) in names {
            let (from, name) = match name.rsplit_once('.') {
                Some((module, name)) if from.is_none() && module != &**of => (Some(module.into()), name),
                Some((_, name)) if from.is_none() => (None, name),
                _ => (from.clone(), name.as_str()),
            };
            self.exports.push(Export { of: of.clone(), name: Some(name.into()), from, span });
        }
    }

    /// Computes what each module exports: its own declarations, and what it passes on.
    fn close_exports(&mut self) {
        let own: Vec<Declaration> = (self.declared.iter())
            .flat_map(|((kind, name), modules)| modules.iter().map(move |module| (*kind, name.clone(), module.clone())))
            .collect();
        loop {
            let mut found: Vec<(Rc<str>, Declaration)> = Vec::new();
            for export in &self.exports {
                let named = |(_, name, _): &&Declaration| export.name.as_ref().is_none_or(|wanted| wanted == name);
                let mut add = |declaration: &Declaration| found.push((export.of.clone(), declaration.clone()));
                match &export.from {
                    Some(from) => self.exported.get(from).into_iter().flatten().filter(named).for_each(&mut add),
                    None => {
                        own.iter().filter(|(_, _, module)| *module == export.of).filter(named).for_each(&mut add);
                        if export.name.is_some() {
                            self.imported(&export.of).iter().filter(named).for_each(&mut add);
                        }
                    }
                }
            }
            let mut changed = false;
            for (module, declaration) in found {
                changed |= self.exported.entry(module).or_default().insert(declaration);
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the declarations that a module imports without a qualifier.
    fn imported(&self, into: &str) -> BTreeSet<Declaration> {
        let mut all = BTreeSet::new();
        for import in self.imports.iter().filter(|import| &*import.into == into && import.plain) {
            let exported = self.exported.get(&import.from).into_iter().flatten();
            all.extend(
                exported.filter(|(_, name, _)| import.name.as_ref().is_none_or(|wanted| wanted == name)).cloned(),
            );
        }
        all
    }

    fn is_library(&self, module: &str) -> bool {
        module.starts_with("ABS.")
    }

    /// Returns the diagnostics of imports and exports.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut report = |span: Span, message: String| problems.push(Diagnostic::new(span, message));
        let known = |module: &Rc<str>| self.all.contains(module) || self.is_library(module);
        for import in &self.imports {
            let exported =
                |name: &str| self.exported.get(&import.from).is_some_and(|all| all.iter().any(|d| d.1 == name));
            match &import.name {
                Some(name) if import.from.is_empty() => {
                    report(import.span, format!("the module of `{name}` is missing: write `import {name} from M;`"));
                }
                Some(_) if !known(&import.from) && !import.plain => {
                    report(import.span, format!("unknown module `{}`", import.from));
                }
                Some(name) if self.all.contains(&import.from) && !exported(name) => {
                    report(import.span, format!("module `{}` does not export `{name}`", import.from));
                }
                _ => {}
            }
        }
        for export in &self.exports {
            let passed = self.exported.get(&export.of);
            match (&export.name, &export.from) {
                (_, Some(from)) if !known(from) => report(export.span, format!("unknown module `{from}`")),
                (Some(name), from)
                    if !from.as_ref().is_some_and(|from| self.is_library(from))
                        && !passed.is_some_and(|all| all.iter().any(|declaration| declaration.1 == *name))
                        && !self.imports_from_library(&export.of, name) =>
                {
                    report(export.span, format!("module `{}` has no `{name}` to export", export.of));
                }
                _ => {}
            }
        }
        for module in &self.all {
            for (kind, name, from) in self.imported(module) {
                let own = self.declared.get(&(kind, name.clone())).is_some_and(|modules| modules.contains(module));
                if own && from != *module {
                    let brings = |import: &&Import| {
                        import.into == *module
                            && import.plain
                            && import.name.as_ref().is_none_or(|known| *known == name)
                    };
                    let span = self.imports.iter().find(brings).map_or(Span::default(), |import| import.span);
                    report(
                        span,
                        format!("`{name}` is declared in module `{module}` and imported from module `{from}`"),
                    );
                }
            }
        }
        problems
    }

    /// Returns `true` if a name of the library may be passed on by a module.
    fn imports_from_library(&self, module: &str, name: &str) -> bool {
        let known = [NameKind::Type, NameKind::Class, NameKind::Constructor, NameKind::Function];
        let library = known.iter().any(|kind| self.library.contains(&(*kind, name.into())));
        library && self.imports.iter().any(|import| &*import.into == module && self.is_library(&import.from))
    }

    /// Returns the unique name, as used by the rest of the front end, of a `name` used in `module`. `qualifier` is
    /// the module written before the name, or empty. The reason is returned too if the name is not visible.
    pub(super) fn resolve(
        &self,
        kind: NameKind,
        name: &str,
        qualifier: &str,
        module: &str,
    ) -> (Rc<str>, Option<Invisible>) {
        let key = (kind, name.to_string());
        let Some(modules) = self.declared.get(&key) else {
            return (name.into(), self.hidden_in_library(&key, qualifier, module));
        };
        let unique = |from: &str| -> Rc<str> {
            let several = modules.len() > 1 || (self.all.len() > 1 && self.library.contains(&key));
            if several { format!("{from}.{name}").into() } else { name.into() }
        };
        let declares = |wanted: &str| modules.iter().any(|known| &**known == wanted);
        if !qualifier.is_empty() && declares(qualifier) {
            return (unique(qualifier), None);
        }
        if !qualifier.is_empty() && self.is_library(qualifier) {
            return (name.into(), None);
        }
        if declares(module) && (qualifier.is_empty() || qualifier == module) {
            return (unique(module), None);
        }
        let imported = self.imported(module);
        let found: Vec<&Declaration> = imported.iter().filter(|(k, n, _)| *k == kind && n == name).collect();
        match found[..] {
            [(_, _, from)] => (unique(from), None),
            [] if self.library.contains(&key) => (name.into(), None),
            [] => {
                let from = &modules[0];
                let why =
                    format!("`{name}` is not visible here: module `{from}` must export it, and `{module}` import it");
                (name.into(), Some(why))
            }
            [(_, _, a), (_, _, b), ..] => {
                let why =
                    format!("`{name}` is ambiguous: it is imported from `{a}` and from `{b}`; write `{a}.{name}`");
                (name.into(), Some(why))
            }
        }
    }

    /// Returns the reason why a name of the library is not visible in a module that imports only some names of it.
    fn hidden_in_library(&self, key: &(NameKind, String), qualifier: &str, module: &str) -> Option<Invisible> {
        let own = || self.imports.iter().filter(|import| &*import.into == module && self.is_library(&import.from));
        let partly = own().next().is_some() && own().all(|import| import.name.is_some());
        let listed = own().any(|import| import.name.as_ref() == Some(&key.1));
        let standard = own().any(|import| &*import.from == "ABS.StdLib" && import.plain);
        (qualifier.is_empty() && partly && standard && !listed && self.library.contains(key))
            .then(|| format!("`{}` is not visible here: module `{module}` does not import it from ABS.StdLib", key.1))
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
