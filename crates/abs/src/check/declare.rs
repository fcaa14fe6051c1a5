//! Checks declarations: every name is declared before the first body is checked.

use super::types::Ty;
use super::{Body, Check, Checker, ConstructorInfo, FunctionInfo, MethodInfo, unknown};
use crate::builtins::Builtin;
use crate::code;
use crate::source::Fault;
use crate::syntax::ast::{self, Ident, TypeUse};
use std::rc::Rc;

/// The modules of the standard library, which need no declaration.
pub(super) const LIBRARY: &[&str] =
    &["ABS.StdLib", "ABS.StdLib.Exceptions", "ABS.DC", "ABS.Meta", "ABS.FLI", "ABS.Scheduler"];

/// The types that need no declaration.
const PRIMITIVE: &[(&str, Ty)] = &[
    ("Int", Ty::Int),
    ("Rat", Ty::Rat),
    ("Float", Ty::Float),
    ("Bool", Ty::Bool),
    ("String", Ty::Str),
    ("Unit", Ty::Unit),
];

impl Checker {
    pub(super) fn imports(&mut self, file: &ast::File) {
        for import in &file.imports {
            let own = file.modules.iter().any(|module| module.text == import.text);
            if !own && !LIBRARY.contains(&&*import.text) {
                let fault = Fault::new(import.span, format!("there is no module `{}`", import.text))
                    .help("Whippet looks for it in this file and in the .abs files beside it");
                self.faults.push(fault);
            }
        }
    }

    pub(super) fn declare_all(&mut self, file: &ast::File) {
        self.type_names(file);
        for interface in &file.interfaces {
            let result = self.interface(interface);
            self.keep(result);
        }
        self.close_supers(file);
        for exception in &file.exceptions {
            let result = self.constructor(exception, &Rc::from([]), &self.exception_type());
            self.keep(result);
        }
        for data in &file.data {
            let result = self.data_type(data);
            self.keep(result);
        }
        for function in &file.functions {
            let result = self.function(function);
            self.keep(result);
        }
        for class in &file.classes {
            let result = self.class(class);
            self.keep(result);
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
        for data in &file.data {
            if self.free(&data.name) {
                self.new_data(data.name.text.clone(), data.generics.len());
            }
        }
        for (name, generics, ty) in &file.synonyms {
            if self.free(name) {
                self.synonyms.insert(name.text.clone(), (generics.clone(), ty.clone()));
            }
        }
        for interface in &file.interfaces {
            if self.free(&interface.name) {
                self.new_interface(interface.name.text.clone());
            }
        }
        for class in &file.classes {
            if self.classes.get(&class.name.text).is_some_and(|&known| known >= self.library.classes) {
                self.faults.push(Fault::new(class.name.span, format!("a second class `{}`", class.name.text)));
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

    /// Returns `true` if the program has no type of this name yet, and reports a fault otherwise. A library type of
    /// this name is hidden.
    fn free(&mut self, name: &Ident) -> bool {
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
            let fault = Fault::new(name.span, format!("there already is a type `{text}`"))
                .help("types, interfaces, synonyms and what the language has share one space of names");
            self.faults.push(fault);
        }
        !primitive && !taken
    }

    pub(super) fn ty(&self, ty: &TypeUse, generics: &[Rc<str>]) -> Check<Ty> {
        self.ty_within(ty, generics, 20)
    }

    fn ty_within(&self, ty: &TypeUse, generics: &[Rc<str>], depth: u32) -> Check<Ty> {
        let name = &ty.name.text;
        if depth == 0 {
            return Err(Fault::new(ty.name.span, format!("the type `{name}` is defined by itself")));
        }
        let args = ty.args.iter().map(|arg| self.ty_within(arg, generics, depth)).collect::<Check<Vec<Ty>>>()?;
        let count = |wanted: usize| {
            if args.len() == wanted {
                return Ok(());
            }
            let message = format!("`{name}` takes {wanted} type parameters, here are {}", args.len());
            Err(Fault::new(ty.name.span, message))
        };
        if generics.contains(name) {
            count(0)?;
            return Ok(Ty::Param(name.clone()));
        }
        if let Some((_, primitive)) = PRIMITIVE.iter().find(|(known, _)| **known == **name) {
            count(0)?;
            return Ok(primitive.clone());
        }
        if &**name == "Fut" {
            count(1)?;
            return Ok(Ty::Future(Rc::new(args[0].clone())));
        }
        if let Some(&(data, wanted)) = self.data.get(name) {
            count(wanted)?;
            return Ok(Ty::Data(data, args.into()));
        }
        if let Some(&interface) = self.interfaces.get(name) {
            count(0)?;
            return Ok(Ty::Interface(interface));
        }
        if let Some((params, meant)) = self.synonyms.get(name) {
            count(params.len())?;
            let params: Vec<Rc<str>> = params.iter().map(|p| p.text.clone()).collect();
            let inner = self.ty_within(meant, &params, depth - 1)?;
            return Ok(self.types.instantiate(&inner, &params, &args));
        }
        let primitive: Vec<Rc<str>> = PRIMITIVE.iter().map(|(name, _)| Rc::from(*name)).collect();
        let known = self.data.keys().chain(self.interfaces.keys()).chain(self.synonyms.keys()).chain(&primitive);
        let fault = unknown("type", &ty.name, known);
        Err(match self.classes.contains_key(name) {
            true => fault.help(format!("`{name}` is a class: use one of its interfaces as the type")),
            false => fault,
        })
    }

    /// Returns a type as written in a body.
    pub(super) fn ty_in(&self, body: &Body, ty: &TypeUse) -> Check<Ty> {
        let ty = self.ty(ty, &body.generics)?;
        Ok(if body.with.is_empty() { ty } else { self.types.instantiate(&ty, &body.generics, &body.with) })
    }

    fn method_info(&self, signature: &ast::Signature) -> Check<MethodInfo> {
        let params = signature.params.iter().map(|p| self.ty(&p.ty, &[])).collect::<Check<_>>()?;
        Ok(MethodInfo { params, result: self.ty(&signature.result, &[])? })
    }

    fn interface(&mut self, interface: &ast::Interface) -> Check<()> {
        // If another type has the name, that fault was reported already.
        let Some(&number) = self.interfaces.get(&interface.name.text) else { return Ok(()) };
        for name in &interface.extends {
            let above = self.interface_number(name)?;
            self.types.supers[number as usize].push(above);
        }
        for signature in &interface.methods {
            let info = self.method_info(signature)?;
            self.method_name(&signature.name.text);
            if self.interface_methods[number as usize].insert(signature.name.text.clone(), info).is_some() {
                return Err(Fault::new(signature.name.span, format!("a second method `{}`", signature.name.text)));
            }
        }
        Ok(())
    }

    fn interface_number(&self, name: &Ident) -> Check<u32> {
        self.interfaces.get(&name.text).copied().ok_or_else(|| unknown("interface", name, self.interfaces.keys()))
    }

    /// Computes the interfaces that each interface extends, directly or indirectly, and the methods it inherits.
    fn close_supers(&mut self, file: &ast::File) {
        let mut changed = !file.interfaces.is_empty();
        while std::mem::take(&mut changed) {
            for interface in 0..self.types.supers.len() {
                let mut all: Vec<u32> = self.types.supers[interface].clone();
                all.extend(all.clone().iter().flat_map(|&above| self.types.supers[above as usize].clone()));
                all.sort_unstable();
                all.dedup();
                changed |= all.len() != self.types.supers[interface].len();
                self.types.supers[interface] = all;
            }
        }
        for interface in 0..self.types.supers.len() {
            for above in self.types.supers[interface].clone() {
                for (name, info) in self.interface_methods[above as usize].clone() {
                    self.interface_methods[interface].entry(name).or_insert(info);
                }
            }
        }
    }

    fn data_type(&mut self, data: &ast::DataType) -> Check<()> {
        let Some(&(number, _)) = self.data.get(&data.name.text) else { return Ok(()) };
        let generics: Rc<[Rc<str>]> = data.generics.iter().map(|g| g.text.clone()).collect();
        let result = Ty::Data(number, generics.iter().map(|g| Ty::Param(g.clone())).collect());
        for constructor in &data.constructors {
            self.constructor(constructor, &generics, &result)?;
        }
        Ok(())
    }

    fn constructor(&mut self, constructor: &ast::Constructor, generics: &Rc<[Rc<str>]>, result: &Ty) -> Check<()> {
        let name = &constructor.name;
        let reserved = ["True", "False", "Unit"].contains(&&*name.text);
        let known = self.names.constructors.get(&name.text);
        if reserved || known.is_some_and(|known| known.number >= self.library.constructors) {
            return Err(Fault::new(name.span, format!("there already is a constructor `{}`", name.text)));
        }
        let args: Rc<[Ty]> = constructor.args.iter().map(|(ty, _)| self.ty(ty, generics)).collect::<Check<_>>()?;
        let number = self.code.constructors.len() as u32;
        self.code.constructors.push(code::Constructor { name: name.text.to_string() });
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
            return Err(Fault::new(name.span, format!("there already is a function `{}`", name.text)));
        }
        let generics: Rc<[Rc<str>]> = function.generics.iter().map(|g| g.text.clone()).collect();
        let params = function.signature.params.iter().map(|p| self.ty(&p.ty, &generics)).collect::<Check<_>>()?;
        let result = self.ty(&function.signature.result, &generics)?;
        let builtin = match (&function.body, self.prelude) {
            (Some(_), _) => None,
            (None, true) => Some(Builtin::named(&name.text).expect("the prelude names functions that are built in")),
            (None, false) => return Err(Fault::new(name.span, "not supported: foreign code")),
        };
        let number = self.code.functions.len() as u32;
        let body = code::Expr::Const(0);
        self.code.functions.push(code::Function { locals: 0, body });
        let functions = function.functions.len();
        if functions > 0 {
            self.higher.insert(number, Rc::new(function.clone()));
        }
        let info = FunctionInfo { number, builtin, generics, functions, params, result };
        self.names.functions.insert(name.text.clone(), info);
        Ok(())
    }

    fn class(&mut self, class: &ast::Class) -> Check<()> {
        let number = self.classes[&class.name.text] as usize;
        for name in &class.implements {
            let interface = self.interface_number(name)?;
            let all = self.types.supers[interface as usize].clone();
            self.types.implements[number].extend(all);
        }
        let mut fields: Vec<(Rc<str>, Ty)> = Vec::new();
        for param in class.params.iter().chain(class.fields.iter().map(|(param, _)| param)) {
            if fields.iter().any(|(name, _)| *name == param.name.text) {
                return Err(Fault::new(param.name.span, format!("a second field `{}`", param.name.text)));
            }
            fields.push((param.name.text.clone(), self.ty(&param.ty, &[])?));
        }
        self.class_fields[number] = fields.into();
        self.class_params[number] = class.params.len();
        for method in &class.methods {
            let info = self.method_info(&method.signature)?;
            self.method_name(&method.signature.name.text);
            if self.class_methods[number].insert(method.signature.name.text.clone(), info).is_some() {
                let name = &method.signature.name;
                return Err(Fault::new(name.span, format!("a second method `{}`", name.text)));
            }
        }
        self.keeps_its_word(class, number)
    }

    /// Checks that a class has the methods of its interfaces.
    fn keeps_its_word(&self, class: &ast::Class, number: usize) -> Check<()> {
        for name in &class.implements {
            let interface = self.interfaces[&name.text] as usize;
            let mut methods: Vec<_> = self.interface_methods[interface].iter().collect();
            methods.sort_by(|a, b| a.0.cmp(b.0));
            for (method, wanted) in methods {
                match self.class_methods[number].get(method) {
                    Some(found) if found == wanted => {}
                    Some(_) => {
                        let own = class.methods.iter().find(|m| m.signature.name.text == *method);
                        let span = own.map_or(class.name.span, |m| m.signature.name.span);
                        let message = format!("`{method}` has other types than in interface `{}`", name.text);
                        return Err(Fault::new(span, message));
                    }
                    None => {
                        let message =
                            format!("class `{}` lacks method `{method}` of interface `{}`", class.name.text, name.text);
                        return Err(Fault::new(class.name.span, message));
                    }
                }
            }
        }
        Ok(())
    }
}
