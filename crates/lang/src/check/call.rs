//! Checks calls of functions, including function arguments, lambdas, and `list[…]`, `set[…]` and `map[…]`.

use super::types::Ty;
use super::{Body, Check, Checker, FunctionInfo, Variable, unknown};
use crate::code::{self, Const, known};
use crate::source::{Fault, Span};
use crate::syntax::ast::{Expr, FunArg, Ident, Param};
use std::rc::Rc;

impl Checker {
    pub(super) fn variadic(&mut self, body: &mut Body, name: &Ident, items: &[Expr]) -> Check<(code::Expr, Ty)> {
        let item = self.types.fresh();
        let written = items.iter().map(|e| self.expr_of(body, e, &item)).collect::<Check<Vec<_>>>()?;
        let end = self.constant(Const::Construct(known::NIL));
        let list =
            written.into_iter().rev().fold(end, |rest, e| code::Expr::Construct(known::CONS, Box::new([e, rest])));
        let data = |checker: &Checker, name: &str, args: Rc<[Ty]>| Ty::Data(checker.library_data(name), args);
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

    pub(super) fn call(
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
        // The library overloads one name: `map` with function arguments means `map_list`.
        let is_library = |info: &FunctionInfo| info.number < self.library.functions;
        let mapping = self.prelude || self.functions.get("map").is_none_or(is_library);
        let name = &match &*name.text == "map" && !functions.is_empty() && mapping {
            true => Ident { text: "map_list".into(), span: name.span },
            false => name.clone(),
        };
        let Some(info) = self.functions.get(&name.text).cloned() else {
            if &*name.text == "random" && body.chooses {
                let args = self.args(body, name, args, &[Ty::Int])?;
                let below = args.into_iter().next().expect("one argument was wanted");
                return Ok((code::Expr::Random(Box::new(below), at), Ty::Int));
            }
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
                "random" => {
                    Fault::new(name.span, "not supported: `random` in a function or in what an `await` waits for")
                        .help("give it to a variable in a method first, then use the variable")
                }
                "readln" | "ms_since_model_start" => Fault::new(
                    name.span,
                    format!("not supported: `{}`, which gives another value each time", name.text),
                ),
                "deadline" | "lowlevelDeadline" => Fault::new(name.span, "not supported: deadlines"),
                "thisDC" => Fault::new(name.span, "not supported: asking for one's own deployment component"),
                _ => unknown("function", name, self.functions.keys()),
            },
        }
    }

    /// Returns the function arguments of a call as values.
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
                    return Ok(code::Expr::Closure(info.number, Box::new([]), Box::new([])));
                };
                let params = info.params.len() as u16;
                let args = (0..params).map(code::Expr::Local).collect();
                let wrapper = code::Expr::Builtin(builtin, args, self.place(name.span));
                Ok(code::Expr::Closure(self.new_function(params, wrapper), Box::new([]), Box::new([])))
            }
            FunArg::Lambda(params, inner) => self.lambda(body, params, inner),
        }
    }

    /// Checks a lambda, which captures all variables in scope.
    fn lambda(&mut self, body: &mut Body, params: &[Param], inner: &Expr) -> Check<code::Expr> {
        let mut own = Body { class: body.class, generics: body.generics.clone(), ..Body::default() };
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
        let fields = code.fields().into();
        Ok(code::Expr::Closure(self.new_function(own.slots.len() as u16, code), taken.into(), fields))
    }

    fn new_function(&mut self, locals: u16, body: code::Expr) -> u32 {
        self.code.functions.push(code::Function { locals, body });
        self.code.functions.len() as u32 - 1
    }
}
