//! Values: immutable, shared, and compared and hashed by content.

mod hash;
mod order;
mod show;

use crate::code::known;
use hash::HashCache;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use std::rc::Rc;
use whippet_model::Name;

pub(crate) use hash::Hasher128;

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
    hash: HashCache,
}

/// A function with its captured variables.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: u32,
    pub(crate) captured: Box<[Value]>,
    hash: HashCache,
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
        if args.is_empty() {
            return Value::Atom(constructor);
        }
        Value::Data(Rc::new(Data { constructor, args, hash: HashCache::default() }))
    }

    pub(crate) fn closure(function: u32, captured: Box<[Value]>) -> Value {
        Value::Function(Rc::new(Closure { function, captured, hash: HashCache::default() }))
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
            other => unreachable!("internal error: expected a number, got {other:?}"),
        }
    }

    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::Bool(truth) => *truth,
            other => unreachable!("internal error: expected a Bool, got {other:?}"),
        }
    }

    /// Iterates over the items of a list, a set or a map, which are chains of cells `(item, rest)`.
    pub(crate) fn items(&self) -> Items<'_> {
        Items { at: self }
    }

    /// Returns the rank of the kind of value in the total order.
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

    /// Returns `true` if the value is or contains an object, a future or a function, which have no source text.
    pub(crate) fn has_reference(&self) -> bool {
        match self {
            Value::Object(..) | Value::Future(..) | Value::Function(_) => true,
            Value::Data(data) => with_stack(|| data.args.iter().any(Value::has_reference)),
            _ => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_sixteen_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }
}
