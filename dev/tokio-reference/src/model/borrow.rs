//! Which handles a task holds, and which of them leaves have borrowed.

use super::state::{Handle, Interval};
use super::step::{Step, has};
use crate::handles::Side;
use crate::program::{Leaf, Object, ObjectId, TaskId};

impl Step<'_> {
    /// Borrows the handle that a leaf needs. Returns false if it is not there, or borrowed by another branch.
    pub(super) fn borrow(&mut self, leaf: &Leaf) -> bool {
        if !leaf.fits(&self.context.program.objects) {
            return false;
        }
        let handle = match (leaf, leaf.side()) {
            (_, Some(Side::Sender(object))) => Handle::Sender(object),
            (_, Some(Side::Receiver(object))) => Handle::Receiver(object),
            (Leaf::Armed(object), _) => Handle::Armed(*object),
            (Leaf::Join(task), _) => Handle::Join(*task),
            (Leaf::JoinNext, _) => Handle::Set,
            (Leaf::Tick(_), _) => Handle::Interval,
            _ => return true,
        };
        let available = match handle {
            Handle::Sender(object) => self.has_sender(object),
            Handle::Receiver(object) => self.has_receiver(object),
            Handle::Armed(object) => self.has_armed(object),
            Handle::Join(task) => self.has_join_handle(task),
            Handle::Set => self.has_set(),
            Handle::Interval => !self.is_borrowed(Handle::Interval),
        };
        if !available {
            return false;
        }
        if let Leaf::Tick(period) = *leaf {
            let deadline = self.state.clock;
            self.hands().interval.get_or_insert(Interval { deadline, period });
        }
        let branch = self.branch;
        self.hands().borrowed.push((branch, handle));
        true
    }

    /// Gives back what the current branch has borrowed.
    pub(super) fn give_back(&mut self) {
        let branch = self.branch;
        if self.state.tasks[self.task].hands.borrowed.iter().any(|borrowed| borrowed.0 == branch) {
            self.hands().borrowed.retain(|borrowed| borrowed.0 != branch);
        }
    }

    /// Tells if the task has this sender to use. Only the sender of a oneshot is used exclusively.
    pub(super) fn has_sender(&self, object: ObjectId) -> bool {
        let is_exclusive = self.context.program.objects[object] == Object::Oneshot;
        has(self.held().senders, object) && !(is_exclusive && self.is_borrowed(Handle::Sender(object)))
    }

    /// Tells if the task has this sender and no branch uses it.
    pub(super) fn can_drop_sender(&self, object: ObjectId) -> bool {
        has(self.held().senders, object) && !self.is_borrowed(Handle::Sender(object))
    }

    pub(super) fn has_receiver(&self, object: ObjectId) -> bool {
        has(self.held().receivers, object) && !self.is_borrowed(Handle::Receiver(object))
    }

    pub(super) fn has_armed(&self, object: ObjectId) -> bool {
        self.held().armed.iter().any(|armed| armed.0 == object) && !self.is_borrowed(Handle::Armed(object))
    }

    pub(super) fn has_join_handle(&self, task: TaskId) -> bool {
        has(self.held().join_handles, task) && !self.is_borrowed(Handle::Join(task))
    }

    pub(super) fn has_set(&self) -> bool {
        self.held().set.is_some() && !self.is_borrowed(Handle::Set)
    }

    pub(super) fn is_borrowed(&self, handle: Handle) -> bool {
        self.held().borrowed.iter().any(|borrowed| borrowed.1 == handle)
    }

    fn held(&self) -> &super::state::Hands {
        &self.state.tasks[self.task].hands
    }
}
