//! Happens-before and races: the one place that computes them.
//!
//! [`Clocks`] follows a machine step by step. For each step it keeps a row of bits, its *past*: all
//! steps that happen before it, through causes (a message was sent, an actor created) and through
//! conflicts (the same actor, or footprints that conflict). Rows are as wide as the execution is deep,
//! in words of 64; steps are taken back in the order in which machines take them back.
//!
//! Two steps are *in a race* when they conflict, the earlier one is in the past of the later only
//! because of this conflict, and no third step lies between them. Whether the later one could really
//! have come first is for the machine to say: a constraint or the order of delivery may forbid it.

use crate::{Access, Machine, Name, Relation, Touch};
use rustc_hash::FxHashMap;

/// No step.
const NONE: u32 = u32::MAX;

/// Who touched an object last.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Touched {
    /// The last step that wrote it.
    write: u32,
    /// The newest note of a step that read it since, and of one that added to it: each tells of the one before.
    read: u32,
    add: u32,
}

/// Nobody did.
const NOBODY: Touched = Touched { write: NONE, read: NONE, add: NONE };

/// A step touched an object of which so much was known: what it takes to forget the touch.
#[derive(Copy, Clone, Debug)]
struct Note {
    step: u32,
    object: u32,
    was: Touched,
}

/// What is known of a step besides its past.
#[derive(Copy, Clone, Debug)]
struct Known {
    /// Its actor, and that actor's step before.
    actor: u32,
    before: u32,
    /// Where its conflicts, its races and the notes of its touches begin.
    conflicts: u32,
    races: u32,
    notes: u32,
    /// A hash of its causal cone, and the sum of them up to here.
    label: u64,
    key: u64,
}

/// Happens-before of the steps that a machine has taken.
///
/// ```
/// # use whippet_actors::{Inbox, Test};
/// use whippet_model::{Clocks, Machine, Program};
/// # let program = Test::new("three messages", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     sys.send(a, 1);
/// #     sys.send(a, 2);
/// #     sys.send(b, 3);
/// # });
/// // One actor gets two messages (steps 0 and 1), another one gets one (step 2).
/// let mut machine = program.machine().unwrap();
/// let mut enabled = Vec::new();
/// for _ in 0..3 {
///     enabled.clear();
///     machine.enabled(&mut enabled);
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
/// assert_eq!(clocks.past(1), [0b11]);
/// assert_eq!(clocks.past_steps(1).collect::<Vec<_>>(), [0, 1]);
///
/// // The two messages of one actor are in a race: nothing but this conflict orders them.
/// assert_eq!(clocks.conflicts(1), [0]);
/// assert_eq!(clocks.races(1), [0]);
///
/// // The same trace has the same key, in whatever order: here the other actor goes first.
/// let (key, label) = (clocks.key(), clocks.label(2));
/// machine.rewind(0);
/// clocks.truncate(0);
/// for next in [2, 0, 0] {
///     enabled.clear();
///     machine.enabled(&mut enabled);
///     machine.execute(enabled[next]).unwrap();
/// }
/// clocks.follow(&machine);
/// assert_eq!((clocks.key(), clocks.label(0)), (key, label));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// Words in a row.
    stride: usize,
    /// The pasts, row by row; a step is in its own past.
    rows: Vec<u64>,
    /// The last step of each actor.
    last_of_actor: Vec<u32>,
    steps: Vec<Known>,
    /// The steps that each step directly follows by conflict, concatenated.
    conflicts: Vec<u32>,
    /// Those of them that it is in a race with.
    races: Vec<u32>,
    /// The numbers of objects, also of some that nobody touches now: they may well come again.
    numbers: FxHashMap<Name, u32>,
    /// How many they may be before those are forgotten, and the numbers of those that were.
    many: usize,
    free: Vec<u32>,
    objects: Vec<Touched>,
    notes: Vec<Note>,
    causes: Vec<usize>,
}

impl Clocks {
    /// For a machine that has taken no step.
    #[must_use]
    pub fn new() -> Clocks {
        Clocks { stride: 1, ..Clocks::default() }
    }

    /// How many steps are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether no step is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Learns all steps of the machine that are not known yet.
    pub fn follow<M: Machine>(&mut self, machine: &M) {
        while self.steps.len() < machine.depth() {
            self.push(machine);
        }
    }

    /// Learns the first step of the machine that is not known yet.
    pub fn push<M: Machine>(&mut self, machine: &M) {
        let at = self.steps.len();
        let step = machine.step(at);
        if at >= self.stride * 64 {
            self.widen();
        }
        if self.stride == 1 {
            self.rows.push(1 << at);
        } else {
            self.rows.resize((at + 1) * self.stride, 0);
            self.rows[at * self.stride + at / 64] = 1 << (at % 64);
        }

        self.causes.clear();
        machine.causes(at, &mut self.causes);
        let mut sum = 0u64;
        for k in 0..self.causes.len() {
            let cause = self.causes[k];
            sum = sum.wrapping_add(self.steps[cause].label);
            self.join(at, cause);
        }

        let (from, races, notes) = (self.conflicts.len(), self.races.len(), self.notes.len() as u32);
        let actor = step.actor.0;
        if actor as usize >= self.last_of_actor.len() {
            self.last_of_actor.resize(actor as usize + 1, NONE);
        }
        let before = self.last_of_actor[actor as usize];
        self.last_of_actor[actor as usize] = at as u32;
        match machine.relation() {
            Relation::SameActor => {
                if before != NONE {
                    self.conflicts.push(before);
                }
            }
            Relation::Footprints => {
                for &touch in machine.touches(at) {
                    self.touch(at as u32, touch);
                }
            }
        }
        // The latest one first, as they usually are: whatever is in the past by then, is there through a cause or
        // through another conflict.
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
                self.join(at, earlier as usize);
            }
        }
        self.conflicts.truncate(kept);
        if kept > from + 1 {
            self.conflicts[from..].reverse();
            self.races[races..].reverse();
        }
        // The label is a hash of the event's cone, so that equal sets of labels mean equal traces. The
        // labels of direct predecessors are added up because equivalent executions may list them in
        // another order; what was a cause and what a conflict makes a difference.
        let label = step.event.mixed(sum);
        let key = self.key().wrapping_add(label.0);
        let (conflicts, races) = (from as u32, races as u32);
        self.steps.push(Known { actor, before, conflicts, races, notes, label: label.0, key });
    }

    /// Forgets all steps from `depth` on.
    pub fn truncate(&mut self, depth: usize) {
        let Some(&first) = self.steps.get(depth) else { return };
        for known in self.steps[depth..].iter().rev() {
            self.last_of_actor[known.actor as usize] = known.before;
        }
        for note in self.notes[first.notes as usize..].iter().rev() {
            self.objects[note.object as usize] = note.was;
        }
        self.steps.truncate(depth);
        self.conflicts.truncate(first.conflicts as usize);
        self.races.truncate(first.races as usize);
        self.notes.truncate(first.notes as usize);
        self.rows.truncate(depth * self.stride);
    }

    /// Whether step `a` happens before step `b` or is the same one.
    #[inline]
    #[must_use]
    pub fn before(&self, a: usize, b: usize) -> bool {
        self.rows[b * self.stride + a / 64] >> (a % 64) & 1 != 0
    }

    /// The past of a step as bits over steps; the step itself is among them.
    #[inline]
    #[must_use]
    pub fn past(&self, at: usize) -> &[u64] {
        &self.rows[at * self.stride..(at + 1) * self.stride]
    }

    /// The steps of a past, in order.
    pub fn past_steps(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.past(at))
    }

    /// The step of the same actor before step `at`.
    #[inline]
    #[must_use]
    pub fn previous(&self, at: usize) -> Option<usize> {
        let before = self.steps[at].before;
        (before != NONE).then_some(before as usize)
    }

    /// The last step of an actor, by its number of creation.
    #[inline]
    #[must_use]
    pub fn last_of(&self, actor: u32) -> Option<usize> {
        let last = *self.last_of_actor.get(actor as usize)?;
        (last != NONE).then_some(last as usize)
    }

    /// The steps that step `at` follows directly by conflict, in order.
    #[inline]
    #[must_use]
    pub fn conflicts(&self, at: usize) -> &[u32] {
        let from = self.steps[at].conflicts as usize;
        let to = self.steps.get(at + 1).map_or(self.conflicts.len(), |next| next.conflicts as usize);
        &self.conflicts[from..to]
    }

    /// The steps that are in a race with step `at`, in order.
    #[inline]
    #[must_use]
    pub fn races(&self, at: usize) -> &[u32] {
        let from = self.steps[at].races as usize;
        let to = self.steps.get(at + 1).map_or(self.races.len(), |next| next.races as usize);
        &self.races[from..to]
    }

    /// A hash of the trace up to now: equal for executions that differ only in the order of independent
    /// steps, different for others.
    #[inline]
    #[must_use]
    pub fn key(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.key)
    }

    /// A hash of what happened before step `at` and of the step itself: equal wherever the same event
    /// happens after the same past.
    #[inline]
    #[must_use]
    pub fn label(&self, at: usize) -> u64 {
        self.steps[at].label
    }

    #[inline]
    fn join(&mut self, at: usize, earlier: usize) {
        debug_assert!(earlier < at);
        if self.stride == 1 {
            // Nearly always: a past is one word.
            self.rows[at] |= self.rows[earlier];
        } else {
            self.join_words(at, earlier);
        }
    }

    #[inline(never)]
    fn join_words(&mut self, at: usize, earlier: usize) {
        let (head, tail) = self.rows.split_at_mut(at * self.stride);
        let from = &head[earlier * self.stride..(earlier + 1) * self.stride];
        for (word, &more) in tail.iter_mut().zip(from) {
            *word |= more;
        }
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
        // What came since the last write follows it: only if there is nothing to follow there, that write counts.
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
            Access::Write => *known = Touched { write: at, ..NOBODY },
        }
        self.notes.push(Note { step: at, object, was });
    }

    /// Step `at` is in conflict with the others that a note and those before it tell of.
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

    /// A number for an object that has none.
    fn new_object(&mut self, object: Name) -> u32 {
        if self.numbers.len() >= self.many {
            let Clocks { numbers, free, objects, .. } = self;
            numbers.retain(|_, &mut number| {
                let touched = objects[number as usize] != NOBODY;
                if !touched {
                    free.push(number);
                }
                touched
            });
            self.many = (2 * self.numbers.len()).max(1 << 10);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.objects.push(NOBODY);
            self.objects.len() as u32 - 1
        });
        self.numbers.insert(object, number);
        number
    }

    fn widen(&mut self) {
        let wide = self.stride * 2;
        let mut rows = Vec::with_capacity(self.steps.len() * wide);
        for row in self.rows.chunks(self.stride) {
            rows.extend_from_slice(row);
            rows.resize(rows.len() + wide - self.stride, 0);
        }
        self.rows = rows;
        self.stride = wide;
    }
}

/// The positions of the bits that are set, in order.
///
/// ```
/// let bits = [0b1001, 1 << 2];
/// assert_eq!(whippet_model::ones(&bits).collect::<Vec<_>>(), [0, 3, 66]);
/// ```
#[inline]
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let (mut at, mut bits) = (0, words.first().copied().unwrap_or(0));
    std::iter::from_fn(move || {
        while bits == 0 {
            at += 1;
            bits = *words.get(at)?;
        }
        let one = at * 64 + bits.trailing_zeros() as usize;
        bits &= bits - 1;
        Some(one)
    })
}
