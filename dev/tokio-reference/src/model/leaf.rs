//! Leaves: their creation, their polls, and their drops.

use super::Granularity;
use super::notify::Notified;
use super::objects::{READERS, Shared};
use super::semaphore::Acquired;
use super::state::{ARMED, Guard, LeafState, OpStage, State, Timer};
use super::step::{Executed, Pause, Poll, Step, joined};
use crate::program::{Leaf, ObjectId, Value};

/// The result of polling a timer.
enum Timed {
    Due,
    Waiting,
    Choose,
}

impl Step<'_> {
    /// Polls a leaf whose node has this number.
    pub(super) fn poll(&mut self, leaf: &Leaf, state: &mut LeafState, number: Value) -> Poll {
        if *state == LeafState::Refused {
            return Poll::Ready(self.context.text("-"), Pause::Never);
        }
        match leaf {
            Leaf::Recv(object) => self.poll_recv(*object),
            Leaf::RecvMany(object, limit) => self.poll_recv_many(*object, *limit),
            Leaf::Send(object) | Leaf::ReserveSend(object) => self.poll_send(*object, state, number),
            Leaf::Reserve(object) => self.poll_reserve(*object, state),
            Leaf::SendTimeout(object, ticks) => self.poll_limited_send(*object, *ticks, state, number),
            Leaf::Closed(object) => self.poll_closed(*object),
            Leaf::Answer(object) => self.poll_answer(*object),
            Leaf::Heard(object) => self.poll_heard(*object),
            Leaf::Changed(object) => self.poll_changed(*object, state),
            Leaf::Notified(object) => self.poll_notified(*object, state),
            Leaf::Armed(object) => self.poll_armed(*object),
            Leaf::Acquire(object, permits) => self.poll_acquire(*object, *permits, state),
            Leaf::Lock(object) => self.poll_lock(*object, 1, Some(number), state),
            Leaf::Read(object) => self.poll_lock(*object, 1, None, state),
            Leaf::Write(object) => self.poll_lock(*object, READERS, Some(number), state),
            Leaf::GetOrInit(object) => self.poll_init(*object, number, state),
            Leaf::WaitSet(object) => self.poll_wait_set(*object),
            Leaf::BarrierWait(object) => self.poll_barrier(*object, state),
            Leaf::Join(task) => self.poll_join(*task),
            Leaf::JoinNext => self.poll_join_next(),
            Leaf::Sleep(_) => self.poll_sleep(state),
            Leaf::Tick(_) => self.poll_tick(state),
            Leaf::Yield => self.poll_yield(state),
            Leaf::Now(op) => {
                let LeafState::Now(stage) = state else { unreachable!() };
                match self.execute(op, number + 1, stage) {
                    Executed::Done(text, pause) => Poll::Ready(text.unwrap_or(self.context.text("")), pause),
                    Executed::More => Poll::More(Pause::Fine),
                    Executed::Panic => Poll::Panic,
                }
            }
            Leaf::Then(op, leaf) => self.poll_then(op, leaf, number, state),
            Leaf::Within(_, leaf) => self.poll_within(leaf, number, state),
        }
    }

    /// Creates a leaf up to the next reading of the clock, from what was created of it before. Also returns whether the clock was
    /// read.
    pub(super) fn create_part(&mut self, leaf: &Leaf, begun: Option<LeafState>) -> (LeafState, bool) {
        // The timers around a leaf, the innermost first: a future is created before the `timeout` that gets it.
        let mut limits = Vec::new();
        let mut inner = leaf;
        while let Leaf::Within(ticks, leaf) = inner {
            limits.insert(0, *ticks);
            inner = leaf;
        }
        let (state, wrapped) = match begun {
            Some(LeafState::Creating { leaf, limits }) => (*leaf, limits as usize),
            _ => {
                let state = self.create(inner);
                if matches!(inner, Leaf::Sleep(_) | Leaf::Tick(_)) {
                    return (within(state, 0, limits.len()), true);
                }
                (state, 0)
            }
        };
        let Some(ticks) = limits.get(wrapped) else { return (state, false) };
        let timer = Timer { deadline: self.state.clock + ticks, registered: false };
        let state = LeafState::Within { timer, at_timer: false, leaf: Box::new(state) };
        (within(state, wrapped + 1, limits.len()), true)
    }

    /// Creates a leaf.
    pub(super) fn create(&mut self, leaf: &Leaf) -> LeafState {
        if !self.borrow(leaf) {
            return LeafState::Refused;
        }
        let clock = self.state.clock;
        match leaf {
            Leaf::Send(_)
            | Leaf::ReserveSend(_)
            | Leaf::Reserve(_)
            | Leaf::Acquire(..)
            | Leaf::Lock(_)
            | Leaf::Read(_)
            | Leaf::Write(_) => LeafState::Request { queued: false, granted: false },
            Leaf::SendTimeout(..) => {
                LeafState::LimitedSend { queued: false, granted: false, timer: None, at_timer: false }
            }
            Leaf::Changed(_) => LeafState::Changed { marked: false },
            Leaf::GetOrInit(_) => LeafState::Init { queued: false, initializing: false },
            Leaf::Notified(object) => LeafState::Notified(self.notify(*object).create()),
            // `time::sleep` and `time::timeout` docs: they wait until the duration has elapsed since the call.
            Leaf::Sleep(ticks) => LeafState::Sleep(Timer { deadline: clock + ticks, registered: false }),
            Leaf::Tick(_) => LeafState::Tick(false),
            Leaf::Yield => LeafState::Yield { yielded: false },
            Leaf::Now(_) => LeafState::Now(OpStage::Start),
            Leaf::Then(..) => LeafState::ThenOperation(OpStage::Start),
            Leaf::Within(ticks, leaf) => LeafState::Within {
                timer: Timer { deadline: clock + ticks, registered: false },
                at_timer: false,
                leaf: Box::new(self.create(leaf)),
            },
            _ => LeafState::Plain,
        }
    }

    /// Drops a leaf. Returns true if others can notice.
    pub(super) fn drop_leaf(&mut self, leaf: &Leaf, state: &mut LeafState) -> bool {
        let key = self.key();
        match (leaf, std::mem::replace(state, LeafState::Done)) {
            (Leaf::Then(_, leaf), LeafState::ThenLeaf(_, Some(mut inner))) => self.drop_leaf(leaf, &mut inner),
            (Leaf::Within(_, leaf), LeafState::Within { leaf: mut inner, .. }) => self.drop_leaf(leaf, &mut inner),
            (leaf, LeafState::Request { mut queued, .. } | LeafState::LimitedSend { mut queued, .. }) => {
                let object = leaf.object().expect("a request has an object");
                self.semaphore(object).leave(key, needed(leaf), &mut queued)
            }
            (Leaf::GetOrInit(object), LeafState::Init { mut queued, initializing }) => {
                // `OnceCell::get_or_init` docs: if the initialisation is cancelled, another task initialises the cell.
                if initializing {
                    self.semaphore(*object).add(1);
                }
                self.semaphore(*object).leave(key, 1, &mut queued) || initializing
            }
            (Leaf::Notified(object), LeafState::Notified(future)) => self.notify(*object).leave(key, future),
            _ => false,
        }
    }

    /// Returns `true` if a leaf that is created now would not have its handle. Changes nothing.
    fn is_refused(&mut self, leaf: &Leaf) -> bool {
        let before = self.state.clone();
        let is_refused = creation_is_private(leaf) && self.create(leaf) == LeafState::Refused;
        *self.state = before;
        is_refused
    }

    fn poll_then(&mut self, op: &crate::program::Op, leaf: &Leaf, number: Value, state: &mut LeafState) -> Poll {
        if let LeafState::ThenOperation(stage) = state {
            return match self.execute(op, number + 1, stage) {
                Executed::Done(text, pause) => {
                    *state = LeafState::ThenLeaf(text, None);
                    // A leaf whose handle is not there ends at once: it is part of the operation.
                    Poll::More(if self.is_refused(leaf) { Pause::Fine } else { pause })
                }
                Executed::More => Poll::More(Pause::Fine),
                Executed::Panic => Poll::Panic,
            };
        }
        let LeafState::ThenLeaf(text, inner) = state else { unreachable!() };
        let Some(inner) = inner else {
            *inner = Some(Box::new(self.create(leaf)));
            return Poll::More(if creation_is_private(leaf) { Pause::Never } else { Pause::Fine });
        };
        match (self.poll(leaf, inner, number + 1 + op.nodes()), *text) {
            (Poll::Ready(second, pause), Some(first)) => {
                let texts = format!("{},{}", self.context.string(first), self.context.string(second));
                Poll::Ready(self.context.text(texts), pause)
            }
            (poll, _) => poll,
        }
    }

    /// Polls a `timeout`.
    ///
    /// `time::timeout` docs: the future is polled before the timer, so a future that is ready at once completes no
    /// matter how short the time is.
    fn poll_within(&mut self, leaf: &Leaf, number: Value, state: &mut LeafState) -> Poll {
        let LeafState::Within { timer, at_timer, leaf: inner } = state else { unreachable!() };
        if !*at_timer {
            let poll = self.poll(leaf, inner, number + 1);
            let Poll::Pending { effect } = poll else { return poll };
            *at_timer = true;
            return Poll::More(if effect { Pause::Always } else { Pause::Fine });
        }
        match self.poll_timer(timer) {
            Timed::Choose => return Poll::Choose(2),
            Timed::Due => {}
            Timed::Waiting => {
                *at_timer = false;
                return Poll::Pending { effect: false };
            }
        }
        self.drop_leaf(leaf, inner);
        self.ready("elapsed")
    }

    /// Polls `send_timeout`: a `timeout` around `reserve`, then the message.
    fn poll_limited_send(&mut self, object: ObjectId, ticks: u64, state: &mut LeafState, number: Value) -> Poll {
        let clock = self.state.clock;
        let LeafState::LimitedSend { queued, granted, timer, at_timer } = state else { unreachable!() };
        let timer = timer.get_or_insert(Timer { deadline: clock + ticks, registered: false });
        if *granted {
            self.mpsc(object).queue.push(number);
            return self.ready("sent");
        }
        if !*at_timer {
            let key = self.key();
            match self.semaphore(object).poll(key, 1, queued) {
                Acquired::Closed => return self.ready("closed"),
                Acquired::Granted => {
                    *granted = true;
                    return Poll::More(Pause::Fine);
                }
                Acquired::Waiting { joined } => {
                    *at_timer = true;
                    return Poll::More(if joined { Pause::Always } else { Pause::Fine });
                }
            }
        }
        match self.poll_timer(timer) {
            Timed::Choose => return Poll::Choose(2),
            Timed::Due => {}
            Timed::Waiting => {
                *at_timer = false;
                return Poll::Pending { effect: false };
            }
        }
        let key = self.key();
        self.semaphore(object).leave(key, 1, queued);
        self.ready("timeout")
    }

    /// Polls a timer.
    ///
    /// A timer that is due may still be pending on a real clock ([`Granularity::RealClock`]): `time::sleep` docs
    /// say that it operates at millisecond granularity, and real timers are rounded up and fired by a driver.
    /// (`time::interval` docs promise that the first tick completes immediately, which the others take at their word.)
    fn poll_timer(&self, timer: &mut Timer) -> Timed {
        if self.state.clock < timer.deadline {
            timer.registered = true;
            return Timed::Waiting;
        }
        if self.context.granularity != Granularity::RealClock {
            return Timed::Due;
        }
        match self.choice {
            None => Timed::Choose,
            Some(0) => Timed::Due,
            Some(_) => {
                timer.registered = true;
                Timed::Waiting
            }
        }
    }

    fn poll_sleep(&mut self, state: &mut LeafState) -> Poll {
        let LeafState::Sleep(timer) = state else { unreachable!() };
        match self.poll_timer(timer) {
            Timed::Choose => Poll::Choose(2),
            Timed::Due => self.ready("slept"),
            Timed::Waiting => Poll::Pending { effect: false },
        }
    }

    /// Polls `tick()`.
    ///
    /// `time::interval` docs: the first tick completes immediately, and ticks that were missed are caught up with as
    /// fast as possible (`MissedTickBehavior::Burst`): each tick is due one period after the one before.
    fn poll_tick(&mut self, state: &mut LeafState) -> Poll {
        let LeafState::Tick(registered) = state else { unreachable!() };
        let mut interval = self.hands().interval.expect("created with the leaf");
        let mut timer = Timer { deadline: interval.deadline, registered: *registered };
        let timed = self.poll_timer(&mut timer);
        *registered = timer.registered;
        match timed {
            Timed::Choose => Poll::Choose(2),
            Timed::Waiting => Poll::Pending { effect: false },
            Timed::Due => {
                interval.deadline += interval.period;
                self.hands().interval = Some(interval);
                self.ready("tick")
            }
        }
    }

    /// Polls `yield_now`: `task::yield_now` docs: the task is put back into the queue once.
    fn poll_yield(&mut self, state: &mut LeafState) -> Poll {
        if *state == (LeafState::Yield { yielded: true }) {
            // Others may come in: a `select!` then drops its timers, so that the clock can move on.
            return self.ready("yielded");
        }
        *state = LeafState::Yield { yielded: true };
        Poll::Pending { effect: false }
    }

    fn poll_notified(&mut self, object: ObjectId, state: &mut LeafState) -> Poll {
        let LeafState::Notified(future) = state else { unreachable!() };
        let key = self.key();
        let joins = matches!(future, Notified::Created(_));
        if self.notify(object).poll(key, future) {
            return self.ready("notified");
        }
        Poll::Pending { effect: joins }
    }

    fn poll_armed(&mut self, object: ObjectId) -> Poll {
        let key = (self.task as u8, ARMED);
        let place = self.hands().armed.iter().position(|armed| armed.0 == object).expect("borrowed by the leaf");
        let mut future = self.hands().armed[place].1;
        let joins = matches!(future, Notified::Created(_));
        let ready = self.notify(object).poll(key, &mut future);
        if ready {
            self.hands().armed.remove(place);
            return self.ready("notified");
        }
        self.hands().armed[place].1 = future;
        Poll::Pending { effect: joins }
    }

    fn poll_acquire(&mut self, object: ObjectId, permits: u32, state: &mut LeafState) -> Poll {
        let LeafState::Request { queued, .. } = state else { unreachable!() };
        let key = self.key();
        match self.semaphore(object).poll(key, permits, queued) {
            Acquired::Closed => self.ready("closed"),
            Acquired::Waiting { joined } => Poll::Pending { effect: joined },
            Acquired::Granted => {
                self.hands().guards.push(Guard { object, permits });
                self.ready("acquired")
            }
        }
    }

    /// Polls a lock.
    ///
    /// `Mutex` docs: locks are given out in first-in-first-out order. `RwLock` docs: the lock is fair, a writer that
    /// waits keeps later readers waiting.
    fn poll_lock(&mut self, object: ObjectId, permits: u32, push: Option<Value>, state: &mut LeafState) -> Poll {
        let LeafState::Request { queued, .. } = state else { unreachable!() };
        let key = self.key();
        match self.semaphore(object).poll(key, permits, queued) {
            Acquired::Closed => unreachable!("a lock is never closed"),
            Acquired::Waiting { joined } => Poll::Pending { effect: joined },
            Acquired::Granted => {
                let content = self.locked(object, permits, push);
                self.ready(&content)
            }
        }
    }

    /// Pushes a value into a lock that was just acquired, keeps the guard, and returns the content.
    pub(super) fn locked(&mut self, object: ObjectId, permits: u32, push: Option<Value>) -> String {
        self.hands().guards.push(Guard { object, permits });
        let Shared::Lock(_, content) = self.state.object(object) else { unreachable!("checked by `fits`") };
        content.extend(push);
        joined(content)
    }

    /// Polls `get_or_init`.
    ///
    /// `OnceCell::get_or_init` docs: gets the value, or initialises it with the operation; while another task
    /// initialises, waits for it; if that is cancelled or panics, one of the waiting calls initialises.
    fn poll_init(&mut self, object: ObjectId, value: Value, state: &mut LeafState) -> Poll {
        let LeafState::Init { queued, initializing } = state else { unreachable!() };
        let key = self.key();
        let Shared::OnceCell(semaphore, cell) = self.state.object(object) else { unreachable!("checked by `fits`") };
        if *initializing {
            *initializing = false;
            *cell = Some(value);
            semaphore.close();
            return self.ready_value(value);
        }
        if let (Some(value), false) = (*cell, *queued) {
            return self.ready_value(value);
        }
        match semaphore.poll(key, 1, queued) {
            Acquired::Closed => {
                let value = cell.expect("the semaphore is closed when the value is set");
                self.ready_value(value)
            }
            Acquired::Waiting { joined } => Poll::Pending { effect: joined },
            Acquired::Granted => {
                *initializing = true;
                Poll::Pending { effect: true }
            }
        }
    }

    /// Polls `SetOnce::wait`, whose docs say: waits until the value is set.
    fn poll_wait_set(&mut self, object: ObjectId) -> Poll {
        match *self.state.objects[object] {
            Shared::SetOnce(Some(value)) => self.ready_value(value),
            _ => Poll::Pending { effect: false },
        }
    }

    fn poll_barrier(&mut self, object: ObjectId, state: &mut LeafState) -> Poll {
        let generation = self.barrier(object).generation;
        if let LeafState::Arrived { generation: arrived, just_now } = state {
            if generation > *arrived {
                return self.ready("follower");
            }
            return Poll::Pending { effect: std::mem::take(just_now) };
        }
        if self.barrier(object).arrive() {
            return self.ready("leader");
        }
        // The same poll goes on to wait for the leader, who may have come in between.
        *state = LeafState::Arrived { generation, just_now: true };
        Poll::More(Pause::Fine)
    }
}

/// Returns the number of permits that a leaf requests.
fn needed(leaf: &Leaf) -> u32 {
    match leaf {
        Leaf::Acquire(_, permits) => *permits,
        Leaf::Write(_) => READERS,
        _ => 1,
    }
}

/// Tells if creating a leaf looks at nothing that others change: neither the clock nor a `Notify`.
pub(super) fn creation_is_private(leaf: &Leaf) -> bool {
    !matches!(leaf, Leaf::Sleep(_) | Leaf::Tick(_) | Leaf::Within(..) | Leaf::Notified(_))
}

/// Tells if a pending leaf would be ready, or would at least go on, if it were polled again.
///
/// Real futures wake their tasks when this becomes true. In all these primitives it stays true until the task itself
/// acts, so wakeups need not be part of the state.
pub(super) fn is_ready(
    state: &State,
    task: usize,
    branch: u8,
    leaf: &Leaf,
    leaf_state: &LeafState,
    yields: bool,
) -> bool {
    let key = (task as u8, branch);
    let object = |object: ObjectId| &*state.objects[object];
    let due = |timer: &Timer| timer.registered && state.clock >= timer.deadline;
    match (leaf, leaf_state) {
        (_, LeafState::Done) => false,
        (_, LeafState::Yield { .. } | LeafState::Init { initializing: true, .. }) => yields,
        (_, LeafState::Sleep(timer)) => due(timer),
        (Leaf::Tick(_), LeafState::Tick(registered)) => {
            let interval = state.tasks[task].hands.interval.expect("created with the leaf");
            due(&Timer { deadline: interval.deadline, registered: *registered })
        }
        (Leaf::Then(_, leaf), LeafState::ThenLeaf(_, Some(inner))) => {
            is_ready(state, task, branch, leaf, inner, yields)
        }
        (Leaf::Within(_, leaf), LeafState::Within { timer, leaf: inner, .. }) => {
            due(timer) || is_ready(state, task, branch, leaf, inner, yields)
        }
        (Leaf::SendTimeout(id, _), LeafState::LimitedSend { timer, .. }) => {
            timer.is_some_and(|timer| due(&timer)) || object(*id).releases(key)
        }
        (Leaf::Notified(id), _) => matches!(object(*id), Shared::Notify(notify) if notify.is_notified(key)),
        (Leaf::Armed(id), _) => {
            matches!(object(*id), Shared::Notify(notify) if notify.is_notified((task as u8, ARMED)))
        }
        (Leaf::WaitSet(id), _) => matches!(object(*id), Shared::SetOnce(Some(_))),
        (Leaf::BarrierWait(id), LeafState::Arrived { generation, .. }) => {
            matches!(object(*id), Shared::Barrier(barrier) if barrier.generation > *generation)
        }
        (Leaf::Join(other), _) => super::tasks::has_ended(state, *other),
        (Leaf::JoinNext, _) => {
            state.tasks[task].hands.set.as_ref().is_some_and(|set| set.members.is_empty() || !set.ended.is_empty())
        }
        (_, LeafState::Request { .. } | LeafState::Init { .. }) => {
            object(leaf.object().expect("a request has an object")).releases(key)
        }
        _ => super::channels::is_ready(state, task, leaf),
    }
}

/// Returns the state of a leaf of whose `all` limits `limits` were created.
fn within(state: LeafState, limits: usize, all: usize) -> LeafState {
    if limits == all { state } else { LeafState::Creating { leaf: Box::new(state), limits: limits as u8 } }
}
