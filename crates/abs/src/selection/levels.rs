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
use crate::value::Value;

/// The weights of the paper's three cases.
const K_A: u64 = 10_000;
const K_B: u64 = 100;
const K_C: u64 = 1;

/// The static analysis of a program.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    summaries: Vec<Summary>,
    /// For each method, the chains that begin with it, or `None` if there are too many.
    chains: Vec<Option<Vec<Chain>>>,
}

/// The way in which a reference is held.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Not,
    Inside,
    Directly,
}

impl Knowledge {
    pub(crate) fn new(code: &Code) -> Knowledge {
        let summaries = summaries(code);
        let chains = (0..code.methods.len()).map(|method| chains(code, &summaries, method as u32)).collect();
        Knowledge { summaries, chains }
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

fn weight(machine: &AbsMachine, chain: &Chain, at_hand: Held, target: u32) -> u64 {
    match (at_hand, chain.between.is_empty()) {
        (Held::Directly, true) => K_A,
        (Held::Directly, false) => K_B,
        (Held::Inside, _) => K_C,
        (Held::Not, _) => {
            let in_between = |object: &&crate::machine::Object| chain.between.contains(&object.class);
            let holds = machine.objects.iter().filter(in_between).any(|o| held(&o.fields, target) != Held::Not);
            if holds { K_C } else { 0 }
        }
    }
}

fn held<'a>(values: impl IntoIterator<Item = &'a Value>, target: u32) -> Held {
    let one = |value: &Value| match value {
        Value::Object(object, _) if *object == target => Held::Directly,
        value if inside(value, target) => Held::Inside,
        _ => Held::Not,
    };
    values.into_iter().map(one).max().unwrap_or(Held::Not)
}

fn inside(value: &Value, target: u32) -> bool {
    match value {
        Value::Object(object, _) => *object == target,
        Value::Data(data) => crate::value::with_stack(|| data.args.iter().any(|arg| inside(arg, target))),
        _ => false,
    }
}
