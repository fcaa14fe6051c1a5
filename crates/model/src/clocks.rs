//! Happens-before and races: the one place that computes them.
//!
//! [`Clocks`] follows a machine step by step. For each step it stores the step's *past*: all steps
//! that happen before it, through causes (a message was sent, an actor created) and through conflicts (the same
//! actor, or conflicting footprints), and the step itself. [`Pasts`] stores them. Steps are removed in reverse order,
//! as machines rewind them.
//!
//! Two steps are *in a race* if they conflict and this conflict is the only reason why the earlier one is in the past
//! of the later one: no third step lies between them in happens-before. Adding a step computes its races as follows:
//! first join the pasts of its causes, then go through its direct conflicts from the latest to the earliest; a
//! conflict whose step is not in the past yet is a race, and its past is joined. A race is not always reversible: a
//! constraint or the order of delivery may forbid it, which only the machine can decide.
//!
//! To find direct conflicts, each object stores its last write and linked lists of the reads and additions since
//! then. The entries of these lists are `Note`s, which also store the object's previous state, so that a step can
//! be removed.

use crate::{Access, BitSet, Dependence, Machine, Name, Pasts, Touch};
use rustc_hash::FxHashMap;

/// Sentinel: no step, or no note.
const NONE: u32 = u32::MAX;

/// The latest accesses to an object.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Touched {
    /// The last step that wrote the object.
    write: u32,
    /// The newest notes of a step that has read the object, and of a step that has added to it, since that write.
    /// Each note links to the previous one of its kind.
    read: u32,
    add: u32,
}

/// Sentinel: never accessed.
const UNTOUCHED: Touched = Touched { write: NONE, read: NONE, add: NONE };

/// An access of a step to an object, with the object's state before it, which is restored when the step is removed.
#[derive(Copy, Clone, Debug)]
struct Note {
    step: u32,
    object: u32,
    was: Touched,
}

/// Data of a step besides its past.
#[derive(Copy, Clone, Debug)]
struct StepClock {
    /// The start of this step's entries in the lists of conflicts, races and notes.
    conflicts: u32,
    races: u32,
    notes: u32,
    /// A hash of the step's causal cone, and the sum of all hashes up to this step.
    label: u64,
    key: u64,
}

/// Happens-before relation of the steps that a machine has taken.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// use whippet_model::{Clocks, Machine, Program};
/// # let program = ActorProgram::new("three messages", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     sys.send(a, 1);
/// #     sys.send(a, 2);
/// #     sys.send(b, 3);
/// # });
/// // One actor receives two messages (steps 0 and 1), another actor receives one (step 2).
/// let mut machine = program.machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// for _ in 0..3 {
///     enabled.clear();
///     machine.enabled(&mut enabled).unwrap();
///     machine.execute(enabled[0]).unwrap();
/// }
/// let mut clocks = Clocks::new();
/// assert!(clocks.is_empty());
/// clocks.push(&machine);
/// clocks.follow(&machine);
/// assert_eq!(clocks.len(), 3);
/// assert!(clocks.before(0, 1) && !clocks.before(0, 2));
/// assert_eq!((clocks.previous(1), clocks.previous(2)), (Some(0), None));
/// assert_eq!(clocks.last_of(machine.step(0).actor.0), Some(1));
/// assert_eq!(clocks.past_steps(1).collect::<Vec<_>>(), [0, 1]);
/// let mut past = whippet_model::BitSet::default();
/// clocks.add_past(1, &mut past);
/// assert_eq!(past.words(), [0b11]);
///
/// // The two messages to one actor are in a race: only this conflict orders them.
/// assert_eq!(clocks.conflicts(1), [0]);
/// assert_eq!(clocks.races(1), [0]);
///
/// // Equivalent executions have the same key: here the other actor goes first.
/// let (key, label) = (clocks.key(), clocks.label(2));
/// machine.rewind(0);
/// clocks.truncate(0);
/// for next in [2, 0, 0] {
///     enabled.clear();
///     machine.enabled(&mut enabled).unwrap();
///     machine.execute(enabled[next]).unwrap();
/// }
/// clocks.follow(&machine);
/// assert_eq!((clocks.key(), clocks.label(0)), (key, label));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    pasts: Pasts,
    steps: Vec<StepClock>,
    /// The direct predecessors by conflict of each step, concatenated.
    conflicts: Vec<u32>,
    /// The conflicts that are races, concatenated.
    races: Vec<u32>,
    /// The number of each object. Objects that no current step touches stay numbered for a while, as they are likely
    /// to be touched again.
    numbers: FxHashMap<Name, u32>,
    /// The number of objects at which untouched ones are removed, and the numbers that became free that way.
    many: usize,
    free: Vec<u32>,
    objects: Vec<Touched>,
    notes: Vec<Note>,
    causes: Vec<usize>,
}

impl Clocks {
    /// Creates clocks for a machine that has taken no step.
    #[must_use]
    pub fn new() -> Clocks {
        Clocks::default()
    }

    /// Returns the number of steps added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns `true` if no step has been added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds all steps of the machine that have not been added yet.
    pub fn follow<M: Machine>(&mut self, machine: &M) {
        while self.steps.len() < machine.depth() {
            self.push(machine);
        }
    }

    /// Adds the first step of the machine that has not been added yet.
    pub fn push<M: Machine>(&mut self, machine: &M) {
        let at = self.steps.len();
        let step = machine.step(at);
        self.pasts.push(step.actor.0);

        self.causes.clear();
        machine.causes(at, &mut self.causes);
        let mut sum = 0u64;
        for k in 0..self.causes.len() {
            let cause = self.causes[k];
            sum = sum.wrapping_add(self.steps[cause].label);
            self.pasts.join(cause);
        }

        let (from, races, notes) = (self.conflicts.len(), self.races.len(), self.notes.len() as u32);
        match machine.profile().dependence {
            Dependence::PerActor => {
                self.conflicts.extend(self.pasts.previous(at).map(|before| before as u32));
            }
            Dependence::Footprints => {
                for &touch in machine.touches(at) {
                    self.touch(at as u32, touch);
                }
            }
        }
        // From the latest conflict to the earliest (usually their order already): a step that is in the past when its
        // turn comes was added through a cause or another conflict, so it is not in a race.
        if !self.conflicts[from..].is_sorted_by(|a, b| a >= b) {
            self.conflicts[from..].sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut kept = from;
        for k in from..self.conflicts.len() {
            let earlier = self.conflicts[k];
            if kept > from && self.conflicts[kept - 1] == earlier {
                continue;
            }
            self.conflicts[kept] = earlier;
            kept += 1;
            sum = sum.wrapping_add(self.steps[earlier as usize].label.rotate_left(1));
            if !self.before(earlier as usize, at) {
                self.races.push(earlier);
                self.pasts.join(earlier as usize);
            }
        }
        self.pasts.finish();
        self.conflicts.truncate(kept);
        if kept > from + 1 {
            self.conflicts[from..].reverse();
            self.races[races..].reverse();
        }
        // The label is a hash of the event's causal cone, so that equal sets of labels mean equal traces. The labels
        // of direct predecessors are summed because equivalent executions may list them in different orders. Causes
        // and conflicts are distinguished by the rotation.
        let label = step.event.mixed(sum);
        let key = self.key().wrapping_add(label.0);
        let (conflicts, races) = (from as u32, races as u32);
        self.steps.push(StepClock { conflicts, races, notes, label: label.0, key });
    }

    /// Removes all steps from `depth` on.
    pub fn truncate(&mut self, depth: usize) {
        let Some(&first) = self.steps.get(depth) else { return };
        for note in self.notes[first.notes as usize..].iter().rev() {
            self.objects[note.object as usize] = note.was;
        }
        self.steps.truncate(depth);
        self.conflicts.truncate(first.conflicts as usize);
        self.races.truncate(first.races as usize);
        self.notes.truncate(first.notes as usize);
        self.pasts.truncate(depth);
    }

    /// Returns `true` if step `a` happens before step `b` or is the same step.
    #[inline]
    #[must_use]
    pub fn before(&self, a: usize, b: usize) -> bool {
        self.pasts.before(a, b)
    }

    /// Adds the past of step `at`, which contains the step itself, to a set.
    #[inline]
    pub fn add_past(&self, at: usize, to: &mut BitSet) {
        self.pasts.add_past(at, to);
    }

    /// Iterates over the steps in the past of step `at`, in order, ending with the step itself.
    pub fn past_steps(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.pasts.past_steps(at)
    }

    /// Returns the previous step of the actor of step `at`.
    #[inline]
    #[must_use]
    pub fn previous(&self, at: usize) -> Option<usize> {
        self.pasts.previous(at)
    }

    /// Returns the last step of an actor, given its creation number.
    #[inline]
    #[must_use]
    pub fn last_of(&self, actor: u32) -> Option<usize> {
        self.pasts.last_of(actor)
    }

    /// Returns the direct predecessors of step `at` by conflict, in order.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, at: usize) -> &[u32] {
        let from = self.steps[at].conflicts as usize;
        let to = self.steps.get(at + 1).map_or(self.conflicts.len(), |next| next.conflicts as usize);
        &self.conflicts[from..to]
    }

    /// Returns the earlier steps that are in a race with step `at`, in order.
    #[inline]
    #[must_use]
    pub fn races(&self, at: usize) -> &[u32] {
        let from = self.steps[at].races as usize;
        let to = self.steps.get(at + 1).map_or(self.races.len(), |next| next.races as usize);
        &self.races[from..to]
    }

    /// Returns a hash of the trace so far: equal for executions that differ only in the order of independent steps,
    /// different for others.
    #[inline]
    #[must_use]
    pub fn key(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.key)
    }

    /// Returns a hash of step `at` and its past: equal wherever the same event happens after the same past.
    #[inline]
    #[must_use]
    pub fn label(&self, at: usize) -> u64 {
        self.steps[at].label
    }

    #[inline]
    fn touch(&mut self, at: u32, touch: Touch) {
        let object = match self.numbers.get(&touch.object) {
            Some(&number) => number,
            None => self.new_object(touch.object),
        };
        let was = self.objects[object as usize];
        if was.write == at {
            return;
        }
        // Accesses since the last write already follow that write, so it is a direct conflict only without them.
        let from = self.conflicts.len();
        if touch.access != Access::Read {
            self.follow_notes(at, was.read, |was| was.read);
        }
        if touch.access != Access::Add {
            self.follow_notes(at, was.add, |was| was.add);
        }
        if self.conflicts.len() == from && was.write != NONE {
            self.conflicts.push(was.write);
        }
        let (note, known) = (self.notes.len() as u32, &mut self.objects[object as usize]);
        match touch.access {
            Access::Read => known.read = note,
            Access::Add => known.add = note,
            Access::Write => *known = Touched { write: at, ..UNTOUCHED },
        }
        self.notes.push(Note { step: at, object, was });
    }

    /// Adds conflicts of step `at` with the steps of a linked list of notes.
    #[inline]
    fn follow_notes(&mut self, at: u32, mut note: u32, before: impl Fn(Touched) -> u32) {
        while note != NONE {
            let Note { step, was, .. } = self.notes[note as usize];
            if step != at {
                self.conflicts.push(step);
            }
            note = before(was);
        }
    }

    /// Assigns a number to a new object.
    fn new_object(&mut self, object: Name) -> u32 {
        if self.numbers.len() >= self.many {
            let Clocks { numbers, free, objects, .. } = self;
            numbers.retain(|_, &mut number| {
                let touched = objects[number as usize] != UNTOUCHED;
                if !touched {
                    free.push(number);
                }
                touched
            });
            self.many = (2 * self.numbers.len()).max(1 << 10);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.objects.push(UNTOUCHED);
            self.objects.len() as u32 - 1
        });
        self.numbers.insert(object, number);
        number
    }
}
