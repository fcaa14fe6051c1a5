//! The syntax tree as the parser produces it: names are unresolved, and every node has its place in the source.

use crate::source::Span;
use std::rc::Rc;

/// A name and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ident {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// A type as written in the source.
#[derive(Clone, Debug)]
pub(crate) struct TypeUse {
    pub(crate) name: Ident,
    pub(crate) args: Vec<TypeUse>,
    /// The place of the annotation `[Nonnull]`, if the type has it.
    pub(crate) nonnull: Option<Span>,
}

/// An annotation such as `[Cost: 5]` or `[Nonnull]`.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) name: Rc<str>,
    /// The value, for an annotation with a colon.
    pub(crate) value: Option<Expr>,
    pub(crate) span: Span,
}

/// Returns the annotation of this name.
pub(crate) fn annotation<'a>(all: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    all.iter().find(|annotation| &*annotation.name == name)
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) ty: TypeUse,
    pub(crate) name: Ident,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Minus,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Implies,
    Equiv,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
}

/// A function passed to a function.
#[derive(Clone, Debug)]
pub(crate) enum FunArg {
    Name(Ident),
    Lambda(Vec<Param>, Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(String),
    Float(f64),
    Str(String),
    Template(Vec<Expr>),
    Var(Ident),
    /// `this.x`
    Field(Ident),
    This,
    Null,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Case(Box<Expr>, Vec<(Pattern, Expr)>),
    Let(Vec<(Param, Expr)>, Box<Expr>),
    Call(Ident, Vec<FunArg>, Vec<Expr>),
    /// `f[…]`: a call of `f` with a list of these values, such as `list[…]`, `set[…]`, `map[…]`.
    Variadic(Ident, Vec<Expr>),
    Construct(Ident, Vec<Expr>),
    Implements(Box<Expr>, Ident),
    As(Box<Expr>, Ident),
    // The following expressions have effects and are allowed only as a whole right-hand side.
    Get(Box<Expr>),
    New {
        /// `true` if the object joins the group of its creator.
        local: bool,
        class: Ident,
        args: Vec<Expr>,
    },
    Send {
        wait: bool,
        object: Box<Expr>,
        method: Ident,
        args: Vec<Expr>,
    },
    Invoke {
        object: Box<Expr>,
        method: Ident,
        args: Vec<Expr>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) span: Span,
    pub(crate) kind: PatternKind,
}

#[derive(Clone, Debug)]
pub(crate) enum PatternKind {
    Any,
    Int(String),
    Str(String),
    Var(Ident),
    Construct(Ident, Vec<Pattern>),
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) span: Span,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) kind: StmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum Guard {
    /// `f?`
    Future(Expr),
    Holds(Expr),
    /// `duration(min, max)`
    Time(Expr, Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Declare(TypeUse, Ident, Option<Expr>),
    /// `true` if written with `this.`; the name; the value.
    Assign(bool, Ident, Expr),
    Skip,
    Return(Expr),
    Assert(Expr),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    Foreach(Ident, Option<Ident>, Expr, Box<Stmt>),
    Try(Box<Stmt>, Vec<(Pattern, Stmt)>, Option<Box<Stmt>>),
    Await(Vec<Guard>),
    Suspend,
    Duration(Expr, Expr),
    Throw(Expr),
    Case(Expr, Vec<(Pattern, Stmt)>),
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Constructor {
    pub(crate) name: Ident,
    /// The type and, if given, the name of the selector.
    pub(crate) args: Vec<(TypeUse, Option<Ident>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) result: TypeUse,
    pub(crate) name: Ident,
    pub(crate) params: Vec<Param>,
}

#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) signature: Signature,
    pub(crate) body: Vec<Stmt>,
    /// The place of the closing brace.
    pub(crate) end: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) signature: Signature,
    pub(crate) generics: Vec<Ident>,
    /// Parameters that are functions: `def … map<A, B>(f)(List<A> list)`.
    pub(crate) functions: Vec<Ident>,
    /// The body, or `None` for a built-in function.
    pub(crate) body: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) name: Ident,
    pub(crate) params: Vec<Param>,
    pub(crate) implements: Vec<Ident>,
    pub(crate) fields: Vec<(Param, Option<Expr>)>,
    /// The fields with the annotation `[Final]`.
    pub(crate) finals: Vec<Rc<str>>,
    pub(crate) init: Vec<Stmt>,
    pub(crate) methods: Vec<Method>,
    /// The traits whose methods the class has too, until they are added to it.
    pub(crate) uses: Vec<super::traits::TraitExpr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) name: Ident,
    pub(crate) extends: Vec<Ident>,
    pub(crate) methods: Vec<Signature>,
}

#[derive(Clone, Debug)]
pub(crate) struct DataType {
    pub(crate) name: Ident,
    pub(crate) generics: Vec<Ident>,
    pub(crate) constructors: Vec<Constructor>,
}

/// All declarations of a file; its modules share one namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) modules: Vec<Ident>,
    /// The modules from which names are imported.
    pub(crate) imports: Vec<Ident>,
    pub(crate) data: Vec<DataType>,
    pub(crate) synonyms: Vec<(Ident, Vec<Ident>, TypeUse)>,
    pub(crate) exceptions: Vec<Constructor>,
    pub(crate) functions: Vec<Function>,
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) classes: Vec<Class>,
    pub(crate) traits: Vec<(Ident, super::traits::TraitExpr)>,
    pub(crate) main: Option<(Vec<Stmt>, Span)>,
    /// The errors of imports and exports, and of names that are not visible where they are used.
    pub(crate) visibility: Vec<crate::error::Diagnostic>,
    /// The files of the older dialect, in which plain `new` creates an object in the group of its creator.
    pub(crate) older: Vec<std::ops::Range<u32>>,
}
