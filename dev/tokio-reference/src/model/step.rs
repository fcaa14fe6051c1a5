//! One step of one task.

use super::context::{Context, Text};
use super::objects::{Barrier, Broadcast, Mpsc, Oneshot, Shared, Watch};
use super::semaphore::Semaphore;
use super::state::{Hands, Key, State};
use crate::program::{ObjectId, TaskId};

/// The points at which other tasks may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// Others may come in: the step had, or may have had, an effect that they can notice.
    Always,
    /// Others may come in with fine granularity.
    Fine,
    /// The step touched nothing but its task's private state, so the next one follows at once.
    Never,
}

/// The result of polling a leaf.
pub(super) enum Poll {
    /// Pending; `effect` if others can notice that it was polled.
    Pending {
        effect: bool,
    },
    Ready(Text, Pause),
    /// The poll of the leaf goes on in another step.
    More(Pause),
    /// The step depends on a choice among this number of possibilities; nothing has happened yet.
    Choose(u8),
    Panic,
}

/// The result of executing an operation that does not wait.
pub(super) enum Executed {
    /// Done, with what it logs.
    Done(Option<Text>, Pause),
    /// Others may come in with fine granularity before it goes on.
    More,
    Panic,
}

/// A step of a task: all that it acts on.
pub(super) struct Step<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) state: &'a mut State,
    pub(super) task: TaskId,
    /// The branch that is polled.
    pub(super) branch: u8,
    /// The choice that was made for a step that returned [`Poll::Choose`].
    pub(super) choice: Option<u8>,
}

impl Step<'_> {
    pub(super) fn hands(&mut self) -> &mut Hands {
        &mut self.state.task(self.task).hands
    }

    pub(super) fn key(&self) -> Key {
        (self.task as u8, self.branch)
    }

    pub(super) fn ready(&self, text: &str) -> Poll {
        Poll::Ready(self.context.text(text), Pause::Always)
    }

    pub(super) fn ready_value(&self, value: u32) -> Poll {
        Poll::Ready(self.context.text(value.to_string()), Pause::Always)
    }

    pub(super) fn semaphore(&mut self, object: ObjectId) -> &mut Semaphore {
        self.state.object(object).semaphore()
    }

    pub(super) fn mpsc(&mut self, object: ObjectId) -> &mut Mpsc {
        match self.state.object(object) {
            Shared::Mpsc(channel) => channel,
            _ => unreachable!("checked by `fits`"),
        }
    }

    pub(super) fn oneshot(&mut self, object: ObjectId) -> &mut Oneshot {
        match self.state.object(object) {
            Shared::Oneshot(channel) => channel,
            _ => unreachable!("checked by `fits`"),
        }
    }

    pub(super) fn broadcast(&mut self, object: ObjectId) -> &mut Broadcast {
        match self.state.object(object) {
            Shared::Broadcast(channel) => channel,
            _ => unreachable!("checked by `fits`"),
        }
    }

    pub(super) fn watch(&mut self, object: ObjectId) -> &mut Watch {
        match self.state.object(object) {
            Shared::Watch(channel) => channel,
            _ => unreachable!("checked by `fits`"),
        }
    }

    pub(super) fn notify(&mut self, object: ObjectId) -> &mut super::notify::Notify {
        match self.state.object(object) {
            Shared::Notify(notify) => notify,
            _ => unreachable!("checked by `fits`"),
        }
    }

    pub(super) fn barrier(&mut self, object: ObjectId) -> &mut Barrier {
        match self.state.object(object) {
            Shared::Barrier(barrier) => barrier,
            _ => unreachable!("checked by `fits`"),
        }
    }
}

/// Tells if the bit is set.
pub(super) fn has(mask: u32, bit: usize) -> bool {
    mask & (1 << bit) != 0
}

/// Joins values by `+`.
pub(super) fn joined(values: &[u32]) -> String {
    if values.is_empty() {
        return "empty".to_owned();
    }
    values.iter().map(u32::to_string).collect::<Vec<_>>().join("+")
}
