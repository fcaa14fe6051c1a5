//! The stack of the revisit search: the steps taken, their pasts, and the flags of canonical steps.
//!
//! It stores the subset of [`whippet_model::Clocks`] that the search uses: rows of bits over steps, and the chain of
//! each actor's steps. It assumes that two events are dependent iff they belong to the same actor, and it does not
//! allocate once its buffers have grown. A part of it can be saved and restored, which costs a copy but no step of
//! the machine.

use whippet_model::{ActorNo, Choice, Delivered};

/// Sentinel: no step.
pub(crate) const NONE: u32 = u32::MAX;

/// One step on the stack.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) choice: Choice,
    pub(crate) actor: u32,
    /// The previous step of the same actor, or [`NONE`].
    pub(crate) previous: u32,
    /// The range of handles that it made pending.
    pub(crate) sent: (u32, u32),
    /// Set if it was the first choice of its level.
    pub(crate) canonical: bool,
}

/// The steps of the current execution.
#[derive(Debug)]
pub(crate) struct Stack {
    entries: Vec<Entry>,
    /// The pasts, row by row; each step is in its own past.
    rows: Vec<u64>,
    /// Number of words in a row.
    stride: usize,
    /// The steps that are not canonical, as a bit set.
    replaced: Vec<u64>,
    /// The last step of each actor.
    last_of: Vec<u32>,
}

/// A saved part of a [`Stack`].
#[derive(Copy, Clone, Debug)]
pub(crate) struct SavedSuffix {
    /// The depth of its first step.
    pub(crate) from: usize,
    entries: usize,
    rows: usize,
    stride: usize,
}

/// All saved parts of a [`Stack`], the newest last.
#[derive(Debug, Default)]
pub(crate) struct SavedSuffixes {
    entries: Vec<Entry>,
    rows: Vec<u64>,
}

impl Stack {
    pub(crate) fn new() -> Stack {
        Stack { entries: Vec::new(), rows: Vec::new(), stride: 1, replaced: vec![0], last_of: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn entry(&self, at: usize) -> &Entry {
        &self.entries[at]
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns `true` if step `a` happens before step `b` or is the same step.
    #[inline]
    pub(crate) fn before(&self, a: usize, b: usize) -> bool {
        self.rows[b * self.stride + a / 64] >> (a % 64) & 1 != 0
    }

    /// Returns the past of a step as a bit set of steps.
    #[inline]
    pub(crate) fn past(&self, at: usize) -> &[u64] {
        &self.rows[at * self.stride..(at + 1) * self.stride]
    }

    /// Returns the last step of an actor, or [`NONE`].
    #[inline]
    pub(crate) fn last_of(&self, actor: u32) -> u32 {
        self.last_of.get(actor as usize).copied().unwrap_or(NONE)
    }

    /// Returns the newest step that is neither canonical nor in the past of step `at`: `back` stops there.
    #[inline]
    pub(crate) fn floor(&self, at: usize) -> Option<usize> {
        let words = self.past(at).iter().zip(&self.replaced).enumerate().rev();
        words.map(|(i, (past, replaced))| (i, replaced & !past)).find(|&(_, bits)| bits != 0).map(|(i, bits)| {
            // Bits beyond the newest step are never set.
            i * 64 + 63 - bits.leading_zeros() as usize
        })
    }

    /// Adds the newest step.
    #[inline(always)]
    pub(crate) fn push(&mut self, step: Delivered, canonical: bool) {
        let at = self.entries.len();
        let Delivered { choice, actor: ActorNo(actor), by, sent } = step;
        if at >= self.stride * 64 {
            self.widen();
        }
        let previous = self.last_of(actor);
        if self.stride == 1 {
            // The usual case: a past fits into one word.
            let mut past = 1 << at;
            if let Some(by) = by {
                past |= self.rows[by];
            }
            if previous != NONE {
                past |= self.rows[previous as usize];
            }
            self.rows.push(past);
        } else {
            self.rows.resize((at + 1) * self.stride, 0);
            self.rows[at * self.stride + at / 64] |= 1 << (at % 64);
            if let Some(by) = by {
                self.join(at, by);
            }
            if previous != NONE {
                self.join(at, previous as usize);
            }
        }
        self.enter(Entry { choice, actor, previous, sent: (sent.start, sent.end), canonical });
    }

    /// Removes all steps from `depth` on.
    #[inline]
    pub(crate) fn truncate(&mut self, depth: usize) {
        while self.entries.len() > depth {
            let entry = self.entries.pop().expect("the loop checked");
            let at = self.entries.len();
            self.last_of[entry.actor as usize] = entry.previous;
            self.replaced[at / 64] &= !(1 << (at % 64));
        }
        self.rows.truncate(depth * self.stride);
    }

    /// Saves and removes all steps from `from` on.
    pub(crate) fn save_suffix(&mut self, from: usize, saved: &mut SavedSuffixes) -> SavedSuffix {
        let suffix = SavedSuffix { from, entries: saved.entries.len(), rows: saved.rows.len(), stride: self.stride };
        saved.entries.extend_from_slice(&self.entries[from..]);
        saved.rows.extend_from_slice(&self.rows[from * self.stride..]);
        self.truncate(from);
        suffix
    }

    /// Restores the part that was saved last.
    pub(crate) fn restore_suffix(&mut self, suffix: SavedSuffix, saved: &mut SavedSuffixes) {
        self.truncate(suffix.from);
        for row in saved.rows[suffix.rows..].chunks(suffix.stride) {
            self.rows.extend_from_slice(row);
            self.rows.resize(self.rows.len() + self.stride - suffix.stride, 0);
        }
        for &entry in &saved.entries[suffix.entries..] {
            self.enter(entry);
        }
        saved.entries.truncate(suffix.entries);
        saved.rows.truncate(suffix.rows);
    }

    #[inline]
    fn enter(&mut self, entry: Entry) {
        let (at, actor) = (self.entries.len(), entry.actor as usize);
        if actor >= self.last_of.len() {
            self.last_of.resize(actor + 1, NONE);
        }
        self.last_of[actor] = at as u32;
        if !entry.canonical {
            self.replaced[at / 64] |= 1 << (at % 64);
        }
        self.entries.push(entry);
    }

    #[inline]
    fn join(&mut self, at: usize, earlier: usize) {
        let (head, tail) = self.rows.split_at_mut(at * self.stride);
        let from = &head[earlier * self.stride..(earlier + 1) * self.stride];
        for (word, &more) in tail.iter_mut().zip(from) {
            *word |= more;
        }
    }

    fn widen(&mut self) {
        let wide = self.stride * 2;
        let mut rows = Vec::with_capacity(self.entries.len() * wide);
        for row in self.rows.chunks(self.stride) {
            rows.extend_from_slice(row);
            rows.resize(rows.len() + wide - self.stride, 0);
        }
        self.rows = rows;
        self.stride = wide;
        self.replaced.resize(wide, 0);
    }
}

impl SavedSuffixes {
    /// Returns the steps of one saved part. `next` is the part saved after it.
    pub(crate) fn entries(&self, suffix: SavedSuffix, next: Option<SavedSuffix>) -> &[Entry] {
        &self.entries[suffix.entries..next.map_or(self.entries.len(), |next| next.entries)]
    }

    /// Returns the steps of the part saved last, and the past of its newest step.
    pub(crate) fn newest(&self, suffix: SavedSuffix) -> (&[Entry], &[u64]) {
        let rows = &self.rows[suffix.rows..];
        (&self.entries[suffix.entries..], &rows[rows.len() - suffix.stride..])
    }
}
