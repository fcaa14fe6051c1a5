//! Checks expressions without effects.

use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker, unknown};
use crate::code::{self, Const};
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Binary, Expr, ExprKind, Ident, Param, Pattern, Unary};
use crate::value::with_stack;
use num_rational::BigRational;
use std::rc::Rc;

impl TypeChecker {
    /// Checks an expression of any type.
    pub(super) fn expr(&mut self, body: &mut BodyBuilder, expr: &Expr) -> Check<(code::Expr, Ty)> {
        with_stack(|| self.expr_kind(body, expr))
    }

    /// Checks an expression that must have type `wanted`.
    pub(super) fn expr_of(&mut self, body: &mut BodyBuilder, expr: &Expr, wanted: &Ty) -> Check<code::Expr> {
        let (code, ty) = self.expr(body, expr)?;
        self.expect_type(expr.span, &ty, wanted)?;
        Ok(code)
    }

    fn expr_kind(&mut self, body: &mut BodyBuilder, expr: &Expr) -> Check<(code::Expr, Ty)> {
        let at = self.place(expr.span);
        Ok(match &expr.kind {
            ExprKind::Int(digits) => (self.integer(digits), Ty::Int),
            ExprKind::Float(float) => (self.constant(Const::Float(float.to_bits())), Ty::Float),
            ExprKind::Str(text) => (self.constant(Const::Str(text.clone())), Ty::Str),
            ExprKind::Template(parts) => {
                let parts = parts.iter().map(|part| Ok(self.expr(body, part)?.0)).collect::<Check<_>>()?;
                (code::Expr::Template(parts, at), Ty::Str)
            }
            ExprKind::Var(name) => self.variable(body, name)?,
            ExprKind::Field(name) => self.field(body, name)?,
            ExprKind::This => match body.class {
                Some(class) if class > 0 => (code::Expr::This, Ty::Class(class)),
                _ => return Err(Diagnostic::new(expr.span, "`this` is only allowed in classes")),
            },
            ExprKind::Null => (self.constant(Const::Null), Ty::Null),
            ExprKind::Unary(operator, inner) => self.unary(body, *operator, inner)?,
            ExprKind::Binary(operator, left, right) => self.binary(body, *operator, left, right, at)?,
            ExprKind::If(condition, yes, no) => {
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                let (yes, first) = self.expr(body, yes)?;
                let (other, second) = self.expr(body, no)?;
                let Some(ty) = self.types.join(&first, &second) else {
                    return Err(self.mismatch(no.span, &second, &first));
                };
                (code::Expr::If(Box::new((condition, yes, other))), ty)
            }
            ExprKind::Case(subject, branches) => self.case(body, subject, branches, at)?,
            ExprKind::Let(bindings, inner) => self.let_expr(body, bindings, inner)?,
            ExprKind::Call(name, functions, args) => self.call(body, name, functions, args, expr.span)?,
            ExprKind::Variadic(name, items) => self.variadic(body, name, items)?,
            ExprKind::Construct(name, args) => self.construct(body, name, args)?,
            ExprKind::Implements(inner, name) => {
                let (inner, interface) = self.cast(body, inner, name)?;
                (code::Expr::Implements(Box::new(inner), interface), Ty::Bool)
            }
            ExprKind::As(inner, name) => {
                let (inner, interface) = self.cast(body, inner, name)?;
                (code::Expr::As(Box::new(inner), interface), Ty::Interface(interface))
            }
            ExprKind::Get(_) | ExprKind::New { .. } | ExprKind::Send { .. } | ExprKind::Invoke { .. } => {
                let diagnostic =
                    Diagnostic::new(expr.span, "calls, `new`, `get` and `await` are not allowed inside an expression");
                return Err(diagnostic.help("assign its result to a variable, then use the variable"));
            }
        })
    }

    pub(super) fn integer(&mut self, digits: &str) -> code::Expr {
        let number = digits.parse().expect("the lexer found digits");
        self.constant(Const::Number(BigRational::from_integer(number)))
    }

    fn variable(&mut self, body: &BodyBuilder, name: &Ident) -> Check<(code::Expr, Ty)> {
        if &*name.text == "destiny" && body.find("destiny").is_none() && self.field_number(body, name).is_none() {
            return Err(Diagnostic::new(name.span, "not supported: `Destiny`").label("not supported"));
        }
        if let Some(variable) = body.find(&name.text) {
            return Ok((code::Expr::Local(variable.slot), variable.ty.clone()));
        }
        if body.class.is_some_and(|class| class > 0) && self.field_number(body, name).is_some() {
            return self.field(body, name);
        }
        let fields = body.class.map(|class| self.class_fields[class as usize].clone());
        let names: Vec<Rc<str>> = (body.scope.iter().map(|v| v.name.clone()))
            .chain(fields.iter().flat_map(|fields| fields.iter().map(|(name, _)| name.clone())))
            .collect();
        Err(unknown("variable", name, names.iter()))
    }

    pub(super) fn field_number(&self, body: &BodyBuilder, name: &Ident) -> Option<(u16, Ty)> {
        let fields = &self.class_fields[body.class? as usize];
        let k = fields.iter().position(|(field, _)| *field == name.text)?;
        Some((k as u16, fields[k].1.clone()))
    }

    fn field(&mut self, body: &BodyBuilder, name: &Ident) -> Check<(code::Expr, Ty)> {
        match self.field_number(body, name) {
            Some((field, _)) if body.fields.is_some_and(|known| usize::from(field) >= known) => {
                let message = format!("field `{}` is used before it has a value", name.text);
                Err(Diagnostic::new(name.span, message)
                    .help("fields get their values in the order of their declarations"))
            }
            Some((field, ty)) => Ok((code::Expr::Field(field), ty)),
            None => {
                let fields = body.class.map_or(Rc::from([]), |class| self.class_fields[class as usize].clone());
                Err(unknown("field", name, fields.iter().map(|(name, _)| name)))
            }
        }
    }

    fn cast(&mut self, body: &mut BodyBuilder, inner: &Expr, name: &Ident) -> Check<(code::Expr, u32)> {
        let (code, ty) = self.expr(body, inner)?;
        if !matches!(self.types.known(&ty), Ty::Interface(_) | Ty::Class(_) | Ty::Null | Ty::Any) {
            let message =
                format!("expected an object, found type {}: only objects have interfaces", self.types.show(&ty));
            return Err(Diagnostic::new(inner.span, message));
        }
        let interface = self.interfaces.get(&name.text).copied();
        Ok((code, interface.ok_or_else(|| unknown("interface", name, self.interfaces.keys()))?))
    }

    fn unary(&mut self, body: &mut BodyBuilder, operator: Unary, inner: &Expr) -> Check<(code::Expr, Ty)> {
        let (code, ty) = self.expr(body, inner)?;
        let ty = match operator {
            Unary::Not => {
                self.expect_type(inner.span, &ty, &Ty::Bool)?;
                Ty::Bool
            }
            Unary::Minus => self.numeric(inner.span, &ty)?,
        };
        Ok((code::Expr::Unary(operator, Box::new(code)), ty))
    }

    fn numeric(&mut self, span: Span, ty: &Ty) -> Check<Ty> {
        match self.types.known(ty) {
            number @ (Ty::Int | Ty::Rat | Ty::Float) => Ok(number),
            Ty::Any => Ok(Ty::Any),
            Ty::Var(_) => {
                self.expect_type(span, ty, &Ty::Int)?;
                Ok(Ty::Int)
            }
            other => Err(Diagnostic::new(span, format!("expected a number, found type {}", self.types.show(&other)))
                .label(self.types.show(&other))),
        }
    }

    fn binary(
        &mut self,
        body: &mut BodyBuilder,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        at: u32,
    ) -> Check<(code::Expr, Ty)> {
        let (a, first) = self.expr(body, left)?;
        let (b, second) = self.expr(body, right)?;
        let ty = match operator {
            Binary::And | Binary::Or | Binary::Implies | Binary::Equiv => {
                self.expect_type(left.span, &first, &Ty::Bool)?;
                self.expect_type(right.span, &second, &Ty::Bool)?;
                Ty::Bool
            }
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge => {
                self.comparable(left.span.to(right.span), &first, &second)?;
                Ty::Bool
            }
            Binary::Add if [&first, &second].iter().any(|ty| self.types.known(ty) == Ty::Str) => Ty::Str,
            _ => {
                let first = self.numeric(left.span, &first)?;
                let second = self.numeric(right.span, &second)?;
                let Some(joined) = self.types.join(&first, &second) else {
                    return Err(self.mismatch(right.span, &second, &first));
                };
                if operator == Binary::Div && joined == Ty::Int { Ty::Rat } else { joined }
            }
        };
        Ok((code::Expr::Binary(operator, Box::new((a, b)), at), ty))
    }

    pub(super) fn comparable(&mut self, span: Span, first: &Ty, second: &Ty) -> Check<()> {
        let objects = |ty: Ty| matches!(ty, Ty::Interface(_) | Ty::Class(_) | Ty::Null);
        if self.types.join(first, second).is_some()
            || (objects(self.types.known(first)) && objects(self.types.known(second)))
        {
            return Ok(());
        }
        let (a, b) = (self.types.show(first), self.types.show(second));
        Err(Diagnostic::new(span, format!("{a} and {b} cannot be compared")).label(format!("{a} against {b}")))
    }

    fn case(
        &mut self,
        body: &mut BodyBuilder,
        subject: &Expr,
        branches: &[(Pattern, Expr)],
        at: u32,
    ) -> Check<(code::Expr, Ty)> {
        let (subject, ty) = self.expr(body, subject)?;
        let mut result: Option<Ty> = None;
        let mut written = Vec::new();
        for (pattern, branch) in branches {
            let mark = body.scope.len();
            let pattern = self.pattern(body, pattern, &ty)?;
            let (code, found) = self.expr(body, branch)?;
            body.scope.truncate(mark);
            result = Some(match result {
                None => found,
                Some(before) => match self.types.join(&before, &found) {
                    Some(joined) => joined,
                    None => return Err(self.mismatch(branch.span, &found, &before)),
                },
            });
            written.push((pattern, code));
        }
        let result = result.unwrap_or_else(|| self.types.fresh());
        Ok((code::Expr::Case(Box::new(subject), written.into(), at), result))
    }

    fn let_expr(
        &mut self,
        body: &mut BodyBuilder,
        bindings: &[(Param, Expr)],
        inner: &Expr,
    ) -> Check<(code::Expr, Ty)> {
        let mark = body.scope.len();
        let mut written = Vec::new();
        for (param, value) in bindings {
            let ty = self.ty_in(body, &param.ty)?;
            let value = self.expr_of(body, value, &ty)?;
            written.push((body.declare(&param.name.text, ty)?, value));
        }
        let (inner, ty) = self.expr(body, inner)?;
        body.scope.truncate(mark);
        let wrap = |inner, (slot, value)| code::Expr::Let(slot, Box::new((value, inner)));
        Ok((written.into_iter().rev().fold(inner, wrap), ty))
    }

    pub(super) fn construct(&mut self, body: &mut BodyBuilder, name: &Ident, args: &[Expr]) -> Check<(code::Expr, Ty)> {
        let simple = match &*name.text {
            "True" => Some((Const::Bool(true), Ty::Bool)),
            "False" => Some((Const::Bool(false), Ty::Bool)),
            "Unit" => Some((Const::Unit, Ty::Unit)),
            _ => None,
        };
        if let Some((constant, ty)) = simple
            && args.is_empty()
        {
            return Ok((self.constant(constant), ty));
        }
        let Some(info) = self.names.constructors.get(&name.text).cloned() else {
            return Err(unknown("constructor", name, self.names.constructors.keys()));
        };
        let with: Vec<Ty> = info.generics.iter().map(|_| self.types.fresh()).collect();
        let wanted: Vec<Ty> = info.args.iter().map(|ty| self.types.instantiate(ty, &info.generics, &with)).collect();
        let written = self.args(body, name, args, &wanted)?;
        let ty = self.types.instantiate(&info.result, &info.generics, &with);
        if written.is_empty() {
            return Ok((self.constant(Const::Construct(info.number)), ty));
        }
        Ok((code::Expr::Construct(info.number, written), ty))
    }

    /// Checks arguments against the types of the parameters.
    pub(super) fn args(
        &mut self,
        body: &mut BodyBuilder,
        name: &Ident,
        args: &[Expr],
        wanted: &[Ty],
    ) -> Check<Box<[code::Expr]>> {
        if args.len() != wanted.len() {
            let message = format!("`{}` takes {} arguments, not {}", name.text, wanted.len(), args.len());
            return Err(Diagnostic::new(name.span, message));
        }
        args.iter().zip(wanted).map(|(arg, ty)| self.expr_of(body, arg, ty)).collect()
    }
}
