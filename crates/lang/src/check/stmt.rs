//! Statements, flattened into instructions.

use super::types::Ty;
use super::{Body, Check, Checker, Methods, unknown};
use crate::code::{self, CallKind, Const, Dest, Instr};
use crate::source::{Fault, Span};
use crate::syntax::ast::{Binary, Expr, ExprKind, Guard, Ident, Pattern, Stmt, StmtKind, TypeUse};
use std::rc::Rc;

/// Where a jump goes that is not known yet.
const LATER: u32 = u32::MAX;

/// A `try` statement around what is being written.
pub(super) enum Around {
    /// Its exceptions are caught: leaving it takes one `EndTry`.
    Catch,
    /// It has a `finally`: a `return` inside keeps its value, says so, and jumps there.
    Finally { how: u16, value: u16, returns: Vec<usize> },
}

/// What a `finally` block goes on with.
const NORMALLY: i64 = 0;
const THROWING: i64 = 1;
const RETURNING: i64 = 2;

impl Body {
    fn emit(&mut self, instr: Instr, place: u32) -> usize {
        self.code.push(instr);
        self.places.push(place);
        self.code.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Lets a jump written earlier lead here.
    fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.code[at] {
            Instr::Jump(to)
            | Instr::JumpUnless(_, to)
            | Instr::Match(_, _, to)
            | Instr::Next(_, _, to)
            | Instr::Try(to, _) => *to = here,
            other => unreachable!("{other:?} leads nowhere"),
        }
    }
}

impl Checker {
    /// Checks statements in a scope of their own; each fault spoils one statement only.
    pub(super) fn block(&mut self, body: &mut Body, statements: &[Stmt]) {
        let mark = body.scope.len();
        for statement in statements {
            let result = self.stmt(body, statement);
            if let Err(mut fault) = result {
                if fault.span == Span::default() {
                    fault.span = statement.span;
                }
                self.faults.push(fault);
                if let StmtKind::Declare(ty, name, _) = &statement.kind
                    && body.find(&name.text).is_none()
                {
                    // So that uses of the variable are not faults too.
                    let ty = self.ty(ty, &[]).unwrap_or(Ty::Any);
                    let declared = body.declare(&name.text, ty);
                    self.keep(declared);
                }
            }
        }
        body.scope.truncate(mark);
    }

    fn inner(&mut self, body: &mut Body, statement: &Stmt) {
        self.block(body, std::slice::from_ref(statement));
    }

    fn stmt(&mut self, body: &mut Body, statement: &Stmt) -> Check<()> {
        let at = self.place(statement.span);
        match &statement.kind {
            StmtKind::Skip => {}
            StmtKind::Block(statements) => self.block(body, statements),
            StmtKind::Declare(ty, name, value) => self.declare(body, ty, name, value.as_ref(), at)?,
            StmtKind::Assign(own, name, value) => self.assign(body, *own, name, value, at)?,
            StmtKind::Expr(expr) => {
                self.right_hand_side(body, expr, Dest::Nowhere, at)?;
            }
            StmtKind::Return(value) => self.return_stmt(body, value, statement.span, at)?,
            StmtKind::Assert(condition) => {
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                body.emit(Instr::Assert(condition), at);
            }
            StmtKind::Throw(value) => {
                let exception = Ty::Data(self.data["Exception"].0, Rc::from([]));
                let value = self.expr_of(body, value, &exception)?;
                body.emit(Instr::Throw(value), at);
            }
            StmtKind::If(condition, yes, no) => {
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                let branch = body.emit(Instr::JumpUnless(condition, LATER), at);
                self.inner(body, yes);
                if let Some(no) = no {
                    let end = body.emit(Instr::Jump(LATER), at);
                    body.land(branch);
                    self.inner(body, no);
                    body.land(end);
                } else {
                    body.land(branch);
                }
            }
            StmtKind::While(condition, inner) => {
                let start = body.here();
                let condition = self.expr_of(body, condition, &Ty::Bool)?;
                let exit = body.emit(Instr::JumpUnless(condition, LATER), at);
                self.inner(body, inner);
                body.emit(Instr::Jump(start), at);
                body.land(exit);
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
                self.may_wait(body, statement.span)?;
                body.emit(Instr::Suspend, at);
            }
            StmtKind::Await(guards) => self.await_stmt(body, guards, statement.span, at)?,
            StmtKind::Duration(least, most) => {
                self.expr_of(body, least, &Ty::Rat)?;
                self.expr_of(body, most, &Ty::Rat)?;
            }
        }
        Ok(())
    }

    fn may_wait(&self, body: &Body, span: Span) -> Check<()> {
        match body.init {
            true => Err(Fault::new(span, "an object cannot wait while it is being created")
                .help("move this into the method `run`, which starts by itself after the creation")),
            false => Ok(()),
        }
    }

    fn declare(&mut self, body: &mut Body, ty: &TypeUse, name: &Ident, value: Option<&Expr>, at: u32) -> Check<()> {
        let ty = self.ty(ty, &[])?;
        if body.find(&name.text).is_some() {
            return Err(Fault::new(name.span, format!("there already is a variable `{}`", name.text)));
        }
        let slot = body.slot(&name.text)?;
        let dest = Dest::Local(slot);
        match value {
            Some(value) => {
                let found = self.right_hand_side(body, value, dest, at)?;
                self.want(value.span, &found, &ty)?;
            }
            None => {
                let value = self.default(&ty, name)?;
                body.emit(Instr::Set(dest, value), at);
            }
        }
        body.scope.push(super::Variable { name: name.text.clone(), slot, ty });
        Ok(())
    }

    /// The value of a variable or field that is given none.
    pub(super) fn default(&mut self, ty: &Ty, name: &Ident) -> Check<code::Expr> {
        match ty {
            Ty::Interface(_) | Ty::Future(_) => Ok(self.constant(Const::Null)),
            _ => Err(Fault::new(name.span, format!("`{}` of type {} needs a value", name.text, self.types.show(ty)))),
        }
    }

    fn assign(&mut self, body: &mut Body, own: bool, name: &Ident, value: &Expr, at: u32) -> Check<()> {
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
        self.want(value.span, &found, &ty)
    }

    /// Writes what gives a value, with an effect or not, and says its type.
    fn right_hand_side(&mut self, body: &mut Body, value: &Expr, dest: Dest, at: u32) -> Check<Ty> {
        match &value.kind {
            ExprKind::Get(future) => {
                self.may_wait(body, value.span)?;
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
                body.emit(Instr::New { dest, class: number, local: *local, args }, at);
                Ok(Ty::Class(number))
            }
            ExprKind::Send { wait, object, method, args } => {
                if !wait {
                    let result = self.method_call(body, CallKind::Send, object, method, args, dest, at)?;
                    return Ok(Ty::Future(Rc::new(result)));
                }
                self.may_wait(body, value.span)?;
                let slot = body.slot("the call")?;
                let result = self.method_call(body, CallKind::Send, object, method, args, Dest::Local(slot), at)?;
                let future = code::Expr::Local(slot);
                let guard = code::Guard { futures: Box::new([future.clone()]), holds: None, fields: Box::new([]) };
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
            other => {
                Err(Fault::new(span, format!("a future is wanted here, this has type {}", self.types.show(&other)))
                    .label(self.types.show(&other)))
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn method_call(
        &mut self,
        body: &mut Body,
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
                let message = format!("an object is wanted here, this has type {}", self.types.show(&other));
                return Err(Fault::new(object.span, message).label(self.types.show(&other)));
            }
        };
        let Some(info) = methods.get(&method.text).cloned() else {
            let what = format!("method in `{}` called", self.types.show(&ty));
            return Err(unknown(&what, method, methods.keys()));
        };
        let args = self.args(body, method, args, &info.params)?;
        let method = self.method_name(&method.text);
        body.emit(Instr::Call { dest, kind, object: target, method, args }, at);
        Ok(info.result)
    }

    fn return_stmt(&mut self, body: &mut Body, value: &Expr, span: Span, at: u32) -> Check<()> {
        let Some(wanted) = body.result.clone() else {
            return Err(Fault::new(span, "there is nothing to return from here"));
        };
        let value_code = match &value.kind {
            ExprKind::Get(_) | ExprKind::New { .. } | ExprKind::Send { .. } | ExprKind::Invoke { .. } => {
                let slot = body.slot("the result")?;
                let found = self.right_hand_side(body, value, Dest::Local(slot), at)?;
                self.want(value.span, &found, &wanted)?;
                code::Expr::Local(slot)
            }
            _ => self.expr_of(body, value, &wanted)?,
        };
        self.leave(body, value_code, at);
        Ok(())
    }

    /// Returns a value, by way of the `finally` blocks around.
    fn leave(&mut self, body: &mut Body, value: code::Expr, at: u32) {
        let mut ends = 0;
        let mut through = None;
        for (k, around) in body.tries.iter().enumerate().rev() {
            ends += 1;
            if let Around::Finally { how, value, .. } = around {
                through = Some((k, *how, *value));
                break;
            }
        }
        let Some((k, how, slot)) = through else {
            body.emit(Instr::Return(value), at);
            return;
        };
        body.emit(Instr::Set(Dest::Local(slot), value), at);
        let returning = self.number(RETURNING);
        body.emit(Instr::Set(Dest::Local(how), returning), at);
        for _ in 0..ends {
            body.emit(Instr::EndTry, at);
        }
        let jump = body.emit(Instr::Jump(LATER), at);
        if let Around::Finally { returns, .. } = &mut body.tries[k] {
            returns.push(jump);
        }
    }

    fn number(&mut self, number: i64) -> code::Expr {
        self.constant(Const::Number(num_rational::BigRational::from_integer(number.into())))
    }

    fn foreach(
        &mut self,
        body: &mut Body,
        item: &Ident,
        index: Option<&Ident>,
        list: &Expr,
        inner: &Stmt,
        at: u32,
    ) -> Check<()> {
        let element = self.types.fresh();
        let wanted = Ty::Data(self.data["List"].0, [element.clone()].into());
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
        body.land(exit);
        body.scope.truncate(mark);
        Ok(())
    }

    fn branches(
        &mut self,
        body: &mut Body,
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
            body.land(next);
            body.scope.truncate(mark);
        }
        body.emit(otherwise, at);
        ends.into_iter().for_each(|end| body.land(end));
        Ok(())
    }

    fn try_stmt(
        &mut self,
        body: &mut Body,
        inner: &Stmt,
        branches: &[(Pattern, Stmt)],
        finally: Option<&Stmt>,
        at: u32,
    ) -> Check<()> {
        let outer = match finally {
            None => None,
            Some(last) => {
                let (how, value) = (body.slot("how it goes on")?, body.slot("with what")?);
                body.tries.push(Around::Finally { how, value, returns: Vec::new() });
                Some((last, how, value, body.emit(Instr::Try(LATER, value), at)))
            }
        };
        let caught = body.slot("the exception")?;
        let handler = body.emit(Instr::Try(LATER, caught), at);
        body.tries.push(Around::Catch);
        self.inner(body, inner);
        body.tries.pop();
        body.emit(Instr::EndTry, at);
        let end = body.emit(Instr::Jump(LATER), at);
        body.land(handler);
        let exception = Ty::Data(self.data["Exception"].0, Rc::from([]));
        let again = Instr::Throw(code::Expr::Local(caught));
        let written = self.branches(body, caught, &exception, branches, again, at);
        body.land(end);
        if let Some((last, how, value, handler)) = outer {
            self.finally(body, last, how, value, handler, at);
        }
        written
    }

    fn finally(&mut self, body: &mut Body, last: &Stmt, how: u16, value: u16, handler: usize, at: u32) {
        let Some(Around::Finally { returns, .. }) = body.tries.pop() else {
            unreachable!("the try statements are nested")
        };
        body.emit(Instr::EndTry, at);
        let (normally, throwing) = (self.number(NORMALLY), self.number(THROWING));
        body.emit(Instr::Set(Dest::Local(how), normally), at);
        let enter = body.emit(Instr::Jump(LATER), at);
        body.land(handler);
        body.emit(Instr::Set(Dest::Local(how), throwing), at);
        body.land(enter);
        returns.into_iter().for_each(|jump| body.land(jump));
        self.inner(body, last);
        let kept = code::Expr::Local(value);
        let otherwise = self.unless(body, how, THROWING, at);
        body.emit(Instr::Throw(kept.clone()), at);
        body.land(otherwise);
        let otherwise = self.unless(body, how, RETURNING, at);
        self.leave(body, kept, at);
        body.land(otherwise);
    }

    fn unless(&mut self, body: &mut Body, how: u16, is: i64, at: u32) -> usize {
        let pair = Box::new((code::Expr::Local(how), self.number(is)));
        body.emit(Instr::JumpUnless(code::Expr::Binary(Binary::Eq, pair, at), LATER), at)
    }

    fn await_stmt(&mut self, body: &mut Body, guards: &[Guard], span: Span, at: u32) -> Check<()> {
        self.may_wait(body, span)?;
        let mut futures = Vec::new();
        let mut holds: Option<code::Expr> = None;
        for guard in guards {
            match guard {
                Guard::Time(least, most) => {
                    self.expr_of(body, least, &Ty::Rat)?;
                    self.expr_of(body, most, &Ty::Rat)?;
                }
                Guard::Future(future) => {
                    let (code, ty) = self.expr(body, future)?;
                    self.future_of(future.span, &ty)?;
                    futures.push(code);
                }
                Guard::Holds(condition) => {
                    self.no_clock(condition)?;
                    let condition = self.expr_of(body, condition, &Ty::Bool)?;
                    holds = Some(match holds {
                        None => condition,
                        Some(before) => code::Expr::Binary(Binary::And, Box::new((before, condition)), at),
                    });
                }
            }
        }
        if futures.is_empty() && holds.is_none() {
            body.emit(Instr::Suspend, at);
            return Ok(());
        }
        let fields = holds.as_ref().map_or_else(Vec::new, code::Expr::fields).into();
        body.emit(Instr::Await(Box::new(code::Guard { futures: futures.into(), holds, fields })), at);
        Ok(())
    }

    /// Time stands still, so nobody can wait for a point in time.
    fn no_clock(&self, condition: &Expr) -> Check<()> {
        match &condition.kind {
            ExprKind::Call(name, ..) if ["now", "timeDifference", "timeLessThan"].contains(&&*name.text) => {
                Err(Fault::new(condition.span, "not supported: waiting for a point in time"))
            }
            ExprKind::Binary(_, left, right) => self.no_clock(left).and_then(|()| self.no_clock(right)),
            _ => Ok(()),
        }
    }
}
