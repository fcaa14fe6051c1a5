//! The checker: finds what every name means and whether types fit, and writes the code that runs.
//!
//! Checking and writing code are one pass, so that nothing can run that was not checked. Faults are
//! collected, one per statement or declaration, and all reported together.

mod call;
mod declare;
mod effect;
mod expr;
mod method;
mod pattern;
mod stmt;
mod try_stmt;
mod types;

use crate::code::{self, Code, Const};
use crate::source::{Fault, Source, Span};
use crate::syntax::ast::{self, Ident};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use types::{Ty, Types};

/// The result of checking one thing.
type Check<T> = Result<T, Fault>;

/// Faults beyond these are not worth reading.
const MOST_FAULTS: usize = 20;

/// What is known of a constructor.
#[derive(Clone, Debug)]
struct ConstructorInfo {
    number: u32,
    generics: Rc<[Rc<str>]>,
    args: Rc<[Ty]>,
    result: Ty,
}

/// What is known of a function.
#[derive(Clone, Debug)]
struct FunctionInfo {
    number: u32,
    builtin: Option<crate::builtins::Builtin>,
    generics: Rc<[Rc<str>]>,
    /// How many functions it takes.
    functions: usize,
    params: Rc<[Ty]>,
    result: Ty,
}

/// What is known of a method.
#[derive(Clone, Debug, PartialEq)]
struct MethodInfo {
    params: Rc<[Ty]>,
    result: Ty,
}

type Methods = FxHashMap<Rc<str>, MethodInfo>;
/// The fields of a class with their types, its parameters first.
type Fields = Rc<[(Rc<str>, Ty)]>;

/// What the library declares: its functions and constructors have the first numbers.
#[derive(Debug, Default)]
struct Library {
    functions: u32,
    constructors: u32,
    data: FxHashMap<Rc<str>, u32>,
    interfaces: u32,
    classes: u32,
    synonyms: Vec<Rc<str>>,
}

/// Everything that is declared, and the code written so far.
struct Checker {
    types: Types,
    faults: Vec<Fault>,
    /// Whether the prelude is being read: only there is `builtin` allowed.
    prelude: bool,
    /// What the library declares, which a program may hide.
    library: Library,
    data: FxHashMap<Rc<str>, (u32, usize)>,
    synonyms: FxHashMap<Rc<str>, (Vec<Ident>, ast::TypeUse)>,
    interfaces: FxHashMap<Rc<str>, u32>,
    interface_methods: Vec<Methods>,
    classes: FxHashMap<Rc<str>, u32>,
    class_methods: Vec<Methods>,
    class_fields: Vec<Fields>,
    class_params: Vec<usize>,
    constructors: FxHashMap<Rc<str>, ConstructorInfo>,
    functions: FxHashMap<Rc<str>, FunctionInfo>,
    method_names: FxHashMap<Rc<str>, u32>,
    code: Code,
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct Variable {
    name: Rc<str>,
    slot: u16,
    ty: Ty,
}

/// The body being checked: of a method, a function or the main block.
#[derive(Default)]
struct Body {
    /// The class, in methods.
    class: Option<u32>,
    generics: Rc<[Rc<str>]>,
    scope: Vec<Variable>,
    /// The names of all variables so far.
    slots: Vec<String>,
    /// Functions handed over: their names and slots.
    functions: Vec<(Rc<str>, u16)>,
    /// The function itself, which may call itself with the same functions handed over.
    own: Option<Rc<str>>,
    result: Option<Ty>,
    code: Vec<code::Instr>,
    places: Vec<u32>,
    /// The `try` statements around, the innermost last.
    tries: Vec<try_stmt::Around>,
    /// Whether this runs while an object is being created.
    init: bool,
    /// Whether this is run once by a task, so that it may go several ways: code of a method, no condition of an `await`.
    chooses: bool,
}

impl Body {
    fn declare(&mut self, name: &Rc<str>, ty: Ty) -> Check<u16> {
        let slot = self.slot(name)?;
        self.scope.push(Variable { name: name.clone(), slot, ty });
        Ok(slot)
    }

    /// A new variable that no name leads to.
    fn slot(&mut self, name: &str) -> Check<u16> {
        if self.slots.len() >= 10_000 {
            return Err(Fault::new(Span::default(), "a body with more than ten thousand variables"));
        }
        self.slots.push(name.into());
        Ok(self.slots.len() as u16 - 1)
    }

    fn find(&self, name: &str) -> Option<&Variable> {
        self.scope.iter().rev().find(|variable| &*variable.name == name)
    }
}

/// Whether a module is the language's own.
pub(crate) fn is_library(module: &str) -> bool {
    declare::LIBRARY.contains(&module)
}

/// Checks a file and gives its code, or every fault found.
pub(crate) fn check(source: &Source, file: &ast::File) -> Result<Code, Vec<Fault>> {
    let mut checker = Checker::new(source);
    let prelude = crate::syntax::parse(include_str!("../prelude.abs"), u32::MAX).expect("the prelude is well formed");
    checker.declare_all(&prelude);
    let functions = checker.code.constructors.iter().map(|c| c.name.as_str());
    assert!(functions.zip(code::known::NAMES).all(|(a, b)| a == *b), "the prelude's constructors are out of order");
    checker.bodies(&prelude);
    assert!(checker.faults.is_empty(), "the prelude is wrong: {:?}", checker.faults);
    checker.prelude = false;
    checker.library = Library {
        functions: checker.code.functions.len() as u32,
        constructors: checker.code.constructors.len() as u32,
        data: checker.data.iter().map(|(name, (number, _))| (name.clone(), *number)).collect(),
        interfaces: checker.types.interface_names.len() as u32,
        classes: checker.types.class_names.len() as u32,
        synonyms: checker.synonyms.keys().cloned().collect(),
    };
    checker.imports(file);
    checker.declare_all(file);
    if checker.faults.is_empty() {
        checker.bodies(file);
        checker.main(file);
    }
    if checker.faults.is_empty() {
        return Ok(checker.code);
    }
    checker.faults.sort_by_key(|fault| fault.span.start);
    checker.faults.truncate(MOST_FAULTS);
    Err(checker.faults)
}

impl Checker {
    fn new(source: &Source) -> Checker {
        Checker {
            types: Types::default(),
            faults: Vec::new(),
            prelude: true,
            library: Library::default(),
            data: FxHashMap::default(),
            synonyms: FxHashMap::default(),
            interfaces: FxHashMap::default(),
            interface_methods: Vec::new(),
            classes: FxHashMap::default(),
            class_methods: Vec::new(),
            class_fields: Vec::new(),
            class_params: Vec::new(),
            constructors: FxHashMap::default(),
            functions: FxHashMap::default(),
            method_names: FxHashMap::default(),
            code: Code {
                source: source.clone(),
                consts: vec![Const::Unit, Const::Null, Const::Bool(false), Const::Bool(true)],
                constructors: Vec::new(),
                functions: Vec::new(),
                methods: Vec::new(),
                classes: Vec::new(),
                method_names: Vec::new(),
                interfaces: Vec::new(),
            },
        }
    }

    /// Keeps the fault, if it is one.
    fn keep<T>(&mut self, result: Check<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    fn constant(&mut self, constant: Const) -> code::Expr {
        let found = self.code.consts.iter().position(|known| *known == constant);
        let at = found.unwrap_or_else(|| {
            self.code.consts.push(constant);
            self.code.consts.len() - 1
        });
        code::Expr::Const(at as u32)
    }

    /// A data type of the library, also where the program has another of the same name.
    fn library_data(&self, name: &str) -> u32 {
        self.library.data.get(name).copied().unwrap_or_else(|| self.data[name].0)
    }

    /// The place of a stretch of source; the library has none of its own.
    fn place(&self, span: Span) -> u32 {
        if self.prelude { code::LIBRARY } else { span.start }
    }

    fn method_name(&mut self, name: &Rc<str>) -> u32 {
        if let Some(&number) = self.method_names.get(name) {
            return number;
        }
        let number = self.method_names.len() as u32;
        self.method_names.insert(name.clone(), number);
        self.code.method_names.push(name.to_string());
        number
    }

    /// That something has the wrong type.
    fn mismatch(&self, span: Span, actual: &Ty, wanted: &Ty) -> Fault {
        let (actual, wanted) = (self.types.show(actual), self.types.show(wanted));
        let fault = Fault::new(span, format!("a value of type {wanted} is wanted here, this one has type {actual}"))
            .label(actual.clone());
        match (actual.as_str(), wanted.as_str()) {
            ("Rat", "Int") => fault.help("`truncate` makes an Int of a Rat; `/` always gives a Rat"),
            ("Int" | "Rat", "Float") => fault.help("`float` makes a Float of a number"),
            ("Float", "Rat") => fault.help("`rat` makes a Rat of a Float"),
            (actual, wanted) if actual == format!("Fut<{wanted}>") => {
                fault.help("the value of a future is had with `.get`, or with `await` before the call")
            }
            _ => fault,
        }
    }

    fn want(&mut self, span: Span, actual: &Ty, wanted: &Ty) -> Check<()> {
        if self.types.fits(actual, wanted) { Ok(()) } else { Err(self.mismatch(span, actual, wanted)) }
    }
}

/// "did you mean", from the known names that are near.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a Rc<str>>) -> Option<String> {
    let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let mut near: Vec<(usize, &Rc<str>)> =
        known.map(|other| (distance(other), other)).filter(|(d, _)| *d <= 2).collect();
    near.sort();
    near.first().map(|(_, other)| format!("did you mean `{other}`?"))
}

/// That a name means nothing, with what may have been meant.
fn unknown<'a>(what: &str, name: &Ident, known: impl Iterator<Item = &'a Rc<str>>) -> Fault {
    let fault = Fault::new(name.span, format!("there is no {what} `{}`", name.text)).label("unknown");
    match nearest(&name.text, known) {
        Some(help) => fault.help(help),
        None => fault,
    }
}
