//! Parses expressions and patterns.

use super::ast::{Binary, Expr, ExprKind, FunArg, Ident, Param, Pattern, PatternKind, Unary};
use super::lexer::{Piece, Token};
use super::modules::NameKind;
use super::parser::{KEYWORDS, Parse, Parser};
use crate::error::Diagnostic;
use crate::source::Span;

/// The maximum number of operators in a chain like `a + b + …`.
const MAX_CHAIN: u32 = 1_000;

/// The binary operators by precedence, lowest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("->", Binary::Implies), ("<->", Binary::Equiv)],
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("==", Binary::Eq), ("!=", Binary::Ne)],
    &[("<", Binary::Lt), (">", Binary::Gt), ("<=", Binary::Le), (">=", Binary::Ge)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Mod)],
];

impl Parser {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| p.binary(0))
    }

    fn binary(&mut self, level: usize) -> Parse<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let mut chained = 0;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            chained += 1;
            if chained > MAX_CHAIN {
                return Err(Diagnostic::new(self.span(), format!("more than {MAX_CHAIN} operators in one chain")));
            }
            self.next();
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr { span, kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let operator = match self.peek() {
            Token::Sign("!" | "~") => Unary::Not,
            Token::Sign("-") => Unary::Minus,
            _ => return self.postfix(),
        };
        self.next();
        let inner = self.nested(Parser::unary)?;
        let span = start.to(inner.span);
        Ok(Expr { span, kind: ExprKind::Unary(operator, Box::new(inner)) })
    }

    fn postfix(&mut self) -> Parse<Expr> {
        let mut expr = self.primary()?;
        let mut chained = 0;
        loop {
            let start = expr.span;
            let kind = if self.is(".") && self.is_ahead(1, "get") {
                self.next();
                self.next();
                ExprKind::Get(Box::new(expr))
            } else if (self.is(".") || self.is("!")) && matches!(self.ahead(1), Token::Word(_)) && self.is_ahead(2, "(")
            {
                let send = self.next().0 == Token::Sign("!");
                let method = self.word("the name of a method")?;
                let args = self.arguments()?;
                let object = Box::new(expr);
                match send {
                    true => ExprKind::Send { wait: false, object, method, args },
                    false => ExprKind::Invoke { object, method, args },
                }
            } else if self.take("implements") {
                ExprKind::Implements(Box::new(expr), self.type_name(NameKind::Type, "an interface")?)
            } else if self.take("as") {
                ExprKind::As(Box::new(expr), self.type_name(NameKind::Type, "an interface")?)
            } else {
                return Ok(expr);
            };
            chained += 1;
            if chained > 100 {
                return Err(Diagnostic::new(self.span(), "more than a hundred calls in one chain"));
            }
            expr = Expr { span: start.to(self.last()), kind };
        }
    }

    pub(super) fn arguments(&mut self) -> Parse<Vec<Expr>> {
        self.expect("(")?;
        self.list_until(")", Parser::expr)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Int(digits) => {
                self.next();
                ExprKind::Int(digits)
            }
            Token::Float(number) => {
                self.next();
                ExprKind::Float(number)
            }
            Token::Str(text) => {
                self.next();
                ExprKind::Str(text)
            }
            Token::Template(pieces) => {
                self.next();
                self.nested(|p| p.template(pieces, start))?
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(Expr { span: start.to(self.last()), ..inner });
            }
            Token::Type(_) => self.behind_type_name()?,
            Token::Word(word) => self.behind_word(&word)?,
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr { span: start.to(self.last()), kind })
    }

    /// Parses a constructor, or a function qualified with the name of its module.
    fn behind_type_name(&mut self) -> Parse<ExprKind> {
        let from = self.mark();
        let name = self.type_name(NameKind::Constructor, "a constructor")?;
        let qualifier = self.text_since(from);
        if self.is(".") && matches!(self.ahead(1), Token::Word(word) if word != "get") && self.is_ahead(2, "(") {
            let here = self.mark();
            self.back_to(from);
            self.back_to(here);
            self.next();
            let function = self.function_name(&qualifier, "a function")?;
            return self.call(function);
        }
        let args = if self.is("(") { self.arguments()? } else { Vec::new() };
        Ok(ExprKind::Construct(name, args))
    }

    fn behind_word(&mut self, word: &str) -> Parse<ExprKind> {
        match word {
            "this" => {
                self.next();
                let field = self.is(".")
                    && matches!(self.ahead(1), Token::Word(w) if !KEYWORDS.contains(&w.as_str()))
                    && !self.is_ahead(2, "(");
                if !field {
                    return Ok(ExprKind::This);
                }
                self.next();
                Ok(ExprKind::Field(self.word("the name of a field")?))
            }
            "null" => {
                self.next();
                Ok(ExprKind::Null)
            }
            "if" | "when" => self.if_expr(),
            "case" => self.case_expr(),
            "let" => self.let_expr(),
            "new" => self.new_expr(),
            "await" => self.await_call(),
            _ => {
                if word == super::traits::ORIGINAL && self.is_ahead(1, "(") {
                    return self.original_call();
                }
                if self.is_ahead(1, "(") {
                    let name = self.function_name("", "an expression")?;
                    return self.call(name);
                }
                if self.is_ahead(1, "[") {
                    let name = self.function_name("", "an expression")?;
                    self.next();
                    return Ok(ExprKind::Variadic(name, self.list_until("]", Parser::expr)?));
                }
                Ok(ExprKind::Var(self.word("an expression")?))
            }
        }
    }

    /// Parses `original(x)`: a call of the method that the method of a trait modifies.
    fn original_call(&mut self) -> Parse<ExprKind> {
        let object = Box::new(Expr { span: self.span(), kind: ExprKind::This });
        let method = self.word("a method")?;
        let args = self.arguments()?;
        Ok(ExprKind::Invoke { object, method, args })
    }

    /// Parses `f(x)` or `f(g, (Int y) => y + 1)(x)`.
    fn call(&mut self, name: Ident) -> Parse<ExprKind> {
        let mark = self.mark();
        if let Ok(functions) = self.function_arguments()
            && self.is("(")
        {
            return Ok(ExprKind::Call(name, functions, self.arguments()?));
        }
        self.back_to(mark);
        Ok(ExprKind::Call(name, Vec::new(), self.arguments()?))
    }

    fn function_arguments(&mut self) -> Parse<Vec<FunArg>> {
        self.expect("(")?;
        let list = self.list(|p| {
            if matches!(p.peek(), Token::Word(_)) {
                let name = p.function_name("", "a function")?;
                if !(p.is(",") || p.is(")")) {
                    return Err(p.expected("`)`"));
                }
                return Ok(FunArg::Name(name));
            }
            let params: Vec<Param> = p.params()?;
            p.expect("=>")?;
            Ok(FunArg::Lambda(params, p.expr()?))
        })?;
        self.expect(")")?;
        Ok(list)
    }

    fn if_expr(&mut self) -> Parse<ExprKind> {
        self.next();
        let condition = self.expr()?;
        self.expect("then")?;
        let yes = self.expr()?;
        self.expect("else")?;
        let no = self.expr()?;
        Ok(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    /// Parses a `case` expression. Branches may end with `;` and, in newer files, begin with `|`.
    fn case_expr(&mut self) -> Parse<ExprKind> {
        self.next();
        let subject = self.expr()?;
        self.expect("{")?;
        let mut branches = Vec::new();
        while !self.take("}") {
            self.take("|");
            let pattern = self.pattern()?;
            self.expect("=>")?;
            branches.push((pattern, self.expr()?));
            self.take(";");
        }
        Ok(ExprKind::Case(Box::new(subject), branches))
    }

    fn let_expr(&mut self) -> Parse<ExprKind> {
        self.next();
        let bindings = self.list(|p| {
            let bracket = p.take("(");
            let param = p.param()?;
            if bracket {
                p.expect(")")?;
            }
            p.expect("=")?;
            Ok((param, p.expr()?))
        })?;
        self.expect("in")?;
        Ok(ExprKind::Let(bindings, Box::new(self.expr()?)))
    }

    /// Parses `new C(x)` and `new local C(x)`, which the older dialect writes `new cog C(x)` and `new C(x)`.
    fn new_expr(&mut self) -> Parse<ExprKind> {
        let older = self.older.iter().any(|file| file.contains(&self.span().start));
        self.next();
        let local = self.take("local") || (!self.take("cog") && older);
        let class = self.type_name(NameKind::Class, "the name of a class")?;
        let args = if self.is("(") { self.arguments()? } else { Vec::new() };
        Ok(ExprKind::New { local, class, args })
    }

    /// Parses `await o!m(x)`.
    fn await_call(&mut self) -> Parse<ExprKind> {
        self.next();
        let call = self.nested(Parser::postfix)?;
        match call.kind {
            ExprKind::Send { object, method, args, .. } => Ok(ExprKind::Send { wait: true, object, method, args }),
            _ => Err(Diagnostic::new(call.span, "only a call `o!m(…)` can be awaited inside an expression")),
        }
    }

    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.nested(|p| {
            let start = p.span();
            let kind = match p.peek().clone() {
                Token::Sign("_") => {
                    p.next();
                    PatternKind::Any
                }
                Token::Sign("-") => {
                    p.next();
                    let Token::Int(digits) = p.peek().clone() else { return Err(p.expected("a number")) };
                    p.next();
                    PatternKind::Int(format!("-{digits}"))
                }
                Token::Int(digits) => {
                    p.next();
                    PatternKind::Int(digits)
                }
                Token::Str(text) => {
                    p.next();
                    PatternKind::Str(text)
                }
                Token::Type(_) => {
                    let name = p.type_name(NameKind::Constructor, "a constructor")?;
                    let args = if p.take("(") { p.list_until(")", Parser::pattern)? } else { Vec::new() };
                    PatternKind::Construct(name, args)
                }
                _ => PatternKind::Var(p.word("a pattern")?),
            };
            Ok(Pattern { span: start.to(p.last()), kind })
        })
    }

    /// Parses a template string into an expression that concatenates its texts and values.
    fn template(&self, pieces: Vec<Piece>, span: Span) -> Parse<ExprKind> {
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Expr { span, kind: ExprKind::Str(text) },
                Piece::Code(tokens) => {
                    let mut inner = self.within(tokens);
                    let expr = inner.expr()?;
                    if *inner.peek() != Token::End {
                        return Err(inner.expected("`$`"));
                    }
                    expr
                }
            });
        }
        Ok(ExprKind::Template(parts))
    }
}
