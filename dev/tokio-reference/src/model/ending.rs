//! The drops at the end of a task, and the drops of channel handles.

use super::objects::Shared;
use super::state::{ARMED, LeafState, OpStage, Phase, Status};
use super::step::{Pause, Step, has};
use crate::outcome::End;
use crate::program::ObjectId;

impl Step<'_> {
    /// Drops the next thing that an ending task holds, or ends it.
    pub(super) fn end(&mut self, end: End) -> Pause {
        if let Phase::Operation(stage) = self.state.tasks[self.task].phase.clone() {
            return self.go_on_dropping(stage);
        }
        if self.drop_leaves() || self.drop_armed() {
            return Pause::Always;
        }
        if let Some(pause) = self.drop_guard() {
            return pause;
        }
        for object in 0..self.state.objects.len() {
            if let Some(pause) = self.drop_handles(object) {
                return pause;
            }
        }
        if let Some(set) = self.hands().set.take() {
            let members = Self::members(&set);
            if !members.is_empty() {
                return self.go_on_dropping(OpStage::Abort(members));
            }
        }
        self.complete(end)
    }

    /// Goes on with a drop that takes several steps.
    fn go_on_dropping(&mut self, stage: OpStage) -> Pause {
        let stage = match stage {
            OpStage::Abort(mut members) => {
                let task = members.remove(0);
                self.abort(task);
                (!members.is_empty()).then_some(OpStage::Abort(members))
            }
            OpStage::Drain => {
                let object = self.next_receiver().expect("its drop has begun");
                self.mpsc(object).drain();
                self.hands().receivers &= !(1 << object);
                None
            }
            OpStage::DropSender(_) => {
                let guard = self.hands().guards.remove(0);
                self.mpsc(guard.object).senders -= 1;
                None
            }
            _ => unreachable!("not a stage of a drop"),
        };
        let pause = if stage.is_some() { Pause::Fine } else { Pause::Always };
        self.state.task(self.task).phase = stage.map_or(Phase::Between, Phase::Operation);
        pause
    }

    /// Drops the leaves of the current operation, in branch order, up to one whose drop others can notice.
    fn drop_leaves(&mut self) -> bool {
        let task = self.task;
        for branch in 0..self.state.tasks[task].leaves.len() {
            if self.drop_branch(branch) {
                return true;
            }
        }
        let state = self.state.task(task);
        state.leaves.clear();
        state.texts.clear();
        state.phase = Phase::Between;
        false
    }

    /// Drops the leaf of a branch. Returns true if others can notice.
    pub(super) fn drop_branch(&mut self, branch: usize) -> bool {
        if self.state.tasks[self.task].leaves[branch] == LeafState::Done {
            return false;
        }
        self.branch = branch as u8;
        let leaf = &self.context.op(self.task, self.state.tasks[self.task].next).leaves()[branch];
        let mut state = std::mem::replace(&mut self.state.task(self.task).leaves[branch], LeafState::Done);
        let effect = self.drop_leaf(leaf, &mut state);
        self.give_back();
        effect
    }

    fn drop_armed(&mut self) -> bool {
        let key = (self.task as u8, ARMED);
        while !self.state.tasks[self.task].hands.armed.is_empty() {
            let (object, future) = self.hands().armed.remove(0);
            if self.notify(object).leave(key, future) {
                return true;
            }
        }
        false
    }

    fn drop_guard(&mut self) -> Option<Pause> {
        let guard = *self.state.tasks[self.task].hands.guards.first()?;
        self.semaphore(guard.object).add(guard.permits);
        if matches!(*self.state.objects[guard.object], Shared::Mpsc(_)) {
            self.state.task(self.task).phase = Phase::Operation(OpStage::DropSender(None));
            return Some(Pause::Fine);
        }
        self.hands().guards.remove(0);
        Some(Pause::Always)
    }

    fn next_receiver(&self) -> Option<ObjectId> {
        let receivers = self.state.tasks[self.task].hands.receivers;
        (receivers != 0).then(|| receivers.trailing_zeros() as usize)
    }

    /// Drops the receiver or the sender of an object, if others can notice it.
    fn drop_handles(&mut self, object: ObjectId) -> Option<Pause> {
        if has(self.state.tasks[self.task].hands.receivers, object) {
            let effect = self.begin_to_drop_receiver(object);
            if matches!(*self.state.objects[object], Shared::Mpsc(_)) {
                self.hands().receivers |= 1 << object;
                if effect {
                    self.state.task(self.task).phase = Phase::Operation(OpStage::Drain);
                    return Some(Pause::Fine);
                }
                self.hands().receivers &= !(1 << object);
                self.mpsc(object).drain();
            }
            if effect {
                return Some(Pause::Always);
            }
        }
        if has(self.state.tasks[self.task].hands.senders, object) && self.drop_sender(object) {
            return Some(Pause::Always);
        }
        None
    }

    /// Drops a receiver; an `mpsc` channel is closed and has to be drained afterwards. Returns true if others can notice.
    ///
    /// `mpsc::Receiver`, `oneshot::Receiver` docs: dropping the receiver closes the channel.
    pub(super) fn begin_to_drop_receiver(&mut self, object: ObjectId) -> bool {
        self.hands().receivers &= !(1 << object);
        self.hands().seen[object] = 0;
        match self.state.object(object) {
            Shared::Mpsc(channel) => {
                channel.semaphore.close();
                channel.senders > 0
            }
            Shared::Oneshot(channel) => {
                channel.closed = true;
                channel.value = None;
                channel.receiver = false;
                channel.sender
            }
            Shared::Broadcast(channel) => {
                channel.receivers -= 1;
                channel.senders > 0
            }
            Shared::Watch(channel) => {
                channel.receivers -= 1;
                channel.senders > 0
            }
            _ => unreachable!("not a channel"),
        }
    }

    /// Drops a sender. Returns true if others can notice.
    ///
    /// `mpsc::Receiver::recv`, `broadcast` and `watch` docs: a channel is closed for its receivers when all senders are
    /// dropped. `oneshot::Receiver` docs: an error if the sender is dropped without sending.
    pub(super) fn drop_sender(&mut self, object: ObjectId) -> bool {
        self.hands().senders &= !(1 << object);
        let has_weak = self.context.weak[object];
        match self.state.object(object) {
            Shared::Mpsc(channel) => {
                channel.senders -= 1;
                channel.receiver || has_weak
            }
            Shared::Oneshot(channel) => {
                channel.complete(None);
                channel.receiver
            }
            Shared::Broadcast(channel) => {
                channel.senders -= 1;
                channel.receivers > 0
            }
            Shared::Watch(channel) => {
                channel.senders -= 1;
                channel.receivers > 0
            }
            _ => unreachable!("not a channel"),
        }
    }

    /// Ends the task for those that join it; its `JoinSet` is told afterwards.
    fn complete(&mut self, end: End) -> Pause {
        let observed = self.context.observed[self.task];
        let task = self.state.task(self.task);
        task.hands = super::state::Hands::default();
        task.aborted = false;
        task.next = 0;
        task.rotation = 0;
        task.status = if task.in_set_of.is_some() { Status::Leaving(end) } else { Status::Ended(end) };
        match (observed, task.in_set_of) {
            (_, Some(_)) => Pause::Fine,
            (true, None) => Pause::Always,
            (false, None) => Pause::Never,
        }
    }

    /// Tells the `JoinSet` that the task has ended.
    pub(super) fn tell_set(&mut self, end: End) -> Pause {
        let task = self.task;
        let parent = self.state.tasks[task].in_set_of.expect("only tasks of a set leave one");
        if let Some(set) = &mut self.state.task(parent).hands.set
            && set.members.contains(&task)
        {
            set.ended.push(task);
        }
        let state = self.state.task(task);
        state.status = Status::Ended(end);
        state.in_set_of = None;
        Pause::Always
    }
}
