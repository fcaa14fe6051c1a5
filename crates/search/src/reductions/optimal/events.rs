//! Events as sleep sets and wakeup trees compare them, and the record of an execution.
//!
//! An [`EventLabel`] consists of a thread, the branch that it takes, and a footprint. Labels are compared across
//! executions, so they refer to actors by stable names. The footprint of an event is known only after it has been executed; it
//! stays valid in all configurations that differ only by independent events before the event.
//!
//! The [`ExecutionRecord`] of an execution is kept when the machine moves elsewhere to try something.

use smallvec::{SmallVec, smallvec};
use whippet_model::{ActorNo, Branch, Clocks, Dependence, Executed, Machine, Name, Touch, conflict};

/// One event: thread, branch and footprint.
#[derive(Debug)]
pub(crate) struct EventLabel {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    /// The next branch of the step, where branches are found by executing it.
    pub(crate) next: Option<Branch>,
    pub(crate) touches: SmallVec<[Touch; 2]>,
}

impl Clone for EventLabel {
    #[inline]
    fn clone(&self) -> EventLabel {
        EventLabel { touches: copied(&self.touches), ..*self }
    }
}

/// Copies a footprint. Copying one or two elements as a whole is faster than a clone of the list, and usually there
/// are no more.
#[inline]
fn copied(touches: &[Touch]) -> SmallVec<[Touch; 2]> {
    match *touches {
        [] => SmallVec::new(),
        [one] => SmallVec::from_buf_and_len([one, one], 1),
        [one, other] => SmallVec::from_buf([one, other]),
        _ => SmallVec::from_slice(touches),
    }
}

impl EventLabel {
    /// Returns `true` if two events are dependent because they are of the same thread or their footprints conflict.
    /// The caller has to know whether one of them caused the other.
    #[inline]
    pub(crate) fn depends_on(&self, other: &EventLabel) -> bool {
        self.thread == other.thread || conflict(&self.touches, &other.touches)
    }

    /// Returns `true` if `sequence` is equivalent to one that begins with this event (the event is an *initial*).
    pub(crate) fn begins<'a>(&self, sequence: impl IntoIterator<Item = &'a EventLabel>) -> bool {
        self.is_beginning(sequence).unwrap_or(false)
    }

    /// Returns `true` if `sequence` or a continuation of it is equivalent to a sequence that begins with this event
    /// (the event is a *weak initial*).
    pub(crate) fn may_begin<'a>(&self, sequence: impl IntoIterator<Item = &'a EventLabel>) -> bool {
        self.is_beginning(sequence).unwrap_or(true)
    }

    /// Returns `Some(true)` if the event is an initial, `Some(false)` if it is not even a weak one, and `None` if it
    /// does not occur in the sequence and is independent of it.
    fn is_beginning<'a>(&self, sequence: impl IntoIterator<Item = &'a EventLabel>) -> Option<bool> {
        for event in sequence {
            if event.thread == self.thread {
                return Some(event.branch == self.branch);
            }
            if conflict(&event.touches, &self.touches) {
                return Some(false);
            }
        }
        None
    }
}

/// The stable names of the actors of one execution, used if events are dependent iff they belong to the same actor.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActorNames {
    names: Vec<Name>,
    /// The number of actors before each step.
    before: Vec<usize>,
}

impl ActorNames {
    fn new<M: Machine>(machine: &M) -> ActorNames {
        let mut names = ActorNames::default();
        if machine.profile().dependence == Dependence::PerActor {
            names.names.extend((0..machine.actors() as u32).map(|k| Name::ROOT.mixed(0xAC70).child(k)));
        }
        names
    }

    /// Names the actors that the newest step created after that step.
    #[inline]
    pub(crate) fn push<M: Machine>(&mut self, machine: &M) {
        if machine.profile().dependence == Dependence::Footprints {
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

    /// Returns the newest step of the machine as an event. `executed` is the result of executing it.
    #[inline]
    pub(crate) fn event<M: Machine>(&self, machine: &M, executed: Executed) -> EventLabel {
        let at = machine.depth() - 1;
        let step = machine.step(at);
        let touches = match machine.profile().dependence {
            Dependence::PerActor => smallvec![Touch::write(self.of(step.actor))],
            Dependence::Footprints => copied(machine.touches(at)),
        };
        EventLabel { thread: step.thread, branch: step.choice.branch, next: executed.next_branch, touches }
    }
}

/// The recorded data of one step.
#[derive(Clone, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) event: EventLabel,
    /// Set if its thread had several choices.
    pub(crate) several: bool,
}

/// The current execution, independent of the machine's position.
#[derive(Debug)]
pub(crate) struct ExecutionRecord {
    pub(crate) steps: Vec<RecordedEvent>,
    pub(crate) clocks: Clocks,
    pub(crate) names: ActorNames,
}

impl ExecutionRecord {
    pub(crate) fn new<M: Machine>(machine: &M) -> ExecutionRecord {
        ExecutionRecord { steps: Vec::new(), clocks: Clocks::new(), names: ActorNames::new(machine) }
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds the newest step of the machine.
    #[inline]
    pub(crate) fn push<M: Machine>(&mut self, machine: &M, executed: Executed, several: bool) {
        let event = self.names.event(machine, executed);
        self.clocks.push(machine);
        self.names.push(machine);
        self.steps.push(RecordedEvent { event, several });
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.steps.truncate(depth);
        self.clocks.truncate(depth);
        self.names.truncate(depth);
    }
}
