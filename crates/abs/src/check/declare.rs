//! Checks declarations: every name is declared before the first body is checked.

use super::type_use::PRIMITIVE;
use super::types::Ty;
use super::{Check, ConstructorInfo, FunctionInfo, TypeChecker};
use crate::builtins::Builtin;
use crate::code;
use crate::error::Diagnostic;
use crate::syntax::ast::{self, Ident};
use std::rc::Rc;

/// The modules of the standard library, which need no declaration.
pub(super) const LIBRARY: &[&str] =
    &["ABS.StdLib", "ABS.StdLib.Exceptions", "ABS.DC", "ABS.Meta", "ABS.FLI", "ABS.Scheduler", "ABS.SmartDeploy"];

impl TypeChecker {
    pub(super) fn imports(&mut self, file: &ast::File) {
        for import in &file.imports {
            let own = file.modules.iter().any(|module| module.text == import.text);
            if !own && !LIBRARY.contains(&&*import.text) {
                let diagnostic = Diagnostic::new(import.span, format!("unknown module `{}`", import.text))
                    .help("modules are searched for in this file and in the .abs files in the same directory");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    pub(super) fn declare_all(&mut self, file: &ast::File) {
        self.type_names(file);
        for interface in &file.interfaces {
            let result = self.interface(interface);
            self.record_error(result);
        }
        self.close_supers(file);
        for exception in &file.exceptions {
            let result = self.constructor(exception, &Rc::from([]), &self.exception_type());
            self.record_error(result);
        }
        for data in &file.data {
            let result = self.data_type(data);
            self.record_error(result);
        }
        for function in &file.functions {
            let result = self.function(function);
            self.record_error(result);
        }
        for class in &file.classes {
            let result = self.class(class);
            self.record_error(result);
        }
    }

    fn exception_type(&self) -> Ty {
        Ty::Data(self.library_data("Exception"), Rc::from([]))
    }

    fn type_names(&mut self, file: &ast::File) {
        if self.prelude {
            self.new_data("Exception".into(), 0);
            self.new_interface("Object".into());
            self.new_class("main".into());
        }
        self.exceptions.extend(file.exceptions.iter().map(|exception| exception.name.text.clone()));
        for data in &file.data {
            if self.is_unused_name(&data.name) {
                self.new_data(data.name.text.clone(), data.generics.len());
            }
        }
        for (name, generics, ty) in &file.synonyms {
            if self.is_unused_name(name) {
                self.synonyms.insert(name.text.clone(), (generics.clone(), ty.clone()));
            }
        }
        for interface in &file.interfaces {
            if self.is_unused_name(&interface.name) {
                self.new_interface(interface.name.text.clone());
            }
        }
        for class in &file.classes {
            if self.classes.get(&class.name.text).is_some_and(|&known| known >= self.library.classes) {
                self.diagnostics
                    .push(Diagnostic::new(class.name.span, format!("class `{}` is declared twice", class.name.text)));
            }
            let number = self.new_class(class.name.text.clone());
            self.classes.insert(class.name.text.clone(), number);
        }
    }

    fn new_data(&mut self, name: Rc<str>, generics: usize) {
        self.data.insert(name.clone(), (self.types.data_names.len() as u32, generics));
        self.types.data_names.push(name);
    }

    fn new_interface(&mut self, name: Rc<str>) {
        let number = self.types.interface_names.len() as u32;
        self.interfaces.insert(name.clone(), number);
        self.code.interfaces.push(name.to_string());
        self.types.interface_names.push(name);
        self.types.supers.push(vec![number, 0]);
        self.interface_methods.push(super::Methods::default());
    }

    fn new_class(&mut self, name: Rc<str>) -> u32 {
        self.types.class_names.push(name);
        self.types.implements.push(vec![0]);
        self.class_methods.push(super::Methods::default());
        self.class_fields.push(Rc::from([]));
        self.class_params.push(0);
        self.types.class_names.len() as u32 - 1
    }

    /// Returns `true` if the program has no type of this name yet, and reports a diagnostic otherwise. A library type of
    /// this name is hidden.
    fn is_unused_name(&mut self, name: &Ident) -> bool {
        let text = &name.text;
        let library = &mut self.library;
        if self.data.get(text).is_some_and(|(number, _)| library.data.get(text) == Some(number)) {
            self.data.remove(text);
        }
        if self.interfaces.get(text).is_some_and(|number| *number < library.interfaces) {
            self.interfaces.remove(text);
        }
        if let Some(k) = library.synonyms.iter().position(|known| known == text) {
            library.synonyms.swap_remove(k);
            self.synonyms.remove(text);
        }
        let primitive = PRIMITIVE.iter().any(|(known, _)| **known == **text) || &**text == "Fut";
        let taken =
            self.data.contains_key(text) || self.synonyms.contains_key(text) || self.interfaces.contains_key(text);
        if primitive || taken {
            let diagnostic = Diagnostic::new(name.span, format!("type `{text}` is declared twice"))
                .help("data types, interfaces, type synonyms and built-in types share one namespace");
            self.diagnostics.push(diagnostic);
        }
        !primitive && !taken
    }

    fn data_type(&mut self, data: &ast::DataType) -> Check<()> {
        let Some(&(number, _)) = self.data.get(&data.name.text) else { return Ok(()) };
        let generics: Rc<[Rc<str>]> = data.generics.iter().map(|g| g.text.clone()).collect();
        let result = Ty::Data(number, generics.iter().map(|g| Ty::Param(g.clone())).collect());
        // Values are ordered by the names of their constructors, and the numbers follow that order.
        let mut constructors: Vec<&ast::Constructor> = data.constructors.iter().collect();
        constructors.sort_by(|a, b| a.name.text.cmp(&b.name.text));
        for constructor in constructors {
            self.constructor(constructor, &generics, &result)?;
        }
        Ok(())
    }

    fn constructor(&mut self, constructor: &ast::Constructor, generics: &Rc<[Rc<str>]>, result: &Ty) -> Check<()> {
        let name = &constructor.name;
        let reserved = ["True", "False", "Unit"].contains(&&*name.text);
        let known = self.names.constructors.get(&name.text);
        if reserved || known.is_some_and(|known| known.number >= self.library.constructors) {
            return Err(Diagnostic::new(name.span, format!("constructor `{}` is declared twice", name.text)));
        }
        let args: Rc<[Ty]> = constructor.args.iter().map(|(ty, _)| self.ty(ty, generics)).collect::<Check<_>>()?;
        let number = self.code.constructors.len() as u32;
        // A name that several modules declare begins with the name of its module, which values do not show.
        let shown = name.text.rsplit('.').next().unwrap_or_default().to_string();
        self.code.constructors.push(code::Constructor { name: shown });
        let info = ConstructorInfo { number, generics: generics.clone(), args: args.clone(), result: result.clone() };
        self.names.constructors.insert(name.text.clone(), info);
        for (k, (_, selector)) in constructor.args.iter().enumerate() {
            if let Some(selector) = selector {
                self.selector(selector, number, args.len(), k, generics, result, &args[k]);
            }
        }
        Ok(())
    }

    /// Declares a function that extracts one argument of a constructor.
    #[allow(clippy::too_many_arguments)]
    fn selector(
        &mut self,
        name: &Ident,
        constructor: u32,
        arity: usize,
        k: usize,
        generics: &Rc<[Rc<str>]>,
        whole: &Ty,
        part: &Ty,
    ) {
        let patterns = (0..arity).map(|i| if i == k { code::Pattern::Bind(1) } else { code::Pattern::Any }).collect();
        let branch = (code::Pattern::Construct(constructor, patterns), code::Expr::Local(1));
        let place = self.place(name.span);
        let body = code::Expr::Case(Box::new(code::Expr::Local(0)), Box::new([branch]), place);
        let number = self.code.functions.len() as u32;
        self.code.functions.push(code::Function { locals: 2, body });
        let info = FunctionInfo {
            number,
            builtin: None,
            generics: generics.clone(),
            functions: 0,
            params: [whole.clone()].into(),
            result: part.clone(),
        };
        self.names.functions.insert(name.text.clone(), info);
    }

    fn function(&mut self, function: &ast::Function) -> Check<()> {
        let name = &function.signature.name;
        if let Some(known) = self.names.functions.get(&name.text)
            && known.number >= self.library.functions
        {
            return Err(Diagnostic::new(name.span, format!("function `{}` is declared twice", name.text)));
        }
        let generics: Rc<[Rc<str>]> = function.generics.iter().map(|g| g.text.clone()).collect();
        let params = function.signature.params.iter().map(|p| self.ty(&p.ty, &generics)).collect::<Check<_>>()?;
        let result = self.ty(&function.signature.result, &generics)?;
        let builtin = match (&function.body, self.prelude) {
            (Some(_), _) => None,
            (None, true) => Some(Builtin::named(&name.text).expect("the prelude names functions that are built in")),
            (None, false) => return Err(Diagnostic::new(name.span, "not supported: foreign code")),
        };
        let number = self.code.functions.len() as u32;
        let body = self.constant(code::Const::Unit);
        self.code.functions.push(code::Function { locals: 0, body });
        let functions = function.functions.len();
        if functions > 0 {
            self.higher.insert(number, Rc::new(function.clone()));
        }
        let info = FunctionInfo { number, builtin, generics, functions, params, result };
        self.names.functions.insert(name.text.clone(), info);
        Ok(())
    }
}
