//! Events as sleep sets and wakeup trees compare them, and the record of an execution.
//!
//! An [`Act`] says who acts, which way, and what is touched. Acts are compared across executions, so actors
//! appear in them by stable names. What an act touches is only known once it has been carried out; it stays true
//! wherever only independent events were added or taken away before it.
//!
//! The [`Record`] of an execution stays when the machine goes elsewhere to try something out.

use smallvec::{SmallVec, smallvec};
use whippet_model::{ActorNo, Branch, Clocks, Machine, Name, Relation, Touch, conflict};

/// One event: who, which way, touching what.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    /// The next way that it could have gone, where that is found by running it.
    pub(crate) next: Option<Branch>,
    pub(crate) touches: SmallVec<[Touch; 2]>,
}

impl Clone for Act {
    #[inline]
    fn clone(&self) -> Act {
        Act { touches: copied(&self.touches), ..*self }
    }
}

/// Touches are copied in one piece, which a clone of the list does not know; nearly always they are few.
#[inline]
fn copied(touches: &[Touch]) -> SmallVec<[Touch; 2]> {
    match *touches {
        [] => SmallVec::new(),
        [one] => SmallVec::from_buf_and_len([one, one], 1),
        [one, other] => SmallVec::from_buf([one, other]),
        _ => SmallVec::from_slice(touches),
    }
}

impl Act {
    /// Whether two events cannot be exchanged. Of one thread or in conflict; that one caused the other is
    /// for the caller to know.
    #[inline]
    pub(crate) fn depends_on(&self, other: &Act) -> bool {
        self.thread == other.thread || conflict(&self.touches, &other.touches)
    }

    /// Whether `sequence` can be told so that it begins with this act ("initial").
    pub(crate) fn begins<'a>(&self, sequence: impl IntoIterator<Item = &'a Act>) -> bool {
        self.is_beginning(sequence).unwrap_or(false)
    }

    /// Whether `sequence`, or something that it can be continued to, can be told so that it begins with this
    /// act ("weak initial").
    pub(crate) fn may_begin<'a>(&self, sequence: impl IntoIterator<Item = &'a Act>) -> bool {
        self.is_beginning(sequence).unwrap_or(true)
    }

    /// The same; `None` where the act is not in the sequence and could be anywhere in it.
    fn is_beginning<'a>(&self, sequence: impl IntoIterator<Item = &'a Act>) -> Option<bool> {
        for act in sequence {
            if act.thread == self.thread {
                return Some(act.branch == self.branch);
            }
            if conflict(&act.touches, &self.touches) {
                return Some(false);
            }
        }
        None
    }
}

/// The stable names of the actors of one execution, where being of the same actor is what makes steps dependent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActorNames {
    names: Vec<Name>,
    /// How many there were before each step.
    before: Vec<usize>,
}

impl ActorNames {
    fn new<M: Machine>(machine: &M) -> ActorNames {
        let mut names = ActorNames::default();
        if machine.relation() == Relation::SameActor {
            names.names.extend((0..machine.actors() as u32).map(|k| Name::ROOT.mixed(0xAC70).child(k)));
        }
        names
    }

    /// Names the actors that the newest step created, by that step.
    #[inline]
    pub(crate) fn push<M: Machine>(&mut self, machine: &M) {
        if machine.relation() == Relation::Footprints {
            return;
        }
        let known = self.names.len();
        self.before.push(known);
        if machine.actors() > known {
            let event = machine.step(machine.depth() - 1).event;
            self.names.extend((known..machine.actors()).map(|k| event.mixed(0xAC70).child((k - known) as u32)));
        }
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        if let Some(&known) = self.before.get(depth) {
            self.names.truncate(known);
            self.before.truncate(depth);
        }
    }

    pub(crate) fn of(&self, actor: ActorNo) -> Name {
        self.names[actor.0 as usize]
    }

    /// The newest step of the machine, as others are compared with it.
    #[inline]
    pub(crate) fn act<M: Machine>(&self, machine: &M) -> Act {
        let at = machine.depth() - 1;
        let step = machine.step(at);
        let touches = match machine.relation() {
            Relation::SameActor => smallvec![Touch::write(self.of(step.actor))],
            Relation::Footprints => copied(machine.touches(at)),
        };
        Act { thread: step.thread, branch: step.choice.branch, next: machine.next_branch(), touches }
    }
}

/// What is kept of one step.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) act: Act,
    /// Whether its thread had several choices.
    pub(crate) several: bool,
}

/// The current execution, wherever the machine is.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) steps: Vec<Recorded>,
    pub(crate) clocks: Clocks,
    pub(crate) names: ActorNames,
}

impl Record {
    pub(crate) fn new<M: Machine>(machine: &M) -> Record {
        Record { steps: Vec::new(), clocks: Clocks::new(), names: ActorNames::new(machine) }
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Learns the newest step of the machine.
    #[inline]
    pub(crate) fn push<M: Machine>(&mut self, machine: &M, several: bool) {
        let act = self.names.act(machine);
        self.clocks.push(machine);
        self.names.push(machine);
        self.steps.push(Recorded { act, several });
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.steps.truncate(depth);
        self.clocks.truncate(depth);
        self.names.truncate(depth);
    }
}
