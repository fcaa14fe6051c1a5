//! Checks expressions that have effects or may wait: method calls, `new`, `get` and `await`.
//!
//! The grammar allows them only as a whole right-hand side (`exp` as opposed to `pure_exp` in ABS.g4): of a
//! declaration, an assignment, a `return` or an `assert`, or as a statement.

use super::types::Ty;
use super::{BodyBuilder, Check, Methods, TypeChecker, unknown};
use crate::code::{self, CallKind, Dest, Instr};
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Binary, Expr, ExprKind, Guard, Ident};
use std::rc::Rc;

impl TypeChecker {
    /// Checks the right-hand side of an assignment, emits the code that stores its value in `dest`, and returns its
    /// type.
    pub(super) fn right_hand_side(&mut self, body: &mut BodyBuilder, value: &Expr, dest: Dest, at: u32) -> Check<Ty> {
        match &value.kind {
            ExprKind::Get(future) => {
                self.check_may_wait(body, value.span)?;
                let (code, ty) = self.expr(body, future)?;
                let inner = self.future_of(future.span, &ty)?;
                body.emit(Instr::Get(dest, code), at);
                Ok(inner)
            }
            ExprKind::New { local, class, args } => {
                let Some(&number) = self.classes.get(&class.text) else {
                    return Err(unknown("class", class, self.classes.keys()));
                };
                let fields = self.class_fields[number as usize].clone();
                let wanted: Vec<Ty> =
                    fields[..self.class_params[number as usize]].iter().map(|(_, ty)| ty.clone()).collect();
                let args = self.args(body, class, args, &wanted)?;
                let component = body.component.take().map(Box::new);
                body.emit(Instr::New { dest, class: number, local: *local, args, component }, at);
                Ok(Ty::Class(number))
            }
            ExprKind::Send { wait, object, method, args } => {
                if !wait {
                    let result = self.method_call(body, CallKind::Send, object, method, args, dest, at)?;
                    return Ok(Ty::Future(Rc::new(result)));
                }
                self.check_may_wait(body, value.span)?;
                let slot = body.slot("the call")?;
                let result = self.method_call(body, CallKind::Send, object, method, args, Dest::Local(slot), at)?;
                let future = code::Expr::Local(slot);
                let futures = Box::new([future.clone()]);
                let guard = code::Guard { futures, holds: None, timer: None, fields: Box::new([]) };
                body.emit(Instr::Await(Box::new(guard)), at);
                body.emit(Instr::Get(dest, future), at);
                Ok(result)
            }
            ExprKind::Invoke { object, method, args } => {
                self.method_call(body, CallKind::Invoke, object, method, args, dest, at)
            }
            _ => {
                let (code, ty) = self.expr(body, value)?;
                body.emit(Instr::Set(dest, code), at);
                Ok(ty)
            }
        }
    }

    fn future_of(&mut self, span: Span, ty: &Ty) -> Check<Ty> {
        match self.types.known(ty) {
            Ty::Future(inner) => Ok((*inner).clone()),
            other => Err(Diagnostic::new(span, format!("expected a future, found type {}", self.types.show(&other)))
                .label(self.types.show(&other))),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn method_call(
        &mut self,
        body: &mut BodyBuilder,
        kind: CallKind,
        object: &Expr,
        method: &Ident,
        args: &[Expr],
        dest: Dest,
        at: u32,
    ) -> Check<Ty> {
        let (target, ty) = self.expr(body, object)?;
        let methods: &Methods = match self.types.known(&ty) {
            Ty::Interface(interface) => &self.interface_methods[interface as usize],
            Ty::Class(class) => &self.class_methods[class as usize],
            other => {
                let message = format!("expected an object, found type {}", self.types.show(&other));
                return Err(Diagnostic::new(object.span, message).label(self.types.show(&other)));
            }
        };
        let Some(info) = methods.get(&method.text).cloned() else {
            let what = format!("method in `{}` called", self.types.show(&ty));
            return Err(unknown(&what, method, methods.keys()));
        };
        let args = self.args(body, method, args, &info.params)?;
        let method = self.method_name(&method.text);
        let deadline = body.deadline.take().map(Box::new);
        body.emit(Instr::Call { dest, kind, object: target, method, args, deadline }, at);
        Ok(info.result)
    }

    /// Checks an expression that may have an effect and returns its value, which is stored in a new variable if it
    /// has one.
    pub(super) fn value_of(&mut self, body: &mut BodyBuilder, value: &Expr, wanted: &Ty, at: u32) -> Check<code::Expr> {
        match &value.kind {
            ExprKind::Get(_) | ExprKind::New { .. } | ExprKind::Send { .. } | ExprKind::Invoke { .. } => {
                let slot = body.slot("the result")?;
                let found = self.right_hand_side(body, value, Dest::Local(slot), at)?;
                self.expect_type(value.span, &found, wanted)?;
                Ok(code::Expr::Local(slot))
            }
            _ => self.expr_of(body, value, wanted),
        }
    }

    pub(super) fn await_stmt(&mut self, body: &mut BodyBuilder, guards: &[Guard], span: Span, at: u32) -> Check<()> {
        self.check_may_wait(body, span)?;
        let mut futures = Vec::new();
        let mut holds: Option<code::Expr> = None;
        let mut timer = None;
        for guard in guards {
            match guard {
                Guard::Time(least, most) => {
                    let (first, last) = self.timer(body, least, most, at)?;
                    timer = Some(match timer {
                        None => (first, last),
                        Some((before, until)) => {
                            // All parts of the guard must hold: the wait ends with the later timer.
                            self.later(body, before, first, at);
                            self.later(body, until, last, at);
                            (before, until)
                        }
                    });
                }
                Guard::Future(future) => {
                    let (code, ty) = self.expr(body, future)?;
                    self.future_of(future.span, &ty)?;
                    futures.push(code);
                }
                Guard::Holds(condition) => {
                    let span = condition.span;
                    let chooses = std::mem::replace(&mut body.chooses, false);
                    let condition = self.expr_of(body, condition, &Ty::Bool);
                    body.chooses = chooses;
                    let condition = condition?;
                    if self.reads_clock(&condition, &mut Default::default()) {
                        let message = "not supported: a condition that waits for a point in time";
                        return Err(Diagnostic::new(span, message).help("wait with `await duration(n, n)`"));
                    }
                    holds = Some(match holds {
                        None => condition,
                        Some(before) => code::Expr::Binary(Binary::And, Box::new((before, condition)), at),
                    });
                }
            }
        }
        let fields = holds.as_ref().map_or_else(Vec::new, code::Expr::fields).into();
        body.emit(Instr::Await(Box::new(code::Guard { futures: futures.into(), holds, timer, fields })), at);
        Ok(())
    }
}
