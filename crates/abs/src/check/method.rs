//! Checks the bodies of functions, methods, object initializers and the main block.

use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker};
use crate::code::{self, Const, Dest, Instr};
use crate::error::Diagnostic;
use crate::syntax::ast;
use std::rc::Rc;

impl TypeChecker {
    pub(super) fn bodies(&mut self, file: &ast::File) {
        if self.prelude {
            self.new_method("the main block", 0, BodyBuilder::default(), 0);
            self.add_class("main", 0, 0);
        }
        for function in &file.functions {
            let result = self.function_body(function);
            self.record_error(result);
        }
        for class in &file.classes {
            let number = self.classes[&class.name.text];
            self.class_body(class, number);
        }
    }

    fn function_body(&mut self, function: &ast::Function) -> Check<()> {
        let Some(value) = &function.body else { return Ok(()) };
        let info = self.names.functions[&function.signature.name.text].clone();
        let mut body = BodyBuilder { generics: info.generics.clone(), ..BodyBuilder::default() };
        // Nothing is known about its functions here: every call of it is checked with those that are passed.
        body.declare_functions(function, |_| None)?;
        for (param, ty) in function.signature.params.iter().zip(&*info.params) {
            body.declare(&param.name.text, ty.clone())?;
        }
        let code = self.expr_of(&mut body, value, &info.result).map_err(|mut diagnostic| {
            if diagnostic.span == crate::source::Span::default() {
                diagnostic.span = value.span;
            }
            diagnostic
        })?;
        let written = &mut self.code.functions[info.number as usize];
        written.locals = body.slots.len() as u16;
        written.body = code;
        Ok(())
    }

    fn class_body(&mut self, class: &ast::Class, number: u32) {
        let init = self.init_body(class, number);
        self.add_class(&class.name.text, number, init);
        for method in &class.methods {
            let result = self.method_body(class, method, number);
            self.record_error(result);
        }
        let run = self.method_names.get("run").copied();
        let written = self.code.classes.last_mut().expect("the class was added above");
        written.run = run.and_then(|run| written.method(run));
        if let Some(run) = written.run
            && self.code.methods[run as usize].params > 0
        {
            let message = "the method `run` starts automatically and cannot have parameters";
            self.diagnostics.push(Diagnostic::new(class.name.span, message));
        }
    }

    fn add_class(&mut self, name: &str, number: u32, init: u32) {
        let fields = self.class_fields[number as usize].iter().map(|(name, _)| name.to_string()).collect();
        let mut interfaces = self.types.implements[number as usize].clone();
        interfaces.sort_unstable();
        interfaces.dedup();
        assert_eq!(
            self.code.classes.len(),
            number as usize,
            "internal error: classes are not in the order of their numbers"
        );
        self.code.classes.push(code::Class {
            name: name.into(),
            fields,
            init,
            methods: Vec::new(),
            run: None,
            interfaces,
        });
    }

    /// Writes the method that initializes the fields in order and runs the block of the class.
    fn init_body(&mut self, class: &ast::Class, number: u32) -> u32 {
        let mut body = BodyBuilder {
            class: Some(number),
            init: true,
            chooses: true,
            result: Some(Ty::Unit),
            ..BodyBuilder::default()
        };
        let fields = self.class_fields[number as usize].clone();
        for (k, (param, value)) in class.fields.iter().enumerate() {
            let field = class.params.len() + k;
            body.fields = Some(field);
            let ty = fields[field].1.clone();
            let code = match value {
                Some(value) => self.expr_of(&mut body, value, &ty),
                None => self.default(&ty, &param.name),
            };
            if let Some(code) = self.record_error(code) {
                body.code.push(Instr::Set(Dest::Field(field as u16), code));
                let place = self.place(param.name.span);
                body.places.push(place);
            }
        }
        body.fields = None;
        self.block(&mut body, &class.init);
        self.new_method("the initializer", number, body, 0)
    }

    fn method_body(&mut self, class: &ast::Class, method: &ast::Method, number: u32) -> Check<()> {
        let signature = &method.signature;
        let info = self.class_methods[number as usize][&signature.name.text].clone();
        let mut body = BodyBuilder {
            class: Some(number),
            chooses: true,
            result: Some(info.result.clone()),
            ..BodyBuilder::default()
        };
        for (param, ty) in signature.params.iter().zip(&*info.params) {
            if body.find(&param.name.text).is_some() {
                return Err(Diagnostic::new(
                    param.name.span,
                    format!("parameter `{}` is declared twice", param.name.text),
                ));
            }
            body.declare(&param.name.text, ty.clone())?;
        }
        if info.result != Ty::Unit && !always_returns(&method.body) {
            let message = format!("`{}.{}` can end without returning a value", class.name.text, signature.name.text);
            return Err(Diagnostic::new(method.end, message).label("missing `return`"));
        }
        self.block(&mut body, &method.body);
        let written = self.new_method(&signature.name.text, number, body, signature.params.len());
        let name = self.code.methods[written as usize].name;
        let methods = &mut self.code.classes[number as usize].methods;
        let at = methods.partition_point(|&(known, _)| known < name);
        methods.insert(at, (name, written));
        Ok(())
    }

    fn new_method(&mut self, name: &str, class: u32, mut body: BodyBuilder, params: usize) -> u32 {
        let unit = self.constant(Const::Unit);
        body.code.push(Instr::Return(unit));
        body.places.push(body.places.last().copied().unwrap_or(0));
        let name = self.method_name(&Rc::from(name));
        self.code.methods.push(code::Method {
            name,
            class,
            params: params as u16,
            locals: body.slots,
            code: body.code,
            places: body.places,
        });
        self.code.methods.len() as u32 - 1
    }

    pub(super) fn main(&mut self, file: &ast::File) {
        let Some((statements, _)) = &file.main else {
            let end = self.code.source.end_of_first() as usize;
            let end = crate::source::Span::new(end, end);
            let diagnostic = Diagnostic::new(end, "the program has no main block")
                .label("the file ends here")
                .help("add a block `{ … }` at the end of the file");
            self.diagnostics.push(diagnostic);
            return;
        };
        let mut body = BodyBuilder { class: Some(0), chooses: true, result: Some(Ty::Unit), ..BodyBuilder::default() };
        self.block(&mut body, statements);
        if self.uses_component {
            let deployed = self.initial_component(&mut body);
            self.record_error(deployed);
        }
        let written = self.new_method("the main block", 0, body, 0);
        let main = self.code.methods.swap_remove(written as usize);
        self.code.methods[0] = main;
    }
}

/// Returns `true` if every path through the statements ends in a `return` or `throw`, or never ends.
fn always_returns(statements: &[ast::Stmt]) -> bool {
    use ast::StmtKind as S;
    let inner = |statement: &ast::Stmt| always_returns(std::slice::from_ref(statement));
    statements.iter().any(|statement| match &statement.kind {
        S::Return(_) | S::Throw(_) => true,
        S::Block(statements) => always_returns(statements),
        S::If(_, yes, Some(no)) => inner(yes) && inner(no),
        S::Case(_, branches) => !branches.is_empty() && branches.iter().all(|(_, branch)| inner(branch)),
        S::Try(body, branches, finally) => {
            finally.as_deref().is_some_and(inner) || (inner(body) && branches.iter().all(|(_, branch)| inner(branch)))
        }
        // `while (True)` never ends.
        S::While(condition, _) => matches!(&condition.kind, ast::ExprKind::Construct(name, _) if &*name.text == "True"),
        _ => false,
    })
}
