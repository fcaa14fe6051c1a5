//! The checker: resolves names, checks types, and generates the code that runs.
//!
//! Checking and code generation are one pass, so no unchecked code can run. Diagnostics are collected, one per statement or
//! declaration, and reported together.

mod call;
mod declare;
mod declare_class;
mod effect;
mod expr;
mod instance;
mod method;
mod nonnull;
mod pattern;
mod rules;
mod stmt;
mod timed;
mod try_stmt;
mod type_use;
mod types;

use crate::code::{self, Code, Const};
use crate::error::Diagnostic;
use crate::source::{Source, Span};
use crate::syntax::ast::{self, Ident};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use types::{FunctionTy, Ty, Types};

/// The result of a check.
type Check<T> = Result<T, Diagnostic>;

/// The note on files of the older dialect.
const OLDER: &str =
    "`new cog` is used: as in older ABS, `new` without `cog` creates an object in the group of its creator";

/// The maximum number of diagnostics to report.
const MAX_DIAGNOSTICS: usize = 20;

/// The signature of a constructor.
#[derive(Clone, Debug)]
struct ConstructorInfo {
    number: u32,
    generics: Rc<[Rc<str>]>,
    args: Rc<[Ty]>,
    result: Ty,
}

/// The signature of a function.
#[derive(Clone, Debug)]
struct FunctionInfo {
    number: u32,
    builtin: Option<crate::builtins::Builtin>,
    generics: Rc<[Rc<str>]>,
    /// The number of function parameters.
    functions: usize,
    params: Rc<[Ty]>,
    result: Ty,
}

/// The signature of a method.
#[derive(Clone, Debug)]
struct MethodInfo {
    params: Rc<[Ty]>,
    result: Ty,
    /// For each parameter, then for the result: `true` if it is `Nonnull`.
    nonnull: Rc<[bool]>,
}

type Methods = FxHashMap<Rc<str>, MethodInfo>;
/// The fields of a class with their types, its parameters first.
type Fields = Rc<[(Rc<str>, Ty)]>;

/// The declarations of the library. Its functions, constructors, interfaces and classes have the lowest numbers.
#[derive(Debug, Default)]
struct Library {
    functions: u32,
    constructors: u32,
    data: FxHashMap<Rc<str>, u32>,
    interfaces: u32,
    classes: u32,
    synonyms: Vec<Rc<str>>,
    /// The names that library code uses, whatever the program declares.
    names: NameScope,
}

/// The constructors and functions by name.
#[derive(Clone, Debug, Default)]
struct NameScope {
    constructors: FxHashMap<Rc<str>, ConstructorInfo>,
    functions: FxHashMap<Rc<str>, FunctionInfo>,
}

/// All declarations, and the code generated so far.
struct TypeChecker {
    types: Types,
    diagnostics: Vec<Diagnostic>,
    /// `true` while the prelude is checked: only the prelude may use `builtin`.
    prelude: bool,
    /// The declarations of the library, which a program may hide.
    library: Library,
    data: FxHashMap<Rc<str>, (u32, usize)>,
    synonyms: FxHashMap<Rc<str>, (Vec<Ident>, ast::TypeUse)>,
    /// The exceptions, whose names are also types.
    exceptions: FxHashSet<Rc<str>>,
    interfaces: FxHashMap<Rc<str>, u32>,
    interface_methods: Vec<Methods>,
    classes: FxHashMap<Rc<str>, u32>,
    class_methods: Vec<Methods>,
    class_fields: Vec<Fields>,
    class_params: Vec<usize>,
    names: NameScope,
    /// The functions with function parameters, by number.
    higher: FxHashMap<u32, Rc<ast::Function>>,
    /// The calls of such functions that are being checked, innermost last.
    instances: Vec<instance::Instance>,
    method_names: FxHashMap<Rc<str>, u32>,
    const_numbers: FxHashMap<Const, u32>,
    code: Code,
    /// `true` if the program asks for its deployment component.
    uses_component: bool,
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct LocalVariable {
    name: Rc<str>,
    slot: u16,
    ty: Ty,
}

/// A function parameter in scope.
#[derive(Clone, Debug)]
struct FunctionParam {
    name: Rc<str>,
    slot: u16,
    /// The type of the function, known only in an instance.
    ty: Option<FunctionTy>,
}

/// The body being checked: of a method, a function or the main block.
#[derive(Default)]
struct BodyBuilder {
    /// The class of a method; 0 in the main block, `None` in a function.
    class: Option<u32>,
    generics: Rc<[Rc<str>]>,
    /// The types of the type parameters in the instance being checked, or empty outside of instances.
    with: Rc<[Ty]>,
    scope: Vec<LocalVariable>,
    /// The names of all variables declared so far, by slot.
    slots: Vec<String>,
    functions: Vec<FunctionParam>,
    /// The name of this function if it has function parameters: a recursive call may omit them and passes them on.
    own: Option<Rc<str>>,
    result: Option<Ty>,
    code: Vec<code::Instr>,
    places: Vec<u32>,
    /// The enclosing `try` statements, innermost last.
    tries: Vec<try_stmt::EnclosingTry>,
    /// `true` if this code runs while an object is being created.
    init: bool,
    /// The number of fields that have a value, while the fields of an object are being initialized.
    fields: Option<usize>,
    /// The values of the annotations `Deadline` and `DC` of the current statement.
    deadline: Option<code::Expr>,
    component: Option<code::Expr>,
    /// `true` if `random` is allowed: in code of a method, which a task runs once, but not in the condition of an
    /// `await`.
    chooses: bool,
}

impl BodyBuilder {
    fn declare(&mut self, name: &Rc<str>, ty: Ty) -> Check<u16> {
        let slot = self.slot(name)?;
        self.scope.push(LocalVariable { name: name.clone(), slot, ty });
        Ok(slot)
    }

    /// Declares the function parameters of a function. `ty` returns the type of the k-th one, if it is known.
    fn declare_functions(&mut self, of: &ast::Function, ty: impl Fn(usize) -> Option<FunctionTy>) -> Check<()> {
        for (k, name) in of.functions.iter().enumerate() {
            let slot = self.slot(&name.text)?;
            self.functions.push(FunctionParam { name: name.text.clone(), slot, ty: ty(k) });
        }
        self.own = (!of.functions.is_empty()).then(|| of.signature.name.text.clone());
        Ok(())
    }

    /// Allocates a variable that cannot be found by name.
    fn slot(&mut self, name: &str) -> Check<u16> {
        if self.slots.len() >= 10_000 {
            return Err(Diagnostic::new(
                Span::default(),
                "more than ten thousand variables in one body: split it into several functions or methods",
            ));
        }
        self.slots.push(name.into());
        Ok(self.slots.len() as u16 - 1)
    }

    fn find(&self, name: &str) -> Option<&LocalVariable> {
        self.scope.iter().rev().find(|variable| &*variable.name == name)
    }
}

/// Returns `true` if a module belongs to the standard library.
pub(crate) fn is_library(module: &str) -> bool {
    declare::LIBRARY.contains(&module)
}

/// Checks a file and returns its code, or every diagnostic found.
pub(crate) fn check(source: &Source, file: &ast::File) -> Result<Code, Vec<Diagnostic>> {
    let applied;
    let mut file = file;
    if file.classes.iter().any(|class| !class.uses.is_empty()) {
        let mut with_traits = file.clone();
        crate::syntax::apply_traits(&mut with_traits).map_err(|diagnostic| vec![diagnostic])?;
        applied = with_traits;
        file = &applied;
    }
    let mut checker = TypeChecker::new(source);
    let prelude = crate::syntax::parse(crate::syntax::PRELUDE, u32::MAX, &[]).expect("the prelude is valid");
    checker.declare_all(&prelude);
    let functions = checker.code.constructors.iter().map(|c| c.name.as_str());
    assert!(
        functions.zip(code::known::NAMES).all(|(a, b)| a == *b),
        "internal error: the prelude's constructors are out of order"
    );
    checker.bodies(&prelude);
    assert!(checker.diagnostics.is_empty(), "internal error: the prelude is invalid: {:?}", checker.diagnostics);
    checker.prelude = false;
    checker.library = Library {
        functions: checker.code.functions.len() as u32,
        constructors: checker.code.constructors.len() as u32,
        data: checker.data.iter().map(|(name, (number, _))| (name.clone(), *number)).collect(),
        interfaces: checker.types.interface_names.len() as u32,
        classes: checker.types.class_names.len() as u32,
        synonyms: checker.synonyms.keys().cloned().collect(),
        names: checker.names.clone(),
    };
    checker.code.library_classes = checker.library.classes;
    if !file.older.is_empty() {
        checker.code.notes.push(OLDER.into());
    }
    checker.imports(file);
    checker.diagnostics.extend(file.visibility.iter().cloned());
    checker.declare_all(file);
    checker.rules(file);
    checker.nonnull(file);
    if checker.diagnostics.is_empty() {
        checker.bodies(file);
        checker.main(file);
    }
    if checker.diagnostics.is_empty() {
        return Ok(checker.code);
    }
    checker.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    checker.diagnostics.truncate(MAX_DIAGNOSTICS);
    Err(checker.diagnostics)
}

impl TypeChecker {
    fn new(source: &Source) -> TypeChecker {
        TypeChecker {
            types: Types::default(),
            diagnostics: Vec::new(),
            prelude: true,
            library: Library::default(),
            data: FxHashMap::default(),
            synonyms: FxHashMap::default(),
            exceptions: FxHashSet::default(),
            interfaces: FxHashMap::default(),
            interface_methods: Vec::new(),
            classes: FxHashMap::default(),
            class_methods: Vec::new(),
            class_fields: Vec::new(),
            class_params: Vec::new(),
            names: NameScope::default(),
            higher: FxHashMap::default(),
            instances: Vec::new(),
            method_names: FxHashMap::default(),
            const_numbers: FxHashMap::default(),
            uses_component: false,
            code: Code {
                source: source.clone(),
                consts: Vec::new(),
                constructors: Vec::new(),
                functions: Vec::new(),
                methods: Vec::new(),
                classes: Vec::new(),
                method_names: Vec::new(),
                interfaces: Vec::new(),
                library_classes: 0,
                notes: Vec::new(),
                caveats: Vec::new(),
            },
        }
    }

    /// Returns the value of a successful check, or records its diagnostic.
    fn record_error<T>(&mut self, result: Check<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn constant(&mut self, constant: Const) -> code::Expr {
        let consts = &mut self.code.consts;
        let at = *self.const_numbers.entry(constant).or_insert_with_key(|constant| {
            consts.push(constant.clone());
            consts.len() as u32 - 1
        });
        code::Expr::Const(at)
    }

    /// Returns a data type of the library, even if the program declares another type of the same name.
    fn library_data(&self, name: &str) -> u32 {
        self.library.data.get(name).copied().unwrap_or_else(|| self.data[name].0)
    }

    /// Returns an interface of the library, even if the program declares another type of the same name.
    fn library_interface(&self, name: &str) -> u32 {
        let names = &self.types.interface_names;
        names.iter().position(|known| &**known == name).expect("the library declares it") as u32
    }

    /// Returns a class of the library, even if the program declares another class of the same name.
    fn library_class(&self, name: &str) -> u32 {
        let names = &self.types.class_names;
        names.iter().position(|known| &**known == name).expect("the library declares it") as u32
    }

    /// Returns the place of a range of the source; all library code has the place [`code::LIBRARY`].
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

    /// Returns the diagnostic that a value has the wrong type.
    fn mismatch(&self, span: Span, actual: &Ty, wanted: &Ty) -> Diagnostic {
        let (actual, wanted) = (self.types.show(actual), self.types.show(wanted));
        let diagnostic = Diagnostic::new(span, format!("expected a value of type {wanted}, found type {actual}"))
            .label(actual.clone());
        match (actual.as_str(), wanted.as_str()) {
            ("Rat", "Int") => diagnostic.help("`/` returns a Rat; convert it to an Int with `truncate`"),
            ("Int" | "Rat", "Float") => diagnostic.help("convert the number to a Float with `float`"),
            ("Float", "Rat") => diagnostic.help("convert the Float to a Rat with `rat`"),
            (actual, wanted) if actual == format!("Fut<{wanted}>") => {
                diagnostic.help("read the value of a future with `.get`, or put `await` before the call")
            }
            _ => diagnostic,
        }
    }

    fn expect_type(&mut self, span: Span, actual: &Ty, wanted: &Ty) -> Check<()> {
        if self.types.is_assignable(actual, wanted) { Ok(()) } else { Err(self.mismatch(span, actual, wanted)) }
    }
}

/// Returns the hint "did you mean" with the known name that is most similar.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a Rc<str>>) -> Option<String> {
    let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let mut near: Vec<(usize, &Rc<str>)> =
        known.map(|other| (distance(other), other)).filter(|(d, _)| *d <= 2).collect();
    near.sort();
    near.first().map(|(_, other)| format!("did you mean `{other}`?"))
}

/// Returns the diagnostic that a name is unknown, with a hint if a known name is similar.
fn unknown<'a>(what: &str, name: &Ident, known: impl Iterator<Item = &'a Rc<str>>) -> Diagnostic {
    let diagnostic = Diagnostic::new(name.span, format!("unknown {what} `{}`", name.text)).label("unknown");
    match nearest(&name.text, known) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
