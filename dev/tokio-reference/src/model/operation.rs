//! Operations that do not wait.

use super::channels::is_closed;
use super::objects::{Heard, READERS, Received, Shared};
use super::semaphore::Acquired;
use super::state::{ARMED, Guard, Handle, OpStage};
use super::step::{Executed, Pause, Step};
use crate::handles::Side;
use crate::program::{Object, ObjectId, Op, TaskId, Value};

impl Step<'_> {
    /// Executes an operation whose node has this number, or the next part of it.
    pub(super) fn execute(&mut self, op: &Op, number: Value, stage: &mut OpStage) -> Executed {
        if *stage == OpStage::Start && (op.waits() || !op.fits(&self.context.program.objects) || self.lacks(op)) {
            return self.nothing();
        }
        match *op {
            Op::SendNow(object) | Op::TrySend(object) => self.try_send(object, number, stage),
            Op::WeakSend(object) => self.weak_send(object, number, stage),
            Op::SendPermit(object) => self.send_permit(object, number, stage),
            Op::Release(object) => self.release(object, stage),
            Op::DropReceiver(object) => self.drop_receiver_in(object, stage),
            Op::Arm { object, enable } => self.arm(object, enable, stage),
            Op::AbortAll | Op::DropSet => self.abort_members(op, stage),
            Op::Spawn(task) | Op::SpawnIn(task) => self.spawn_by(op, task),
            Op::Panic => Executed::Panic,
            _ => {
                let text = self.execute_at_once(op, number);
                Executed::Done(text.map(|text| self.context.text(text)), Pause::Always)
            }
        }
    }

    /// Tells if the handle is missing that the operation needs.
    fn lacks(&self, op: &Op) -> bool {
        match (op, op.side()) {
            (Op::SendPermit(_), _) => false,
            (Op::DropSender(object), _) => !self.can_drop_sender(*object),
            (_, Some(Side::Sender(object))) => !self.has_sender(object),
            (_, Some(Side::Receiver(object))) => !self.has_receiver(object),
            (Op::Abort(task) | Op::IsFinished(task), _) => !self.has_join_handle(*task),
            (Op::SpawnIn(_) | Op::TryJoinNext | Op::AbortAll | Op::DropSet, _) => !self.has_set(),
            (Op::Arm { object, .. }, _) => self.is_borrowed(Handle::Armed(*object)),
            _ => false,
        }
    }

    fn nothing(&self) -> Executed {
        Executed::Done(Some(self.context.text("-")), Pause::Never)
    }

    fn done(&self, text: &str) -> Executed {
        Executed::Done(Some(self.context.text(text)), Pause::Always)
    }

    fn execute_at_once(&mut self, op: &Op, number: Value) -> Option<String> {
        let text = |text: &str| Some(text.to_owned());
        match *op {
            Op::TryRecv(object) => self.try_recv(object),
            Op::Close(object) => self.close(object),
            Op::DropSender(object) => {
                self.drop_sender(object);
                None
            }
            Op::Capacity(object) => Some(self.semaphore(object).permits.to_string()),
            Op::IsClosed(object) => Some(is_closed(&self.state.objects[object]).to_string()),
            Op::Len(object) => Some(self.len(object).to_string()),
            Op::Reply(object) => {
                self.hands().senders &= !(1 << object);
                text(if self.oneshot(object).complete(Some(number)) { "sent" } else { "gone" })
            }
            Op::Broadcast(object) => Some(self.send_broadcast(object, number)),
            Op::TryHear(object) => Some(match self.hear(object) {
                Heard::Value(value) => value.to_string(),
                Heard::Lagged(missed) => format!("lagged {missed}"),
                Heard::Closed => "closed".to_owned(),
                Heard::Empty => "empty".to_owned(),
            }),
            Op::Publish(object) => {
                // `watch::Sender::send_replace` docs: replaces the value and returns the old one, even without receivers.
                let watch = self.watch(object);
                watch.version += 1;
                Some(std::mem::replace(&mut watch.value, number).to_string())
            }
            Op::HasChanged(object) => Some(self.has_changed(object)),
            Op::Borrow(object) => Some(self.watch(object).value.to_string()),
            Op::Now => Some(self.state.clock.to_string()),
            Op::Abort(task) => {
                self.abort(task);
                None
            }
            Op::IsFinished(task) => Some(super::tasks::has_ended(self.state, task).to_string()),
            Op::TryJoinNext => Some(self.next_ended().unwrap_or("none".to_owned())),
            Op::Get(object) => Some(match *self.state.objects[object] {
                Shared::OnceCell(_, Some(value)) | Shared::SetOnce(Some(value)) => value.to_string(),
                _ => "unset".to_owned(),
            }),
            Op::Set(object) => text(self.set(object, number)),
            _ => self.synchronize(op, number),
        }
    }

    /// Executes an operation of a notify, a semaphore or a lock.
    fn synchronize(&mut self, op: &Op, number: Value) -> Option<String> {
        match *op {
            Op::NotifyOne(object) => self.notify(object).notify_one(),
            Op::NotifyWaiters(object) => self.notify(object).notify_waiters(),
            Op::TryAcquire(object, permits) => return Some(self.try_acquire(object, permits)),
            Op::AddPermits(object, permits) => self.semaphore(object).add(permits as u32),
            Op::ForgetPermits(object, permits) => {
                // `Semaphore::forget_permits` docs: reduces the permits by at most n, and returns by how many.
                let semaphore = self.semaphore(object);
                let forgotten = semaphore.permits.min(permits as u32);
                semaphore.permits -= forgotten;
                return Some(forgotten.to_string());
            }
            Op::Available(object) => return Some(self.semaphore(object).permits.to_string()),
            Op::CloseSemaphore(object) => self.semaphore(object).close(),
            Op::TryLock(object) => return Some(self.try_lock(object, 1, Some(number))),
            Op::TryRead(object) => return Some(self.try_lock(object, 1, None)),
            Op::TryWrite(object) => return Some(self.try_lock(object, READERS, Some(number))),
            // `SemaphorePermit::forget` docs: the permit is not returned to the semaphore.
            Op::ForgetGuard(object) => return self.take_guard(object).is_none().then(|| "-".to_owned()),
            _ => unreachable!("executed elsewhere"),
        }
        None
    }

    /// `try_send`, and `send` of an unbounded channel: a permit, then the message.
    ///
    /// `mpsc::Sender::try_send` docs: an error if the channel is full, or closed. `UnboundedSender::send` docs: an error
    /// if the receive half is closed.
    fn try_send(&mut self, object: ObjectId, number: Value, stage: &mut OpStage) -> Executed {
        if *stage == OpStage::Push {
            self.mpsc(object).queue.push(number);
            return self.done("sent");
        }
        match self.semaphore(object).try_acquire(1) {
            Acquired::Closed => self.done("closed"),
            Acquired::Waiting { .. } => self.done("full"),
            Acquired::Granted => {
                *stage = OpStage::Push;
                Executed::More
            }
        }
    }

    /// Upgrades a weak sender, sends, and drops the sender.
    ///
    /// `mpsc::WeakSender::upgrade` docs: returns a sender if there are other senders left.
    fn weak_send(&mut self, object: ObjectId, number: Value, stage: &mut OpStage) -> Executed {
        let text = match stage {
            OpStage::Start if self.mpsc(object).senders == 0 => return self.done("dead"),
            OpStage::Start => {
                self.mpsc(object).senders += 1;
                *stage = OpStage::Upgraded;
                return Executed::More;
            }
            OpStage::Upgraded => match self.semaphore(object).try_acquire(1) {
                Acquired::Closed => "closed",
                Acquired::Waiting { .. } => "full",
                Acquired::Granted => {
                    *stage = OpStage::UpgradedPush;
                    return Executed::More;
                }
            },
            OpStage::UpgradedPush => {
                self.mpsc(object).queue.push(number);
                "sent"
            }
            _ => return self.drop_last_sender(object, stage),
        };
        *stage = OpStage::DropSender(Some(self.context.text(text)));
        Executed::More
    }

    /// Drops the sender that comes with a permit or an upgrade.
    fn drop_last_sender(&mut self, object: ObjectId, stage: &mut OpStage) -> Executed {
        let OpStage::DropSender(text) = *stage else { unreachable!() };
        self.mpsc(object).senders -= 1;
        Executed::Done(text, Pause::Always)
    }

    /// Sends through an owned permit, which gives back a sender that is dropped.
    fn send_permit(&mut self, object: ObjectId, number: Value, stage: &mut OpStage) -> Executed {
        if *stage != OpStage::Start {
            return self.drop_last_sender(object, stage);
        }
        if self.take_guard(object).is_none() {
            return self.nothing();
        }
        self.mpsc(object).queue.push(number);
        *stage = OpStage::DropSender(Some(self.context.text("sent")));
        Executed::More
    }

    /// Drops the oldest guard of an object.
    fn release(&mut self, object: ObjectId, stage: &mut OpStage) -> Executed {
        if *stage != OpStage::Start {
            return self.drop_last_sender(object, stage);
        }
        let Some(guard) = self.take_guard(object) else { return self.nothing() };
        self.semaphore(object).add(guard.permits);
        if !matches!(*self.state.objects[object], Shared::Mpsc(_)) {
            return Executed::Done(None, Pause::Always);
        }
        *stage = OpStage::DropSender(None);
        Executed::More
    }

    pub(super) fn take_guard(&mut self, object: ObjectId) -> Option<Guard> {
        let guards = &mut self.hands().guards;
        let place = guards.iter().position(|guard| guard.object == object)?;
        Some(guards.remove(place))
    }

    fn drop_receiver_in(&mut self, object: ObjectId, stage: &mut OpStage) -> Executed {
        if *stage == OpStage::Start && matches!(*self.state.objects[object], Shared::Mpsc(_)) {
            self.begin_to_drop_receiver(object);
            *stage = OpStage::Drain;
            return Executed::More;
        }
        if *stage == OpStage::Start {
            self.begin_to_drop_receiver(object);
        } else {
            self.mpsc(object).drain();
        }
        Executed::Done(None, Pause::Always)
    }

    /// `JoinSet::abort_all` docs: aborts all tasks of the set, which stay in it. `JoinSet` docs: dropping it aborts all.
    fn abort_members(&mut self, op: &Op, stage: &mut OpStage) -> Executed {
        if *stage == OpStage::Start {
            let members = Self::members(self.hands().set.as_ref().expect("checked by `lacks`"));
            *stage = OpStage::Abort(members);
            if *op == Op::DropSet {
                self.hands().set = None;
            }
        }
        let OpStage::Abort(members) = stage else { unreachable!() };
        if !members.is_empty() {
            let task = members.remove(0);
            self.abort(task);
        }
        if members.is_empty() { Executed::Done(None, Pause::Always) } else { Executed::More }
    }

    fn spawn_by(&mut self, op: &Op, task: TaskId) -> Executed {
        if !self.spawn(task) {
            return self.nothing();
        }
        if matches!(op, Op::Spawn(_)) {
            self.hands().join_handles |= 1 << task;
        } else {
            let parent = self.task;
            self.state.task(task).in_set_of = Some(parent);
            self.hands().set.as_mut().expect("checked by `lacks`").members.push(task);
        }
        Executed::Done(None, Pause::Always)
    }

    fn try_recv(&mut self, object: ObjectId) -> Option<String> {
        let is_oneshot = self.context.program.objects[object] == Object::Oneshot;
        let received = if is_oneshot { self.oneshot(object).receive() } else { self.mpsc(object).receive() };
        if is_oneshot && !matches!(received, Received::Empty) {
            self.use_receiver_up(object);
        }
        Some(match received {
            Received::Value(value) => value.to_string(),
            Received::Disconnected => "disconnected".to_owned(),
            Received::Empty => "empty".to_owned(),
        })
    }

    /// `mpsc::Receiver::close`, `oneshot::Receiver::close` docs: prevents further sends.
    fn close(&mut self, object: ObjectId) -> Option<String> {
        match self.state.object(object) {
            Shared::Mpsc(channel) => channel.semaphore.close(),
            Shared::Oneshot(channel) => channel.closed = true,
            _ => unreachable!("checked by `fits`"),
        }
        None
    }

    /// `broadcast::Receiver::len` docs: the number of messages sent that this receiver has yet to receive.
    fn len(&mut self, object: ObjectId) -> usize {
        let seen = self.hands().seen[object] as usize;
        match &*self.state.objects[object] {
            Shared::Mpsc(channel) => channel.queue.len(),
            Shared::Broadcast(channel) => channel.sent.len() - seen,
            _ => unreachable!("checked by `fits`"),
        }
    }

    /// `broadcast::Sender::send` docs: returns the number of receivers, or an error without receivers.
    fn send_broadcast(&mut self, object: ObjectId, number: Value) -> String {
        let channel = self.broadcast(object);
        if channel.receivers == 0 {
            return "nobody".to_owned();
        }
        channel.sent.push(number);
        channel.receivers.to_string()
    }

    /// `watch::Receiver::has_changed` docs: an error if the channel has been closed, even if the newest value was not
    /// seen.
    fn has_changed(&mut self, object: ObjectId) -> String {
        let seen = self.hands().seen[object];
        let watch = self.watch(object);
        if watch.senders == 0 { "closed".to_owned() } else { (watch.version != seen).to_string() }
    }

    /// Arms a future: drops an earlier one, creates it, enables it.
    fn arm(&mut self, object: ObjectId, enable: bool, stage: &mut OpStage) -> Executed {
        let key = (self.task as u8, ARMED);
        let place = self.hands().armed.partition_point(|other| other.0 < object);
        let held = self.hands().armed.get(place).filter(|armed| armed.0 == object).copied();
        match (&stage, held) {
            (OpStage::Start, Some((_, earlier))) => {
                self.hands().armed.remove(place);
                self.notify(object).leave(key, earlier);
                *stage = OpStage::Create;
                Executed::More
            }
            (OpStage::Enable, Some((_, mut future))) => {
                let ready = self.notify(object).poll(key, &mut future);
                self.hands().armed[place].1 = future;
                Executed::Done(Some(self.context.text(ready.to_string())), Pause::Always)
            }
            _ => {
                let future = self.notify(object).create();
                self.hands().armed.insert(place, (object, future));
                *stage = OpStage::Enable;
                if enable { Executed::More } else { Executed::Done(None, Pause::Always) }
            }
        }
    }

    fn try_acquire(&mut self, object: ObjectId, permits: u32) -> String {
        match self.semaphore(object).try_acquire(permits) {
            Acquired::Closed => "closed".to_owned(),
            Acquired::Waiting { .. } => "none".to_owned(),
            Acquired::Granted => {
                self.hands().guards.push(Guard { object, permits });
                "acquired".to_owned()
            }
        }
    }

    /// `Mutex::try_lock`, `RwLock::try_read`, `RwLock::try_write` docs: an error if the lock cannot be acquired at once.
    fn try_lock(&mut self, object: ObjectId, permits: u32, push: Option<Value>) -> String {
        match self.semaphore(object).try_acquire(permits) {
            Acquired::Granted => self.locked(object, permits, push),
            _ => "busy".to_owned(),
        }
    }

    /// `OnceCell::set` docs: an error if it is initialised, or is being initialised by another call. `SetOnce::set`
    /// docs: an error if it is set.
    fn set(&mut self, object: ObjectId, value: Value) -> &'static str {
        match self.state.object(object) {
            Shared::OnceCell(_, Some(_)) | Shared::SetOnce(Some(_)) => "already",
            Shared::SetOnce(cell) => {
                *cell = Some(value);
                "set"
            }
            Shared::OnceCell(semaphore, cell) => match semaphore.try_acquire(1) {
                Acquired::Granted => {
                    *cell = Some(value);
                    semaphore.close();
                    "set"
                }
                _ => "initializing",
            },
            _ => unreachable!("checked by `fits`"),
        }
    }
}
