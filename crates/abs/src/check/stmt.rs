//! Checks statements and flattens them into instructions.

use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker, unknown};
use crate::code::{self, Const, Dest, Instr};
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Binary, Expr, Ident, Pattern, Stmt, StmtKind, TypeUse};
use std::rc::Rc;

/// The target of a jump that is not known yet (see [`BodyBuilder::set_jump_target`]).
pub(super) const LATER: u32 = u32::MAX;

impl BodyBuilder {
    pub(super) fn emit(&mut self, instr: Instr, place: u32) -> usize {
        self.code.push(instr);
        self.places.push(place);
        self.code.len() - 1
    }

    pub(super) fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Sets the target of a jump emitted earlier to the next instruction.
    pub(super) fn set_jump_target(&mut self, at: usize) {
        let here = self.here();
        match &mut self.code[at] {
            Instr::Jump(to)
            | Instr::JumpUnless(_, to)
            | Instr::Match(_, _, to)
            | Instr::Next(_, _, to)
            | Instr::Try(to, _) => *to = here,
            other => unreachable!("internal error: {other:?} is not a jump"),
        }
    }
}

impl TypeChecker {
    /// Checks statements in a scope of their own. A diagnostic affects only its statement.
    pub(super) fn block(&mut self, body: &mut BodyBuilder, statements: &[Stmt]) {
        let mark = body.scope.len();
        for statement in statements {
            let result = self.stmt(body, statement);
            if let Err(mut diagnostic) = result {
                if diagnostic.span == Span::default() {
                    diagnostic.span = statement.span;
                }
                self.diagnostics.push(diagnostic);
                if let StmtKind::Declare(ty, name, _) = &statement.kind
                    && body.find(&name.text).is_none()
                {
                    // Declare the variable anyway, so that its uses are not reported as diagnostics.
                    let ty = self.ty(ty, &[]).unwrap_or(Ty::Any);
                    let declared = body.declare(&name.text, ty);
                    self.record_error(declared);
                }
            }
        }
        body.scope.truncate(mark);
    }

    pub(super) fn inner(&mut self, body: &mut BodyBuilder, statement: &Stmt) {
        self.block(body, std::slice::from_ref(statement));
    }

    fn stmt(&mut self, body: &mut BodyBuilder, statement: &Stmt) -> Check<()> {
        let at = self.place(statement.span);
        self.annotations(body, &statement.annotations, at)?;
        match &statement.kind {
            StmtKind::Skip => {}
            StmtKind::Block(statements) => self.block(body, statements),
            StmtKind::Declare(ty, name, value) => self.declare(body, ty, name, value.as_ref(), at)?,
            StmtKind::Assign(own, name, value) => self.assign(body, *own, name, value, at)?,
            StmtKind::Expr(expr) => {
                self.right_hand_side(body, expr, Dest::Nowhere, at)?;
            }
            StmtKind::Return(value) => {
                let Some(wanted) = body.result.clone() else {
                    return Err(Diagnostic::new(statement.span, "`return` is not allowed here"));
                };
                let value = self.value_of(body, value, &wanted, at)?;
                self.leave(body, value, at);
            }
            StmtKind::Assert(condition) => {
                let condition = self.value_of(body, condition, &Ty::Bool, at)?;
                body.emit(Instr::Assert(condition), at);
            }
            StmtKind::Throw(value) => {
                let exception = Ty::Data(self.library_data("Exception"), Rc::from([]));
                let value = self.expr_of(body, value, &exception)?;
                body.emit(Instr::Throw(value), at);
            }
            StmtKind::If(condition, yes, no) => {
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                let branch = body.emit(Instr::JumpUnless(condition, LATER), at);
                self.inner(body, yes);
                if let Some(no) = no {
                    let end = body.emit(Instr::Jump(LATER), at);
                    body.set_jump_target(branch);
                    self.inner(body, no);
                    body.set_jump_target(end);
                } else {
                    body.set_jump_target(branch);
                }
            }
            StmtKind::While(condition, inner) => {
                let start = body.here();
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                let exit = body.emit(Instr::JumpUnless(condition, LATER), at);
                self.inner(body, inner);
                body.emit(Instr::Jump(start), at);
                body.set_jump_target(exit);
            }
            StmtKind::Foreach(item, index, list, inner) => self.foreach(body, item, index.as_ref(), list, inner, at)?,
            StmtKind::Case(subject, branches) => {
                let (subject, ty) = self.expr(body, subject)?;
                let slot = body.slot("the case")?;
                body.emit(Instr::Set(Dest::Local(slot), subject), at);
                let none = self.constant(Const::Construct(code::known::NO_MATCH));
                self.branches(body, slot, &ty, branches, Instr::Throw(none), at)?;
            }
            StmtKind::Try(inner, branches, finally) => self.try_stmt(body, inner, branches, finally.as_deref(), at)?,
            StmtKind::Suspend => {
                self.check_may_wait(body, statement.span)?;
                body.emit(Instr::Suspend, at);
            }
            StmtKind::Await(guards) => self.await_stmt(body, guards, statement.span, at)?,
            StmtKind::Duration(least, most) => {
                self.check_may_wait(body, statement.span)?;
                let (first, last) = self.timer(body, least, most, at)?;
                body.emit(Instr::Sleep(first, last), at);
            }
        }
        Ok(())
    }

    pub(super) fn check_may_wait(&self, body: &BodyBuilder, span: Span) -> Check<()> {
        match body.init {
            true => Err(Diagnostic::new(span, "an object cannot wait during its initialization")
                .help("move this into the method `run`, which starts automatically after the object is created")),
            false => Ok(()),
        }
    }

    fn declare(
        &mut self,
        body: &mut BodyBuilder,
        ty: &TypeUse,
        name: &Ident,
        value: Option<&Expr>,
        at: u32,
    ) -> Check<()> {
        let ty = self.ty(ty, &[])?;
        if body.find(&name.text).is_some() {
            return Err(Diagnostic::new(name.span, format!("variable `{}` is declared twice", name.text)));
        }
        let slot = body.slot(&name.text)?;
        let dest = Dest::Local(slot);
        match value {
            Some(value) => {
                let found = self.right_hand_side(body, value, dest, at)?;
                self.expect_type(value.span, &found, &ty)?;
            }
            None => {
                let value = self.default(&ty, name)?;
                body.emit(Instr::Set(dest, value), at);
            }
        }
        body.scope.push(super::LocalVariable { name: name.text.clone(), slot, ty });
        Ok(())
    }

    /// Returns the initial value of a variable or field that is declared without one.
    pub(super) fn default(&mut self, ty: &Ty, name: &Ident) -> Check<code::Expr> {
        match ty {
            Ty::Interface(_) | Ty::Future(_) => Ok(self.constant(Const::Null)),
            _ => Err(Diagnostic::new(
                name.span,
                format!("`{}` of type {} must be initialized", name.text, self.types.show(ty)),
            )),
        }
    }

    fn assign(&mut self, body: &mut BodyBuilder, own: bool, name: &Ident, value: &Expr, at: u32) -> Check<()> {
        let variable = if own { None } else { body.find(&name.text).cloned() };
        let (dest, ty) = match variable {
            Some(variable) => (Dest::Local(variable.slot), variable.ty),
            None => match self.field_number(body, name) {
                Some((field, ty)) => (Dest::Field(field), ty),
                None => {
                    let names: Vec<Rc<str>> = body.scope.iter().map(|v| v.name.clone()).collect();
                    return Err(unknown("variable or field", name, names.iter()));
                }
            },
        };
        let found = self.right_hand_side(body, value, dest, at)?;
        self.expect_type(value.span, &found, &ty)
    }

    pub(super) fn number(&mut self, number: i64) -> code::Expr {
        self.constant(Const::Number(num_rational::BigRational::from_integer(number.into())))
    }

    fn foreach(
        &mut self,
        body: &mut BodyBuilder,
        item: &Ident,
        index: Option<&Ident>,
        list: &Expr,
        inner: &Stmt,
        at: u32,
    ) -> Check<()> {
        let element = self.types.fresh();
        let wanted = Ty::Data(self.library_data("List"), [element.clone()].into());
        let list = self.expr_of(body, list, &wanted)?;
        let rest = body.slot("the rest of the list")?;
        body.emit(Instr::Set(Dest::Local(rest), list), at);
        let mark = body.scope.len();
        let variable = body.declare(&item.text, element)?;
        let counter = match index {
            Some(name) => Some(body.declare(&name.text, Ty::Int)?),
            None => None,
        };
        if let Some(counter) = counter {
            let first = self.number(-1);
            body.emit(Instr::Set(Dest::Local(counter), first), at);
        }
        let start = body.here();
        let exit = body.emit(Instr::Next(rest, variable, LATER), at);
        if let Some(counter) = counter {
            let pair = Box::new((code::Expr::Local(counter), self.number(1)));
            body.emit(Instr::Set(Dest::Local(counter), code::Expr::Binary(Binary::Add, pair, at)), at);
        }
        self.inner(body, inner);
        body.emit(Instr::Jump(start), at);
        body.set_jump_target(exit);
        body.scope.truncate(mark);
        Ok(())
    }

    pub(super) fn branches(
        &mut self,
        body: &mut BodyBuilder,
        slot: u16,
        ty: &Ty,
        branches: &[(Pattern, Stmt)],
        otherwise: Instr,
        at: u32,
    ) -> Check<()> {
        let mut ends = Vec::new();
        for (pattern, statement) in branches {
            let mark = body.scope.len();
            let pattern = self.pattern(body, pattern, ty)?;
            let next = body.emit(Instr::Match(slot, pattern, LATER), at);
            self.inner(body, statement);
            ends.push(body.emit(Instr::Jump(LATER), at));
            body.set_jump_target(next);
            body.scope.truncate(mark);
        }
        body.emit(otherwise, at);
        ends.into_iter().for_each(|end| body.set_jump_target(end));
        Ok(())
    }
}
