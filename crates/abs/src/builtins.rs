//! Functions of the standard library that are faster, or only possible, in Rust.
//!
//! A set is a chain of cells in ascending order and a map is a chain in insertion order, as programs that match on them
//! with `case` expect.

use crate::code::known;
use crate::eval::{Eval, Thrown};
use crate::value::{Items, Value};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use std::cmp::Ordering;

macro_rules! builtins {
    ($($variant:ident $name:literal,)*) => {
        /// A built-in function.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub(crate) enum Builtin { $($variant,)* }

        impl Builtin {
            /// Returns the built-in function with this name.
            pub(crate) fn named(name: &str) -> Option<Builtin> {
                match name { $($name => Some(Builtin::$variant),)* _ => None }
            }
        }
    };
}

builtins! {
    Pow "pow", Truncate "truncate", Numerator "numerator", Denominator "denominator",
    Float "float", Rat "rat", Floor "floor", Ceil "ceil", Sqrt "sqrt", Log "log", Exp "exp",
    SetOf "set", Contains "contains", Size "size", Elements "elements", Union "union",
    Intersection "intersection", Difference "difference", InsertElement "insertElement", Remove "remove",
    Length "length", Nth "nth", Without "without", Concatenate "concatenate", AppendRight "appendright",
    Reverse "reverse", Copy "copy", MapOf "map", RemoveKey "removeKey", Values "values", Keys "keys",
    Entries "entries", Lookup "lookup", Put "put", ToStr "toString", Substr "substr", Strlen "strlen",
    Println "println", Print "print", Abs "abs", Currentms "currentms", DeadlineLeft "deadline_left",
    ThisDc "thisDC",
}

/// The maximum length of a string and the maximum number of bits of a number; beyond it a program exceeds a limit.
pub(crate) const MAX_SIZE: usize = 1 << 20;

const NIL: Value = Value::Atom(known::NIL);
const EMPTY_SET: Value = Value::Atom(known::EMPTY_SET);
const EMPTY_MAP: Value = Value::Atom(known::EMPTY_MAP);

/// Applies a built-in function.
pub(crate) fn apply(eval: &mut Eval<'_>, builtin: Builtin, args: &[Value], at: u32) -> Result<Value, Thrown> {
    use Builtin as B;
    Ok(match builtin {
        B::Pow => power(eval, args, at)?,
        B::Truncate => Value::number(args[0].rational().trunc()),
        B::Numerator => Value::number(BigRational::from_integer(args[0].rational().numer().clone())),
        B::Denominator => Value::number(BigRational::from_integer(args[0].rational().denom().clone())),
        B::Float => Value::Float(args[0].rational().to_f64().unwrap_or(f64::NAN)),
        B::Rat => float_to_number(eval, float(&args[0]), at)?,
        B::Floor => float_to_number(eval, float(&args[0]).floor(), at)?,
        B::Ceil => float_to_number(eval, float(&args[0]).ceil(), at)?,
        B::Sqrt => Value::Float(float(&args[0]).sqrt()),
        B::Log => Value::Float(float(&args[0]).ln()),
        B::Exp => Value::Float(float(&args[0]).exp()),
        B::SetOf => set_of(args[0].items().cloned().collect()),
        B::Contains => Value::Bool(args[0].items().any(|item| *item == args[1])),
        B::Size | B::Length => Value::Int(args[0].items().count() as i64),
        B::Elements | B::Entries => Value::list(args[0].items().cloned().collect::<Vec<_>>().into_iter()),
        B::Union => set_of(args[0].items().chain(args[1].items()).cloned().collect()),
        B::Intersection => filtered(&args[0], &args[1], true),
        B::Difference => filtered(&args[0], &args[1], false),
        B::InsertElement => insert_element(&args[0], &args[1]),
        B::Remove => chain(args[0].items().filter(|item| **item != args[1]), known::INSERT, EMPTY_SET),
        B::Nth => nth(eval, args, at)?,
        B::Without => chain(args[0].items().filter(|item| **item != args[1]), known::CONS, NIL),
        B::Concatenate => {
            // Lists that double must not outgrow the memory within the allowed statements.
            eval.spend(args[0].items().count() as u64, at)?;
            chain(args[0].items(), known::CONS, args[1].clone())
        }
        B::AppendRight => chain(args[0].items(), known::CONS, Value::cons(args[1].clone(), NIL)),
        B::Reverse => args[0].items().fold(NIL, |tail, head| Value::cons(head.clone(), tail)),
        B::Copy => copy(eval, args, at)?,
        B::MapOf => chain(args[0].items(), known::INSERT_ASSOC, EMPTY_MAP),
        B::RemoveKey => remove_key(&args[0], &args[1]),
        B::Values => Value::list(args[0].items().map(|entry| content(entry).clone()).collect::<Vec<_>>().into_iter()),
        B::Keys => set_of(args[0].items().map(|entry| key(entry).clone()).collect()),
        B::Lookup => match args[0].items().find(|entry| *key(entry) == args[1]) {
            Some(entry) => Value::data(known::JUST, Box::new([content(entry).clone()])),
            None => Value::Atom(known::NOTHING),
        },
        B::Put => put(&args[0], &args[1], &args[2]),
        B::ToStr => {
            let text = eval.text(&args[0]);
            if text.len() > MAX_SIZE {
                return Err(eval.too_large(at));
            }
            Value::str(text)
        }
        B::Abs => match &args[0] {
            Value::Float(float) => Value::Float(float.abs()),
            number => Value::number(num_traits::Signed::abs(&number.rational())),
        },
        B::Currentms => Value::number(eval.clock.clone()),
        B::ThisDc => eval.component.clone(),
        B::DeadlineLeft => match eval.deadline {
            Some(deadline) => Value::data(known::JUST, Box::new([Value::number(deadline - eval.clock)])),
            None => Value::Atom(known::NOTHING),
        },
        B::Substr => substr(eval, args, at)?,
        B::Strlen => Value::Int(text(&args[0]).chars().count() as i64),
        B::Println | B::Print => Value::Unit,
    })
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Float(float) => *float,
        other => unreachable!("internal error: expected a Float, got {other:?}"),
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Str(text) => text,
        other => unreachable!("internal error: expected a String, got {other:?}"),
    }
}

/// Returns a count or an index; a number that does not fit becomes the smallest or largest `i64`.
fn count(value: &Value) -> i64 {
    match value {
        Value::Int(small) => *small,
        other if other.rational() < BigRational::zero() => i64::MIN,
        _ => i64::MAX,
    }
}

fn key(entry: &Value) -> &Value {
    &entry.parts().expect("the entries of a map are pairs").1[0]
}

fn content(entry: &Value) -> &Value {
    &entry.parts().expect("the entries of a map are pairs").1[1]
}

/// Builds a chain of cells of one constructor around the items, ending in `end`.
fn chain<'a>(items: impl Iterator<Item = &'a Value>, constructor: u32, end: Value) -> Value {
    let items: Vec<&Value> = items.collect();
    items.into_iter().rev().fold(end, |rest, item| Value::data(constructor, Box::new([item.clone(), rest])))
}

fn set_of(mut items: Vec<Value>) -> Value {
    items.sort();
    items.dedup();
    chain(items.iter(), known::INSERT, EMPTY_SET)
}

/// Returns the items of a set that are in another one (or are not, if `wanted` is false); both are in ascending order.
fn filtered(set: &Value, other: &Value, wanted: bool) -> Value {
    let mut others = other.items().peekable();
    let kept = set.items().filter(|item| {
        while others.next_if(|other| other < item).is_some() {}
        others.peek().is_some_and(|other| other == item) == wanted
    });
    chain(kept.collect::<Vec<_>>().into_iter(), known::INSERT, EMPTY_SET)
}

/// Inserts an element into a set. Cells before it are copied, cells after it are shared.
fn insert_element(set: &Value, element: &Value) -> Value {
    let mut before: Vec<&Value> = Vec::new();
    let mut items: Items<'_> = set.items();
    let rest = loop {
        let rest = items.rest();
        match items.next() {
            Some(item) => match item.cmp(element) {
                Ordering::Less => before.push(item),
                Ordering::Equal => return set.clone(),
                Ordering::Greater => break rest,
            },
            None => break rest,
        }
    };
    let tail = Value::data(known::INSERT, Box::new([element.clone(), rest.clone()]));
    chain(before.into_iter(), known::INSERT, tail)
}

fn put(map: &Value, wanted: &Value, value: &Value) -> Value {
    let entry = Value::pair(wanted.clone(), value.clone());
    let mut before: Vec<&Value> = Vec::new();
    let mut items = map.items();
    let mut rest = EMPTY_MAP;
    while let Some(item) = items.next() {
        if key(item) == wanted {
            rest = items.rest().clone();
            break;
        }
        before.push(item);
    }
    chain(before.into_iter(), known::INSERT_ASSOC, Value::data(known::INSERT_ASSOC, Box::new([entry, rest])))
}

/// Removes the first entry of a key. A later entry of the same key becomes visible again.
fn remove_key(map: &Value, unwanted: &Value) -> Value {
    let mut before: Vec<&Value> = Vec::new();
    let mut items = map.items();
    while let Some(item) = items.next() {
        if key(item) == unwanted {
            return chain(before.into_iter(), known::INSERT_ASSOC, items.rest().clone());
        }
        before.push(item);
    }
    map.clone()
}

fn nth(eval: &Eval<'_>, args: &[Value], at: u32) -> Result<Value, Thrown> {
    let wanted = count(&args[1]);
    let found = usize::try_from(wanted).ok().and_then(|n| args[0].items().nth(n));
    found.cloned().ok_or_else(|| eval.throw(known::NO_MATCH, at))
}

fn copy(eval: &mut Eval<'_>, args: &[Value], at: u32) -> Result<Value, Thrown> {
    let n = count(&args[1]).max(0) as usize;
    eval.spend(n as u64, at)?;
    Ok(Value::list((0..n).map(|_| args[0].clone())))
}

fn power(eval: &mut Eval<'_>, args: &[Value], at: u32) -> Result<Value, Thrown> {
    let base = args[0].rational();
    let exponent = count(&args[1]);
    if base.is_zero() && exponent < 0 {
        return Err(eval.throw(known::DIVISION_BY_ZERO, at));
    }
    let bits = base.numer().bits().max(base.denom().bits()).saturating_mul(exponent.unsigned_abs());
    if bits > MAX_SIZE as u64 {
        return Err(eval.too_large(at));
    }
    Ok(Value::number(num_traits::Pow::pow(base, BigInt::from(exponent))))
}

fn float_to_number(eval: &Eval<'_>, float: f64, at: u32) -> Result<Value, Thrown> {
    BigRational::from_f64(float).map(Value::number).ok_or_else(|| eval.throw(known::NO_MATCH, at))
}

fn substr(eval: &Eval<'_>, args: &[Value], at: u32) -> Result<Value, Thrown> {
    let (start, length) = (count(&args[1]), count(&args[2]));
    let whole = text(&args[0]);
    if start < 0 || length < 0 || start.saturating_add(length) > whole.chars().count() as i64 {
        return Err(eval.throw(known::NO_MATCH, at));
    }
    Ok(Value::str(whole.chars().skip(start as usize).take(length as usize).collect::<String>()))
}
