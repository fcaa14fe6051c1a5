//! The states of the model: plain values.

use super::context::{LogId, Text};
use super::notify::Notified;
use super::objects::Shared;
use crate::outcome::End;
use crate::program::{ObjectId, TaskId, Value};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Names a waiting future: its task, and its branch in the task's current operation, or [`ARMED`].
pub(super) type Key = (u8, u8);

/// The second half of the [`Key`] of an armed `Notified`.
pub(super) const ARMED: u8 = u8::MAX;

/// A state of a whole program.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The clock, in ticks.
    pub(super) clock: u64,
    /// The ticks for which the runtime has stalled; 0 without a budget.
    pub(super) stalled: u64,
    pub(super) objects: Vec<Rc<Shared>>,
    pub(super) tasks: Vec<Rc<Task>>,
    /// The tasks that have yielded and wait for the queue to be empty, as a mask. Only with [`super::Granularity::Poll`].
    ///
    /// The docs of `task::yield_now` promise nothing about the order; this is what tokio does since 1.30: the waker is deferred until the
    /// runtime has nothing to poll, or has polled 61 times, which is not modelled.
    pub(super) deferred: u32,
}

impl State {
    pub(super) fn task(&mut self, task: TaskId) -> &mut Task {
        Rc::make_mut(&mut self.tasks[task])
    }

    pub(super) fn object(&mut self, object: ObjectId) -> &mut Shared {
        Rc::make_mut(&mut self.objects[object])
    }

    /// Returns a 128-bit fingerprint. Two states with the same one are taken to be equal: with a million states, the
    /// odds against a mistake are about 10^26 to 1.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut hasher = Fingerprint(0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344);
        self.hash(&mut hasher);
        (u128::from(hasher.finish()) << 64) | u128::from(hasher.1)
    }
}

/// The state of a task.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Task {
    pub(super) status: Status,
    /// An abort was requested.
    pub(super) aborted: bool,
    /// The index of the current operation.
    pub(super) next: usize,
    pub(super) phase: Phase,
    /// The leaves of the current operation.
    pub(super) leaves: Vec<LeafState>,
    /// The texts of the leaves of a `join!` that are ready.
    pub(super) texts: Vec<Option<Text>>,
    /// The branch that a `join!` polls first when it is polled next.
    pub(super) rotation: u8,
    pub(super) log: LogId,
    pub(super) hands: Hands,
    /// The task that spawned this one into its `JoinSet`.
    pub(super) in_set_of: Option<TaskId>,
}

/// The handles and guards that a task holds.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Hands {
    pub(super) senders: u32,
    pub(super) weak_senders: u32,
    pub(super) receivers: u32,
    /// For each object, how far its broadcast or watch receiver has come.
    pub(super) seen: Vec<u32>,
    /// Armed futures, sorted by object.
    pub(super) armed: Vec<(ObjectId, Notified)>,
    /// Guards and permits, the oldest first.
    pub(super) guards: Vec<Guard>,
    pub(super) join_handles: u32,
    pub(super) set: Option<JoinSet>,
    pub(super) interval: Option<Interval>,
    /// The handles that leaves of the current operation have borrowed, with their branches.
    pub(super) borrowed: Vec<(u8, Handle)>,
}

/// A guard or permit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Guard {
    pub(super) object: ObjectId,
    pub(super) permits: u32,
}

/// A handle that a leaf borrows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Handle {
    Sender(ObjectId),
    Receiver(ObjectId),
    Armed(ObjectId),
    Join(TaskId),
    Set,
    Interval,
}

/// A `JoinSet`: its members in the order they were added, and those of them that have ended in that order.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct JoinSet {
    pub(super) members: Vec<TaskId>,
    pub(super) ended: Vec<TaskId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Interval {
    pub(super) deadline: u64,
    pub(super) period: u64,
}

/// The state of a task towards the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Status {
    NotSpawned,
    /// Spawned and never polled.
    Scheduled,
    /// The last poll returned pending.
    Idle,
    /// In the middle of a poll.
    Running,
    /// Drops what it holds.
    Ending(End),
    /// Has ended; the `JoinSet` it belongs to is not told yet.
    Leaving(End),
    Ended(End),
}

/// The state of a poll, or of the pending operation between polls.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Before an operation.
    Between,
    /// In an operation that does not wait.
    Operation(OpStage),
    /// At the beginning of a poll of the leaves.
    Start,
    /// Has polled `done` leaves in this poll, beginning with `first`.
    Polling { first: u8, done: u8 },
    /// This branch of a select is ready; the leaves from `next` on are not dropped yet.
    Winner { branch: u8, text: Text, next: u8 },
}

/// The progress of an operation that does not wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OpStage {
    Start,
    /// A sender has a permit for a message it has not pushed yet.
    Push,
    /// A weak sender was upgraded.
    Upgraded,
    /// As before, with a permit for the message.
    UpgradedPush,
    /// A sender that the operation made or took over is dropped last.
    DropSender(Option<Text>),
    /// A receiver has closed its channel and drains it.
    Drain,
    /// Tasks still to be aborted.
    Abort(Vec<TaskId>),
    /// An earlier future was dropped, the new one is not created yet.
    Create,
    /// A future was created and is not enabled yet.
    Enable,
}

/// The state of a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LeafState {
    /// Ready or dropped.
    Done,
    /// Lacks a handle.
    Refused,
    /// A leaf that is not yet created as a whole: of the limits around it, the innermost `limits` are.
    Creating {
        leaf: Box<LeafState>,
        limits: u8,
    },
    /// A leaf without a state of its own.
    Plain,
    /// A request for permits; `granted` if it has them and has not pushed its message yet.
    Request {
        queued: bool,
        granted: bool,
    },
    /// A send with a time limit.
    LimitedSend {
        queued: bool,
        granted: bool,
        timer: Option<Timer>,
        at_timer: bool,
    },
    /// `changed()`; `marked` if it is ready and the value was not borrowed yet.
    Changed {
        marked: bool,
    },
    /// `get_or_init`; `initializing` once the initialiser has yielded.
    Init {
        queued: bool,
        initializing: bool,
    },
    Notified(Notified),
    /// Arrived at a barrier in this generation; `just_now` until the poll in which it arrived has looked for the leader.
    Arrived {
        generation: u32,
        just_now: bool,
    },
    Sleep(Timer),
    /// `tick()`; true if its timer is registered.
    Tick(bool),
    Yield {
        yielded: bool,
    },
    Now(OpStage),
    ThenOperation(OpStage),
    /// The text of the operation, and the leaf once it is created.
    ThenLeaf(Option<Text>, Option<Box<LeafState>>),
    Within {
        timer: Timer,
        at_timer: bool,
        leaf: Box<LeafState>,
    },
}

/// A timer: `registered` once it was polled and pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Timer {
    pub(super) deadline: u64,
    pub(super) registered: bool,
}

/// The contents of a lock.
pub(super) type Content = Vec<Value>;

/// A fast hasher with two lanes of 64 bits.
struct Fingerprint(u64, u64);

impl Fingerprint {
    fn mix(&mut self, word: u64) {
        let first = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (first as u64 ^ (first >> 64) as u64).wrapping_add(self.1.rotate_left(23));
        let second = u128::from(self.1.wrapping_add(word) ^ 0xA409_3822_299F_31D0) * 0xD6E8_FEB8_6659_FD93;
        self.1 = second as u64 ^ (second >> 64) as u64 ^ self.0.rotate_left(41);
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
