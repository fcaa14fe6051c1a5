//! The watchdog of a worker: it knows what the worker is doing, so that code that never returns can be named.
//!
//! The worker stores its current operation and path with a few plain stores per step; the thread that waits for the
//! search reads them.

use crate::driver::journal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use whippet_model::{Branch, Choice, Machine, Name};

/// The kind of user code that a worker may be running.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Creating a machine.
    SettingUp,
    /// Asking actors what they accept.
    Asking,
    /// Executing a step, including the checks after it.
    Stepping,
    /// Checking the end of an execution.
    Ending,
    /// Undoing steps: destructors of user values.
    Rewinding,
    /// Comparing configurations: hashes of user values.
    Comparing,
    /// Describing steps: `Debug` of user values.
    Describing,
}

impl Doing {
    pub(crate) const ALL: [Doing; 7] = [
        Doing::SettingUp,
        Doing::Asking,
        Doing::Stepping,
        Doing::Ending,
        Doing::Rewinding,
        Doing::Comparing,
        Doing::Describing,
    ];
}

/// The operation that a worker is stuck in.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) doing: Doing,
    /// The path to the operation, including the step that is being executed.
    pub(crate) path: Vec<(Name, Branch)>,
    /// Set if the operation is part of executing a finding again.
    pub(crate) confirms: bool,
    /// Set if it is part of an order that was tried only to explain a finding.
    pub(crate) explains: bool,
}

/// The current operation of a worker. An odd number of ticks means that the worker is inside user code.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pub(super) ticks: AtomicU64,
    doing: AtomicU8,
    /// The length of the path to the operation.
    length: AtomicU64,
    /// The thread and branch of each step, allocated in pieces because most executions are short.
    path: Vec<OnceLock<Piece>>,
    /// The memory of the journal for this worker; empty if there is no journal.
    pub(super) slot: &'static [AtomicU64],
}

/// The longest path that is stored for the rare case that a handler does not return.
const LONGEST_PATH: usize = 1 << 16;
const PIECE: usize = 256;

/// A part of the path of a [`Watchdog`].
type Piece = Box<[[AtomicU64; 2]; PIECE]>;

#[cold]
fn new_piece() -> Piece {
    Box::new(std::array::from_fn(|_| Default::default()))
}

impl Watchdog {
    pub(super) fn new(steps: usize) -> Watchdog {
        let mut path = Vec::new();
        path.resize_with(steps.min(LONGEST_PATH).div_ceil(PIECE), OnceLock::new);
        Watchdog { ticks: AtomicU64::new(0), doing: AtomicU8::new(0), length: AtomicU64::new(0), path, slot: &[] }
    }

    /// Marks the beginning of the step `choice`.
    #[inline(always)]
    pub(crate) fn begin<M: Machine>(&self, machine: &M, choice: Choice) {
        let depth = machine.depth();
        if let Some(piece) = self.path.get(depth / PIECE) {
            let piece = piece.get_or_init(new_piece);
            let [thread, branch] = &piece[depth % PIECE];
            thread.store(machine.thread(choice.what).0, Ordering::Relaxed);
            branch.store(choice.branch.0, Ordering::Relaxed);
        }
        if !self.slot.is_empty() {
            journal::step(self.slot, depth, machine.thread(choice.what), choice.branch);
            journal::enter(self.slot, Doing::Stepping, depth + 1);
        }
        self.note(Doing::Stepping, depth + 1);
    }

    /// Calls `work`, which may run user code, at the end of a path of this length.
    #[inline(always)]
    pub(crate) fn during<T>(&self, doing: Doing, length: usize, work: impl FnOnce() -> T) -> T {
        self.enter(doing, length);
        let result = work();
        self.leave();
        result
    }

    /// Marks the beginning of user code, at the end of a path of this length.
    #[inline]
    fn enter(&self, doing: Doing, length: usize) {
        if !self.slot.is_empty() {
            journal::enter(self.slot, doing, length);
        }
        self.note(doing, length);
    }

    /// Like [`enter`](Watchdog::enter), without the journal.
    #[inline]
    fn note(&self, doing: Doing, length: usize) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.length.store(length as u64, Ordering::Relaxed);
        self.tick();
    }

    /// Marks the beginning of the destructors of a machine, wherever it is.
    pub(crate) fn begin_drop(&self) {
        self.enter(Doing::Rewinding, self.length.load(Ordering::Relaxed) as usize);
    }

    /// Marks the end of user code.
    #[inline]
    pub(crate) fn leave(&self) {
        self.tick();
    }

    /// Increments the ticks. Only the worker itself writes them, so a plain load and store are enough.
    #[inline]
    fn tick(&self) {
        self.ticks.store(self.ticks.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    pub(super) fn stuck(&self) -> Stuck {
        let doing = Doing::ALL[usize::from(self.doing.load(Ordering::Relaxed))];
        let length = self.length.load(Ordering::Relaxed) as usize;
        let known = self.path.iter().filter_map(OnceLock::get).flat_map(|piece| piece.iter()).take(length);
        let path = known.map(|[t, b]| (Name(t.load(Ordering::Relaxed)), Branch(b.load(Ordering::Relaxed)))).collect();
        Stuck { doing, path, confirms: false, explains: false }
    }
}
