//! Checks calls of functions that take functions.
//!
//! The source does not give the types of function parameters. So the body of such a function is checked once for all
//! calls, where its functions fit everything, and again for each call with the functions that are passed: an *instance*.
//! Type parameters are type variables there. A call is wrong if its instance is.
//!
//! An instance that calls itself with the same functions and types is correct if the rest of it is. Since type variables
//! are widened, an instance is checked until its types stay the same.

use super::types::{FunctionTy, Ty};
use super::{BodyBuilder, Check, FunctionInfo, TypeChecker};
use crate::error::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

/// The maximum nesting depth of instances, which is exceeded only by functions that call themselves with ever new types.
const MOST_INSTANCES: usize = 10;

/// An instance that is being checked.
pub(super) struct Instance {
    function: u32,
    functions: Rc<[FunctionTy]>,
    /// The types of the type parameters.
    with: Rc<[Ty]>,
}

impl TypeChecker {
    /// Checks a function for a call with these functions, where `with` are the types of its type parameters. The place
    /// of a diagnostic is that in its body.
    pub(super) fn instance(&mut self, info: &FunctionInfo, functions: &[FunctionTy], with: &Rc<[Ty]>) -> Check<()> {
        let functions: &Rc<[FunctionTy]> = &functions.iter().map(|ty| self.types.resolved_function(ty)).collect();
        let outer = self.instances.iter().rfind(|i| i.function == info.number && i.functions == *functions);
        if let Some(outer) = outer.map(|outer| outer.with.clone())
            && outer.iter().zip(&**with).all(|(outer, ty)| self.types.same(ty, outer))
        {
            return Ok(());
        }
        if self.instances.len() == MOST_INSTANCES {
            let message = "not supported: recursion that passes new functions or types in every call";
            return Err(Diagnostic::new(Span::default(), message));
        }
        let shown = |checker: &TypeChecker| with.iter().map(|ty| checker.types.show(ty)).collect::<Vec<_>>();
        loop {
            let before = shown(self);
            self.instances.push(Instance { function: info.number, functions: functions.clone(), with: with.clone() });
            let result = self.instance_body(info, functions, with);
            self.instances.pop();
            result?;
            if shown(self) == before {
                return Ok(());
            }
        }
    }

    fn instance_body(&mut self, info: &FunctionInfo, functions: &Rc<[FunctionTy]>, with: &Rc<[Ty]>) -> Check<()> {
        let function = self.higher[&info.number].clone();
        let mut body = BodyBuilder { generics: info.generics.clone(), with: with.clone(), ..BodyBuilder::default() };
        body.declare_functions(&function, |k| functions.get(k).cloned())?;
        for (param, ty) in function.signature.params.iter().zip(&*info.params) {
            body.declare(&param.name.text, self.types.instantiate(ty, &info.generics, with))?;
        }
        let result = self.types.instantiate(&info.result, &info.generics, with);
        let value = function.body.as_ref().expect("a function with function parameters has a body");
        // Library code means the names of the library.
        let outside = !self.prelude && info.number < self.library.functions;
        if outside {
            std::mem::swap(&mut self.names, &mut self.library.names);
            self.prelude = true;
        }
        // The code is that of the function itself, which already has it.
        let written = self.code.functions.len();
        let checked = self.expr_of(&mut body, value, &result);
        self.code.functions.truncate(written);
        if outside {
            std::mem::swap(&mut self.names, &mut self.library.names);
            self.prelude = false;
        }
        checked.map(drop)
    }
}
