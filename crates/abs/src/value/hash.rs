//! Hashing of values by content.
//!
//! Values are graphs: `Pair(x, x)` contains `x` once. Each cell therefore caches the hash of its content, so that
//! hashing takes time in the number of cells, and a cell that was hashed before takes constant time.

use super::{Value, with_stack};
use rustc_hash::FxHasher;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use whippet_model::Name;

/// Two hashers that run in parallel and together give 128 bits.
#[derive(Clone)]
pub(crate) struct Hasher128(FxHasher, FxHasher);

impl Hasher128 {
    pub(crate) fn new() -> Hasher128 {
        let mut other = FxHasher::default();
        other.write_u64(0x9E37_79B9_7F4A_7C15);
        Hasher128(FxHasher::default(), other)
    }

    /// Returns the 128 bits in two halves.
    fn halves(&self) -> [u64; 2] {
        [self.0.finish(), self.1.finish()].map(|hash| Name(hash).mixed(11).0)
    }

    pub(crate) fn finish_128(&self) -> u128 {
        let [high, low] = self.halves();
        u128::from(high) << 64 | u128::from(low)
    }
}

impl Hasher for Hasher128 {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        for &byte in bytes {
            self.1.write_u8(byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0.write_u64(word);
        self.1.write_u64(word.rotate_left(32) ^ 0x5851_F42D_4C95_7F2D);
    }
}

/// The hash of a cell's content, or zeros before it has been computed.
#[derive(Debug, Default)]
pub(super) struct HashCache(Cell<[u64; 2]>);

impl HashCache {
    fn get(&self) -> Option<[u64; 2]> {
        Some(self.0.get()).filter(|halves| *halves != [0, 0])
    }
}

impl Value {
    /// Returns the cache of a cell, its number (the constructor or the function), and its parts.
    fn cell(&self) -> Option<(&HashCache, u32, &[Value])> {
        match self {
            Value::Data(data) => Some((&data.hash, data.constructor, &data.args)),
            Value::Function(closure) => Some((&closure.hash, closure.function, &closure.captured)),
            _ => None,
        }
    }
}

/// Returns the hash of a cell's content and caches it, like that of all cells below.
fn content_hash(value: &Value) -> [u64; 2] {
    // The cells along the last arguments are hashed from the end, so that lists of any length need no recursion.
    let mut chain = Vec::new();
    let mut next = Some(value);
    while let Some((cache, number, parts)) = next.and_then(Value::cell) {
        if cache.get().is_some() {
            break;
        }
        chain.push((cache, number, parts));
        next = parts.last();
    }
    for (cache, number, parts) in chain.into_iter().rev() {
        let mut hasher = Hasher128::new();
        hasher.write_u64(u64::from(number) << 32 | parts.len() as u64);
        for part in parts {
            part.hash(&mut hasher);
        }
        let halves = hasher.halves();
        cache.0.set(if halves == [0, 0] { [1, 0] } else { halves });
    }
    value.cell().and_then(|(cache, ..)| cache.get()).expect("the loop computed it")
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Value::Unit | Value::Null => {}
            Value::Bool(truth) => truth.hash(state),
            Value::Int(small) => small.hash(state),
            Value::Number(number) => number.hash(state),
            Value::Float(float) => float.to_bits().hash(state),
            Value::Str(text) => text.hash(state),
            Value::Atom(constructor) => constructor.hash(state),
            Value::Object(_, name) | Value::Future(_, name) => name.hash(state),
            Value::Data(_) | Value::Function(_) => {
                with_stack(|| content_hash(self)).into_iter().for_each(|half| state.write_u64(half));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::known;

    fn hash(value: &Value) -> u128 {
        let mut hasher = Hasher128::new();
        value.hash(&mut hasher);
        hasher.finish_128()
    }

    #[test]
    fn equal_content_has_equal_hash() {
        let long = |n: i64| Value::list((0..n).map(Value::Int));
        assert_eq!(hash(&long(300_000)), hash(&long(300_000)));
        assert_ne!(hash(&long(300_000)), hash(&long(300_001)));
        let deep = |n| (0..n).fold(Value::Atom(known::NIL), |inner, _| Value::cons(inner, Value::Atom(known::NIL)));
        assert_eq!(hash(&deep(100_000)), hash(&deep(100_000)));
        let (x, y) = (|| Value::Int(1), || Value::str("y"));
        assert_eq!(hash(&Value::pair(x(), y())), hash(&Value::pair(x(), y())));
        assert_ne!(hash(&Value::pair(x(), y())), hash(&Value::pair(y(), x())));
        assert_ne!(hash(&Value::pair(x(), y())), hash(&Value::cons(x(), y())));
    }

    #[test]
    fn shared_values_take_linear_time() {
        let pairs = |n, last| (0..n).fold(Value::Int(last), |x, _| Value::pair(x.clone(), x));
        assert_eq!(hash(&pairs(200, 1)), hash(&pairs(200, 1)));
        assert_ne!(hash(&pairs(200, 1)), hash(&pairs(200, 2)));
        let closures = |n| (0..n).fold(Value::Int(1), |x, _| Value::closure(7, Box::new([x.clone(), x])));
        assert_eq!(hash(&closures(200)), hash(&closures(200)));
    }
}
