//! Traits: sets of methods, and the classes that use them.
//!
//! A trait expression is a set of methods to which others are added, or which are modified or removed. [`apply`] evaluates
//! the expressions of all classes and adds the methods to them, before names and types are checked, as the language
//! prescribes. In a method that modifies another one, `original(…)` calls the earlier one, which is kept under another name.

use super::ast::{Class, Expr, ExprKind, File, Ident, Method, Stmt, StmtKind};
use super::modules::NameKind;
use super::parser::{Parse, Parser};
use crate::error::Diagnostic;
use crate::syntax::lexer::Token;
use std::rc::Rc;

/// The word that calls the method which is modified.
pub(super) const ORIGINAL: &str = "original";

/// A set of methods: a trait, or the methods themselves.
#[derive(Clone, Debug)]
pub(crate) enum MethodSet {
    Trait(Ident),
    Methods(Vec<Method>),
}

#[derive(Clone, Debug)]
pub(crate) enum TraitChange {
    Adds(MethodSet),
    Modifies(MethodSet),
    Removes(Vec<Ident>),
}

#[derive(Clone, Debug)]
pub(crate) struct TraitExpr {
    pub(crate) first: MethodSet,
    pub(crate) changes: Vec<TraitChange>,
}

impl Parser {
    /// Parses `trait T = …`.
    pub(super) fn trait_declaration(&mut self, file: &mut File) -> Parse<()> {
        self.next();
        let name = self.type_name(NameKind::Type, "the name of a trait")?;
        self.expect("=")?;
        let expr = self.trait_expr()?;
        file.traits.push((name, expr));
        Ok(())
    }

    /// Parses `uses …;` in a class.
    pub(super) fn trait_use(&mut self) -> Parse<TraitExpr> {
        self.next();
        let expr = self.trait_expr()?;
        // A signature that is removed may have taken the semicolon.
        if !matches!(expr.changes.last(), Some(TraitChange::Removes(_))) || self.is(";") {
            self.expect(";")?;
        }
        Ok(expr)
    }

    fn trait_expr(&mut self) -> Parse<TraitExpr> {
        let first = self.method_set()?;
        let mut changes = Vec::new();
        loop {
            if self.take("adds") {
                changes.push(TraitChange::Adds(self.method_set()?));
            } else if self.take("modifies") {
                changes.push(TraitChange::Modifies(self.method_set()?));
            } else if self.take("removes") {
                changes.push(TraitChange::Removes(self.removed()?));
            } else {
                return Ok(TraitExpr { first, changes });
            }
        }
    }

    fn method_set(&mut self) -> Parse<MethodSet> {
        if self.take("{") {
            let mut methods = Vec::new();
            while !self.take("}") {
                methods.push(self.method()?);
            }
            return Ok(MethodSet::Methods(methods));
        }
        let is_method =
            self.is("[") || self.is_ahead(1, "<") || (matches!(self.ahead(1), Token::Word(_)) && self.is_ahead(2, "("));
        if is_method {
            return Ok(MethodSet::Methods(vec![self.method()?]));
        }
        Ok(MethodSet::Trait(self.type_name(NameKind::Type, "a trait or methods")?))
    }

    fn removed(&mut self) -> Parse<Vec<Ident>> {
        let mut names = Vec::new();
        if !self.take("{") {
            names.push(self.signature()?.name);
            self.take(";");
            return Ok(names);
        }
        while !self.take("}") {
            names.push(self.signature()?.name);
            self.expect(";")?;
        }
        Ok(names)
    }

    fn method(&mut self) -> Parse<Method> {
        let annotations = self.annotations()?;
        let mut signature = self.signature()?;
        signature.result.annotate(&annotations);
        let body = self.block()?;
        Ok(Method { annotations, signature, body, end: self.last() })
    }
}

/// Adds to each class the methods of the traits that it uses.
pub(crate) fn apply(file: &mut File) -> Result<(), Diagnostic> {
    let mut classes = std::mem::take(&mut file.classes);
    for class in &mut classes {
        let traits = Traits { file, class };
        let mut methods = Vec::new();
        for expr in &class.uses {
            methods.extend(traits.methods(expr, &mut Vec::new())?);
        }
        class.methods.extend(methods);
        class.uses.clear();
    }
    file.classes = classes;
    Ok(())
}

/// The traits that are in scope for a class.
struct Traits<'a> {
    file: &'a File,
    class: &'a Class,
}

impl Traits<'_> {
    /// Returns the methods of an expression. `inside` are the traits that are being evaluated.
    fn methods(&self, expr: &TraitExpr, inside: &mut Vec<Rc<str>>) -> Result<Vec<Method>, Diagnostic> {
        let mut methods = self.set(&expr.first, inside)?;
        for change in &expr.changes {
            match change {
                TraitChange::Adds(set) => methods.extend(self.set(set, inside)?),
                TraitChange::Modifies(set) => {
                    for method in self.set(set, inside)? {
                        modify(&mut methods, method)?;
                    }
                }
                TraitChange::Removes(names) => {
                    for name in names {
                        let at = position(&methods, name).ok_or_else(|| {
                            let message = format!("there is no method `{}` to remove", name.text);
                            Diagnostic::new(name.span, message)
                        })?;
                        methods.remove(at);
                    }
                }
            }
        }
        Ok(methods)
    }

    fn set(&self, set: &MethodSet, inside: &mut Vec<Rc<str>>) -> Result<Vec<Method>, Diagnostic> {
        let name = match set {
            MethodSet::Methods(methods) => return Ok(methods.clone()),
            MethodSet::Trait(name) => name,
        };
        if inside.contains(&name.text) {
            return Err(Diagnostic::new(name.span, format!("trait `{}` is defined in terms of itself", name.text)));
        }
        let mut known = self.file.traits.iter().filter(|(known, _)| known.text == name.text);
        let Some((_, expr)) = known.next() else {
            let message = format!("there is no trait `{}`", name.text);
            let label = format!("used by class `{}`", self.class.name.text);
            return Err(Diagnostic::new(name.span, message).label(label));
        };
        if let Some((again, _)) = known.next() {
            return Err(Diagnostic::new(again.span, format!("trait `{}` is declared twice", again.text)));
        }
        inside.push(name.text.clone());
        let methods = self.methods(expr, inside);
        inside.pop();
        methods
    }
}

fn position(methods: &[Method], name: &Ident) -> Option<usize> {
    methods.iter().position(|method| method.signature.name.text == name.text)
}

/// Replaces the method of the same name, or adds one. The replaced one is kept under another name if it is called.
fn modify(methods: &mut Vec<Method>, mut method: Method) -> Result<(), Diagnostic> {
    let Some(at) = position(methods, &method.signature.name) else {
        methods.push(method);
        return Ok(());
    };
    let mut kept: String = format!("{}.{ORIGINAL}", method.signature.name.text);
    while methods.iter().any(|other| *other.signature.name.text == *kept) {
        kept += ".";
        kept += ORIGINAL;
    }
    let kept: Rc<str> = kept.into();
    let mut called = false;
    call_instead(&mut method.body, &kept, &mut called);
    let replaced = std::mem::replace(&mut methods[at], method);
    if called {
        let mut signature = replaced.signature;
        signature.name.text = kept;
        methods.push(Method { signature, ..replaced });
    }
    Ok(())
}

/// Lets calls of `original` call the method of this name.
fn call_instead(body: &mut [Stmt], name: &Rc<str>, called: &mut bool) {
    for statement in body {
        let mut one = |inner: &mut Stmt| call_instead(std::slice::from_mut(inner), name, called);
        match &mut statement.kind {
            StmtKind::Block(inner) => call_instead(inner, name, called),
            StmtKind::If(_, yes, no) => {
                one(yes);
                no.iter_mut().for_each(|no| one(no));
            }
            StmtKind::While(_, inner) | StmtKind::Foreach(_, _, _, inner) => one(inner),
            StmtKind::Try(inner, branches, finally) => {
                one(inner);
                branches.iter_mut().for_each(|(_, branch)| one(branch));
                finally.iter_mut().for_each(|finally| one(finally));
            }
            StmtKind::Case(_, branches) => branches.iter_mut().for_each(|(_, branch)| one(branch)),
            // An expression with an effect is a whole statement, or the whole expression of one.
            StmtKind::Declare(_, _, Some(value))
            | StmtKind::Assign(_, _, value)
            | StmtKind::Return(value)
            | StmtKind::Assert(value)
            | StmtKind::Expr(value) => rename(value, name, called),
            _ => {}
        }
    }
}

fn rename(call: &mut Expr, name: &Rc<str>, called: &mut bool) {
    if let ExprKind::Invoke { object, method, .. } = &mut call.kind
        && matches!(object.kind, ExprKind::This)
        && &*method.text == ORIGINAL
    {
        method.text = name.clone();
        *called = true;
    }
}
