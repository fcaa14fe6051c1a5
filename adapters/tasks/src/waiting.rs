//! Waiting: what a suspended task is waiting for, and how it is let through.
//!
//! A future that can wait (a receive, a lock, a join) holds a [`Leaf`]. Polled without a grant it only
//! registers and stays pending, however ready it may be; the task is enabled iff something it registered is
//! ready; scheduling the task picks one of those, grants it and polls again. So a receive is an event when it
//! takes something, and never when it looks in vain.

use crate::events;
use crate::execution::{self, CLOCK, Execution, NONE, Select};
use crate::object::Action;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use whippet_model::{Name, Touch};

/// Why something is ready.
#[derive(Copy, Clone, Debug)]
pub struct Ready {
    /// The step that made it so, or [`Ready::ALWAYS`].
    pub since: u32,
    /// What that step wrote: one item of a queue, an end.
    pub item: Name,
}

impl Ready {
    /// Ready before the first step.
    pub const ALWAYS: u32 = NONE;
}

/// What those look at who could tell when a wait ends.
#[derive(Copy, Clone, Debug)]
pub struct Unseen {
    /// What is watched by who waits.
    pub watched: Name,
    /// What is made free for others.
    pub freed: Option<Name>,
}

/// Something that tasks wait for. `key` says which wait of it is meant: its meaning is the source's own.
pub trait Source: Send + Sync {
    /// Whether the wait can end now. Once it can, it can until it has ended, or until a step [`recalls`](crate::recalls)
    /// something.
    fn ready(&self, key: u64) -> Option<Ready>;

    /// Appends what others write when they end the wait, the main thing first.
    fn watched(&self, key: u64, out: &mut SmallVec<[Name; 2]>);

    /// Whether nobody can tell when the wait ends, as long as nobody looks at certain things: what can be taken stays until
    /// the one who waits has taken it.
    fn unseen(&self, key: u64) -> Option<Unseen> {
        let _ = key;
        None
    }

    /// Returns `true` if the wait ends for a reason that need not have come first: another step could have ended it
    /// before, with another result. The step that goes on then races with the reason instead of being caused by it.
    fn is_contested(&self, key: u64) -> bool {
        let _ = key;
        false
    }

    /// Appends the steps without which it would not be ready.
    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        if let Some(ready) = self.ready(key)
            && ready.since != NONE
        {
            out.push(ready.since);
        }
    }
}

/// What a leaf waits for.
#[derive(Clone)]
pub enum On {
    /// Something that tasks share.
    Source(Arc<dyn Source>, u64),
    /// A time, in nanoseconds since the execution began.
    Timer(u64),
    /// Nothing: the task only lets others go first.
    Yield,
}

impl On {
    /// The wait for something that may hold values which borrow. A wait is forgotten when its future is dropped, which is
    /// before that borrow ends.
    pub fn of<'a, S: Source + 'a>(source: &Arc<S>, key: u64) -> On {
        let source: Arc<dyn Source + 'a> = source.clone();
        // Nobody uses it after the wait, see above.
        On::Source(unsafe { std::mem::transmute::<Arc<dyn Source + 'a>, Arc<dyn Source + 'static>>(source) }, key)
    }
}

impl On {
    /// Returns `true` if the wait ends for a reason that need not have come first: see [`Source::is_contested`].
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
    /// Grows with every poll of a leaf: the order in which the task's futures were asked.
    pub(crate) order: u32,
    /// The task's poll in which it was registered last.
    pub(crate) poll: u32,
    pub(crate) on: On,
    pub(crate) action: Action,
    /// The waker of a future between the task and the leaf, which polls only what was woken.
    pub(crate) foreign: Option<Waker>,
    /// The unbiased `select!`s around it and their branches.
    pub(crate) path: Select,
    /// Found not ready in the current poll, in an earlier step or together with the event that registered it.
    pub(crate) looked: bool,
    /// A timer that its task has waited for: it may fire before anything else happens.
    pub(crate) armed: bool,
}

/// The place of a waiting future in its task.
#[derive(Debug, Default)]
pub struct Leaf {
    execution: u64,
    task: u32,
    id: u32,
}

impl Leaf {
    /// A leaf that waits for nothing yet.
    #[must_use]
    pub const fn new() -> Leaf {
        Leaf { execution: 0, task: 0, id: 0 }
    }

    /// Waits for what `wait` says, which is an event as the action tells. `Ready` means: take it now, this is the event.
    /// A leaf that waits already is not told again: whoever waits for something else has it [forget](Leaf::forget) first.
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

    /// The answer where it waits already.
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
        if x.looks_apart() {
            events::event(x.task().waits[at].action);
            x = execution::running().filter(|x| !x.muted)?;
            x.task().acted = false;
        }
        if x.task().composite > 0 && self.is_there(x, at) {
            return Some(Poll::Ready(()));
        }
        x.order += 1;
        let order = x.order;
        let task = x.task();
        let foreign = task.foreign(cx);
        let (poll, repeated) = (task.poll, task.repeated);
        let wait = &mut task.waits[at];
        (wait.order, wait.poll, wait.foreign) = (order, poll, foreign);
        // This is a new look, unless the poll only repeats the one before.
        wait.looked &= repeated;
        x.probe(at);
        Some(Poll::Pending)
    }

    /// Whether it was last polled by the task that is running.
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
        if matches!(on, On::Source(..)) && x.deep || !matches!(on, On::Yield) && x.looks_apart() {
            events::event(action);
            let Some(again) = execution::running().filter(|x| !x.muted) else { return Poll::Pending };
            x = again;
            x.task().acted = false;
        }
        self.forget();
        x.order += 1;
        x.last_wait += 1;
        (self.execution, self.task, self.id) = (x.id, x.running, x.last_wait);
        let (id, order, deep) = (x.last_wait, x.order, x.deep);
        let task = x.task();
        let (poll, path, foreign) = (task.poll, task.path, task.foreign(cx));
        let at = task.waits.len();
        let asked = std::mem::take(&mut task.asks);
        if asked.is_some() {
            execution::looks(&on, |touch| task.asked_looks.push(touch));
        }
        let looked = asked == Some(false);
        task.waits.push(Wait { id, order, poll, on, action, foreign, path, looked, armed: false });
        if (task.composite > 0 || deep) && self.is_there(x, at) {
            return Poll::Ready(());
        }
        x.probe(at);
        Poll::Pending
    }

    /// What is polled after this leaf must not act when this one is ready: whether it is. Then it waits no more.
    fn is_there(&mut self, x: &mut Execution, at: usize) -> bool {
        let wait = &x.task().waits[at];
        let (on, action) = (wait.on.clone(), wait.action);
        match on {
            On::Yield => return false,
            On::Timer(_) => x.touch(Touch::read(CLOCK)),
            On::Source(..) => x.look_at(&on),
        }
        let found = x.finds_ready(&on);
        if found {
            x.instead_of_begin(action);
            self.forget();
            x.mark_dirty();
        }
        found
    }

    /// Waits no more.
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
