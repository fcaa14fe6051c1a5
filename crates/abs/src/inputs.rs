//! Unknown inputs: a main block that calls one method with arguments that the search chooses.
//!
//! The main block creates an object of the class and calls the method. The arguments of both are built from `random`
//! choices: a number from a range, one of the constructors of a data type, `null` or an object of a class that
//! implements the interface. Every choice is explored, so each execution is a test case.

use crate::error::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Binary, Class, DataType, Expr, ExprKind, File, Ident, Stmt, StmtKind, TypeUse, Unary};
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

/// The bounds of the inputs that are explored.
///
/// ```
/// use whippet_abs::InputBounds;
/// let bounds = InputBounds::default().with_ints(0..=1).with_depth(1);
/// assert_eq!(bounds.to_string(), "numbers from 0 to 1, data and objects to depth 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputBounds {
    /// The values of an `Int`, of which there are at most 256.
    pub ints: RangeInclusive<i64>,
    /// The depth of data values and of the objects that are arguments of objects. A list has at most this many elements.
    pub depth: u32,
}

impl Default for InputBounds {
    fn default() -> InputBounds {
        InputBounds { ints: -1..=2, depth: 2 }
    }
}

impl InputBounds {
    /// Sets the values of an `Int`.
    ///
    /// ```
    /// assert_eq!(whippet_abs::InputBounds::default().with_ints(5..=5).ints, 5..=5);
    /// ```
    #[must_use]
    pub fn with_ints(mut self, ints: RangeInclusive<i64>) -> InputBounds {
        self.ints = ints;
        self
    }

    /// Sets the depth of data values and objects.
    ///
    /// ```
    /// assert_eq!(whippet_abs::InputBounds::default().with_depth(0).depth, 0);
    /// ```
    #[must_use]
    pub fn with_depth(mut self, depth: u32) -> InputBounds {
        self.depth = depth;
        self
    }
}

impl std::fmt::Display for InputBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (first, last, depth) = (self.ints.start(), self.ints.end(), self.depth);
        write!(f, "numbers from {first} to {last}, data and objects to depth {depth}")
    }
}

/// The largest argument of `random`.
const MOST: usize = 256;
/// The number of choices after which a new step begins. A step can have eight.
const DRAWS: u32 = 7;

/// Returns the main block that calls `method`, given as `Class.method`.
pub(crate) fn main_block(
    file: &File,
    library: &File,
    method: &str,
    bounds: &InputBounds,
) -> Result<Vec<Stmt>, Diagnostic> {
    let misuse = |message: String| Diagnostic::new(Span::default(), message);
    let Some((class_name, method_name)) = method.rsplit_once('.') else {
        return Err(misuse(format!("`{method}` does not name a method: write `Class.method`")));
    };
    let named = |class: &&Class| is_named(&class.name, class_name);
    let class = file.classes.iter().find(named).ok_or_else(|| misuse(format!("unknown class `{class_name}`")))?;
    let implemented = class.methods.iter().find(|method| &*method.signature.name.text == method_name);
    let Some(implemented) = implemented else {
        let known: Vec<&str> = class.methods.iter().map(|method| &*method.signature.name.text).collect();
        return Err(misuse(format!("class `{class_name}` has no method `{method_name}`: it has {}", known.join(", "))));
    };
    let values = 1 + i128::from(*bounds.ints.end()) - i128::from(*bounds.ints.start());
    if !(1..=MOST as i128).contains(&values) {
        return Err(misuse(format!("the range of numbers must have 1 to {MOST} values")));
    }
    let span = implemented.signature.name.span;
    let mut inputs = Inputs { file, library, bounds, span, names: 0, draws: 0 };
    let declares = |name: &&Ident| inputs.has_method(name, method_name);
    let Some(interface) = class.implements.iter().find(declares).cloned() else {
        let message =
            format!("no interface of `{class_name}` has the method `{method_name}`, so no other object can call it");
        return Err(Diagnostic::new(span, message));
    };
    let mut body = Vec::new();
    let arguments = inputs.arguments(class.params.iter().map(|param| &param.ty), bounds.depth, &mut body)?;
    let of_call = implemented.signature.params.iter().map(|param| &param.ty);
    let of_call = inputs.arguments(of_call, bounds.depth, &mut body)?;
    let new = inputs.expr(ExprKind::New { local: false, class: class.name.clone(), args: arguments });
    let object = inputs.declare(&type_of(interface), new, &mut body);
    let name = implemented.signature.name.clone();
    let send = ExprKind::Send { wait: false, object: Box::new(object), method: name, args: of_call };
    let send = inputs.expr(send);
    body.push(inputs.stmt(StmtKind::Expr(send)));
    Ok(body)
}

/// Returns the type of the result of a method, given as `Class.method`.
pub(crate) fn result_type<'a>(file: &'a File, method: &str) -> Option<&'a TypeUse> {
    let (class, method) = method.rsplit_once('.')?;
    let class = file.classes.iter().find(|known| is_named(&known.name, class))?;
    let method = class.methods.iter().find(|known| &*known.signature.name.text == method)?;
    Some(&method.signature.result)
}

/// Returns `true` if a declaration has this name, which may be qualified in the program because several modules have it.
fn is_named(ident: &Ident, name: &str) -> bool {
    *ident.text == *name || ident.text.rsplit_once('.').is_some_and(|(_, last)| last == name)
}

fn type_of(name: Ident) -> TypeUse {
    TypeUse { name, args: Vec::new(), nonnull: None }
}

/// Replaces type parameters by types.
fn substitute(ty: &TypeUse, with: &FxHashMap<&str, &TypeUse>) -> TypeUse {
    match with.get(&*ty.name.text) {
        Some(&known) => known.clone(),
        None => TypeUse { args: ty.args.iter().map(|arg| substitute(arg, with)).collect(), ..ty.clone() },
    }
}

/// A builder of input values.
struct Inputs<'a> {
    file: &'a File,
    library: &'a File,
    bounds: &'a InputBounds,
    /// The place of all generated code: the name of the method.
    span: Span,
    names: u32,
    /// The choices since the last `suspend`.
    draws: u32,
}

impl<'a> Inputs<'a> {
    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { span: self.span, kind }
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { span: self.span, annotations: Vec::new(), kind }
    }

    fn ident(&self, text: &str) -> Ident {
        Ident { text: text.into(), span: self.span }
    }

    fn int(&self, value: i64) -> Expr {
        let digits = self.expr(ExprKind::Int(value.unsigned_abs().to_string()));
        if value < 0 { self.expr(ExprKind::Unary(Unary::Minus, Box::new(digits))) } else { digits }
    }

    fn construct(&self, name: &str, arguments: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Construct(self.ident(name), arguments))
    }

    /// Declares a new variable and returns it.
    fn declare(&mut self, ty: &TypeUse, value: Expr, out: &mut Vec<Stmt>) -> Expr {
        self.names += 1;
        let name = self.ident(&format!("input{}", self.names));
        out.push(self.stmt(StmtKind::Declare(ty.clone(), name.clone(), Some(value))));
        self.expr(ExprKind::Var(name))
    }

    /// Adds the choice of a number below `n`.
    fn draw(&mut self, n: usize, out: &mut Vec<Stmt>) -> Expr {
        if self.draws == DRAWS {
            self.draws = 0;
            out.push(self.stmt(StmtKind::Suspend));
        }
        self.draws += 1;
        let random = ExprKind::Call(self.ident("random"), Vec::new(), vec![self.int(n as i64)]);
        let (ty, random) = (type_of(self.ident("Int")), self.expr(random));
        self.declare(&ty, random, out)
    }

    fn arguments<'t>(
        &mut self,
        types: impl Iterator<Item = &'t TypeUse>,
        depth: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<Expr>, Diagnostic> {
        types.map(|ty| self.value(ty, depth, out)).collect()
    }

    /// Returns a value of a type. The choices for it are added to `out`.
    fn value(&mut self, ty: &TypeUse, depth: u32, out: &mut Vec<Stmt>) -> Result<Expr, Diagnostic> {
        let binary = |this: &Self, operator, left: Expr, right: Expr| {
            this.expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
        };
        match &*ty.name.text {
            "Int" | "Rat" => {
                let (first, last) = (*self.bounds.ints.start(), *self.bounds.ints.end());
                let drawn = self.draw((last - first + 1) as usize, out);
                Ok(binary(self, Binary::Add, drawn, self.int(first)))
            }
            "Bool" => {
                let drawn = self.draw(2, out);
                Ok(binary(self, Binary::Eq, drawn, self.int(1)))
            }
            "String" => {
                let drawn = self.draw(2, out);
                let is_empty = binary(self, Binary::Eq, drawn, self.int(0));
                let [empty, other] = ["", "a"].map(|text| Box::new(self.expr(ExprKind::Str(text.into()))));
                Ok(self.expr(ExprKind::If(Box::new(is_empty), empty, other)))
            }
            // Their constructors would allow the same element twice.
            name @ ("Set" | "Map") => {
                let element = match (name, &ty.args[..]) {
                    ("Map", _) => TypeUse { name: self.ident("Pair"), args: ty.args.clone(), nonnull: None },
                    (_, [element]) => element.clone(),
                    _ => return Err(self.no_value(ty)),
                };
                let list = TypeUse { name: self.ident("List"), args: vec![element], nonnull: None };
                let list = self.value(&list, depth, out)?;
                Ok(self.expr(ExprKind::Call(self.ident(&name.to_lowercase()), Vec::new(), vec![list])))
            }
            _ => self.declared_value(ty, depth, depth.saturating_sub(1), out),
        }
    }

    /// Returns a value of a type that is declared in the program or the library. Parts of the same type, such as the rest
    /// of a list, are one level less deep; all other parts have the depth `inner`.
    fn declared_value(
        &mut self,
        ty: &TypeUse,
        depth: u32,
        inner: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr, Diagnostic> {
        if let Some(expanded) = self.expand(ty) {
            return self.value(&expanded, depth, out);
        }
        if self.is_interface(ty) {
            return self.object(ty, depth, out);
        }
        let constructors = self.constructors(ty);
        let is_possible = |arguments: &Vec<TypeUse>| {
            arguments.is_empty() || depth > 0 && arguments.iter().all(|ty| self.smallest(ty, depth).is_some())
        };
        let possible: Vec<_> = constructors.into_iter().filter(|(_, arguments)| is_possible(arguments)).collect();
        let smallest = self.smallest(ty, depth + 1).ok_or_else(|| self.no_value(ty))?;
        if possible.is_empty() {
            return Ok(smallest);
        }
        self.choose(ty, smallest, possible.len(), out, |this, k, out| {
            let (name, arguments) = &possible[k];
            let mut parts = Vec::new();
            for part in arguments {
                let is_recursive = part.name.text == ty.name.text;
                parts.push(if is_recursive {
                    this.declared_value(part, depth.saturating_sub(1), inner, out)?
                } else {
                    this.value(part, inner, out)?
                });
            }
            Ok(this.construct(name, parts))
        })
    }

    /// Returns `null` or an object of a class that implements the interface.
    fn object(&mut self, ty: &TypeUse, depth: u32, out: &mut Vec<Stmt>) -> Result<Expr, Diagnostic> {
        let implements = |class: &&'a Class| class.implements.iter().any(|one| self.extends(one, &ty.name));
        let classes: Vec<&Class> =
            if depth == 0 { Vec::new() } else { self.file.classes.iter().filter(implements).collect() };
        let nulls = usize::from(ty.nonnull.is_none());
        if nulls + classes.len() == 0 {
            return Err(self.no_value(ty));
        }
        let plain = TypeUse { nonnull: None, ..ty.clone() };
        let null = self.expr(ExprKind::Null);
        self.choose(&plain, null.clone(), nulls + classes.len(), out, |this, k, out| {
            let Some(class) = k.checked_sub(nulls).map(|k| classes[k]) else { return Ok(null.clone()) };
            let args = this.arguments(class.params.iter().map(|param| &param.ty), depth - 1, out)?;
            Ok(this.expr(ExprKind::New { local: false, class: class.name.clone(), args }))
        })
    }

    /// Declares a variable with one of several values, and returns it.
    fn choose(
        &mut self,
        ty: &TypeUse,
        first: Expr,
        alternatives: usize,
        out: &mut Vec<Stmt>,
        mut value: impl FnMut(&mut Self, usize, &mut Vec<Stmt>) -> Result<Expr, Diagnostic>,
    ) -> Result<Expr, Diagnostic> {
        let variable = self.declare(ty, first, out);
        let ExprKind::Var(name) = &variable.kind else { unreachable!("it is a variable") };
        let drawn = if alternatives > 1 { self.draw(alternatives, out) } else { self.int(0) };
        for k in 0..alternatives {
            let mut body = Vec::new();
            let value = value(self, k, &mut body)?;
            body.push(self.stmt(StmtKind::Assign(false, name.clone(), value)));
            let is_k = ExprKind::Binary(Binary::Eq, Box::new(drawn.clone()), Box::new(self.int(k as i64)));
            let body = Box::new(self.stmt(StmtKind::Block(body)));
            out.push(self.stmt(StmtKind::If(self.expr(is_k), body, None)));
        }
        Ok(variable)
    }

    /// Returns a value of a type that needs no choice, if there is one within this depth.
    fn smallest(&self, ty: &TypeUse, depth: u32) -> Option<Expr> {
        match &*ty.name.text {
            "Int" | "Rat" => return Some(self.int(*self.bounds.ints.start())),
            "Bool" => return Some(self.construct("False", Vec::new())),
            "String" => return Some(self.expr(ExprKind::Str(String::new()))),
            "Set" => return Some(self.construct("EmptySet", Vec::new())),
            "Map" => return Some(self.construct("EmptyMap", Vec::new())),
            _ => {}
        }
        if let Some(expanded) = self.expand(ty) {
            return self.smallest(&expanded, depth);
        }
        if self.is_interface(ty) {
            return ty.nonnull.is_none().then(|| self.expr(ExprKind::Null));
        }
        let mut constructors = self.constructors(ty);
        constructors.sort_by_key(|(_, arguments)| arguments.len());
        constructors.into_iter().find_map(|(name, arguments)| {
            if depth == 0 && !arguments.is_empty() {
                return None;
            }
            let arguments: Option<Vec<Expr>> = arguments.iter().map(|ty| self.smallest(ty, depth - 1)).collect();
            Some(self.construct(&name, arguments?))
        })
    }

    /// Returns the constructors of a data type, each with the types of its arguments.
    fn constructors(&self, ty: &TypeUse) -> Vec<(String, Vec<TypeUse>)> {
        if &*ty.name.text == "Unit" {
            return vec![("Unit".into(), Vec::new())];
        }
        let declared = |data: &&DataType| data.name.text == ty.name.text;
        let Some(data) = self.file.data.iter().chain(&self.library.data).find(declared) else { return Vec::new() };
        let with: FxHashMap<&str, &TypeUse> = data.generics.iter().map(|name| &*name.text).zip(&ty.args).collect();
        let constructors = data.constructors.iter().map(|constructor| {
            let arguments = constructor.args.iter().map(|(ty, _)| substitute(ty, &with)).collect();
            (constructor.name.text.to_string(), arguments)
        });
        constructors.collect()
    }

    /// Returns the type that a synonym stands for.
    fn expand(&self, ty: &TypeUse) -> Option<TypeUse> {
        let mut synonyms = self.file.synonyms.iter().chain(&self.library.synonyms);
        let (_, generics, meant) = synonyms.find(|(name, ..)| name.text == ty.name.text)?;
        let with: FxHashMap<&str, &TypeUse> = generics.iter().map(|name| &*name.text).zip(&ty.args).collect();
        Some(substitute(meant, &with))
    }

    fn is_interface(&self, ty: &TypeUse) -> bool {
        let mut interfaces = self.file.interfaces.iter().chain(&self.library.interfaces);
        interfaces.any(|interface| interface.name.text == ty.name.text)
    }

    /// Returns `true` if an interface is another one or extends it.
    fn extends(&self, interface: &Ident, other: &Ident) -> bool {
        let mut interfaces = self.file.interfaces.iter();
        interface.text == other.text
            || interfaces.find(|one| one.name.text == interface.text).is_some_and(|one| {
                one.extends.iter().any(|above| above.text != interface.text && self.extends(above, other))
            })
    }

    /// Returns `true` if an interface has a method of this name.
    fn has_method(&self, interface: &Ident, method: &str) -> bool {
        let declares = |one: &&crate::syntax::ast::Interface| {
            self.extends(interface, &one.name) && one.methods.iter().any(|signature| &*signature.name.text == method)
        };
        self.file.interfaces.iter().any(|one| declares(&one))
    }

    fn no_value(&self, ty: &TypeUse) -> Diagnostic {
        let name = &ty.name.text;
        Diagnostic::new(
            self.span,
            format!("not supported: an unknown input of type `{name}`, of which no value can be built"),
        )
        .help("inputs are numbers, strings, data and objects of classes of the program; write a main block for others")
    }
}
