//! The search for an order of operations that a sequential specification allows (Wing and Gong; Lowe's memory of failures).
//!
//! Operations are performed one after the other on a copy of the specification. Next may come each operation before which
//! all those that have to precede it were performed. If its answer is not allowed, the search goes back. A set of performed
//! operations that led to the same state before is not tried again. An operation without an answer may or may not have
//! taken effect.

use super::record::{MOST_OPERATIONS, Operation};
use super::{Consistency, Sequential};
use rustc_hash::FxHashSet;

/// A set of operations, by their numbers.
type Operations = u128;
const _: () = assert!(MOST_OPERATIONS == Operations::BITS as usize);

/// The result of the search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Explained {
    /// There is an order of all operations with an answer.
    Fits,
    /// There is none; this is one of as many operations as possible.
    Best(Vec<usize>),
}

/// Searches an order of the operations that keeps what `consistency` requires.
pub(super) fn explain<S: Sequential>(initial: &S, operations: &[Operation], consistency: Consistency) -> Explained {
    let answered = set((0..operations.len()).filter(|&k| operations[k].ret.is_some()));
    let precedes = |j: usize, k: usize| match consistency {
        Consistency::Linearizable => operations[j].returned.is_some_and(|returned| returned < operations[k].invoked),
        // What an actor began before it crashed may take effect later.
        Consistency::Sequential => operations[j].actor == operations[k].actor && operations[j].ret.is_some() && j < k,
    };
    let before = (0..operations.len()).map(|k| set((0..operations.len()).filter(|&j| precedes(j, k)))).collect();
    let mut search = Search { operations, before, answered, failed: FxHashSet::default(), order: vec![], best: vec![] };
    if search.extend(initial, 0) { Explained::Fits } else { Explained::Best(search.best) }
}

fn set(operations: impl Iterator<Item = usize>) -> Operations {
    operations.fold(0, |set, k| set | 1 << k)
}

struct Search<'a, S: Sequential> {
    operations: &'a [Operation],
    /// For each operation, those that have to precede it.
    before: Vec<Operations>,
    /// The operations with an answer.
    answered: Operations,
    /// The sets of performed operations, with the states they led to, from which no order of all operations is possible.
    failed: FxHashSet<(Operations, S)>,
    /// The operations that are performed, in this order, and the longest such list so far.
    order: Vec<usize>,
    best: Vec<usize>,
}

impl<S: Sequential> Search<'_, S> {
    /// Performs all operations that are not yet `done`. Returns `false` if this is impossible.
    fn extend(&mut self, state: &S, done: Operations) -> bool {
        if self.answered & !done == 0 {
            return true;
        }
        if self.answers(&self.order) > self.answers(&self.best) {
            self.best.clone_from(&self.order);
        }
        if !self.failed.insert((done, state.clone())) {
            return false;
        }
        for k in 0..self.operations.len() {
            if done >> k & 1 == 1 || self.before[k] & !done != 0 {
                continue;
            }
            if let Some(next) = perform(state, &self.operations[k]) {
                self.order.push(k);
                if self.extend(&next, done | 1 << k) {
                    return true;
                }
                self.order.pop();
            }
        }
        false
    }

    /// Returns the number of operations with an answer.
    fn answers(&self, order: &[usize]) -> usize {
        order.iter().filter(|&&k| self.answered >> k & 1 == 1).count()
    }
}

/// Performs an operation. Returns the next state, or `None` if the answer is not allowed.
pub(super) fn perform<S: Sequential>(state: &S, operation: &Operation) -> Option<S> {
    let mut next = state.clone();
    let op = operation.op.downcast_ref().expect("the type was checked when the operation was recorded");
    match &operation.ret {
        Some(ret) => {
            let ret = ret.downcast_ref().expect("the type was checked when the answer was recorded");
            next.allows(op, ret).then_some(next)
        }
        None => {
            next.apply(op);
            Some(next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Answer, Register, RegisterOp};
    use std::rc::Rc;

    /// An operation of an actor, with its interval.
    fn operation(actor: u32, op: RegisterOp<u8>, ret: Option<Answer<u8>>, interval: (usize, usize)) -> Operation {
        let returned = ret.is_some().then_some(interval.1);
        Operation { actor, op: Rc::new(op), ret: ret.map(|ret| Rc::new(ret) as _), invoked: interval.0, returned }
    }

    fn read(actor: u32, value: u8, interval: (usize, usize)) -> Operation {
        operation(actor, RegisterOp::Read, Some(Answer::Value(value)), interval)
    }

    fn write(actor: u32, value: u8, interval: (usize, usize)) -> Operation {
        operation(actor, RegisterOp::Write(value), Some(Answer::Done), interval)
    }

    fn explain_register(operations: &[Operation], consistency: Consistency) -> Explained {
        explain(&Register::new(0u8), operations, consistency)
    }

    #[test]
    fn overlapping_operations_may_come_in_either_order() {
        let overlapping = [write(1, 1, (0, 2)), read(2, 0, (1, 3))];
        assert_eq!(explain_register(&overlapping, Consistency::Linearizable), Explained::Fits);
        let after = [write(1, 1, (0, 1)), read(2, 0, (2, 3))];
        assert_eq!(explain_register(&after, Consistency::Linearizable), Explained::Best(vec![0]));
        assert_eq!(explain_register(&after, Consistency::Sequential), Explained::Fits);
    }

    #[test]
    fn an_operation_without_an_answer_may_take_effect() {
        let pending = || operation(1, RegisterOp::Write(1), None, (0, 0));
        for value in [0, 1] {
            let history = [pending(), read(2, value, (1, 2))];
            assert_eq!(explain_register(&history, Consistency::Linearizable), Explained::Fits);
        }
        // It takes effect once.
        let history = [pending(), read(2, 1, (1, 2)), write(2, 2, (3, 4)), read(2, 1, (5, 6))];
        assert_ne!(explain_register(&history, Consistency::Linearizable), Explained::Fits);
    }

    /// Compares the search with all permutations, on all histories of a few operations with random intervals.
    #[test]
    fn it_agrees_with_trying_all_permutations() {
        let mut seed = 7u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let (mut fits, mut not) = (0, 0);
        for _ in 0..3_000 {
            let count = 2 + random(4) as usize;
            let mut at = [0usize; 3];
            let mut history: Vec<Operation> = (0..count)
                .map(|_| {
                    let actor = random(3) as usize;
                    let from = at[actor] + random(3) as usize;
                    let to = from + 1 + random(4) as usize;
                    at[actor] = to + 1;
                    match random(5) {
                        0 | 1 => write(actor as u32, random(2) as u8, (from, to)),
                        _ => read(actor as u32, random(2) as u8, (from, to)),
                    }
                })
                .collect();
            history.sort_by_key(|operation| operation.invoked);
            for consistency in [Consistency::Linearizable, Consistency::Sequential] {
                let wanted = permutations(count).iter().any(|order| holds(order, &history, consistency));
                let found = explain_register(&history, consistency) == Explained::Fits;
                assert_eq!(found, wanted, "{consistency:?}");
                *if wanted { &mut fits } else { &mut not } += 1;
            }
        }
        assert!(fits > 500 && not > 500, "{fits} {not}");
    }

    fn permutations(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![vec![]];
        }
        let with = |order: &Vec<usize>, at: usize| [&order[..at], &[n - 1], &order[at..]].concat();
        permutations(n - 1).iter().flat_map(|order| (0..n).map(move |at| with(order, at))).collect()
    }

    fn holds(order: &[usize], history: &[Operation], consistency: Consistency) -> bool {
        let ordered = |i: usize, j: usize| {
            let (one, other) = (&history[order[i]], &history[order[j]]);
            match consistency {
                Consistency::Linearizable => other.returned.is_none_or(|returned| returned >= one.invoked),
                Consistency::Sequential => one.actor != other.actor || order[i] < order[j],
            }
        };
        let mut value = 0u8;
        (0..order.len()).all(|i| (i + 1..order.len()).all(|j| ordered(i, j)))
            && order.iter().all(|&k| match history[k].op.downcast_ref::<RegisterOp<u8>>() {
                Some(RegisterOp::Write(new)) => {
                    value = *new;
                    true
                }
                _ => history[k].ret.as_ref().unwrap().downcast_ref() == Some(&Answer::Value(value)),
            })
    }
}
