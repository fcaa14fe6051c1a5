//! Checks `[Nonnull]`: it belongs to references and futures, and `null` cannot be written to what has it.
//!
//! Only the constant `null` is recognized; the values of variables are not followed. A program that is accepted may
//! therefore still have a null reference there, as without the annotation.

use super::TypeChecker;
use super::rules::each;
use super::types::Ty;
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind, Ident, Stmt, StmtKind, TypeUse};
use std::rc::Rc;

impl TypeChecker {
    pub(super) fn nonnull(&mut self, file: &ast::File) {
        for signature in file.interfaces.iter().flat_map(|interface| &interface.methods) {
            self.nonnull_signature(signature);
        }
        for class in &file.classes {
            for param in class.params.iter().chain(class.fields.iter().map(|(param, _)| param)) {
                self.nonnull_type(&param.ty);
            }
            for (param, value) in &class.fields {
                if value.is_some() || !assigns(&class.init, &param.name.text) {
                    self.nonnull_value(&param.ty, &param.name, value.as_ref());
                }
            }
            let all = class.params.iter().chain(class.fields.iter().map(|(param, _)| param));
            let known: Vec<Rc<str>> = all.filter(|p| p.ty.nonnull.is_some()).map(|p| p.name.text.clone()).collect();
            self.nonnull_body(&class.init, known.clone());
            for method in &class.methods {
                self.nonnull_signature(&method.signature);
                let params = method.signature.params.iter().filter(|param| param.ty.nonnull.is_some());
                let all = known.iter().cloned().chain(params.map(|param| param.name.text.clone()));
                self.nonnull_body(&method.body, all.collect());
            }
        }
        if let Some((statements, _)) = &file.main {
            self.nonnull_body(statements, Vec::new());
        }
    }

    fn nonnull_signature(&mut self, signature: &ast::Signature) {
        self.nonnull_type(&signature.result);
        signature.params.iter().for_each(|param| self.nonnull_type(&param.ty));
    }

    fn nonnull_type(&mut self, ty: &TypeUse) {
        let Some(span) = ty.nonnull else { return };
        if let Ok(found) = self.ty(ty, &[])
            && !matches!(found, Ty::Interface(_) | Ty::Future(_))
        {
            let message = format!("`{}` is never null: `Nonnull` is for references and futures", ty.name.text);
            self.diagnostics.push(Diagnostic::new(span, message));
        }
    }

    fn nonnull_value(&mut self, ty: &TypeUse, name: &Ident, value: Option<&Expr>) {
        if ty.nonnull.is_some() && value.is_none_or(is_null) {
            self.null_for(name, value.map_or(name.span, |value| value.span));
        }
    }

    fn null_for(&mut self, name: &Ident, span: Span) {
        self.diagnostics.push(Diagnostic::new(span, format!("`{}` is `Nonnull` and cannot be null", name.text)));
    }

    fn nonnull_body(&mut self, body: &[Stmt], mut known: Vec<Rc<str>>) {
        each(body, &mut |statement| match &statement.kind {
            StmtKind::Declare(ty, name, value) => {
                self.nonnull_type(ty);
                if ty.nonnull.is_some() {
                    known.push(name.text.clone());
                } else {
                    // A variable hides a field of the same name.
                    known.retain(|other| *other != name.text);
                }
                self.nonnull_value(ty, name, value.as_ref());
            }
            StmtKind::Assign(_, name, value) if is_null(value) && known.contains(&name.text) => {
                self.null_for(name, value.span);
            }
            _ => {}
        });
    }
}

/// Returns `true` if some statement assigns to the variable or field.
fn assigns(body: &[Stmt], name: &Rc<str>) -> bool {
    let mut found = false;
    each(body, &mut |statement| found |= matches!(&statement.kind, StmtKind::Assign(_, to, _) if to.text == *name));
    found
}

fn is_null(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Null)
}
