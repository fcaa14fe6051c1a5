//! The handles of a channel: the number of its senders or receivers, and the causes of their drops.
//!
//! Drops commute with each other: only a task that checks if all handles are gone depends on them. If no task does,
//! and none waits for this together with other objects, a drop is merged. Operations that change only a count (a
//! clone, a weak sender) are events only if some execution reads the counts.

use crate::events::{
    before_this, contributes, enables_merged, event, is_learnt, is_over, learn, needs_own_event, read, recalls, write,
};
use crate::local::Local;
use crate::merging::newest;
use crate::object::{Action, Object, Part, Place};
use crate::points::Point;
use crate::waiting::Ready;
use smallvec::SmallVec;
use whippet_model::Name;

/// The operations and the touched parts for a kind of handle.
struct Kind {
    drops: Point,
    clones: Point,
    /// The part to which drops add.
    part: Part,
    /// The part that is read by waits for all handles to be gone.
    watched: Part,
}

const SENDERS: Kind =
    Kind { drops: Point::DropsSender, clones: Point::ClonesSender, part: Part::Drops, watched: Part::Tail };
const RECEIVERS: Kind =
    Kind { drops: Point::DropsReceiver, clones: Point::ClonesReceiver, part: Part::Members, watched: Part::Members };

struct State {
    strong: usize,
    weak: usize,
    /// The steps and merged events that happen before the drops so far.
    drops: SmallVec<[u32; 16]>,
}

/// The senders, or the receivers, of a channel.
pub struct Handles {
    object: Object,
    kind: Kind,
    state: Local<State>,
}

impl Handles {
    /// Creates the state of a channel with one sender.
    #[must_use]
    pub fn senders(object: Object) -> Handles {
        Handles { object, kind: SENDERS, state: Local::here(State { strong: 1, weak: 0, drops: SmallVec::new() }) }
    }

    /// Creates the state of a channel with `count` receivers.
    #[must_use]
    pub fn receivers(object: Object, count: usize) -> Handles {
        Handles {
            object,
            kind: RECEIVERS,
            state: Local::here(State { strong: count, weak: 0, drops: SmallVec::new() }),
        }
    }

    /// Returns the name of the part that changes of the number of handles touch.
    pub fn part(&self) -> Name {
        self.object.part(self.kind.part)
    }

    fn counted(&self) -> Name {
        self.part().mixed(1)
    }

    /// Returns the number of handles. The caller records the read.
    pub fn left(&self) -> usize {
        self.state.with(|s| s.strong)
    }

    /// Adds a handle. The caller records the touches.
    pub fn join(&self) {
        // A task may wait for all handles to be gone.
        recalls();
        self.state.with(|s| s.strong += 1);
    }

    /// Changes a count. An event only if some execution reads the counts.
    fn recount(&self, point: Point, place: Place, change: impl FnOnce(&mut State)) {
        if !self.state.is_mine() {
            return;
        }
        let counted = self.counted();
        if is_learnt(counted) {
            event(Action::new(point, self.object, place));
            contributes(counted, counted);
        }
        self.state.with(change);
    }

    /// Adds a handle that is cloned from another one.
    pub fn clone_one(&self, place: Place) {
        self.recount(self.kind.clones, place, |s| s.strong += 1);
    }

    /// Adds a weak handle.
    pub fn clone_weak(&self, place: Place) {
        self.recount(Point::MakesWeakSender, place, |s| s.weak += 1);
    }

    /// Removes a weak handle.
    pub fn drop_weak(&self, place: Place) {
        self.recount(Point::DropsWeakSender, place, |s| s.weak -= 1);
    }

    /// Removes a handle. Scheduling point if it [needs its own event](needs_own_event).
    pub fn drop_one(&self, place: Place) {
        if is_over() || !self.state.is_mine() {
            return;
        }
        let watched = self.object.part(self.kind.watched);
        // Case 2 of the lemma in `merging.rs`.
        if needs_own_event(self.kind.drops, watched, &[self.part()]) {
            event(Action::new(self.kind.drops, self.object, place));
            if is_over() {
                return;
            }
            contributes(watched, self.part());
        } else {
            enables_merged(watched);
        }
        let before = before_this();
        self.state.with(|s| {
            s.strong -= 1;
            before.iter().for_each(|&cause| s.drops.push(cause));
        });
        crate::wake_polled();
    }

    /// Upgrades a weak handle. Returns `false` if all strong ones are gone. Scheduling point.
    pub fn upgrade(&self, place: Place) -> bool {
        event(Action::new(Point::UpgradesWeakSender, self.object, place));
        write(self.part());
        self.state.with(|s| {
            let any = s.strong > 0;
            s.strong += usize::from(any);
            any
        })
    }

    fn look(&self, place: Place) {
        learn(self.counted());
        event(Action::new(Point::LooksAtChannel, self.object, place));
        read(self.part());
        read(self.counted());
    }

    /// Returns the number of handles. Scheduling point.
    pub fn strong_count(&self, place: Place) -> usize {
        self.look(place);
        self.left()
    }

    /// Returns the number of weak handles. Scheduling point.
    pub fn weak_count(&self, place: Place) -> usize {
        self.look(place);
        self.state.with(|s| s.weak)
    }

    /// Returns `true` if no handle is left. Scheduling point.
    pub fn are_gone(&self, place: Place) -> bool {
        event(Action::new(Point::LooksAtChannel, self.object, place));
        read(self.part());
        self.left() == 0
    }

    /// Implements [`crate::Readiness::ready`] for the wait for all handles to be gone.
    pub fn gone(&self) -> Option<Ready> {
        self.state.with(|s| {
            let since = || newest(&s.drops).unwrap_or(Ready::ALWAYS);
            (s.strong == 0).then(|| Ready { since: since(), item: self.part() })
        })
    }

    /// Implements [`crate::Readiness::causes`] for the same wait.
    pub fn causes(&self, out: &mut Vec<u32>) {
        self.state.with(|s| out.extend_from_slice(&s.drops));
    }
}
