//! Types and the subtype relation.
//!
//! Generic functions and constructors are instantiated with type variables. A variable is bound to the first type
//! that it is compared with, and widened when a more general type follows. `Int` fits `Rat`, a class fits its
//! interfaces, an interface fits those it extends, and `null` fits every interface and future.

use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    Int,
    Rat,
    Float,
    Bool,
    Str,
    Unit,
    /// The type of `null`.
    Null,
    Data(u32, Rc<[Ty]>),
    Interface(u32),
    /// The type of `this` and of `new`.
    Class(u32),
    Future(Rc<Ty>),
    /// A type parameter of the function being checked.
    Param(Rc<str>),
    Var(u32),
    /// The result of a function parameter whose type is not known. It fits every type.
    Any,
}

/// The type of a function that is passed to another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FunctionTy {
    pub(crate) generics: Rc<[Rc<str>]>,
    pub(crate) params: Rc<[Ty]>,
    pub(crate) result: Ty,
}

/// The type variables and the declarations that the subtype relation depends on.
#[derive(Debug, Default)]
pub(crate) struct Types {
    vars: Vec<Option<Ty>>,
    pub(crate) data_names: Vec<Rc<str>>,
    pub(crate) interface_names: Vec<Rc<str>>,
    /// For each interface, itself and all interfaces it extends.
    pub(crate) supers: Vec<Vec<u32>>,
    pub(crate) class_names: Vec<Rc<str>>,
    /// For each class, all interfaces it implements.
    pub(crate) implements: Vec<Vec<u32>>,
}

impl Types {
    pub(crate) fn fresh(&mut self) -> Ty {
        self.vars.push(None);
        Ty::Var(self.vars.len() as u32 - 1)
    }

    /// Returns the type, resolved if it is a bound variable; its arguments are not resolved.
    pub(crate) fn known(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(var) = ty
            && let Some(bound) = &self.vars[*var as usize]
        {
            ty = bound;
        }
        ty.clone()
    }

    /// Returns the type with all bound variables resolved.
    fn resolved(&self, ty: &Ty) -> Ty {
        match self.known(ty) {
            Ty::Data(data, args) => Ty::Data(data, args.iter().map(|arg| self.resolved(arg)).collect()),
            Ty::Future(inner) => Ty::Future(Rc::new(self.resolved(&inner))),
            other => other,
        }
    }

    /// Returns the type of a function with all bound variables resolved.
    pub(crate) fn resolved_function(&self, ty: &FunctionTy) -> FunctionTy {
        let params = ty.params.iter().map(|param| self.resolved(param)).collect();
        FunctionTy { generics: ty.generics.clone(), params, result: self.resolved(&ty.result) }
    }

    /// Returns `true` if a value of type `actual` can be used where `wanted` is required. Binds type variables.
    pub(crate) fn is_assignable(&mut self, actual: &Ty, wanted: &Ty) -> bool {
        if let Ty::Var(var) = *wanted
            && let Some(bound) = self.vars[var as usize].clone()
        {
            if self.is_assignable(actual, &bound) {
                return true;
            }
            let actual = self.known(actual);
            if !matches!(bound, Ty::Var(_)) && self.is_assignable(&bound, &actual) {
                self.vars[var as usize] = Some(actual);
                return true;
            }
            return false;
        }
        match (self.known(actual), self.known(wanted)) {
            (Ty::Any, _) | (_, Ty::Any) => true,
            (Ty::Var(a), Ty::Var(b)) if a == b => true,
            (actual, Ty::Var(b)) => self.bind(b, actual),
            (Ty::Var(a), wanted) => self.bind(a, wanted),
            (Ty::Int, Ty::Rat) | (Ty::Null, Ty::Interface(_) | Ty::Future(_)) => true,
            (Ty::Interface(a), Ty::Interface(b)) => self.supers[a as usize].contains(&b),
            (Ty::Class(a), Ty::Interface(b)) => self.implements[a as usize].contains(&b),
            (Ty::Data(a, xs), Ty::Data(b, ys)) => a == b && xs.iter().zip(&*ys).all(|(x, y)| self.is_assignable(x, y)),
            (Ty::Future(a), Ty::Future(b)) => self.is_assignable(&a, &b),
            (actual, wanted) => actual == wanted,
        }
    }

    /// Returns `true` if two types can be used in place of each other. Binds type variables.
    pub(crate) fn same(&mut self, a: &Ty, b: &Ty) -> bool {
        self.is_assignable(a, b) && self.is_assignable(b, a)
    }

    /// Returns the more general of two types, or `None` if neither fits the other.
    pub(crate) fn join(&mut self, a: &Ty, b: &Ty) -> Option<Ty> {
        if self.is_assignable(b, a) {
            Some(a.clone())
        } else if self.is_assignable(a, b) {
            Some(b.clone())
        } else {
            None
        }
    }

    fn bind(&mut self, var: u32, ty: Ty) -> bool {
        if self.occurs(var, &ty) {
            return false;
        }
        self.vars[var as usize] = Some(ty);
        true
    }

    fn occurs(&self, var: u32, ty: &Ty) -> bool {
        match self.known(ty) {
            Ty::Var(other) => var == other,
            Ty::Data(_, args) => args.iter().any(|arg| self.occurs(var, arg)),
            Ty::Future(inner) => self.occurs(var, &inner),
            _ => false,
        }
    }

    /// Returns the type with its type parameters replaced.
    pub(crate) fn instantiate(&self, ty: &Ty, params: &[Rc<str>], with: &[Ty]) -> Ty {
        match ty {
            Ty::Param(name) => params.iter().position(|p| p == name).map_or_else(|| ty.clone(), |k| with[k].clone()),
            Ty::Data(data, args) => {
                Ty::Data(*data, args.iter().map(|arg| self.instantiate(arg, params, with)).collect())
            }
            Ty::Future(inner) => Ty::Future(Rc::new(self.instantiate(inner, params, with))),
            other => other.clone(),
        }
    }

    /// Returns the type as written in source.
    pub(crate) fn show(&self, ty: &Ty) -> String {
        let args = |args: &[Ty]| args.iter().map(|arg| self.show(arg)).collect::<Vec<_>>().join(", ");
        match self.known(ty) {
            Ty::Int => "Int".into(),
            Ty::Rat => "Rat".into(),
            Ty::Float => "Float".into(),
            Ty::Bool => "Bool".into(),
            Ty::Str => "String".into(),
            Ty::Unit => "Unit".into(),
            Ty::Null => "null".into(),
            Ty::Data(data, list) if list.is_empty() => self.data_names[data as usize].to_string(),
            Ty::Data(data, list) => format!("{}<{}>", self.data_names[data as usize], args(&list)),
            Ty::Interface(interface) => self.interface_names[interface as usize].to_string(),
            Ty::Class(class) => self.class_names[class as usize].to_string(),
            Ty::Future(inner) => format!("Fut<{}>", self.show(&inner)),
            Ty::Param(name) => name.to_string(),
            Ty::Var(_) | Ty::Any => "_".into(),
        }
    }
}
