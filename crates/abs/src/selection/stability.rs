//! Stability of actors (Theorem 1 and Definition 3 of the paper): can another actor still send to this one?
//!
//! An actor is *stable* if no pending task of another actor starts a chain of calls that ends in a method of its
//! class and along which a reference to it may be found: in the task's variables, in the fields of the task's actor,
//! or in the fields of any actor of an intermediate class. The *level* of an actor is the sum over these tasks and
//! chains of:
//!
//! * k_a if the task or its actor holds a reference and the call is direct;
//! * k_b if the task or its actor holds a reference and the call is indirect;
//! * k_c if only an intermediate actor holds a reference,
//!
//! with k_a > k_b > k_c. A stable actor has level 0.
//!
//! A reference nested in a list or another value counts as k_c, and so does a task whose chains are too many to follow.

use crate::code::Code;
use crate::machine::AbsMachine;
use crate::summary::{Chain, Summary, chains, summaries};
use crate::value::{Data, Value, with_stack};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The weights of the paper's three cases.
const K_A: u64 = 10_000;
const K_B: u64 = 100;
const K_C: u64 = 1;

/// The static analysis of a program.
#[derive(Clone, Debug)]
pub(crate) struct Stability {
    summaries: Vec<Summary>,
    /// For each method, the chains that begin with it, or `None` if there are too many.
    chains: Vec<Option<Vec<Chain>>>,
}

/// The way in which a reference is held.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ReferenceKind {
    Not,
    Inside,
    Directly,
}

impl Stability {
    pub(crate) fn new(code: &Code) -> Stability {
        let summaries = summaries(code);
        let chains = (0..code.methods.len()).map(|method| chains(code, &summaries, method as u32)).collect();
        Stability { summaries, chains }
    }

    /// Returns `true` if two methods of one object commute according to their summaries (Theorem 2).
    pub(crate) fn independent(&self, method: u32, other: u32) -> bool {
        self.summaries[method as usize].independent(&self.summaries[other as usize])
    }

    /// Returns the level of an actor, which is 0 if it is stable. The level of a group is the sum over its objects.
    pub(crate) fn level(&self, machine: &AbsMachine, actor: u32) -> u64 {
        let first = machine.first_object(actor) as usize;
        let own = (first..machine.objects.len()).filter(|&object| machine.objects[object].group == actor);
        own.map(|object| self.level_of(machine, object as u32)).fold(0, u64::saturating_add)
    }

    fn level_of(&self, machine: &AbsMachine, target: u32) -> u64 {
        let (class, group) = (machine.objects[target as usize].class, machine.objects[target as usize].group);
        let mut level = 0;
        for &task in &machine.live {
            let task = &machine.tasks[task as usize];
            if task.group == group {
                continue;
            }
            let Some(chains) = &self.chains[task.method as usize] else {
                level += K_C;
                continue;
            };
            let own = task.args.iter().chain(task.state.frames.iter().flat_map(|frame| &frame.locals));
            let at_hand = held(own, target).max(held(&machine.objects[task.object as usize].fields, target));
            for chain in chains.iter().filter(|chain| chain.last == class) {
                level += weight(machine, chain, at_hand, target);
            }
        }
        level
    }
}

fn weight(machine: &AbsMachine, chain: &Chain, at_hand: ReferenceKind, target: u32) -> u64 {
    match (at_hand, chain.between.is_empty()) {
        (ReferenceKind::Directly, true) => K_A,
        (ReferenceKind::Directly, false) => K_B,
        (ReferenceKind::Inside, _) => K_C,
        (ReferenceKind::Not, _) => {
            let in_between = |object: &&crate::machine::Object| chain.between.contains(&object.class);
            let holds =
                machine.objects.iter().filter(in_between).any(|o| held(&o.fields, target) != ReferenceKind::Not);
            if holds { K_C } else { 0 }
        }
    }
}

fn held<'a>(values: impl IntoIterator<Item = &'a Value>, target: u32) -> ReferenceKind {
    let one = |value: &Value| match value {
        Value::Object(object, _) if *object == target => ReferenceKind::Directly,
        value if inside(value, target) => ReferenceKind::Inside,
        _ => ReferenceKind::Not,
    };
    values.into_iter().map(one).max().unwrap_or(ReferenceKind::Not)
}

/// Returns `true` if the object occurs inside the value. Shared parts are visited once: `Pair(x, x)` contains `x` once.
fn inside(value: &Value, target: u32) -> bool {
    fn visit(value: &Value, target: u32, visited: &mut FxHashSet<*const Data>) -> bool {
        match value {
            Value::Object(object, _) => *object == target,
            Value::Data(data) if Rc::strong_count(data) > 1 && !visited.insert(Rc::as_ptr(data)) => false,
            Value::Data(data) => with_stack(|| data.args.iter().any(|arg| visit(arg, target, visited))),
            _ => false,
        }
    }
    visit(value, target, &mut FxHashSet::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use whippet_model::Name;

    #[test]
    fn shared_values_take_linear_time() {
        let pairs = |first: Value| (0..200).fold(first, |x, _| Value::pair(x.clone(), x));
        assert!(!inside(&pairs(Value::Int(1)), 3));
        assert!(inside(&Value::pair(pairs(Value::Int(1)), Value::Object(3, Name::ROOT)), 3));
    }
}
