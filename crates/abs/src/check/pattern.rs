//! Checks patterns.

use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker, unknown};
use crate::code::{self, Const};
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Ident, Pattern, PatternKind};

impl TypeChecker {
    /// Checks a pattern and declares its new variables. A name that is already declared matches its value.
    pub(super) fn pattern(&mut self, body: &mut BodyBuilder, pattern: &Pattern, ty: &Ty) -> Check<code::Pattern> {
        Ok(match &pattern.kind {
            PatternKind::Any => code::Pattern::Any,
            PatternKind::Int(digits) => {
                self.expect_type(pattern.span, &Ty::Int, ty)?;
                self.constant_pattern(digits)
            }
            PatternKind::Str(text) => {
                self.expect_type(pattern.span, &Ty::Str, ty)?;
                let code::Expr::Const(k) = self.constant(Const::Str(text.clone())) else { unreachable!() };
                code::Pattern::Const(k)
            }
            PatternKind::Var(name) => match body.find(&name.text).cloned() {
                Some(variable) => {
                    self.comparable(pattern.span, &variable.ty, ty)?;
                    code::Pattern::Same(variable.slot)
                }
                None => match self.field_number(body, name) {
                    Some((field, found)) => {
                        self.comparable(pattern.span, &found, ty)?;
                        code::Pattern::Field(field)
                    }
                    None => code::Pattern::Bind(body.declare(&name.text, ty.clone())?),
                },
            },
            PatternKind::Construct(name, args) => self.constructor_pattern(body, name, args, pattern.span, ty)?,
        })
    }

    fn constant_pattern(&mut self, digits: &str) -> code::Pattern {
        match self.integer(digits) {
            code::Expr::Const(k) => code::Pattern::Const(k),
            other => unreachable!("internal error: {other:?} is not a constant"),
        }
    }

    fn constructor_pattern(
        &mut self,
        body: &mut BodyBuilder,
        name: &Ident,
        args: &[Pattern],
        span: Span,
        ty: &Ty,
    ) -> Check<code::Pattern> {
        if ["True", "False", "Unit"].contains(&&*name.text) {
            if !args.is_empty() {
                return Err(Diagnostic::new(span, format!("`{}` has 0 arguments, not {}", name.text, args.len())));
            }
            let (expr, found) = self.construct(body, name, &[])?;
            self.expect_type(span, &found, ty)?;
            let code::Expr::Const(k) = expr else { unreachable!("internal error: a truth value is not a constant") };
            return Ok(code::Pattern::Const(k));
        }
        let Some(info) = self.names.constructors.get(&name.text).cloned() else {
            return Err(unknown("constructor", name, self.names.constructors.keys()));
        };
        if args.len() != info.args.len() {
            let message = format!("`{}` has {} arguments, not {}", name.text, info.args.len(), args.len());
            return Err(Diagnostic::new(span, message));
        }
        let with: Vec<Ty> = info.generics.iter().map(|_| self.types.fresh()).collect();
        let whole = self.types.instantiate(&info.result, &info.generics, &with);
        self.expect_type(span, &whole, ty)?;
        let mut written = Vec::new();
        for (arg, ty) in args.iter().zip(&*info.args) {
            let ty = self.types.instantiate(ty, &info.generics, &with);
            written.push(self.pattern(body, arg, &ty)?);
        }
        Ok(code::Pattern::Construct(info.number, written.into()))
    }
}
