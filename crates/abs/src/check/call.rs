//! Checks calls of functions, including function arguments, lambdas, and `list[…]`, `set[…]` and `map[…]`.

use super::types::{FunctionTy, Ty};
use super::{BodyBuilder, Check, FunctionInfo, FunctionParam, LocalVariable, TypeChecker, unknown};
use crate::code::{self, Const, known};
use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunArg, Ident, Param};
use std::rc::Rc;

impl TypeChecker {
    pub(super) fn variadic(&mut self, body: &mut BodyBuilder, name: &Ident, items: &[Expr]) -> Check<(code::Expr, Ty)> {
        if !["list", "set", "map"].contains(&&*name.text) {
            return self.variadic_call(body, name, items);
        }
        let item = self.types.fresh();
        let written = items.iter().map(|e| self.expr_of(body, e, &item)).collect::<Check<Vec<_>>>()?;
        let end = self.constant(Const::Construct(known::NIL));
        let list =
            written.into_iter().rev().fold(end, |rest, e| code::Expr::Construct(known::CONS, Box::new([e, rest])));
        let data = |checker: &TypeChecker, name: &str, args: Rc<[Ty]>| Ty::Data(checker.library_data(name), args);
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
        self.expect_type(name.span, &item, &pair)?;
        let map = code::Expr::Builtin(crate::builtins::Builtin::MapOf, Box::new([list]), at);
        Ok((map, data(self, "Map", [key, value].into())))
    }

    /// Checks `f[a, b]`, which means `f(list[a, b])`.
    fn variadic_call(&mut self, body: &mut BodyBuilder, name: &Ident, items: &[Expr]) -> Check<(code::Expr, Ty)> {
        let list = ExprKind::Variadic(Ident { text: "list".into(), span: name.span }, items.to_vec());
        self.call(body, name, &[], &[Expr { span: name.span, kind: list }], name.span)
    }

    pub(super) fn call(
        &mut self,
        body: &mut BodyBuilder,
        name: &Ident,
        functions: &[FunArg],
        args: &[Expr],
        span: Span,
    ) -> Check<(code::Expr, Ty)> {
        let at = self.place(span);
        if let Some(passed) = body.functions.iter().find(|passed| passed.name == name.text).cloned() {
            let (args, result) = self.call_passed(body, name, passed.ty, args)?;
            return Ok((code::Expr::CallLocal(passed.slot, args, at), result));
        }
        // The library overloads one name: `map` with function arguments means `map_list`.
        let is_library = |info: &FunctionInfo| info.number < self.library.functions;
        let mapping = self.prelude || self.names.functions.get("map").is_none_or(is_library);
        let written = name;
        let name = &match &*name.text == "map" && !functions.is_empty() && mapping {
            true => Ident { text: "map_list".into(), span: name.span },
            false => name.clone(),
        };
        let Some(info) = self.names.functions.get(&name.text).cloned() else {
            if &*name.text == "random" && body.chooses {
                let args = self.args(body, name, args, &[Ty::Int])?;
                let below = args.into_iter().next().expect("one argument was wanted");
                return Ok((code::Expr::Random(Box::new(below), at), Ty::Int));
            }
            return Err(self.no_function(body, name));
        };
        let with: Vec<Ty> = info.generics.iter().map(|_| self.types.fresh()).collect();
        let wanted: Vec<Ty> = info.params.iter().map(|ty| self.types.instantiate(ty, &info.generics, &with)).collect();
        let handed = self.function_arguments(body, name, &info, functions)?;
        let args = self.args(body, name, args, &wanted)?;
        let result = self.types.instantiate(&info.result, &info.generics, &with);
        if let Some(builtin) = info.builtin {
            self.uses_component |= builtin == crate::builtins::Builtin::ThisDc;
            return Ok((code::Expr::Builtin(builtin, args, at), result));
        }
        let (mut all, types): (Vec<code::Expr>, Vec<Option<FunctionTy>>) = handed.into_iter().unzip();
        if let Some(types) = types.into_iter().collect::<Option<Vec<FunctionTy>>>()
            && !types.is_empty()
        {
            let outermost = self.instances.is_empty();
            self.instance(&info, &types, &with.into()).map_err(|diagnostic| {
                if outermost { unsuitable_function(written, functions, &diagnostic) } else { diagnostic }
            })?;
        }
        all.extend(args);
        Ok((code::Expr::Call(info.number, all.into(), at), result))
    }

    /// Checks the arguments of a call of a function parameter, and returns them with the type of the result.
    fn call_passed(
        &mut self,
        body: &mut BodyBuilder,
        name: &Ident,
        ty: Option<FunctionTy>,
        args: &[Expr],
    ) -> Check<(Box<[code::Expr]>, Ty)> {
        let Some(ty) = ty else {
            return Ok((args.iter().map(|arg| Ok(self.expr(body, arg)?.0)).collect::<Check<_>>()?, Ty::Any));
        };
        let with: Vec<Ty> = ty.generics.iter().map(|_| self.types.fresh()).collect();
        let wanted: Vec<Ty> =
            ty.params.iter().map(|param| self.types.instantiate(param, &ty.generics, &with)).collect();
        Ok((self.args(body, name, args, &wanted)?, self.types.instantiate(&ty.result, &ty.generics, &with)))
    }

    fn no_function(&self, body: &BodyBuilder, name: &Ident) -> Diagnostic {
        let method = body.class.is_some_and(|class| self.class_methods[class as usize].contains_key(&name.text));
        match method {
            true => Diagnostic::new(name.span, format!("`{}` is a method: write `this.{0}(…)`", name.text)),
            false => match &*name.text {
                "random" => Diagnostic::new(
                    name.span,
                    "not supported: `random` in a function or in the condition of an `await`",
                )
                .help("assign it to a variable in a method, then use the variable"),
                "readln" | "ms_since_model_start" => {
                    Diagnostic::new(name.span, format!("not supported: `{}`, whose value differs each time", name.text))
                }
                "reflect" | "getProductLine" => Diagnostic::new(name.span, "not supported: `ABS.Meta`"),
                "product_name" | "product_features" => Diagnostic::new(name.span, "not supported: product lines"),
                "destinyOf" => Diagnostic::new(name.span, "not supported: `Destiny`"),
                _ => unknown("function", name, self.names.functions.keys()),
            },
        }
    }

    /// Returns the function arguments of a call as values, with their types as far as they are known.
    fn function_arguments(
        &mut self,
        body: &mut BodyBuilder,
        name: &Ident,
        info: &FunctionInfo,
        functions: &[FunArg],
    ) -> Check<Vec<(code::Expr, Option<FunctionTy>)>> {
        if functions.is_empty() && body.own.as_ref() == Some(&name.text) {
            return Ok(body.functions.iter().map(FunctionParam::forward_parameters).collect());
        }
        if functions.len() != info.functions {
            let message = format!("`{}` takes {} functions, not {}", name.text, info.functions, functions.len());
            return Err(Diagnostic::new(name.span, message));
        }
        functions.iter().map(|function| self.closure(body, function)).collect()
    }

    fn closure(&mut self, body: &mut BodyBuilder, function: &FunArg) -> Check<(code::Expr, Option<FunctionTy>)> {
        match function {
            FunArg::Name(name) => {
                if let Some(passed) = body.functions.iter().find(|passed| passed.name == name.text) {
                    return Ok(passed.forward_parameters());
                }
                let Some(info) = self.names.functions.get(&name.text).cloned() else {
                    return Err(unknown("function", name, self.names.functions.keys()));
                };
                if info.functions > 0 {
                    let message = format!("`{}` has function parameters and cannot be passed to a function", name.text);
                    return Err(Diagnostic::new(name.span, message).help("pass a function that calls it: `(…) => …`"));
                }
                let mut number = info.number;
                if let Some(builtin) = info.builtin {
                    let params = info.params.len() as u16;
                    let args = (0..params).map(code::Expr::Local).collect();
                    number = self.new_function(params, code::Expr::Builtin(builtin, args, self.place(name.span)));
                }
                let ty = FunctionTy { generics: info.generics, params: info.params, result: info.result };
                Ok((code::Expr::Closure(number, Box::new([]), Box::new([])), Some(ty)))
            }
            FunArg::Lambda(params, inner) => self.lambda(body, params, inner),
        }
    }

    /// Checks a lambda, which captures all variables in scope.
    fn lambda(
        &mut self,
        body: &mut BodyBuilder,
        params: &[Param],
        inner: &Expr,
    ) -> Check<(code::Expr, Option<FunctionTy>)> {
        let (generics, with) = (body.generics.clone(), body.with.clone());
        let mut own = BodyBuilder { class: body.class, generics, with, fields: body.fields, ..BodyBuilder::default() };
        let mut taken = Vec::new();
        for LocalVariable { name, slot, ty } in body.scope.clone() {
            own.declare(&name, ty)?;
            taken.push(slot);
        }
        for FunctionParam { name, slot, ty } in body.functions.clone() {
            let inside = own.slot(&name)?;
            own.functions.push(FunctionParam { name, slot: inside, ty });
            taken.push(slot);
        }
        let types = params.iter().map(|param| self.ty_in(body, &param.ty)).collect::<Check<Rc<[Ty]>>>()?;
        for (param, ty) in params.iter().zip(&*types) {
            own.declare(&param.name.text, ty.clone())?;
        }
        let (code, result) = self.expr(&mut own, inner)?;
        let fields = code.fields().into();
        let closure = code::Expr::Closure(self.new_function(own.slots.len() as u16, code), taken.into(), fields);
        Ok((closure, Some(FunctionTy { generics: Rc::from([]), params: types, result })))
    }

    fn new_function(&mut self, locals: u16, body: code::Expr) -> u32 {
        self.code.functions.push(code::Function { locals, body });
        self.code.functions.len() as u32 - 1
    }
}

impl FunctionParam {
    /// Returns the function as an argument of another call.
    fn forward_parameters(&self) -> (code::Expr, Option<FunctionTy>) {
        (code::Expr::Local(self.slot), self.ty.clone())
    }
}

/// Returns the diagnostic that functions do not suit the function they are passed to: `diagnostic` is in its body.
fn unsuitable_function(name: &Ident, functions: &[FunArg], diagnostic: &Diagnostic) -> Diagnostic {
    let (span, these) = match functions {
        [FunArg::Name(function)] => (function.span, "this function"),
        [FunArg::Lambda(params, inner)] => {
            (params.first().map_or(inner.span, |param| param.ty.name.span.to(inner.span)), "this function")
        }
        _ => (name.span, "these functions"),
    };
    Diagnostic::new(span, format!("`{}` cannot be called with {these}: {}", name.text, diagnostic.message))
}
