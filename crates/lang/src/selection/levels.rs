//! Stability (Theorem 1 and Definition 3 of the paper): can another actor still send to this one?
//!
//! An actor is *stable* if no pending task of another actor starts a chain of calls to a method of its
//! class along which a reference to it may be found: in the task's variables, in the fields of the task's
//! actor, or in the fields of any actor of a class in between. If it is not, its *level* is the sum over
//! tasks and chains of k_a (a reference at hand and a direct call), k_b (a reference at hand and an
//! indirect call) or k_c (somebody in between has the reference), k_a > k_b > k_c.
//!
//! A reference inside a list or another value counts as one that somebody else has: k_c.

use crate::code::Code;
use crate::machine::AbsMachine;
use crate::summary::{Chain, Summary, chains, summaries};
use crate::value::Value;

/// The weights of the paper's three cases.
const K_A: u64 = 10_000;
const K_B: u64 = 100;
const K_C: u64 = 1;

/// What is known of a program before it runs.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    summaries: Vec<Summary>,
    /// Per method, the chains that begin with it.
    chains: Vec<Vec<Chain>>,
}

/// How a reference is held.
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

    /// Whether two methods of one object commute, as their text has it (Theorem 2).
    pub(crate) fn independent(&self, method: u32, other: u32) -> bool {
        self.summaries[method as usize].independent(&self.summaries[other as usize])
    }

    /// The level of an actor: 0 if it is stable. Of a group of several objects, the sum of theirs.
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
            let own = task.args.iter().chain(task.state.frames.iter().flat_map(|frame| &frame.locals));
            let at_hand = held(own, target).max(held(&machine.objects[task.object as usize].fields, target));
            for chain in self.chains[task.method as usize].iter().filter(|chain| chain.last == class) {
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
