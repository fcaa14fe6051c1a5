//! Knowledge about a program of native actors, obtained from sample executions.
//!
//! The order `stable` and marks on messages need to know what a program may still do. For ABS programs this comes from
//! the program text. A program of native actors is instead run a number of times before the search begins, each time in
//! a different order. The samples show
//!
//! * to which actors a message of some kind leads to sends, directly or indirectly; this identifies actors to which no
//!   more messages seem to be sent;
//! * which tracked fields a message of some kind touches; this identifies messages that seem independent.
//!
//! The kind of a message is the type of its receiver together with the variant of the message. The knowledge may be
//! wrong about behaviour that no sample showed, so it only affects the order of a search, or leaves out executions that
//! the user agreed to miss. It does not change afterwards: a machine returns the same answer in the same configuration.

use super::ActorMachine;
use crate::fields::TouchedFields;
use rustc_hash::FxHashMap;
use whippet_model::{Choice, Machine, Marks, Name};

/// The number of sample executions, and the maximum number of steps of each.
const SAMPLES: u64 = 64;
const STEPS: usize = 1_000;

/// The weights of a pending message that leads to a send to the actor directly, indirectly, or possibly (its kind was
/// never seen).
const DIRECTLY: u64 = 10_000;
const IN_THE_END: u64 = 100;
const UNKNOWN: u64 = 1;

/// The receiver of a message, and the message's kind.
type MessageClass = (Name, u64);

/// The knowledge about a program; see the module documentation.
#[derive(Debug, Default)]
pub(super) struct SampleKnowledge {
    /// For each message, the actors to which it leads to sends, and `true` for those to which it leads directly.
    reached: FxHashMap<MessageClass, FxHashMap<Name, bool>>,
    /// For each kind, the fields it touches without duplicates, or `None` if it touches an actor as a whole.
    touched: FxHashMap<u64, Option<TouchedFields>>,
}

impl SampleKnowledge {
    /// Runs the sample executions, and undoes all their steps.
    pub(super) fn from_samples(machine: &mut ActorMachine) -> SampleKnowledge {
        let mut knowledge = SampleKnowledge::default();
        let mut sends: FxHashMap<MessageClass, Vec<MessageClass>> = FxHashMap::default();
        let mut random = Name::ROOT;
        for _ in 0..SAMPLES {
            while machine.depth() < STEPS {
                let mut enabled = Vec::new();
                if machine.enabled(&mut enabled).is_err() || enabled.is_empty() {
                    break;
                }
                random = random.mixed(enabled.len() as u64);
                let Ok(mut executed) = machine.execute(enabled[random.0 as usize % enabled.len()]) else { break };
                knowledge.note(machine, &mut sends);
                // If the step has several branches, picks one of them.
                while let Some(branch) = executed.next_branch.filter(|_| random.0 >> 32 & 1 == 0) {
                    random = random.mixed(1);
                    let what = machine.step(machine.depth() - 1).choice.what;
                    machine.rewind(machine.depth() - 1);
                    match machine.execute(Choice { what, branch }) {
                        Ok(other) => executed = other,
                        Err(_) => break,
                    }
                    knowledge.note(machine, &mut sends);
                }
            }
            machine.rewind(0);
        }
        for &node in sends.keys() {
            knowledge.reached.insert(node, reached(&sends, node));
        }
        knowledge
    }

    /// Adds the newest step to the knowledge.
    fn note(&mut self, machine: &ActorMachine, sends: &mut FxHashMap<MessageClass, Vec<MessageClass>>) {
        let record = machine.records.last().expect("a step was taken");
        let kind = machine.kind(record.choice.what.0);
        let fields = machine.cells[record.actor as usize].fields();
        let known = self.touched.entry(kind).or_insert_with(|| Some(TouchedFields::new()));
        match (known.as_mut(), fields) {
            (Some(known), Some(fields)) => fields.iter().for_each(|&field| add(known, field)),
            _ => *known = None,
        }
        let node = |what: u32| (machine.name_of_receiver(what), machine.kind(what));
        let targets = sends.entry(node(record.choice.what.0)).or_default();
        for target in machine.sent(machine.depth() - 1).map(node) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }

    /// Returns `true` if two kinds of messages to one actor seem to commute.
    fn independent(&self, kind: u64, other: u64) -> bool {
        let known = |kind| self.touched.get(&kind).and_then(Option::as_ref);
        let (Some(one), Some(other)) = (known(kind), known(other)) else { return false };
        !one.iter().any(|a| other.iter().any(|b| a.0 == b.0 && (a.1 || b.1)))
    }
}

fn add(known: &mut TouchedFields, (place, write): (usize, bool)) {
    match known.iter_mut().find(|(other, _)| *other == place) {
        Some((_, written)) => *written |= write,
        None => known.push((place, write)),
    }
}

/// Returns the actors to which a message leads to sends, with `true` for those to which it leads directly.
fn reached(sends: &FxHashMap<MessageClass, Vec<MessageClass>>, from: MessageClass) -> FxHashMap<Name, bool> {
    let (mut reached, mut seen, mut next) = (FxHashMap::default(), vec![from], 0);
    while let Some(&node) = seen.get(next) {
        for &target in sends.get(&node).into_iter().flatten() {
            reached.entry(target.0).or_insert(next == 0);
            if !seen.contains(&target) {
                seen.push(target);
            }
        }
        next += 1;
    }
    reached
}

impl ActorMachine {
    /// Obtains the knowledge from sample executions, unless that has been done already.
    pub(super) fn sample_program(&mut self) {
        if self.knowledge.is_none() {
            self.knowledge = Some(SampleKnowledge::from_samples(self));
        }
    }

    /// Estimates how many messages may still be sent to an actor because of messages pending for others: see
    /// [`Machine::inbound_estimate`].
    pub(super) fn level_of(&self, actor: u32) -> Option<u64> {
        let knowledge = self.knowledge.as_ref()?;
        let engine = self.engine.borrow();
        let name = engine.actors[actor as usize].name;
        let others = engine.messages.pending().filter(|&what| engine.messages[what].to != actor);
        let weight = |what| match knowledge.reached.get(&(self.name_of_receiver(what), self.kind(what))) {
            None => UNKNOWN,
            Some(reached) => match reached.get(&name) {
                None => 0,
                Some(true) => DIRECTLY,
                Some(false) => IN_THE_END,
            },
        };
        Some(others.map(weight).sum())
    }

    /// Returns `true` if a message is marked: see [`Marks`]. Marks are not stored but computed from the steps of the
    /// receiver.
    pub(super) fn is_marked(&self, what: u32) -> bool {
        let (Some(marks), Some(knowledge)) = (self.marks, &self.knowledge) else { return false };
        let (to, kind) = (self.engine.borrow().messages[what].to, self.kind(what));
        for record in self.records.iter().rev().filter(|record| record.actor == to) {
            let before = record.choice.what.0;
            if !knowledge.independent(self.kind(before), kind) {
                return false;
            }
            if before < what && what < record.sent {
                return true;
            }
            if marks == Marks::Literal {
                return false;
            }
        }
        false
    }

    /// Describes the executions that marks may miss, for the reader of the verdict.
    pub(super) fn missed_by_marks(&self) -> Option<String> {
        self.marks?;
        Some(format!(
            "marks on messages may miss executions in which an actor is chosen although others can still send to it, in \
             which actors wait, or in which a message touches fields that {SAMPLES} sample executions did not show; \
             `--tasks fields` misses none"
        ))
    }

    /// Describes the source of the knowledge that the order `stable` uses.
    pub(super) fn source_of_levels() -> String {
        format!(
            "stable: which actors may still send to which was estimated from {SAMPLES} sample executions; this affects only the order of the search"
        )
    }

    /// Returns the kind of a message: a hash of its receiver's type and its variant.
    fn kind(&self, what: u32) -> u64 {
        let engine = self.engine.borrow();
        let to = engine.messages[what].to as usize;
        let receiver = engine.actors[to].kind.bytes().fold(Name::ROOT, |kind, byte| kind.mixed(u64::from(byte)));
        receiver.mixed(self.cells[to].variant(&engine, what)).0
    }

    fn name_of_receiver(&self, what: u32) -> Name {
        let engine = self.engine.borrow();
        engine.actors[engine.messages[what].to as usize].name
    }
}
