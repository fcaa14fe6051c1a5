//! Values: immutable, shared, and compared and hashed by content.

use crate::code::{Code, known};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use whippet_model::Name;

/// A value of the program. It takes sixteen bytes, and cloning copies no more.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Unit,
    Null,
    Bool(bool),
    /// An integer that fits into 64 bits.
    Int(i64),
    /// Any other exact number.
    Number(Rc<BigRational>),
    Float(f64),
    Str(Rc<String>),
    /// A constructor without arguments.
    Atom(u32),
    Data(Rc<Data>),
    /// An object: its number in this execution, and its stable name.
    Object(u32, Name),
    /// A future: the number and the name of the task that resolves it.
    Future(u32, Name),
    Function(Rc<Closure>),
}

/// A constructor with its arguments.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) constructor: u32,
    pub(crate) args: Box<[Value]>,
}

/// A function with its captured variables.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: u32,
    pub(crate) taken: Box<[Value]>,
}

/// Runs `work`, growing the stack if necessary: values can be nested to any depth, and so can recursion over them.
pub(crate) fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(96 * 1024, 1024 * 1024, work)
}

impl Drop for Data {
    /// Drops long lists in a loop: the default would recurse once per element.
    fn drop(&mut self) {
        let Some(mut last) = self.args.last_mut().map(|last| std::mem::replace(last, Value::Unit)) else { return };
        if self.args[..self.args.len() - 1].iter().any(|arg| matches!(arg, Value::Data(_))) {
            let args = std::mem::take(&mut self.args);
            with_stack(|| drop(args));
        }
        while let Value::Data(rest) = last {
            let Ok(mut data) = Rc::try_unwrap(rest) else { return };
            let Some(next) = data.args.last_mut() else { return };
            last = std::mem::replace(next, Value::Unit);
        }
    }
}

impl Value {
    pub(crate) fn number(number: BigRational) -> Value {
        if number.is_integer()
            && let Some(small) = number.numer().to_i64()
        {
            return Value::Int(small);
        }
        Value::Number(Rc::new(number))
    }

    pub(crate) fn str(text: impl Into<String>) -> Value {
        Value::Str(Rc::new(text.into()))
    }

    pub(crate) fn data(constructor: u32, args: Box<[Value]>) -> Value {
        Value::Data(Rc::new(Data { constructor, args }))
    }

    pub(crate) fn cons(head: Value, tail: Value) -> Value {
        Value::data(known::CONS, Box::new([head, tail]))
    }

    pub(crate) fn pair(first: Value, second: Value) -> Value {
        Value::data(known::PAIR, Box::new([first, second]))
    }

    pub(crate) fn list(items: impl DoubleEndedIterator<Item = Value>) -> Value {
        items.rev().fold(Value::Atom(known::NIL), |tail, head| Value::cons(head, tail))
    }

    /// Returns the number. The checker guarantees that the value is one.
    pub(crate) fn rational(&self) -> BigRational {
        match self {
            Value::Int(small) => BigRational::from_integer(BigInt::from(*small)),
            Value::Number(number) => (**number).clone(),
            other => unreachable!("the checker let {other:?} pass as a number"),
        }
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::Bool(truth) => *truth,
            other => unreachable!("the checker let {other:?} pass as a Bool"),
        }
    }

    /// Iterates over the items of a list, a set or a map, which are chains of cells `(item, rest)`.
    pub(crate) fn items(&self) -> Items<'_> {
        Items { at: self }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Unit => 0,
            Value::Null => 1,
            Value::Bool(_) => 2,
            Value::Int(_) | Value::Number(_) => 3,
            Value::Float(_) => 4,
            Value::Str(_) => 5,
            Value::Atom(_) | Value::Data(_) => 6,
            Value::Object(..) => 7,
            Value::Future(..) => 8,
            Value::Function(_) => 9,
        }
    }

    /// Returns the constructor and its arguments, or `None` if the value is not an instance of a data type.
    pub(crate) fn parts(&self) -> Option<(u32, &[Value])> {
        match self {
            Value::Atom(constructor) => Some((*constructor, &[])),
            Value::Data(data) => Some((data.constructor, &data.args)),
            _ => None,
        }
    }

    /// Returns the text of the value, truncated if it is long.
    pub(crate) fn show(&self, code: &Code, names: &dyn Fn(u32) -> String) -> String {
        let mut out = String::new();
        self.write(code, names, &mut out, 6);
        out
    }

    fn write(&self, code: &Code, names: &dyn Fn(u32) -> String, out: &mut String, depth: u32) {
        const LONG: usize = 200;
        if depth == 0 || out.len() > LONG {
            out.push('…');
            return;
        }
        match self {
            Value::Unit => out.push_str("Unit"),
            Value::Null => out.push_str("null"),
            Value::Bool(truth) => out.push_str(if *truth { "True" } else { "False" }),
            Value::Int(small) => write!(out, "{small}").expect("a String takes everything"),
            Value::Number(number) => write!(out, "{number}").expect("a String takes everything"),
            Value::Float(float) => write!(out, "{float:?}").expect("a String takes everything"),
            Value::Str(text) => write!(out, "\"{text}\"").expect("a String takes everything"),
            Value::Object(at, _) => out.push_str(&names(*at)),
            Value::Future(..) => out.push_str("a future"),
            Value::Function(_) => out.push_str("a function"),
            Value::Atom(known::NIL) => out.push_str("list[]"),
            Value::Atom(known::EMPTY_SET) => out.push_str("set[]"),
            Value::Atom(known::EMPTY_MAP) => out.push_str("map[]"),
            Value::Atom(constructor) => out.push_str(&code.constructors[*constructor as usize].name),
            Value::Data(data) => {
                let (open, items): (&str, Vec<&Value>) = match data.constructor {
                    known::CONS => ("list[", self.items().take(20).collect()),
                    known::INSERT => ("set[", self.items().take(20).collect()),
                    known::INSERT_ASSOC => ("map[", self.items().take(20).collect()),
                    constructor => {
                        write!(out, "{}(", code.constructors[constructor as usize].name).expect("a String");
                        ("", data.args.iter().collect())
                    }
                };
                out.push_str(open);
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    item.write(code, names, out, depth - 1);
                    if out.len() > LONG {
                        break;
                    }
                }
                out.push(if open.is_empty() { ')' } else { ']' });
            }
        }
    }
}

/// The iterator returned by [`Value::items`].
pub(crate) struct Items<'a> {
    at: &'a Value,
}

impl<'a> Items<'a> {
    /// Returns the rest of the chain after the items returned so far.
    pub(crate) fn rest(&self) -> &'a Value {
        self.at
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        let Value::Data(cell) = self.at else { return None };
        let [item, rest] = &*cell.args else { return None };
        self.at = rest;
        Some(item)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    /// Defines a total order that is the same in equivalent executions: objects and futures are ordered by name.
    fn cmp(&self, other: &Value) -> Ordering {
        let (mut a, mut b) = (self, other);
        loop {
            match (a, b) {
                (Value::Int(x), Value::Int(y)) => return x.cmp(y),
                (Value::Bool(x), Value::Bool(y)) => return x.cmp(y),
                (Value::Float(x), Value::Float(y)) => return x.total_cmp(y),
                (Value::Str(x), Value::Str(y)) => return x.cmp(y),
                (Value::Object(_, x), Value::Object(_, y)) => return x.cmp(y),
                (Value::Future(_, x), Value::Future(_, y)) => return x.cmp(y),
                (Value::Int(_) | Value::Number(_), Value::Int(_) | Value::Number(_)) => {
                    return a.rational().cmp(&b.rational());
                }
                (Value::Function(x), Value::Function(y)) => {
                    return x.function.cmp(&y.function).then_with(|| x.taken.cmp(&y.taken));
                }
                (Value::Data(x), Value::Data(y)) if Rc::ptr_eq(x, y) => return Ordering::Equal,
                _ => {}
            }
            let (Some((c, xs)), Some((d, ys))) = (a.parts(), b.parts()) else { return a.rank().cmp(&b.rank()) };
            let by_constructor = c.cmp(&d).then_with(|| xs.len().cmp(&ys.len()));
            let (Some((x, firsts)), Some((y, others))) = (xs.split_last(), ys.split_last()) else {
                return by_constructor;
            };
            if by_constructor != Ordering::Equal {
                return by_constructor;
            }
            for (first, second) in firsts.iter().zip(others) {
                let ordering = match (first, second) {
                    (Value::Data(_), Value::Data(_)) => with_stack(|| first.cmp(second)),
                    _ => first.cmp(second),
                };
                if ordering != Ordering::Equal {
                    return ordering;
                }
            }
            (a, b) = (x, y);
        }
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut at = self;
        loop {
            state.write_u8(at.rank());
            match at {
                Value::Unit | Value::Null => {}
                Value::Bool(truth) => truth.hash(state),
                Value::Int(small) => small.hash(state),
                Value::Number(number) => number.hash(state),
                Value::Float(float) => float.to_bits().hash(state),
                Value::Str(text) => text.hash(state),
                Value::Atom(constructor) => constructor.hash(state),
                Value::Object(_, name) | Value::Future(_, name) => name.hash(state),
                Value::Function(closure) => {
                    closure.function.hash(state);
                    closure.taken.iter().for_each(|taken| taken.hash(state));
                }
                Value::Data(data) => {
                    data.constructor.hash(state);
                    if let Some((last, firsts)) = data.args.split_last() {
                        firsts.iter().for_each(|first| with_stack(|| first.hash(state)));
                        at = last;
                        continue;
                    }
                }
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_sixteen_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn long_and_deep_values_are_compared_and_dropped() {
        let long = |n: i64| Value::list((0..n).map(Value::Int));
        assert!(long(300_000) < long(300_001));
        let deep = |n| (0..n).fold(Value::Atom(known::NIL), |inner, _| Value::cons(inner, Value::Atom(known::NIL)));
        assert_eq!(deep(100_000), deep(100_000));
    }
}
