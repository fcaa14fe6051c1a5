//! Parses statements.

use super::ast::{Expr, ExprKind, Guard, Pattern, Stmt, StmtKind};
use super::lexer::Token;
use super::parser::{Parse, Parser};

impl Parser {
    /// Parses `{ … }` and returns the statements in it.
    pub(super) fn block(&mut self) -> Parse<Vec<Stmt>> {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.is("}") {
            if *self.peek() == Token::End {
                return Err(self.expected("`}`"));
            }
            statements.push(self.stmt()?);
        }
        self.next();
        Ok(statements)
    }

    pub(super) fn stmt(&mut self) -> Parse<Stmt> {
        self.nested(|p| {
            let annotations = p.annotations()?;
            let start = p.span();
            let mut kind = p.stmt_kind()?;
            if let StmtKind::Declare(ty, ..) = &mut kind {
                ty.annotate(&annotations);
            }
            Ok(Stmt { span: start.to(p.last()), annotations, kind })
        })
    }

    fn stmt_kind(&mut self) -> Parse<StmtKind> {
        let Token::Word(word) = self.peek().clone() else {
            if self.is("{") {
                return Ok(StmtKind::Block(self.block()?));
            }
            return self.declaration_or_expr();
        };
        let kind = match word.as_str() {
            "if" if self.is_ahead(1, "(") => return self.if_stmt(),
            "while" => return self.while_stmt(),
            "foreach" => return self.foreach_stmt(),
            "try" => return self.try_stmt(),
            "case" | "switch" => return self.case_stmt(),
            "await" => return self.await_stmt(),
            "skip" => {
                self.next();
                StmtKind::Skip
            }
            "suspend" => {
                self.next();
                StmtKind::Suspend
            }
            "return" => {
                self.next();
                StmtKind::Return(self.expr()?)
            }
            "assert" => {
                self.next();
                StmtKind::Assert(self.expr()?)
            }
            "throw" => {
                self.next();
                StmtKind::Throw(self.expr()?)
            }
            "duration" if self.is_ahead(1, "(") => {
                self.next();
                let (least, most) = self.time_span()?;
                StmtKind::Duration(least, most)
            }
            "die" | "movecogto" if !self.is_ahead(1, "=") => return Err(self.expected("a statement")),
            _ => return self.assignment_or_expr(),
        };
        self.expect(";")?;
        Ok(kind)
    }

    /// Parses `(least, most)`, or `(n)` where one number stands for both.
    fn time_span(&mut self) -> Parse<(Expr, Expr)> {
        self.expect("(")?;
        let least = self.expr()?;
        let most = if self.take(",") { self.expr()? } else { least.clone() };
        self.expect(")")?;
        Ok((least, most))
    }

    fn declaration_or_expr(&mut self) -> Parse<StmtKind> {
        let mark = self.mark();
        if let Ok(ty) = self.type_use()
            && matches!(self.peek(), Token::Word(_))
        {
            let name = self.word("the name of a variable")?;
            let value = if self.take("=") { Some(self.expr()?) } else { None };
            self.expect(";")?;
            return Ok(StmtKind::Declare(ty, name, value));
        }
        self.back_to(mark);
        self.expr_stmt()
    }

    fn assignment_or_expr(&mut self) -> Parse<StmtKind> {
        let own = self.is("this") && self.is_ahead(1, ".") && self.is_ahead(3, "=");
        if own || self.is_ahead(1, "=") {
            if own {
                self.next();
                self.next();
            }
            let name = self.word("the name of a variable or field")?;
            self.expect("=")?;
            let value = self.expr()?;
            self.expect(";")?;
            return Ok(StmtKind::Assign(own, name, value));
        }
        self.expr_stmt()
    }

    fn expr_stmt(&mut self) -> Parse<StmtKind> {
        let expr = self.expr()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(expr))
    }

    fn bracketed(&mut self) -> Parse<Expr> {
        self.expect("(")?;
        let expr = self.expr()?;
        self.expect(")")?;
        Ok(expr)
    }

    fn if_stmt(&mut self) -> Parse<StmtKind> {
        self.next();
        let condition = self.bracketed()?;
        self.take("then");
        let yes = Box::new(self.stmt()?);
        let no = if self.take("else") { Some(Box::new(self.stmt()?)) } else { None };
        Ok(StmtKind::If(condition, yes, no))
    }

    fn while_stmt(&mut self) -> Parse<StmtKind> {
        self.next();
        let condition = self.bracketed()?;
        Ok(StmtKind::While(condition, Box::new(self.stmt()?)))
    }

    fn foreach_stmt(&mut self) -> Parse<StmtKind> {
        self.next();
        self.expect("(")?;
        let item = self.word("the name of a variable")?;
        let index = if self.take(",") { Some(self.word("the name of a variable")?) } else { None };
        self.expect("in")?;
        let list = self.expr()?;
        self.expect(")")?;
        Ok(StmtKind::Foreach(item, index, list, Box::new(self.stmt()?)))
    }

    fn try_stmt(&mut self) -> Parse<StmtKind> {
        self.next();
        let body = Box::new(self.stmt()?);
        self.expect("catch")?;
        let branches = if self.is("{") {
            self.branches()?
        } else {
            let pattern = self.pattern()?;
            self.expect("=>")?;
            vec![(pattern, self.stmt()?)]
        };
        let finally = if self.take("finally") { Some(Box::new(self.stmt()?)) } else { None };
        Ok(StmtKind::Try(body, branches, finally))
    }

    fn case_stmt(&mut self) -> Parse<StmtKind> {
        self.next();
        let subject = self.expr()?;
        let branches = self.branches()?;
        // A case expression used as a statement ends with `;`.
        self.take(";");
        Ok(StmtKind::Case(subject, branches))
    }

    fn branches(&mut self) -> Parse<Vec<(Pattern, Stmt)>> {
        self.expect("{")?;
        let mut branches = Vec::new();
        while !self.take("}") {
            self.take("|");
            let pattern = self.pattern()?;
            self.expect("=>")?;
            branches.push((pattern, self.stmt()?));
        }
        Ok(branches)
    }

    /// Parses `await g & …;` or the statement `await o!m(x);`.
    fn await_stmt(&mut self) -> Parse<StmtKind> {
        let mark = self.mark();
        self.next();
        let mut guards = Vec::new();
        loop {
            if self.is("duration") && self.is_ahead(1, "(") {
                self.next();
                let (least, most) = self.time_span()?;
                guards.push(Guard::Time(least, most));
            } else {
                let expr = self.expr()?;
                if matches!(expr.kind, ExprKind::Send { .. }) && guards.is_empty() && self.is(";") {
                    self.back_to(mark);
                    return self.expr_stmt();
                }
                guards.push(if self.take("?") { Guard::Future(expr) } else { Guard::Holds(expr) });
            }
            if !self.take("&") {
                break;
            }
        }
        self.expect(";")?;
        Ok(StmtKind::Await(guards))
    }
}
