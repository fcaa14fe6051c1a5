//! The total order of values. It is the same in equivalent executions: objects and futures are ordered by name.
//!
//! Values are graphs: `Pair(x, x)` contains `x` once. Comparing them as trees would take exponential time, so pairs of
//! shared cells that have been found equal are not compared again.

use super::{Value, with_stack};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::rc::Rc;

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
    #[inline]
    fn cmp(&self, other: &Value) -> Ordering {
        // Fast path for the most common comparison.
        match (self, other) {
            (Value::Int(x), Value::Int(y)) => x.cmp(y),
            _ => compare(self, other, &mut FxHashSet::default()),
        }
    }
}

/// Pairs of shared cells, by address, that are known to be equal.
type EqualPairs = FxHashSet<(*const (), *const ())>;

/// Returns the addresses of two cells if both are shared: only such a pair can be met again.
fn shared<T>(x: &Rc<T>, y: &Rc<T>) -> Option<(*const (), *const ())> {
    (Rc::strong_count(x) > 1 && Rc::strong_count(y) > 1).then(|| (Rc::as_ptr(x).cast(), Rc::as_ptr(y).cast()))
}

/// Compares two values. The loop follows the last argument, so that lists of any length need no recursion.
fn compare(mut a: &Value, mut b: &Value, equal: &mut EqualPairs) -> Ordering {
    let mut visited = Vec::new();
    let ordering = loop {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => break x.cmp(y),
            (Value::Bool(x), Value::Bool(y)) => break x.cmp(y),
            (Value::Float(x), Value::Float(y)) => break x.total_cmp(y),
            (Value::Str(x), Value::Str(y)) => break x.cmp(y),
            (Value::Object(_, x), Value::Object(_, y)) => break x.cmp(y),
            (Value::Future(_, x), Value::Future(_, y)) => break x.cmp(y),
            (Value::Int(_) | Value::Number(_), Value::Int(_) | Value::Number(_)) => {
                break a.rational().cmp(&b.rational());
            }
            (Value::Function(x), Value::Function(y)) => {
                let pair = shared(x, y);
                if Rc::ptr_eq(x, y) || pair.is_some_and(|pair| equal.contains(&pair)) {
                    break Ordering::Equal;
                }
                visited.extend(pair);
                break x.function.cmp(&y.function).then_with(|| compare_all(&x.captured, &y.captured, equal));
            }
            (Value::Data(x), Value::Data(y)) => {
                let pair = shared(x, y);
                if Rc::ptr_eq(x, y) || pair.is_some_and(|pair| equal.contains(&pair)) {
                    break Ordering::Equal;
                }
                visited.extend(pair);
            }
            _ => {}
        }
        let (Some((c, xs)), Some((d, ys))) = (a.parts(), b.parts()) else { break a.rank().cmp(&b.rank()) };
        let by_constructor = c.cmp(&d).then_with(|| xs.len().cmp(&ys.len()));
        let (Some((x, firsts)), Some((y, others))) = (xs.split_last(), ys.split_last()) else {
            break by_constructor;
        };
        let ordering = by_constructor.then_with(|| compare_all(firsts, others, equal));
        if ordering != Ordering::Equal {
            break ordering;
        }
        (a, b) = (x, y);
    };
    if ordering == Ordering::Equal {
        equal.extend(visited);
    }
    ordering
}

/// Compares two slices lexicographically.
fn compare_all(xs: &[Value], ys: &[Value], equal: &mut EqualPairs) -> Ordering {
    for (x, y) in xs.iter().zip(ys) {
        let ordering = match (x, y) {
            (Value::Data(_), Value::Data(_)) | (Value::Function(_), Value::Function(_)) => {
                with_stack(|| compare(x, y, equal))
            }
            _ => compare(x, y, equal),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    xs.len().cmp(&ys.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::known;

    #[test]
    fn long_and_deep_values() {
        let long = |n: i64| Value::list((0..n).map(Value::Int));
        // The longer list is less: `Cons` comes before `Nil`.
        assert!(long(300_001) < long(300_000));
        let deep = |n| (0..n).fold(Value::Atom(known::NIL), |inner, _| Value::cons(inner, Value::Atom(known::NIL)));
        assert_eq!(deep(100_000), deep(100_000));
    }

    #[test]
    fn shared_values_take_linear_time() {
        let pairs = |n, last| (0..n).fold(Value::Int(last), |x, _| Value::pair(x.clone(), x));
        assert_eq!(pairs(200, 1), pairs(200, 1));
        assert!(pairs(200, 1) < pairs(200, 2));
        // Here every cell is met first as the last argument of another one.
        let nested = |n| (0..n).fold(Value::Int(1), |x, _| Value::pair(Value::pair(Value::Int(0), x.clone()), x));
        assert_eq!(nested(200), nested(200));
        let closures = |n| (0..n).fold(Value::Int(1), |x, _| Value::closure(7, Box::new([x.clone(), x])));
        assert_eq!(closures(200), closures(200));
    }
}
