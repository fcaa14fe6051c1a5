//! Expressions without effect, and patterns.

use super::types::Ty;
use super::{Body, Check, Checker, FunctionInfo, Variable, unknown};
use crate::code::{self, Const, known};
use crate::source::{Fault, Span};
use crate::syntax::ast::{Binary, Expr, ExprKind, FunArg, Ident, Param, Pattern, PatternKind, Unary};
use crate::value::with_stack;
use num_rational::BigRational;
use std::rc::Rc;

impl Checker {
    /// Checks an expression of any type.
    pub(super) fn expr(&mut self, body: &mut Body, expr: &Expr) -> Check<(code::Expr, Ty)> {
        with_stack(|| self.expr_kind(body, expr))
    }

    /// Checks an expression whose type is known.
    pub(super) fn expr_of(&mut self, body: &mut Body, expr: &Expr, wanted: &Ty) -> Check<code::Expr> {
        let (code, ty) = self.expr(body, expr)?;
        self.want(expr.span, &ty, wanted)?;
        Ok(code)
    }

    fn expr_kind(&mut self, body: &mut Body, expr: &Expr) -> Check<(code::Expr, Ty)> {
        let at = self.place(expr.span);
        Ok(match &expr.kind {
            ExprKind::Int(digits) => (self.integer(digits), Ty::Int),
            ExprKind::Float(float) => (self.constant(Const::Float(*float)), Ty::Float),
            ExprKind::Str(text) => (self.constant(Const::Str(text.clone())), Ty::Str),
            ExprKind::Template(parts) => {
                let parts = parts.iter().map(|part| Ok(self.expr(body, part)?.0)).collect::<Check<_>>()?;
                (code::Expr::Template(parts), Ty::Str)
            }
            ExprKind::Var(name) => self.variable(body, name)?,
            ExprKind::Field(name) => self.field(body, name)?,
            ExprKind::This => match body.class {
                Some(class) if class > 0 => (code::Expr::This, Ty::Class(class)),
                _ => return Err(Fault::new(expr.span, "there is no `this` outside a class")),
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
                let fault = Fault::new(expr.span, "calls, `new`, `get` and `await` cannot stand inside an expression");
                return Err(fault.help("give its result to a variable first, then use the variable"));
            }
        })
    }

    fn integer(&mut self, digits: &str) -> code::Expr {
        let number = digits.parse().expect("the lexer found digits");
        self.constant(Const::Number(BigRational::from_integer(number)))
    }

    fn variable(&mut self, body: &Body, name: &Ident) -> Check<(code::Expr, Ty)> {
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

    pub(super) fn field_number(&self, body: &Body, name: &Ident) -> Option<(u16, Ty)> {
        let fields = &self.class_fields[body.class? as usize];
        let k = fields.iter().position(|(field, _)| *field == name.text)?;
        Some((k as u16, fields[k].1.clone()))
    }

    fn field(&mut self, body: &Body, name: &Ident) -> Check<(code::Expr, Ty)> {
        match self.field_number(body, name) {
            Some((field, ty)) => Ok((code::Expr::Field(field), ty)),
            None => {
                let fields = body.class.map_or(Rc::from([]), |class| self.class_fields[class as usize].clone());
                Err(unknown("field", name, fields.iter().map(|(name, _)| name)))
            }
        }
    }

    fn cast(&mut self, body: &mut Body, inner: &Expr, name: &Ident) -> Check<(code::Expr, u32)> {
        let (code, ty) = self.expr(body, inner)?;
        if !matches!(self.types.known(&ty), Ty::Interface(_) | Ty::Class(_) | Ty::Null | Ty::Any) {
            let message = format!("only objects have interfaces, this has type {}", self.types.show(&ty));
            return Err(Fault::new(inner.span, message));
        }
        let interface = self.interfaces.get(&name.text).copied();
        Ok((code, interface.ok_or_else(|| unknown("interface", name, self.interfaces.keys()))?))
    }

    fn unary(&mut self, body: &mut Body, operator: Unary, inner: &Expr) -> Check<(code::Expr, Ty)> {
        let (code, ty) = self.expr(body, inner)?;
        let ty = match operator {
            Unary::Not => {
                self.want(inner.span, &ty, &Ty::Bool)?;
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
                self.want(span, ty, &Ty::Int)?;
                Ok(Ty::Int)
            }
            other => {
                Err(Fault::new(span, format!("a number is wanted here, this has type {}", self.types.show(&other)))
                    .label(self.types.show(&other)))
            }
        }
    }

    fn binary(
        &mut self,
        body: &mut Body,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        at: u32,
    ) -> Check<(code::Expr, Ty)> {
        let (a, first) = self.expr(body, left)?;
        let (b, second) = self.expr(body, right)?;
        let ty = match operator {
            Binary::And | Binary::Or | Binary::Implies | Binary::Equiv => {
                self.want(left.span, &first, &Ty::Bool)?;
                self.want(right.span, &second, &Ty::Bool)?;
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

    fn comparable(&mut self, span: Span, first: &Ty, second: &Ty) -> Check<()> {
        let objects = |ty: Ty| matches!(ty, Ty::Interface(_) | Ty::Class(_) | Ty::Null);
        if self.types.join(first, second).is_some()
            || (objects(self.types.known(first)) && objects(self.types.known(second)))
        {
            return Ok(());
        }
        let (a, b) = (self.types.show(first), self.types.show(second));
        Err(Fault::new(span, format!("{a} and {b} cannot be compared")).label(format!("{a} against {b}")))
    }

    fn case(
        &mut self,
        body: &mut Body,
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

    fn let_expr(&mut self, body: &mut Body, bindings: &[(Param, Expr)], inner: &Expr) -> Check<(code::Expr, Ty)> {
        let mark = body.scope.len();
        let mut written = Vec::new();
        for (param, value) in bindings {
            let ty = self.ty(&param.ty, &body.generics)?;
            let value = self.expr_of(body, value, &ty)?;
            written.push((body.declare(&param.name.text, ty)?, value));
        }
        let (inner, ty) = self.expr(body, inner)?;
        body.scope.truncate(mark);
        let wrap = |inner, (slot, value)| code::Expr::Let(slot, Box::new((value, inner)));
        Ok((written.into_iter().rev().fold(inner, wrap), ty))
    }

    fn construct(&mut self, body: &mut Body, name: &Ident, args: &[Expr]) -> Check<(code::Expr, Ty)> {
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
        let Some(info) = self.constructors.get(&name.text).cloned() else {
            return Err(unknown("constructor", name, self.constructors.keys()));
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

    /// Arguments against the types they must have.
    pub(super) fn args(
        &mut self,
        body: &mut Body,
        name: &Ident,
        args: &[Expr],
        wanted: &[Ty],
    ) -> Check<Box<[code::Expr]>> {
        if args.len() != wanted.len() {
            let message = format!("`{}` takes {} arguments, here are {}", name.text, wanted.len(), args.len());
            return Err(Fault::new(name.span, message));
        }
        args.iter().zip(wanted).map(|(arg, ty)| self.expr_of(body, arg, ty)).collect()
    }

    fn variadic(&mut self, body: &mut Body, name: &Ident, items: &[Expr]) -> Check<(code::Expr, Ty)> {
        let item = self.types.fresh();
        let written = items.iter().map(|e| self.expr_of(body, e, &item)).collect::<Check<Vec<_>>>()?;
        let end = self.constant(Const::Construct(known::NIL));
        let list =
            written.into_iter().rev().fold(end, |rest, e| code::Expr::Construct(known::CONS, Box::new([e, rest])));
        let data = |checker: &Checker, name: &str, args: Rc<[Ty]>| Ty::Data(checker.data[name].0, args);
        let at = self.place(name.span);
        if &*name.text == "list" {
            return Ok((list, data(self, "List", [item].into())));
        }
        if &*name.text == "set" {
            let set = code::Expr::Builtin(crate::builtins::Builtin::SetOf, Box::new([list]), at);
            return Ok((set, data(self, "Set", [item].into())));
        }
        let (key, value) = (self.types.fresh(), self.types.fresh());
        let pair = data(self, "Pair", [key.clone(), value.clone()].into());
        self.want(name.span, &item, &pair)?;
        let map = code::Expr::Builtin(crate::builtins::Builtin::MapOf, Box::new([list]), at);
        Ok((map, data(self, "Map", [key, value].into())))
    }

    fn call(
        &mut self,
        body: &mut Body,
        name: &Ident,
        functions: &[FunArg],
        args: &[Expr],
        span: Span,
    ) -> Check<(code::Expr, Ty)> {
        let at = self.place(span);
        if let Some(&(_, slot)) = body.functions.iter().find(|(function, _)| *function == name.text) {
            let args = args.iter().map(|arg| Ok(self.expr(body, arg)?.0)).collect::<Check<_>>()?;
            return Ok((code::Expr::CallLocal(slot, args, at), Ty::Any));
        }
        // The one name that the library uses twice.
        let name = &match &*name.text == "map" && !functions.is_empty() {
            true => Ident { text: "map_list".into(), span: name.span },
            false => name.clone(),
        };
        let Some(info) = self.functions.get(&name.text).cloned() else {
            return Err(self.no_function(body, name));
        };
        let with: Vec<Ty> = info.generics.iter().map(|_| self.types.fresh()).collect();
        let wanted: Vec<Ty> = info.params.iter().map(|ty| self.types.instantiate(ty, &info.generics, &with)).collect();
        let mut handed = self.handed_over(body, name, &info, functions)?;
        let args = self.args(body, name, args, &wanted)?;
        let result = self.types.instantiate(&info.result, &info.generics, &with);
        if let Some(builtin) = info.builtin {
            return Ok((code::Expr::Builtin(builtin, args, at), result));
        }
        handed.extend(args);
        Ok((code::Expr::Call(info.number, handed.into(), at), result))
    }

    fn no_function(&self, body: &Body, name: &Ident) -> Fault {
        let method = body.class.is_some_and(|class| self.class_methods[class as usize].contains_key(&name.text));
        match method {
            true => Fault::new(name.span, format!("`{}` is a method: write `this.{0}(…)`", name.text)),
            false => match &*name.text {
                "random" | "readln" | "currentms" | "ms_since_model_start" => Fault::new(
                    name.span,
                    format!("not supported: `{}`, which gives another value each time", name.text),
                ),
                _ => unknown("function", name, self.functions.keys()),
            },
        }
    }

    /// The functions that a function takes, as values.
    fn handed_over(
        &mut self,
        body: &mut Body,
        name: &Ident,
        info: &FunctionInfo,
        functions: &[FunArg],
    ) -> Check<Vec<code::Expr>> {
        if functions.is_empty() && body.own.as_ref() == Some(&name.text) {
            return Ok(body.functions.iter().map(|&(_, slot)| code::Expr::Local(slot)).collect());
        }
        if functions.len() != info.functions {
            let message = format!("`{}` takes {} functions, here are {}", name.text, info.functions, functions.len());
            return Err(Fault::new(name.span, message));
        }
        functions.iter().map(|function| self.closure(body, function)).collect()
    }

    fn closure(&mut self, body: &mut Body, function: &FunArg) -> Check<code::Expr> {
        match function {
            FunArg::Name(name) => {
                if let Some(&(_, slot)) = body.functions.iter().find(|(known, _)| *known == name.text) {
                    return Ok(code::Expr::Local(slot));
                }
                let Some(info) = self.functions.get(&name.text).cloned() else {
                    return Err(unknown("function", name, self.functions.keys()));
                };
                let Some(builtin) = info.builtin else {
                    return Ok(code::Expr::Closure(info.number, Box::new([])));
                };
                let params = info.params.len() as u16;
                let args = (0..params).map(code::Expr::Local).collect();
                let wrapper = code::Expr::Builtin(builtin, args, self.place(name.span));
                Ok(code::Expr::Closure(self.new_function(params, wrapper), Box::new([])))
            }
            FunArg::Lambda(params, inner) => self.lambda(body, params, inner),
        }
    }

    /// A function without a name takes all variables in scope along.
    fn lambda(&mut self, body: &mut Body, params: &[Param], inner: &Expr) -> Check<code::Expr> {
        let mut own = Body { generics: body.generics.clone(), ..Body::default() };
        let mut taken = Vec::new();
        for Variable { name, slot, ty } in body.scope.clone() {
            own.declare(&name, ty)?;
            taken.push(slot);
        }
        for (name, slot) in body.functions.clone() {
            let inside = own.slot(&name)?;
            own.functions.push((name, inside));
            taken.push(slot);
        }
        for param in params {
            let ty = self.ty(&param.ty, &body.generics)?;
            own.declare(&param.name.text, ty)?;
        }
        let (code, _) = self.expr(&mut own, inner)?;
        Ok(code::Expr::Closure(self.new_function(own.slots.len() as u16, code), taken.into()))
    }

    fn new_function(&mut self, locals: u16, body: code::Expr) -> u32 {
        self.code.functions.push(code::Function { locals, body });
        self.code.functions.len() as u32 - 1
    }

    /// Checks a pattern and declares its new variables. A name that is known already stands for its value.
    pub(super) fn pattern(&mut self, body: &mut Body, pattern: &Pattern, ty: &Ty) -> Check<code::Pattern> {
        Ok(match &pattern.kind {
            PatternKind::Any => code::Pattern::Any,
            PatternKind::Int(digits) => {
                self.want(pattern.span, &Ty::Int, ty)?;
                self.constant_pattern(digits)
            }
            PatternKind::Str(text) => {
                self.want(pattern.span, &Ty::Str, ty)?;
                let code::Expr::Const(k) = self.constant(Const::Str(text.clone())) else { unreachable!() };
                code::Pattern::Const(k)
            }
            PatternKind::Var(name) => match body.find(&name.text).cloned() {
                Some(variable) => {
                    self.comparable(pattern.span, &variable.ty, ty)?;
                    code::Pattern::Same(variable.slot)
                }
                None => code::Pattern::Bind(body.declare(&name.text, ty.clone())?),
            },
            PatternKind::Construct(name, args) => self.constructor_pattern(body, name, args, pattern.span, ty)?,
        })
    }

    fn constant_pattern(&mut self, digits: &str) -> code::Pattern {
        match self.integer(digits) {
            code::Expr::Const(k) => code::Pattern::Const(k),
            other => unreachable!("a constant was written as {other:?}"),
        }
    }

    fn constructor_pattern(
        &mut self,
        body: &mut Body,
        name: &Ident,
        args: &[Pattern],
        span: Span,
        ty: &Ty,
    ) -> Check<code::Pattern> {
        if ["True", "False", "Unit"].contains(&&*name.text) {
            let (expr, found) = self.construct(body, name, &[])?;
            self.want(span, &found, ty)?;
            let code::Expr::Const(k) = expr else { unreachable!("truth values are constants") };
            return Ok(code::Pattern::Const(k));
        }
        let Some(info) = self.constructors.get(&name.text).cloned() else {
            return Err(unknown("constructor", name, self.constructors.keys()));
        };
        if args.len() != info.args.len() {
            let message = format!("`{}` has {} arguments, here are {}", name.text, info.args.len(), args.len());
            return Err(Fault::new(span, message));
        }
        let with: Vec<Ty> = info.generics.iter().map(|_| self.types.fresh()).collect();
        let whole = self.types.instantiate(&info.result, &info.generics, &with);
        self.want(span, &whole, ty)?;
        let mut written = Vec::new();
        for (arg, ty) in args.iter().zip(&*info.args) {
            let ty = self.types.instantiate(ty, &info.generics, &with);
            written.push(self.pattern(body, arg, &ty)?);
        }
        Ok(code::Pattern::Construct(info.number, written.into()))
    }
}
