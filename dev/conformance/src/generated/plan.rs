//! The plan of a generated program.

/// An operation that a task can wait for. Each receiver and each handle is held by one task; see [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaf {
    /// Receives from the first unbounded channel.
    First,
    /// Receives from the second unbounded channel.
    Second,
    /// Receives from the bounded channel.
    Narrow,
    /// Receives up to two messages at once from the first unbounded channel.
    Many,
    /// Receives from the oneshot.
    Answer,
    /// Waits until the oneshot's receiver is gone.
    Unwanted,
    /// Waits for the preceding task to end.
    Join,
    /// Sends to the bounded channel, waiting for room.
    Push,
    /// Reserves room in the bounded channel and sends.
    Reserve,
    /// Waits until the first unbounded channel has no receiver.
    Closed,
    /// Appends to a text under the mutex.
    Lock,
    /// Reads a text under the read-write lock, together with other readers.
    Read,
    /// Appends to a text under the read-write lock, exclusively.
    Write,
    /// Acquires a permit and releases it.
    Acquire,
    /// Acquires two permits and releases them.
    AcquireTwo,
    Notified,
    /// Waits for a new value of the watch channel.
    Changed,
    /// Receives from the broadcast channel.
    Heard,
    /// Waits for the value of the `SetOnce`.
    Set,
    /// Gets the value of the `OnceCell`, which the first caller computes.
    Cell,
    Sleep,
    /// Sleeps twice as long as `Sleep`.
    SleepLong,
    Yield,
    Barrier,
}

/// An act of a task. Each task performs its acts in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Wait(Leaf),
    /// Waits for the first of two leaves and drops the other one.
    Select {
        biased: bool,
        first: Leaf,
        second: Leaf,
    },
    /// Waits for both leaves.
    Join(Leaf, Leaf),
    /// Waits with a timeout.
    Timeout(Leaf),
    /// Performs an act while holding the mutex.
    Locked(Box<Act>),
    /// Creates a future that waits for a notification, performs an act, and then awaits the future.
    Armed(Box<Act>),
    /// Performs an act in a new task.
    Spawn(Box<Act>),
    /// Sends to the unbounded channel with this number.
    Send(usize),
    /// Sends to the first unbounded channel if it still has a sender.
    WeakSend,
    /// Sends to the bounded channel if there is room.
    TryPush,
    /// Sends to the oneshot.
    Answer,
    NotifyOne,
    NotifyAll,
    /// Sends a new value to the watch channel.
    Publish,
    /// Sends to the broadcast channel.
    Cast,
    /// Sets the `SetOnce`.
    SetOnce,
    /// Adds a permit to the semaphore.
    Release,
    /// Receives from the first unbounded channel without waiting. The acts up to `HasChanged` do not wait either.
    TryRecv,
    TryAnswer,
    TryLock,
    TryAcquire,
    TryCell,
    IsClosed,
    IsEmpty,
    Capacity,
    IsFinished,
    HasChanged,
    /// Closes the receiver of the first unbounded channel. The acts up to `DropAnswer` drop ends of channels.
    CloseFirst,
    DropFirst,
    DropSenders,
    DropAnswer,
    /// Aborts the preceding task.
    Abort,
}

/// A program: the acts of each task.
///
/// The first task holds the receivers of both unbounded channels and the sender of the oneshot. The second task holds
/// the receivers of the bounded channel and of the oneshot. Each task holds the join handle of the preceding task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub Vec<Vec<Act>>);

/// A generator of random numbers that are the same on every platform: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// A theme: leaves and acts that use the same objects, so that the tasks interact.
struct Theme {
    leaves: &'static [Leaf],
    acts: &'static [Act],
}

const THEMES: [Theme; 12] = [
    Theme {
        leaves: &[Leaf::First, Leaf::First, Leaf::Many],
        acts: &[Act::Send(0), Act::Send(0), Act::TryRecv, Act::IsEmpty, Act::WeakSend],
    },
    Theme { leaves: &[Leaf::First, Leaf::Second], acts: &[Act::Send(0), Act::Send(1), Act::TryRecv] },
    Theme {
        leaves: &[Leaf::Closed, Leaf::First],
        acts: &[Act::CloseFirst, Act::DropFirst, Act::DropSenders, Act::IsClosed, Act::WeakSend, Act::Send(0)],
    },
    Theme { leaves: &[Leaf::Narrow, Leaf::Push, Leaf::Reserve], acts: &[Act::TryPush, Act::Capacity] },
    Theme { leaves: &[Leaf::Answer, Leaf::Unwanted], acts: &[Act::Answer, Act::DropAnswer, Act::TryAnswer] },
    Theme { leaves: &[Leaf::Join, Leaf::Yield], acts: &[Act::Abort, Act::IsFinished] },
    Theme { leaves: &[Leaf::Lock, Leaf::Read, Leaf::Write], acts: &[Act::TryLock] },
    Theme { leaves: &[Leaf::Acquire, Leaf::AcquireTwo], acts: &[Act::Release, Act::TryAcquire] },
    Theme { leaves: &[Leaf::Notified], acts: &[Act::NotifyOne, Act::NotifyAll] },
    Theme { leaves: &[Leaf::Changed, Leaf::Heard], acts: &[Act::Publish, Act::Cast, Act::HasChanged] },
    Theme { leaves: &[Leaf::Set, Leaf::Cell, Leaf::Barrier], acts: &[Act::SetOnce, Act::TryCell] },
    Theme { leaves: &[Leaf::Sleep, Leaf::SleepLong, Leaf::Yield], acts: &[] },
];

impl Plan {
    /// Creates the plan of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Plan {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let themes: Vec<&Theme> = (0..1 + random.below(3)).map(|_| &THEMES[random.below(THEMES.len())]).collect();
        let leaves: Vec<Leaf> = themes.iter().flat_map(|theme| theme.leaves.iter().copied()).collect();
        let acts: Vec<Act> = themes.iter().flat_map(|theme| theme.acts.iter().cloned()).collect();
        let tasks = 2 + usize::from(random.below(3) == 0);
        let most = if tasks == 2 { 3 } else { 2 };
        let task =
            |random: &mut Random| (0..1 + random.below(most)).map(|_| act(random, &leaves, &acts, true)).collect();
        Plan((0..tasks).map(|_| task(&mut random)).collect())
    }

    /// Returns the shared objects that the acts use.
    pub(crate) fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        self.0.iter().flatten().for_each(|act| uses.add(act));
        uses
    }

    /// Returns the plans that are one act or one simplification smaller.
    pub fn smaller(&self) -> Vec<Plan> {
        let mut found = Vec::new();
        for task in (0..self.0.len()).rev() {
            for act in 0..self.0[task].len() {
                let mut plan = self.clone();
                plan.0[task].remove(act);
                found.push(plan);
                for simpler in simpler(&self.0[task][act]) {
                    let mut plan = self.clone();
                    plan.0[task][act] = simpler;
                    found.push(plan);
                }
            }
        }
        if self.0.last().is_some_and(Vec::is_empty) {
            found.push(Plan(self.0[..self.0.len() - 1].to_vec()));
        }
        found
    }
}

/// The shared objects that a plan uses.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) unbounded: bool,
    pub(crate) narrow: bool,
    pub(crate) answer: bool,
    pub(crate) watch: bool,
    pub(crate) cast: bool,
    pub(crate) handles: bool,
}

impl Uses {
    fn add(&mut self, act: &Act) {
        match act {
            Act::Wait(leaf) | Act::Timeout(leaf) => self.leaf(*leaf),
            Act::Select { first, second, .. } | Act::Join(first, second) => {
                self.leaf(*first);
                self.leaf(*second);
            }
            Act::Locked(act) | Act::Armed(act) | Act::Spawn(act) => self.add(act),
            Act::TryPush | Act::Capacity => self.narrow = true,
            Act::Answer | Act::TryAnswer | Act::DropAnswer => self.answer = true,
            Act::Publish | Act::HasChanged => self.watch = true,
            Act::Cast => self.cast = true,
            Act::IsFinished | Act::Abort => self.handles = true,
            Act::Send(_) | Act::WeakSend | Act::TryRecv | Act::IsClosed | Act::IsEmpty => self.unbounded = true,
            Act::CloseFirst | Act::DropFirst => self.unbounded = true,
            _ => {}
        }
    }

    fn leaf(&mut self, leaf: Leaf) {
        match leaf {
            Leaf::First | Leaf::Second | Leaf::Many | Leaf::Closed => self.unbounded = true,
            Leaf::Narrow | Leaf::Push | Leaf::Reserve => self.narrow = true,
            Leaf::Answer | Leaf::Unwanted => self.answer = true,
            Leaf::Changed => self.watch = true,
            Leaf::Heard => self.cast = true,
            Leaf::Join => self.handles = true,
            _ => {}
        }
    }
}

fn act(random: &mut Random, leaves: &[Leaf], acts: &[Act], nest: bool) -> Act {
    match random.below(20) {
        0..5 => Act::Wait(random.one_of(leaves)),
        5..9 => {
            Act::Select { biased: random.below(2) == 0, first: random.one_of(leaves), second: random.one_of(leaves) }
        }
        9 => Act::Join(random.one_of(leaves), random.one_of(leaves)),
        10 => Act::Timeout(random.one_of(leaves)),
        11 if nest => Act::Locked(Box::new(act(random, leaves, acts, false))),
        12 if nest => Act::Armed(Box::new(act(random, leaves, acts, false))),
        13 if nest => Act::Spawn(Box::new(act(random, leaves, acts, false))),
        _ if acts.is_empty() => Act::Wait(random.one_of(leaves)),
        _ => random.one_of(acts),
    }
}

fn simpler(act: &Act) -> Vec<Act> {
    match act {
        Act::Select { first, second, .. } | Act::Join(first, second) => vec![Act::Wait(*first), Act::Wait(*second)],
        Act::Timeout(leaf) => vec![Act::Wait(*leaf)],
        Act::Locked(act) | Act::Armed(act) | Act::Spawn(act) => vec![(**act).clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_plan() {
        assert_eq!(Plan::new(7), Plan::new(7));
        assert_ne!(Plan::new(7), Plan::new(8));
    }
}
