//! Who holds an end of a channel: how many senders, or receivers, there are, and when some were dropped.
//!
//! Drops come in any order with others: only who looks whether all are gone depends on them. Where nobody looks, or waits for
//! that and something else, a drop is no event of its own. Nor is what changes nothing but a count, a clone or a weak sender,
//! unless some execution looks at counts.

use crate::asides::newest;
use crate::events::{
    before_this, contributes, enables_aside, event, is_learnt, is_over, learn, read, recalls, stands_out, write,
};
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use crate::waiting::Ready;
use smallvec::SmallVec;
use whippet_model::Name;

/// What handles are called, and what they touch.
struct Kind {
    drops: &'static str,
    clones: &'static str,
    /// Drops are added here.
    part: Part,
    /// What those look at who wait for all to be gone.
    watched: Part,
}

const SENDERS: Kind =
    Kind { drops: "drops a sender of", clones: "clones a sender of", part: Part::Drops, watched: Part::Tail };
const RECEIVERS: Kind =
    Kind { drops: "drops a receiver of", clones: "clones a receiver of", part: Part::Members, watched: Part::Members };

struct State {
    strong: usize,
    weak: usize,
    /// The steps and asides that come before the drops of some.
    drops: SmallVec<[u32; 16]>,
}

/// The senders, or the receivers, of a channel.
pub struct Handles {
    object: Object,
    kind: Kind,
    state: Local<State>,
}

impl Handles {
    /// One sender.
    #[must_use]
    pub fn senders(object: Object) -> Handles {
        Handles { object, kind: SENDERS, state: Local::here(State { strong: 1, weak: 0, drops: SmallVec::new() }) }
    }

    /// As many receivers.
    #[must_use]
    pub fn receivers(object: Object, count: usize) -> Handles {
        Handles {
            object,
            kind: RECEIVERS,
            state: Local::here(State { strong: count, weak: 0, drops: SmallVec::new() }),
        }
    }

    /// What those touch who are counted.
    pub fn part(&self) -> Name {
        self.object.part(self.kind.part)
    }

    fn counted(&self) -> Name {
        self.part().mixed(1)
    }

    /// The running step sees how many there are.
    pub fn left(&self) -> usize {
        self.state.with(|s| s.strong)
    }

    /// There is one more; how that comes is for others to say.
    pub fn join(&self) {
        // Somebody may wait for there being none.
        recalls();
        self.state.with(|s| s.strong += 1);
    }

    /// A change of a count.
    fn recount(&self, verb: &'static str, place: Place, change: impl FnOnce(&mut State)) {
        if !self.state.is_mine() {
            return;
        }
        let counted = self.counted();
        if is_learnt(counted) {
            event(Action::new(verb, self.object, place));
            contributes(counted, counted);
        }
        self.state.with(change);
    }

    /// One more, made of one that there is.
    pub fn clone_one(&self, place: Place) {
        self.recount(self.kind.clones, place, |s| s.strong += 1);
    }

    /// One that does not count.
    pub fn clone_weak(&self, place: Place) {
        self.recount("makes a weak sender of", place, |s| s.weak += 1);
    }

    /// One less of those that do not count.
    pub fn drop_weak(&self, place: Place) {
        self.recount("drops a weak sender of", place, |s| s.weak -= 1);
    }

    /// One less. An event where [that has to be one](stands_out).
    pub fn drop_one(&self, place: Place) {
        if is_over() || !self.state.is_mine() {
            return;
        }
        let watched = self.object.part(self.kind.watched);
        if stands_out(watched, &[self.part()]) {
            event(Action::new(self.kind.drops, self.object, place));
            if is_over() {
                return;
            }
            contributes(watched, self.part());
        } else {
            enables_aside(watched);
        }
        let before = before_this();
        self.state.with(|s| {
            s.strong -= 1;
            before.iter().for_each(|&cause| s.drops.push(cause));
        });
    }

    /// Whether a weak one could be made a real one. An event.
    pub fn upgrade(&self, place: Place) -> bool {
        event(Action::new("upgrades a weak sender of", self.object, place));
        write(self.part());
        self.state.with(|s| {
            let any = s.strong > 0;
            s.strong += usize::from(any);
            any
        })
    }

    fn look(&self, place: Place) {
        learn(self.counted());
        event(Action::new("looks at", self.object, place));
        read(self.part());
        read(self.counted());
    }

    /// How many there are. An event.
    pub fn strong_count(&self, place: Place) -> usize {
        self.look(place);
        self.left()
    }

    /// How many there are that do not count. An event.
    pub fn weak_count(&self, place: Place) -> usize {
        self.look(place);
        self.state.with(|s| s.weak)
    }

    /// Whether there are none any more. An event.
    pub fn are_gone(&self, place: Place) -> bool {
        event(Action::new("looks at", self.object, place));
        read(self.part());
        self.left() == 0
    }

    /// As [`crate::Source::ready`], for the wait for all to be gone.
    pub fn gone(&self) -> Option<Ready> {
        self.state.with(|s| {
            let since = newest(&s.drops).unwrap_or(Ready::ALWAYS);
            (s.strong == 0).then(|| Ready { since, item: self.part() })
        })
    }

    /// As [`crate::Source::causes`], for the same wait.
    pub fn causes(&self, out: &mut Vec<u32>) {
        self.state.with(|s| out.extend_from_slice(&s.drops));
    }
}
