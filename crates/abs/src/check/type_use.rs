//! Resolves the types written in a program.

use super::types::Ty;
use super::{BodyBuilder, Check, TypeChecker, unknown};
use crate::error::Diagnostic;
use crate::syntax::ast::TypeUse;
use std::rc::Rc;

/// The types that need no declaration.
pub(super) const PRIMITIVE: &[(&str, Ty)] = &[
    ("Int", Ty::Int),
    ("Rat", Ty::Rat),
    ("Float", Ty::Float),
    ("Bool", Ty::Bool),
    ("String", Ty::Str),
    ("Unit", Ty::Unit),
];

/// The types of the reference library that are not supported, with what they belong to.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("Destiny", "`Destiny`"),
    ("Process", "user-defined schedulers"),
    ("Pid", "user-defined schedulers"),
    ("ProcessScheduler", "user-defined schedulers"),
    ("ObjectMirror", "`ABS.Meta`"),
    ("Runtime", "`ABS.Meta`"),
    ("ProductLine", "product lines"),
    ("Product", "product lines"),
    ("Feature", "product lines"),
];

impl TypeChecker {
    pub(super) fn ty(&self, ty: &TypeUse, generics: &[Rc<str>]) -> Check<Ty> {
        self.ty_within(ty, generics, 20)
    }

    fn ty_within(&self, ty: &TypeUse, generics: &[Rc<str>], depth: u32) -> Check<Ty> {
        let name = &ty.name.text;
        if depth == 0 {
            return Err(Diagnostic::new(ty.name.span, format!("the type `{name}` is defined in terms of itself")));
        }
        let args = ty.args.iter().map(|arg| self.ty_within(arg, generics, depth)).collect::<Check<Vec<Ty>>>()?;
        let count = |wanted: usize| {
            if args.len() == wanted {
                return Ok(());
            }
            let message = format!("`{name}` takes {wanted} type parameters, not {}", args.len());
            Err(Diagnostic::new(ty.name.span, message))
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
        if self.exceptions.contains(name) {
            count(0)?;
            return Ok(Ty::Data(self.library_data("Exception"), Rc::from([])));
        }
        if let Some((_, what)) = OUTSIDE.iter().find(|(known, _)| **known == **name) {
            return Err(Diagnostic::new(ty.name.span, format!("not supported: {what}")).label("not supported"));
        }
        let primitive: Vec<Rc<str>> = PRIMITIVE.iter().map(|(name, _)| Rc::from(*name)).collect();
        let known = self.data.keys().chain(self.interfaces.keys()).chain(self.synonyms.keys()).chain(&primitive);
        let diagnostic = unknown("type", &ty.name, known);
        Err(match self.classes.contains_key(name) {
            true => diagnostic.help(format!("`{name}` is a class: use one of its interfaces as the type")),
            false => diagnostic,
        })
    }

    /// Returns a type as written in a body.
    pub(super) fn ty_in(&self, body: &BodyBuilder, ty: &TypeUse) -> Check<Ty> {
        let ty = self.ty(ty, &body.generics)?;
        Ok(if body.with.is_empty() { ty } else { self.types.instantiate(&ty, &body.generics, &body.with) })
    }
}
