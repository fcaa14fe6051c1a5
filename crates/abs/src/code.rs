//! The code that the interpreter runs: names are resolved, types checked and statements flattened.
//!
//! Statements are a flat list of [`Instr`]s, because a task may stop inside nested statements and an index into a
//! list is easy to save. Expressions stay trees: they have no side effects and never stop.

use crate::source::Source;
use crate::syntax::ast::{Binary, Unary};
use num_rational::BigRational;

/// A constant in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Const {
    Unit,
    Null,
    Bool(bool),
    Number(BigRational),
    /// The bits of a float.
    Float(u64),
    Str(String),
    Construct(u32),
}

/// The constructors that the interpreter itself uses, in the order of the prelude: those of one data type by name.
pub(crate) mod known {
    pub(crate) const DIVISION_BY_ZERO: u32 = 0;
    pub(crate) const ASSERTION_FAILED: u32 = 1;
    pub(crate) const NO_MATCH: u32 = 2;
    pub(crate) const NULL_POINTER: u32 = 3;
    pub(crate) const CONS: u32 = 8;
    pub(crate) const NIL: u32 = 9;
    pub(crate) const EMPTY_SET: u32 = 10;
    pub(crate) const INSERT: u32 = 11;
    pub(crate) const EMPTY_MAP: u32 = 12;
    pub(crate) const INSERT_ASSOC: u32 = 13;
    pub(crate) const JUST: u32 = 14;
    pub(crate) const NOTHING: u32 = 15;
    pub(crate) const PAIR: u32 = 16;

    pub(crate) const NAMES: &[&str] = &[
        "DivisionByZeroException",
        "AssertionFailException",
        "PatternMatchFailException",
        "NullPointerException",
        "StackOverflowException",
        "HeapOverflowException",
        "KeyboardInterruptException",
        "ObjectDeadException",
        "Cons",
        "Nil",
        "EmptySet",
        "Insert",
        "EmptyMap",
        "InsertAssoc",
        "Just",
        "Nothing",
        "Pair",
    ];
}

/// The place of all library code.
pub(crate) const LIBRARY: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Const(u32),
    Local(u16),
    Field(u16),
    This,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<(Expr, Expr)>, u32),
    If(Box<(Expr, Expr, Expr)>),
    Case(Box<Expr>, Box<[(Pattern, Expr)]>, u32),
    Let(u16, Box<(Expr, Expr)>),
    Construct(u32, Box<[Expr]>),
    /// A call of a function of the program, and the place of the call.
    Call(u32, Box<[Expr]>, u32),
    /// A call of a function that was passed as an argument and is in a local variable.
    CallLocal(u16, Box<[Expr]>, u32),
    Builtin(crate::builtins::Builtin, Box<[Expr]>, u32),
    /// A function as a value, with the variables it captures and the fields it reads.
    Closure(u32, Box<[u16]>, Box<[u16]>),
    Implements(Box<Expr>, u32),
    /// A cast to an interface: `null` if the object does not implement it.
    As(Box<Expr>, u32),
    Template(Box<[Expr]>, u32),
    /// `random(n)`: any number from 0 to n - 1. Allowed only in methods, outside the conditions of `await`.
    Random(Box<Expr>, u32),
}

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Any,
    Const(u32),
    Bind(u16),
    /// Matches the value of a variable that is already bound.
    Same(u16),
    /// Matches the value of a field.
    Field(u16),
    Construct(u32, Box<[Pattern]>),
}

/// The destination of a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dest {
    Nowhere,
    Local(u16),
    Field(u16),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// `o!m()`
    Send,
    /// `o.m()`
    Invoke,
}

/// The guard of an `await`.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) futures: Box<[Expr]>,
    pub(crate) holds: Option<Expr>,
    /// The variables with the earliest and the latest time at which the wait ends.
    pub(crate) timer: Option<(u16, u16)>,
    /// The fields that `holds` reads.
    pub(crate) fields: Box<[u16]>,
}

#[derive(Clone, Debug)]
pub(crate) enum Instr {
    Set(Dest, Expr),
    Jump(u32),
    JumpUnless(Expr, u32),
    Call {
        dest: Dest,
        kind: CallKind,
        object: Expr,
        method: u32,
        args: Box<[Expr]>,
        /// The value of the annotation `Deadline`.
        deadline: Option<Box<Expr>>,
    },
    New {
        dest: Dest,
        class: u32,
        local: bool,
        args: Box<[Expr]>,
        /// The deployment component of the new group, if it is not that of the creator.
        component: Option<Box<Expr>>,
    },
    /// Blocks the group until the time in the first variable, at the latest until that in the second.
    Sleep(u16, u16),
    /// Consumes speed of the group's deployment component, at most the amount in the second variable, and stores the
    /// amount consumed in the first.
    Consume(u16, u16),
    /// Makes the object in the variable the deployment component of the group.
    Deploy(u16),
    Get(Dest, Expr),
    Await(Box<Guard>),
    Suspend,
    Return(Expr),
    Assert(Expr),
    Throw(Expr),
    /// Continues if the variable matches, and jumps otherwise.
    Match(u16, Pattern, u32),
    /// Moves the next item of the list in the first variable into the second, or jumps at the end of the list.
    Next(u16, u16, u32),
    /// Installs a handler: an exception is stored in the variable and execution continues at the instruction.
    Try(u32, u16),
    EndTry,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// The number of variables, including the parameters, which come first.
    pub(crate) locals: u16,
    pub(crate) body: Expr,
}

#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// The index of the method's name in [`Code::method_names`].
    pub(crate) name: u32,
    pub(crate) class: u32,
    pub(crate) params: u16,
    /// The names of the variables, the parameters first.
    pub(crate) locals: Vec<String>,
    pub(crate) code: Vec<Instr>,
    /// The place of each instruction in the source.
    pub(crate) places: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// The names of the fields; the parameters of the class come first.
    pub(crate) fields: Vec<String>,
    /// The method that initializes the fields and runs the block of the class.
    pub(crate) init: u32,
    /// The methods of the class, each with the index of its name in [`Code::method_names`], sorted by name.
    pub(crate) methods: Vec<(u32, u32)>,
    /// The method `run`, which starts automatically.
    pub(crate) run: Option<u32>,
    pub(crate) interfaces: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Constructor {
    pub(crate) name: String,
}

/// A whole program. Class 0 and method 0 are those of the main block.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) source: Source,
    pub(crate) consts: Vec<Const>,
    pub(crate) constructors: Vec<Constructor>,
    pub(crate) functions: Vec<Function>,
    pub(crate) methods: Vec<Method>,
    pub(crate) classes: Vec<Class>,
    pub(crate) method_names: Vec<String>,
    pub(crate) interfaces: Vec<String>,
    /// The number of classes of the library, which come first.
    pub(crate) library_classes: u32,
    /// Notes on how the program was understood, for the reader of the verdict.
    pub(crate) notes: Vec<String>,
    /// Reasons why the search may miss executions.
    pub(crate) caveats: Vec<String>,
}

impl Class {
    /// Returns the method with this name, if the class has it.
    #[inline]
    pub(crate) fn method(&self, name: u32) -> Option<u32> {
        let at = self.methods.binary_search_by_key(&name, |&(known, _)| known).ok()?;
        Some(self.methods[at].1)
    }
}

impl Code {
    /// Returns the name of a method as written in the source.
    pub(crate) fn method_name(&self, method: u32) -> &str {
        &self.method_names[self.methods[method as usize].name as usize]
    }
}

impl Pattern {
    /// Calls `visit` on every field that the pattern reads.
    pub(crate) fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        match self {
            Pattern::Field(field) => visit(&Expr::Field(*field)),
            Pattern::Construct(_, args) => args.iter().for_each(|arg| arg.walk(visit)),
            Pattern::Any | Pattern::Const(_) | Pattern::Bind(_) | Pattern::Same(_) => {}
        }
    }
}

impl Expr {
    /// Calls `visit` on this expression and all its subexpressions.
    pub(crate) fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        let mut all = |parts: &[Expr]| parts.iter().for_each(|part| part.walk(visit));
        match self {
            Expr::Const(_) | Expr::Local(_) | Expr::Field(_) | Expr::This => {}
            Expr::Closure(_, _, fields) => fields.iter().for_each(|&field| visit(&Expr::Field(field))),
            Expr::Unary(_, inner) | Expr::Implements(inner, _) | Expr::As(inner, _) | Expr::Random(inner, _) => {
                inner.walk(visit);
            }
            Expr::Binary(_, pair, _) | Expr::Let(_, pair) => {
                pair.0.walk(visit);
                pair.1.walk(visit);
            }
            Expr::If(parts) => {
                parts.0.walk(visit);
                parts.1.walk(visit);
                parts.2.walk(visit);
            }
            Expr::Case(subject, branches, _) => {
                subject.walk(visit);
                for (pattern, body) in branches {
                    pattern.walk(visit);
                    body.walk(visit);
                }
            }
            Expr::Construct(_, args)
            | Expr::Call(_, args, _)
            | Expr::CallLocal(_, args, _)
            | Expr::Builtin(_, args, _)
            | Expr::Template(args, _) => all(args),
        }
    }

    /// Returns the fields that the expression reads, sorted and without duplicates.
    pub(crate) fn fields(&self) -> Vec<u16> {
        let mut fields = Vec::new();
        self.walk(&mut |expr| {
            if let Expr::Field(field) = expr {
                fields.push(*field);
            }
        });
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}
