//! Checks `try` … `catch` … `finally`, and generates the code that leaves these statements.

use super::stmt::LATER;
use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker};
use crate::code::{self, Dest, Instr};
use crate::syntax::ast::{Binary, Pattern, Stmt};
use std::rc::Rc;

/// A `try` statement that encloses the code being generated.
pub(super) enum EnclosingTry {
    /// Exceptions are caught: leaving the statement takes one `EndTry`.
    Catch,
    /// The statement has a `finally` block. A `return` inside stores its value in `value` and [`RETURNING`] in `how`,
    /// and jumps to the block; `returns` holds these jumps.
    Finally { how: u16, value: u16, returns: Vec<usize> },
}

/// The ways to continue after a `finally` block.
const NORMALLY: i64 = 0;
const THROWING: i64 = 1;
const RETURNING: i64 = 2;

impl TypeChecker {
    /// Generates a `return`, which first runs the enclosing `finally` blocks.
    pub(super) fn leave(&mut self, body: &mut BodyBuilder, value: code::Expr, at: u32) {
        let mut ends = 0;
        let mut through = None;
        for (k, around) in body.tries.iter().enumerate().rev() {
            ends += 1;
            if let EnclosingTry::Finally { how, value, .. } = around {
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
        if let EnclosingTry::Finally { returns, .. } = &mut body.tries[k] {
            returns.push(jump);
        }
    }

    pub(super) fn try_stmt(
        &mut self,
        body: &mut BodyBuilder,
        inner: &Stmt,
        branches: &[(Pattern, Stmt)],
        finally: Option<&Stmt>,
        at: u32,
    ) -> Check<()> {
        let outer = match finally {
            None => None,
            Some(last) => {
                let (how, value) = (body.slot("exit kind")?, body.slot("exit value")?);
                body.tries.push(EnclosingTry::Finally { how, value, returns: Vec::new() });
                Some((last, how, value, body.emit(Instr::Try(LATER, value), at)))
            }
        };
        let caught = body.slot("the exception")?;
        let handler = body.emit(Instr::Try(LATER, caught), at);
        body.tries.push(EnclosingTry::Catch);
        self.inner(body, inner);
        body.tries.pop();
        body.emit(Instr::EndTry, at);
        let end = body.emit(Instr::Jump(LATER), at);
        body.set_jump_target(handler);
        let exception = Ty::Data(self.library_data("Exception"), Rc::from([]));
        let again = Instr::Throw(code::Expr::Local(caught));
        let written = self.branches(body, caught, &exception, branches, again, at);
        body.set_jump_target(end);
        if let Some((last, how, value, handler)) = outer {
            self.finally(body, last, how, value, handler, at);
        }
        written
    }

    fn finally(&mut self, body: &mut BodyBuilder, last: &Stmt, how: u16, value: u16, handler: usize, at: u32) {
        let Some(EnclosingTry::Finally { returns, .. }) = body.tries.pop() else {
            unreachable!("internal error: try statements are not nested")
        };
        body.emit(Instr::EndTry, at);
        let (normally, throwing) = (self.number(NORMALLY), self.number(THROWING));
        body.emit(Instr::Set(Dest::Local(how), normally), at);
        let enter = body.emit(Instr::Jump(LATER), at);
        body.set_jump_target(handler);
        body.emit(Instr::Set(Dest::Local(how), throwing), at);
        body.set_jump_target(enter);
        returns.into_iter().for_each(|jump| body.set_jump_target(jump));
        self.inner(body, last);
        let kept = code::Expr::Local(value);
        let otherwise = self.unless(body, how, THROWING, at);
        body.emit(Instr::Throw(kept.clone()), at);
        body.set_jump_target(otherwise);
        let otherwise = self.unless(body, how, RETURNING, at);
        self.leave(body, kept, at);
        body.set_jump_target(otherwise);
    }

    fn unless(&mut self, body: &mut BodyBuilder, how: u16, is: i64, at: u32) -> usize {
        let pair = Box::new((code::Expr::Local(how), self.number(is)));
        body.emit(Instr::JumpUnless(code::Expr::Binary(Binary::Eq, pair, at), LATER), at)
    }
}
