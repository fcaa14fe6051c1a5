//! What a generated program does.

/// Something that a task can wait for. Receivers and handles are in the hands of one task each; see [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaf {
    /// Takes from the first unbounded channel.
    First,
    /// Takes from the second unbounded channel.
    Second,
    /// Takes from the bounded channel.
    Narrow,
    /// Takes up to two messages from the first unbounded channel at once.
    Many,
    /// Waits for the oneshot.
    Answer,
    /// Waits until the oneshot's receiver is gone.
    Unwanted,
    /// Waits for the task before this one to end.
    Join,
    /// Sends to the bounded channel, waiting for room.
    Push,
    /// Reserves room in the bounded channel, and sends.
    Reserve,
    /// Waits until the first unbounded channel has no receiver.
    Closed,
    /// Adds to a text under a lock.
    Lock,
    /// Reads a text under a lock with others.
    Read,
    /// Adds to a text under a lock, alone.
    Write,
    /// Gets a permit, and gives it back.
    Acquire,
    /// Gets two permits, and gives them back.
    AcquireTwo,
    Notified,
    /// Waits for a new value.
    Changed,
    /// Takes what was sent to all.
    Heard,
    /// Waits for the value that is set once.
    Set,
    /// Gets the value that is made once.
    Cell,
    Sleep,
    /// Sleeps twice as long.
    SleepLong,
    Yield,
    Barrier,
}

/// What a task does, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Wait(Leaf),
    /// Waits for the first of two, and forgets the other.
    Select {
        biased: bool,
        first: Leaf,
        second: Leaf,
    },
    /// Waits for both.
    Join(Leaf, Leaf),
    /// Waits, but not for ever.
    Timeout(Leaf),
    /// Does something while the lock is held.
    Locked(Box<Act>),
    /// Begins to wait to be notified, does something, and then waits.
    Armed(Box<Act>),
    /// A task of its own does this.
    Spawn(Box<Act>),
    /// Sends to an unbounded channel.
    Send(usize),
    /// Sends to the first one if it still has a sender.
    WeakSend,
    /// Sends to the bounded channel if there is room.
    TryPush,
    /// Answers through the oneshot.
    Answer,
    NotifyOne,
    NotifyAll,
    /// Sends a new value to those who watch.
    Publish,
    /// Sends to all who listen.
    Cast,
    /// Sets the value that is set once.
    SetOnce,
    /// Adds a permit.
    Release,
    /// Looks without waiting.
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
    /// Receiver and senders.
    CloseFirst,
    DropFirst,
    DropSenders,
    DropAnswer,
    /// Asks the task before this one to stop.
    Abort,
}

/// A program: what each task does.
///
/// The first task holds the receivers of both unbounded channels and the oneshot's sender, the second one the
/// bounded channel's receiver and the oneshot's. Each task holds the handle of the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub Vec<Vec<Act>>);

/// Random numbers that are the same everywhere: splitmix64.
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

/// A theme: leaves and acts that belong together, so that what tasks do meets.
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
    /// The plan of a seed.
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

    /// Which of the shared things any act uses.
    pub(crate) fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        self.0.iter().flatten().for_each(|act| uses.add(act));
        uses
    }

    /// Plans that are a little smaller.
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

/// What a plan uses.
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
