//! Waiting: the waits of a blocked task, and the way they complete.
//!
//! A future that can wait (a receive, a lock, a join) holds a [`Leaf`]. Polled without a grant, the leaf only
//! registers a wait and stays pending, even if its object is ready. A task is enabled if and only if one of its
//! registered waits is ready. Scheduling the task picks one of these, grants it and polls again. So a receive is an
//! event when it takes an item, and never when it finds none.

use crate::events;
use crate::execution::{self, CLOCK, Execution, NONE, Select};
use crate::object::Action;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use whippet_model::{Name, Touch};

/// The reason for the readiness of a wait.
#[derive(Copy, Clone, Debug)]
pub struct Ready {
    /// The step that made the wait ready, or [`Ready::ALWAYS`].
    pub since: u32,
    /// The object that this step wrote: one item of a queue, the end of a task.
    pub item: Name,
}

impl Ready {
    /// Sentinel for [`Ready::since`]: ready before the first step.
    pub const ALWAYS: u32 = NONE;
}

/// The objects whose readers could observe that a wait completes.
#[derive(Copy, Clone, Debug)]
pub struct Unseen {
    /// The object that waiters watch.
    pub watched: Name,
    /// The object that the completion makes free for other tasks, if any.
    pub freed: Option<Name>,
}

/// An object that tasks wait for. `key` identifies one of its waits; its meaning is up to the source.
pub trait Source: Send + Sync {
    /// Returns the reason if the wait can complete now. A wait that is ready stays ready until it completes, or until
    /// a step [`recalls`](crate::recalls) it.
    fn ready(&self, key: u64) -> Option<Ready>;

    /// Appends the objects that other tasks write when they complete the wait, the main one first.
    fn watched(&self, key: u64, out: &mut SmallVec<[Name; 2]>);

    /// Returns the objects whose readers could observe the completion of the wait. As long as no other task accesses
    /// these, the completion can be merged, because an item that is ready stays until the waiter has taken it.
    /// Returns `None` if the completion always needs its own event.
    fn unseen(&self, key: u64) -> Option<Unseen> {
        let _ = key;
        None
    }

    /// Returns `true` if the wait completes for a reason that need not have come first: another step could have
    /// completed it before, with another result. The resumed step is then in a race with the reason instead of being
    /// caused by it.
    fn is_contested(&self, key: u64) -> bool {
        let _ = key;
        false
    }

    /// Appends the steps without which the wait would not be ready.
    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        if let Some(ready) = self.ready(key)
            && ready.since != NONE
        {
            out.push(ready.since);
        }
    }
}

/// The target of a wait.
#[derive(Clone)]
pub enum On {
    /// An object that tasks share, and a key.
    Source(Arc<dyn Source>, u64),
    /// A point in time, in nanoseconds since the execution began.
    Timer(u64),
    /// No target: the task only yields to others.
    Yield,
}

impl On {
    /// Creates the wait for a source that may hold values with borrows. A wait is removed when its future is dropped,
    /// which happens before the borrow ends.
    pub fn of<'a, S: Source + 'a>(source: &Arc<S>, key: u64) -> On {
        let source: Arc<dyn Source + 'a> = source.clone();
        // SAFETY: the source is not used after the wait is removed, see above.
        On::Source(unsafe { std::mem::transmute::<Arc<dyn Source + 'a>, Arc<dyn Source + 'static>>(source) }, key)
    }
}

impl On {
    /// Returns `true` if the wait completes for a reason that need not have come first: see [`Source::is_contested`].
    pub(crate) fn is_contested(&self) -> bool {
        matches!(self, On::Source(source, key) if source.is_contested(*key))
    }
}

impl fmt::Debug for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            On::Source(_, key) => write!(f, "source {key}"),
            On::Timer(at) => write!(f, "timer {at}"),
            On::Yield => f.write_str("yield"),
        }
    }
}

/// One registered wait of a task.
pub(crate) struct Wait {
    pub(crate) id: u32,
    /// Grows with every poll of a leaf: the order in which the task's futures were polled.
    pub(crate) order: u32,
    /// The task's poll in which it was registered last.
    pub(crate) poll: u32,
    pub(crate) on: On,
    pub(crate) action: Action,
    /// The waker of a future between the task and the leaf that polls only woken children.
    pub(crate) foreign: Option<Waker>,
    /// The unbiased `select!`s around it and their branches.
    pub(crate) path: Select,
    /// Found not ready in the current poll, in an earlier step or together with the event that registered it.
    pub(crate) looked: bool,
    /// Set for a timer that its task has registered: it may fire before any other step.
    pub(crate) armed: bool,
    /// Really checked when it was last polled, and found not ready: see [`Execution::is_exact`].
    pub(crate) exact: bool,
    /// Registered by a select or join whose polls are exact.
    pub(crate) strict: bool,
}

/// The handle of a waiting future to its registered wait.
#[derive(Debug, Default)]
pub struct Leaf {
    execution: u64,
    task: u32,
    id: u32,
}

impl Leaf {
    /// Creates a leaf without a wait.
    #[must_use]
    pub const fn new() -> Leaf {
        Leaf { execution: 0, task: 0, id: 0 }
    }

    /// Registers the wait that `wait` returns, whose completion is the event described by the action. `Ready` means
    /// that the wait is granted: the caller takes the item now, in this event. A registered leaf ignores new targets;
    /// call [`forget`](Leaf::forget) first.
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>, wait: impl FnOnce() -> (On, Action)) -> Poll<()> {
        if self.id != 0
            && let Some(answer) = self.poll_again(cx)
        {
            return answer;
        }
        let (on, action) = wait();
        self.wait(cx, on, action)
    }

    /// Polls a leaf that is registered. Returns `None` if its wait is gone.
    fn poll_again(&mut self, cx: &Context<'_>) -> Option<Poll<()>> {
        let mut x = execution::running().filter(|x| !x.muted && self.is_of(x))?;
        let task = x.task();
        if task.grant == self.id {
            task.grant = 0;
            task.drop_wait(self.id);
            self.id = 0;
            x.attach_probes();
            x.mark_dirty();
            return Some(Poll::Ready(()));
        }
        let at = task.waits.iter().position(|wait| wait.id == self.id)?;
        if x.looks_apart() && !matches!(x.task().waits[at].on, On::Yield) {
            events::event(x.task().waits[at].action);
            x = execution::running().filter(|x| !x.muted)?;
            x.task().acted = false;
        }
        let at = x.task().waits.iter().position(|wait| wait.id == self.id)?;
        if x.is_exact() && self.is_there(x, at, true) {
            return Some(Poll::Ready(()));
        }
        x.order += 1;
        let order = x.order;
        let exact = x.is_exact();
        let task = x.task();
        let foreign = task.foreign(cx);
        let (poll, repeated, strict) = (task.poll, task.repeated, task.composite > 0);
        let wait = &mut task.waits[at];
        (wait.order, wait.poll, wait.foreign) = (order, poll, foreign);
        // This is a new check, unless the poll only repeats the previous one.
        wait.looked &= repeated;
        wait.exact = exact || wait.exact && repeated;
        wait.strict = strict;
        x.registers(at);
        x.probe(at);
        Some(Poll::Pending)
    }

    /// Returns `true` if the leaf was last polled by the running task.
    fn is_of(&self, x: &Execution) -> bool {
        self.execution == x.id && self.task == x.running
    }

    #[inline(never)]
    fn wait(&mut self, cx: &Context<'_>, on: On, action: Action) -> Poll<()> {
        let Some(mut x) = execution::running() else {
            return match on {
                On::Source(source, key) if source.ready(key).is_none() => Poll::Pending,
                On::Source(..) | On::Yield => Poll::Ready(()),
                On::Timer(_) => Poll::Pending,
            };
        };
        if x.muted {
            return Poll::Pending;
        }
        let apart = x.looks_apart() && x.is_beside_others();
        if matches!(on, On::Source(..)) && x.deep || !matches!(on, On::Yield) && apart {
            events::event(action);
            let Some(again) = execution::running().filter(|x| !x.muted) else { return Poll::Pending };
            x = again;
            x.task().acted = false;
        }
        self.forget();
        x.order += 1;
        x.last_wait += 1;
        (self.execution, self.task, self.id) = (x.id, x.running, x.last_wait);
        let exact = x.is_exact() && x.is_beside_others();
        let (id, order) = (x.last_wait, x.order);
        let deep = x.deep;
        let task = x.task();
        let (poll, path, foreign, strict) = (task.poll, task.path, task.foreign(cx), task.composite > 0);
        let at = task.waits.len();
        let asked = std::mem::take(&mut task.asks);
        if asked.is_some() {
            execution::looks(&on, |touch| task.asked_looks.push(touch));
        }
        let looked = asked == Some(false);
        task.waits.push(Wait { id, order, poll, on, action, foreign, path, looked, armed: false, exact, strict });
        if (exact || deep) && self.is_there(x, at, false) {
            return Poll::Ready(());
        }
        x.registers(at);
        x.probe(at);
        Poll::Pending
    }

    /// Returns `true`, and removes the wait, if it is ready: futures that are polled after this leaf must not act
    /// then.
    fn is_there(&mut self, x: &mut Execution, at: usize, again: bool) -> bool {
        let wait = &x.task().waits[at];
        let (on, action) = (wait.on.clone(), wait.action);
        match on {
            // A task that has yielded continues with its next poll.
            On::Yield => {}
            On::Timer(_) => x.touch(Touch::read(CLOCK)),
            On::Source(..) => x.look_at(&on),
        }
        let found = if matches!(on, On::Yield) { again } else { x.finds_ready(&on) };
        if found {
            x.instead_of_begin(action);
            self.forget();
            x.mark_dirty();
            x.task().acted |= matches!(on, On::Source(..));
        }
        found
    }

    /// Removes the wait.
    pub fn forget(&mut self) {
        if self.id != 0
            && let Some(x) = execution::current()
            && x.id == self.execution
            && let Some(task) = x.tasks.get_mut(self.task as usize)
        {
            task.drop_wait(self.id);
        }
        self.id = 0;
    }
}

impl Drop for Leaf {
    #[inline]
    fn drop(&mut self) {
        if self.id != 0 {
            self.forget();
        }
    }
}
