//! Checks the declarations of interfaces and classes.

use super::types::Ty;
use super::{Check, MethodInfo, TypeChecker, unknown};
use crate::error::Diagnostic;
use crate::syntax::ast::{self, Ident};
use std::rc::Rc;

impl MethodInfo {
    /// Returns `true` if the parameters and the result have the same types, `Nonnull` or not.
    pub(super) fn has_types_of(&self, other: &MethodInfo) -> bool {
        self.params == other.params && self.result == other.result
    }

    /// Returns how a method breaks the promise that an interface makes with `Nonnull`: callers may pass null to a parameter
    /// that does not have it, and rely on a result that does.
    fn differs_in_null(&self, interface: &MethodInfo) -> Option<String> {
        let mut pairs: Vec<(bool, bool)> =
            self.nonnull.iter().copied().zip(interface.nonnull.iter().copied()).collect();
        let (own, promised) = pairs.pop()?;
        if promised && !own {
            return Some("the result must be `Nonnull`, like that".into());
        }
        let k = pairs.iter().position(|&(own, promised)| own && !promised)?;
        Some(format!("parameter {} must not be `Nonnull`, like that", k + 1))
    }
}

impl TypeChecker {
    pub(super) fn method_info(&self, signature: &ast::Signature) -> Check<MethodInfo> {
        let params = signature.params.iter().map(|p| self.ty(&p.ty, &[])).collect::<Check<_>>()?;
        let types = signature.params.iter().map(|p| &p.ty).chain([&signature.result]);
        let nonnull = types.map(|ty| ty.nonnull.is_some()).collect();
        Ok(MethodInfo { params, result: self.ty(&signature.result, &[])?, nonnull })
    }

    pub(super) fn interface(&mut self, interface: &ast::Interface) -> Check<()> {
        // If another type has the name, that diagnostic was reported already.
        let Some(&number) = self.interfaces.get(&interface.name.text) else { return Ok(()) };
        for name in &interface.extends {
            let above = self.interface_number(name)?;
            self.types.supers[number as usize].push(above);
        }
        for signature in &interface.methods {
            let info = self.method_info(signature)?;
            self.method_name(&signature.name.text);
            if self.interface_methods[number as usize].insert(signature.name.text.clone(), info).is_some() {
                return Err(Diagnostic::new(
                    signature.name.span,
                    format!("method `{}` is declared twice", signature.name.text),
                ));
            }
        }
        Ok(())
    }

    fn interface_number(&self, name: &Ident) -> Check<u32> {
        let unsupported = super::type_use::OUTSIDE.iter().find(|(known, _)| **known == *name.text);
        self.interfaces.get(&name.text).copied().ok_or_else(|| match unsupported {
            Some((_, what)) => Diagnostic::new(name.span, format!("not supported: {what}")).label("not supported"),
            None => unknown("interface", name, self.interfaces.keys()),
        })
    }

    /// Computes the interfaces that each interface extends, directly or indirectly, and the methods it inherits.
    pub(super) fn close_supers(&mut self, file: &ast::File) {
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

    pub(super) fn class(&mut self, class: &ast::Class) -> Check<()> {
        let number = self.classes[&class.name.text] as usize;
        for name in &class.implements {
            let interface = self.interface_number(name)?;
            let all = self.types.supers[interface as usize].clone();
            self.types.implements[number].extend(all);
        }
        let mut fields: Vec<(Rc<str>, Ty)> = Vec::new();
        for param in class.params.iter().chain(class.fields.iter().map(|(param, _)| param)) {
            if fields.iter().any(|(name, _)| *name == param.name.text) {
                return Err(Diagnostic::new(param.name.span, format!("field `{}` is declared twice", param.name.text)));
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
                return Err(Diagnostic::new(name.span, format!("method `{}` is declared twice", name.text)));
            }
        }
        self.check_implements(class, number)
    }

    /// Checks that a class has the methods of its interfaces.
    fn check_implements(&self, class: &ast::Class, number: usize) -> Check<()> {
        for name in &class.implements {
            let interface = self.interfaces[&name.text] as usize;
            let mut methods: Vec<_> = self.interface_methods[interface].iter().collect();
            methods.sort_by(|a, b| a.0.cmp(b.0));
            for (method, wanted) in methods {
                let own = class.methods.iter().find(|m| m.signature.name.text == *method);
                let span = own.map_or(class.name.span, |m| m.signature.name.span);
                match self.class_methods[number].get(method) {
                    Some(found) if !found.has_types_of(wanted) => {
                        let message = format!("the types of `{method}` differ from those in interface `{}`", name.text);
                        return Err(Diagnostic::new(span, message));
                    }
                    Some(found) => {
                        if let Some(what) = found.differs_in_null(wanted) {
                            let message = format!("{what} of `{method}` in interface `{}`", name.text);
                            return Err(Diagnostic::new(span, message));
                        }
                    }
                    None => {
                        let message = format!(
                            "class `{}` does not implement method `{method}` of interface `{}`",
                            class.name.text, name.text
                        );
                        return Err(Diagnostic::new(class.name.span, message));
                    }
                }
            }
        }
        Ok(())
    }
}
