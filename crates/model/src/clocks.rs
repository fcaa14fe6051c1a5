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
#[derive(Clone, Debug)]
struct Touched {
    /// The last step that wrote it.
    write: u32,
    /// The steps that read it since.
    reads: Vec<u32>,
    /// The steps that added to it since.
    adds: Vec<u32>,
}

impl Touched {
    /// Whether nobody did.
    fn is_nobody(&self) -> bool {
        self.write == NONE && self.reads.is_empty() && self.adds.is_empty()
    }
}

/// How to forget one touch again.
#[derive(Clone, Debug)]
enum Undo {
    Read(Name),
    Add(Name),
    Write(Name, Touched),
}

/// What is known of a step besides its past.
#[derive(Copy, Clone, Debug)]
struct Known {
    /// Its actor, and that actor's step before.
    actor: u32,
    before: u32,
    /// Where its conflicts and what it takes to forget its touches begin.
    conflicts: u32,
    undo: u32,
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
/// let mut races = Vec::new();
/// clocks.races(&machine, 1, &mut races);
/// assert_eq!(races, [0]);
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
    objects: FxHashMap<Name, Touched>,
    undo: Vec<Undo>,
    scratch: Vec<usize>,
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

        let mut causes = std::mem::take(&mut self.scratch);
        causes.clear();
        machine.causes(at, &mut causes);
        let mut sum = 0u64;
        for &cause in &causes {
            sum = sum.wrapping_add(Name(self.steps[cause].label).mixed(3).0);
            self.join(at, cause);
        }
        self.scratch = causes;

        let (from, undo) = (self.conflicts.len(), self.undo.len() as u32);
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
        if self.conflicts.len() > from + 1 {
            self.conflicts[from..].sort_unstable();
            let mut kept = from;
            for i in from..self.conflicts.len() {
                if i == from || self.conflicts[i] != self.conflicts[kept - 1] {
                    self.conflicts[kept] = self.conflicts[i];
                    kept += 1;
                }
            }
            self.conflicts.truncate(kept);
        }
        // The label is a hash of the event's cone, so that equal sets of labels mean equal traces. The
        // labels of direct predecessors are added up because equivalent executions may list them in
        // another order.
        for i in from..self.conflicts.len() {
            let earlier = self.conflicts[i] as usize;
            sum = sum.wrapping_add(Name(self.steps[earlier].label).mixed(1).0);
            self.join(at, earlier);
        }
        let label = step.event.mixed(sum);
        let key = self.key().wrapping_add(label.mixed(2).0);
        self.steps.push(Known { actor, before, conflicts: from as u32, undo, label: label.0, key });
    }

    /// Forgets all steps from `depth` on.
    pub fn truncate(&mut self, depth: usize) {
        for known in self.steps.drain(depth.min(self.steps.len())..).rev() {
            self.last_of_actor[known.actor as usize] = known.before;
            self.conflicts.truncate(known.conflicts as usize);
            while self.undo.len() > known.undo as usize {
                match self.undo.pop().expect("the loop checked") {
                    undo @ (Undo::Read(object) | Undo::Add(object)) => {
                        let known = self.objects.get_mut(&object).expect("it was touched");
                        let list = if matches!(undo, Undo::Read(_)) { &mut known.reads } else { &mut known.adds };
                        list.pop();
                        if known.is_nobody() {
                            self.objects.remove(&object);
                        }
                    }
                    Undo::Write(object, was) => {
                        if was.is_nobody() {
                            self.objects.remove(&object);
                        } else {
                            self.objects.insert(object, was);
                        }
                    }
                }
            }
        }
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

    /// Appends the steps that are in a race with step `at`, the earliest first.
    pub fn races<M: Machine>(&mut self, machine: &M, at: usize, out: &mut Vec<usize>) {
        if self.conflicts(at).is_empty() {
            return;
        }
        let mut causes = std::mem::take(&mut self.scratch);
        causes.clear();
        machine.causes(at, &mut causes);
        let conflicts = self.conflicts(at);
        for &e in conflicts {
            let e = e as usize;
            let caused = causes.iter().any(|&c| self.before(e, c));
            let between = || conflicts.iter().any(|&x| x as usize != e && self.before(e, x as usize));
            let direct = conflicts.len() == 1 || !between();
            if !caused && direct {
                out.push(e);
            }
        }
        self.scratch = causes;
    }

    /// A hash of the trace up to now: equal for executions that differ only in the order of independent
    /// steps, different for others.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.key)
    }

    /// A hash of what happened before step `at` and of the step itself: equal wherever the same event
    /// happens after the same past.
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
            return;
        }
        let (head, tail) = self.rows.split_at_mut(at * self.stride);
        let from = &head[earlier * self.stride..(earlier + 1) * self.stride];
        for (word, &more) in tail.iter_mut().zip(from) {
            *word |= more;
        }
    }

    fn touch(&mut self, at: u32, touch: Touch) {
        let nobody = || Touched { write: NONE, reads: Vec::new(), adds: Vec::new() };
        let known = self.objects.entry(touch.object).or_insert_with(nobody);
        if known.write == at {
            return;
        }
        // What came since the last write follows it: only if there is nothing to follow there, that write counts.
        let mut follows = |list: &[u32]| {
            self.conflicts.extend(list.iter().filter(|&&other| other != at));
            list.iter().any(|&other| other != at)
        };
        let since = match touch.access {
            Access::Read => follows(&known.adds),
            Access::Add => follows(&known.reads),
            Access::Write => follows(&known.reads) | follows(&known.adds),
        };
        if !since && known.write != NONE {
            self.conflicts.push(known.write);
        }
        match touch.access {
            Access::Read if known.reads.last() == Some(&at) => {}
            Access::Read => {
                known.reads.push(at);
                self.undo.push(Undo::Read(touch.object));
            }
            Access::Add if known.adds.last() == Some(&at) => {}
            Access::Add => {
                known.adds.push(at);
                self.undo.push(Undo::Add(touch.object));
            }
            Access::Write => {
                let was = std::mem::replace(known, Touched { write: at, ..nobody() });
                self.undo.push(Undo::Write(touch.object, was));
            }
        }
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
