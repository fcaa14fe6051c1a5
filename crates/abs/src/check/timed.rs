//! Checks statements that take time: `duration`, `await duration`, and the annotations `Cost`, `Deadline` and `DC`.

use super::stmt::LATER;
use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker};
use crate::builtins::Builtin;
use crate::code::{self, Const, Dest, Instr};
use crate::syntax::ast::{Annotation, Binary, Expr, ExprKind, annotation};
use rustc_hash::FxHashSet;

/// The caveat of a duration whose bounds differ.
const LATEST: &str =
    "`duration(a, b)` with a < b: only executions in which the wait lasts as long as possible are explored";

impl TypeChecker {
    /// Emits the code that computes the earliest and the latest end of a duration that starts now, and returns the
    /// variables that hold them.
    pub(super) fn timer(&mut self, body: &mut BodyBuilder, least: &Expr, most: &Expr, at: u32) -> Check<(u16, u16)> {
        if !same_number(least, most) && !self.prelude && !self.code.caveats.iter().any(|known| known == LATEST) {
            self.code.caveats.push(LATEST.into());
        }
        let first = self.time_after(body, least, at)?;
        let last = self.time_after(body, most, at)?;
        self.later(body, last, first, at);
        Ok((first, last))
    }

    fn time_after(&mut self, body: &mut BodyBuilder, amount: &Expr, at: u32) -> Check<u16> {
        let amount = self.expr_of(body, amount, &Ty::Rat)?;
        let now = code::Expr::Builtin(Builtin::Currentms, Box::new([]), at);
        let slot = body.slot("the end of the wait")?;
        body.emit(Instr::Set(Dest::Local(slot), code::Expr::Binary(Binary::Add, Box::new((now, amount)), at)), at);
        Ok(slot)
    }

    /// Emits the code that sets a variable to the later time of two.
    pub(super) fn later(&mut self, body: &mut BodyBuilder, slot: u16, other: u16, at: u32) {
        let (this, other) = (code::Expr::Local(slot), code::Expr::Local(other));
        let less = code::Expr::Binary(Binary::Lt, Box::new((this, other.clone())), at);
        let skip = body.emit(Instr::JumpUnless(less, LATER), at);
        body.emit(Instr::Set(Dest::Local(slot), other), at);
        body.set_jump_target(skip);
    }

    /// Checks the annotations of a statement that take effect when it runs.
    pub(super) fn annotations(&mut self, body: &mut BodyBuilder, annotations: &[Annotation], at: u32) -> Check<()> {
        body.deadline = None;
        body.component = None;
        let value = |name: &str| annotation(annotations, name).and_then(|found| found.value.as_ref());
        if let Some(deadline) = value("Deadline") {
            let duration = Ty::Data(self.library_data("Duration"), std::rc::Rc::from([]));
            body.deadline = Some(self.expr_of(body, deadline, &duration)?);
        }
        if let Some(component) = value("DC") {
            let wanted = Ty::Interface(self.library_interface("DeploymentComponent"));
            body.component = Some(self.expr_of(body, component, &wanted)?);
        }
        if let Some(cost) = value("Cost") {
            self.check_may_wait(body, cost.span)?;
            self.cost(body, cost, at)?;
        }
        Ok(())
    }

    /// Emits a loop that consumes an amount of speed, and waits for the next interval while none is left.
    fn cost(&mut self, body: &mut BodyBuilder, cost: &Expr, at: u32) -> Check<()> {
        let amount = self.expr_of(body, cost, &Ty::Rat)?;
        let (left, given) = (body.slot("the cost")?, body.slot("the consumed speed")?);
        body.emit(Instr::Set(Dest::Local(left), amount), at);
        let zero = self.number(0);
        let some_left = code::Expr::Binary(Binary::Gt, Box::new((code::Expr::Local(left), zero)), at);
        let start = body.here();
        let done = body.emit(Instr::JumpUnless(some_left.clone(), LATER), at);
        body.emit(Instr::Consume(given, left), at);
        let rest = code::Expr::Binary(Binary::Sub, Box::new((code::Expr::Local(left), code::Expr::Local(given))), at);
        body.emit(Instr::Set(Dest::Local(left), rest), at);
        let enough = body.emit(Instr::JumpUnless(some_left, LATER), at);
        let now = code::Expr::Builtin(Builtin::Currentms, Box::new([]), at);
        let whole = code::Expr::Builtin(Builtin::Truncate, Box::new([now]), at);
        let next = code::Expr::Binary(Binary::Add, Box::new((whole, self.number(1))), at);
        let until = body.slot("the next interval")?;
        body.emit(Instr::Set(Dest::Local(until), next), at);
        body.emit(Instr::Sleep(until, until), at);
        body.emit(Instr::Jump(start), at);
        body.set_jump_target(done);
        body.set_jump_target(enough);
        Ok(())
    }

    /// Emits the code that gives the main block a deployment component without limits, which `thisDC` returns where no
    /// other one was chosen.
    pub(super) fn initial_component(&mut self, body: &mut BodyBuilder) -> Check<()> {
        let slot = body.slot("the deployment component")?;
        let name = self.constant(Const::Str("Initial DC".into()));
        let config = self.constant(Const::Construct(code::known::EMPTY_MAP));
        let class = self.library_class("DeploymentComponent");
        let args = Box::new([name, config]);
        let mut start = vec![
            Instr::New { dest: Dest::Local(slot), class, local: false, args, component: None },
            Instr::Deploy(slot),
        ];
        for instr in &mut body.code {
            match instr {
                Instr::Jump(to)
                | Instr::JumpUnless(_, to)
                | Instr::Match(_, _, to)
                | Instr::Next(_, _, to)
                | Instr::Try(to, _) => {
                    *to += start.len() as u32;
                }
                _ => {}
            }
        }
        let places = vec![code::LIBRARY; start.len()];
        start.append(&mut body.code);
        body.code = start;
        body.places.splice(0..0, places);
        Ok(())
    }

    /// Returns `true` if the value of an expression depends on the time.
    pub(super) fn reads_clock(&self, expr: &code::Expr, seen: &mut FxHashSet<u32>) -> bool {
        let (mut reads, mut called) = (false, Vec::new());
        expr.walk(&mut |part| match part {
            code::Expr::Builtin(Builtin::Currentms | Builtin::DeadlineLeft, ..) => reads = true,
            code::Expr::Call(function, ..) | code::Expr::Closure(function, ..) => called.push(*function),
            _ => {}
        });
        reads
            || called.into_iter().any(|function| {
                seen.insert(function) && self.reads_clock(&self.code.functions[function as usize].body, seen)
            })
    }
}

/// Returns `true` if two bounds are written alike.
fn same_number(least: &Expr, most: &Expr) -> bool {
    match (&least.kind, &most.kind) {
        (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
        (ExprKind::Var(a), ExprKind::Var(b)) | (ExprKind::Field(a), ExprKind::Field(b)) => a.text == b.text,
        (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) => f == g && same_number(a, b),
        (ExprKind::Binary(f, a, c), ExprKind::Binary(g, b, d)) => f == g && same_number(a, b) && same_number(c, d),
        (ExprKind::Call(f, none, a), ExprKind::Call(g, also_none, b)) => {
            f.text == g.text
                && &*f.text != "random"
                && none.is_empty()
                && also_none.is_empty()
                && a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| same_number(a, b))
        }
        (ExprKind::Construct(f, a), ExprKind::Construct(g, b)) => {
            f.text == g.text && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_number(a, b))
        }
        _ => false,
    }
}
