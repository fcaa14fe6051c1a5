//! Checks rules on declarations that need no types: names that are declared twice, cyclic interfaces and synonyms,
//! statements that are never reached, and the annotations `Final`, `Atomic`, `Readonly`, `COG` and `Plain`.

use super::TypeChecker;
use super::type_use::PRIMITIVE;
use crate::error::Diagnostic;
use crate::syntax::ast::{self, Expr, ExprKind, Ident, Param, Stmt, StmtKind, annotation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

impl TypeChecker {
    /// Reports all violations of the rules in a program.
    pub(super) fn rules(&mut self, file: &ast::File) {
        for function in &file.functions {
            self.distinct("parameter", function.signature.params.iter().map(|param| &param.name));
            self.generics(&function.generics);
        }
        for data in &file.data {
            self.generics(&data.generics);
        }
        for (name, _, ty) in &file.synonyms {
            if let Err(diagnostic) = self.ty(ty, &synonym_generics(file, &name.text))
                && diagnostic.message.contains("in terms of itself")
            {
                self.diagnostics.push(diagnostic);
            }
        }
        self.interfaces(file);
        let kinds: FxHashMap<Rc<str>, &str> = file.classes.iter().filter_map(kind).collect();
        for class in &file.classes {
            self.class_rules(class, &kinds);
        }
        if let Some((statements, _)) = &file.main {
            self.statements(statements, &[], &kinds);
        }
    }

    /// Reports names that occur twice.
    fn distinct<'a>(&mut self, what: &str, names: impl Iterator<Item = &'a Ident>) {
        let mut seen = FxHashSet::default();
        for name in names {
            if !seen.insert(name.text.clone()) {
                let message = format!("{what} `{}` is declared twice", name.text);
                self.diagnostics.push(Diagnostic::new(name.span, message));
            }
        }
    }

    fn params(&mut self, params: &[Param]) {
        self.distinct("parameter", params.iter().map(|param| &param.name));
    }

    fn generics(&mut self, generics: &[Ident]) {
        self.distinct("type parameter", generics.iter());
        for name in generics.iter().filter(|name| PRIMITIVE.iter().any(|(known, _)| **known == *name.text)) {
            let message = format!("`{}` is a type and cannot be a type parameter", name.text);
            self.diagnostics.push(Diagnostic::new(name.span, message));
        }
    }

    /// Checks that no interface extends itself, and that methods are not declared again or inherited with different types.
    fn interfaces(&mut self, file: &ast::File) {
        let known: FxHashMap<&Rc<str>, &ast::Interface> = file.interfaces.iter().map(|i| (&i.name.text, i)).collect();
        for interface in &file.interfaces {
            for signature in &interface.methods {
                self.params(&signature.params);
            }
            let mut above: Vec<&ast::Interface> = Vec::new();
            let mut next: Vec<&Rc<str>> = interface.extends.iter().map(|name| &name.text).collect();
            while let Some(name) = next.pop() {
                if let Some(found) = known.get(name)
                    && !above.iter().any(|seen| seen.name.text == *name)
                {
                    above.push(found);
                    next.extend(found.extends.iter().map(|name| &name.text));
                }
            }
            if above.iter().any(|found| found.name.text == interface.name.text) {
                let message = format!("interface `{}` extends itself", interface.name.text);
                self.diagnostics.push(Diagnostic::new(interface.name.span, message));
                continue;
            }
            self.inherited(interface, &above);
        }
    }

    fn inherited(&mut self, interface: &ast::Interface, above: &[&ast::Interface]) {
        let mut seen: FxHashMap<Rc<str>, super::MethodInfo> = FxHashMap::default();
        for (from, signature) in above.iter().flat_map(|i| i.methods.iter().map(|method| (&i.name.text, method))) {
            let name = &signature.name.text;
            if let Some(own) = interface.methods.iter().find(|own| own.name.text == *name) {
                let message = format!("method `{name}` is already declared in interface `{from}`");
                self.diagnostics
                    .push(Diagnostic::new(own.name.span, message).help("remove one of the two declarations"));
            } else if let Ok(info) = self.method_info(signature)
                && let Some(other) = seen.insert(name.clone(), info.clone())
                && !other.has_types_of(&info)
            {
                let message =
                    format!("interface `{}` inherits method `{name}` with different types", interface.name.text);
                self.diagnostics.push(Diagnostic::new(interface.name.span, message));
            }
        }
    }

    fn class_rules(&mut self, class: &ast::Class, kinds: &FxHashMap<Rc<str>, &str>) {
        let atomic = |name: &Rc<str>| {
            let own = class.methods.iter().find(|method| method.signature.name.text == *name);
            own.is_some_and(|method| annotation(&method.annotations, "Atomic").is_some())
        };
        self.statements(&class.init, &[], kinds);
        each(&class.init, &mut |statement| {
            if let Some(ExprKind::Invoke { object, method, .. }) = effect(&statement.kind).map(|value| &value.kind)
                && matches!(object.kind, ExprKind::This)
                && !atomic(&method.text)
            {
                let message =
                    "an object cannot call its own method during its initialization, unless the method is atomic";
                let help = "annotate the method with `[Atomic]`, or call it from `run`";
                self.diagnostics.push(Diagnostic::new(statement.span, message).help(help));
            }
        });
        for method in &class.methods {
            self.params(&method.signature.params);
            self.statements(&method.body, &class.finals, kinds);
            let is_atomic = annotation(&method.annotations, "Atomic").is_some();
            let is_readonly = annotation(&method.annotations, "Readonly").is_some();
            if !is_atomic && !is_readonly {
                continue;
            }
            let locals = locals(method);
            each(&method.body, &mut |statement| {
                let message = match &statement.kind {
                    StmtKind::Await(_) | StmtKind::Suspend | StmtKind::Duration(..) if is_atomic => {
                        "an atomic method cannot wait"
                    }
                    StmtKind::Assign(own, name, _) if is_readonly && (*own || !locals.contains(&name.text)) => {
                        "a read-only method cannot change a field"
                    }
                    _ => match effect(&statement.kind).map(|value| &value.kind) {
                        Some(ExprKind::Get(_) | ExprKind::Send { wait: true, .. }) if is_atomic => {
                            "an atomic method cannot wait"
                        }
                        Some(ExprKind::Invoke { object, method, .. })
                            if is_atomic && matches!(object.kind, ExprKind::This) && !atomic(&method.text) =>
                        {
                            "an atomic method cannot call a method that is not atomic"
                        }
                        _ => return,
                    },
                };
                self.diagnostics.push(Diagnostic::new(statement.span, message));
            });
        }
    }

    /// Checks statements of one body.
    fn statements(&mut self, body: &[Stmt], finals: &[Rc<str>], kinds: &FxHashMap<Rc<str>, &str>) {
        let mut finals = finals.to_vec();
        self.unreachable(body);
        each(body, &mut |statement| {
            match &statement.kind {
                StmtKind::Declare(_, name, _) if annotation(&statement.annotations, "Final").is_some() => {
                    finals.push(name.text.clone());
                }
                StmtKind::Assign(_, name, _) if finals.contains(&name.text) => {
                    let message = format!("`{}` is final and cannot be assigned", name.text);
                    self.diagnostics.push(Diagnostic::new(name.span, message));
                }
                StmtKind::Block(inner) => self.unreachable(inner),
                _ => {}
            }
            if let Some(ExprKind::New { local, class, .. }) = effect(&statement.kind).map(|value| &value.kind) {
                let message = match kinds.get(&class.text) {
                    Some(&"COG") if *local => "objects of this class are created in groups of their own: use `new`",
                    Some(&"Plain") if !*local => {
                        "objects of this class are created in their creator's group: use `new local`"
                    }
                    _ => return,
                };
                self.diagnostics.push(Diagnostic::new(class.span, message));
            }
        });
    }

    fn unreachable(&mut self, body: &[Stmt]) {
        for pair in body.windows(2) {
            if returns(&pair[0]) {
                let message = "this statement is never reached: the one before it returns";
                self.diagnostics.push(Diagnostic::new(pair[1].span, message));
            }
        }
    }
}

/// Returns `true` if every path through a statement ends in a `return`.
fn returns(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(inner) => inner.iter().any(returns),
        StmtKind::If(_, yes, Some(no)) => returns(yes) && returns(no),
        StmtKind::Case(_, branches) => !branches.is_empty() && branches.iter().all(|(_, branch)| returns(branch)),
        _ => false,
    }
}

fn synonym_generics(file: &ast::File, name: &Rc<str>) -> Vec<Rc<str>> {
    let found = file.synonyms.iter().find(|(known, ..)| known.text == *name);
    found.map_or_else(Vec::new, |(_, generics, _)| generics.iter().map(|generic| generic.text.clone()).collect())
}

fn kind(class: &ast::Class) -> Option<(Rc<str>, &'static str)> {
    let kinds = ["COG", "Plain"];
    let found = kinds.into_iter().find(|kind| annotation(&class.annotations, kind).is_some())?;
    Some((class.name.text.clone(), found))
}

/// Returns the parameters and variables of a method.
fn locals(method: &ast::Method) -> FxHashSet<Rc<str>> {
    let mut names: FxHashSet<Rc<str>> = method.signature.params.iter().map(|param| param.name.text.clone()).collect();
    each(&method.body, &mut |statement| {
        if let StmtKind::Declare(_, name, _) | StmtKind::Foreach(name, ..) = &statement.kind {
            names.insert(name.text.clone());
        }
    });
    names
}

/// Returns the right-hand side of a statement, which may have an effect.
fn effect(kind: &StmtKind) -> Option<&Expr> {
    match kind {
        StmtKind::Declare(_, _, value) => value.as_ref(),
        StmtKind::Assign(_, _, value)
        | StmtKind::Return(value)
        | StmtKind::Assert(value)
        | StmtKind::Throw(value)
        | StmtKind::Expr(value) => Some(value),
        _ => None,
    }
}

/// Calls `visit` on all statements, including nested ones.
pub(super) fn each(statements: &[Stmt], visit: &mut impl FnMut(&Stmt)) {
    for statement in statements {
        visit(statement);
        let mut one = |inner: &Stmt| each(std::slice::from_ref(inner), visit);
        match &statement.kind {
            StmtKind::Block(inner) => each(inner, visit),
            StmtKind::If(_, yes, no) => {
                one(yes);
                no.iter().for_each(|no| one(no));
            }
            StmtKind::While(_, inner) | StmtKind::Foreach(_, _, _, inner) => one(inner),
            StmtKind::Try(inner, branches, finally) => {
                one(inner);
                branches.iter().for_each(|(_, branch)| one(branch));
                finally.iter().for_each(|finally| one(finally));
            }
            StmtKind::Case(_, branches) => branches.iter().for_each(|(_, branch)| one(branch)),
            _ => {}
        }
    }
}
