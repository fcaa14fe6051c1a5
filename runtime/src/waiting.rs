//! Waiting: the waits of a blocked task, and the way they complete.
//!
//! A future that can wait (a receive, a lock, a join) holds a [`Waiter`]. Polled without a grant, the waiter only
//! registers a wait and stays pending, even if its object is ready. A task is enabled if and only if one of its
//! registered waits is ready. Scheduling the task picks one of these, grants it and polls again. So a receive is an
//! event when it takes an item, and never when it finds none.

use crate::current::{with_current, with_facts, with_running};
use crate::events;
use crate::execution::{CLOCK, Execution, NONE};
use crate::hand_polls::ByHand;
use crate::object::Action;
use crate::outside;
use crate::readiness::looks;
use crate::task::{Polling, Removed, SelectPath};
use crate::waker;
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

    /// Returns the reason that came first.
    #[must_use]
    pub fn first(one: Option<Ready>, other: Option<Ready>) -> Option<Ready> {
        one.into_iter().chain(other).min_by_key(Ready::order)
    }

    /// Returns a number that is smaller for a reason that came earlier. [`Ready::ALWAYS`] is the largest number, and
    /// came before the first step.
    pub(crate) fn order(&self) -> u32 {
        self.since.wrapping_add(1)
    }
}

/// The objects whose readers could observe that a wait completes.
#[derive(Copy, Clone, Debug)]
pub struct UnobservedWait {
    /// The object that waiters watch.
    pub watched: Name,
    /// The object that the completion makes free for other tasks, if any.
    pub freed: Option<Name>,
}

/// An object that tasks wait for. `key` identifies one of its waits; its meaning is up to the source.
pub trait Readiness: Send + Sync {
    /// Returns the reason if the wait can complete now. A wait that is ready stays ready until it completes, or until
    /// a step [`recalls`](crate::recalls) it.
    fn ready(&self, key: u64) -> Option<Ready>;

    /// Returns the reason that came first, if the wait can complete now. It differs from [`ready`](Readiness::ready) for
    /// a wait whose result a later step has replaced: permits were assigned to it, then the semaphore was closed. A step that
    /// only begins a poll depends on the first reason; if it read the later one, its footprint would change with a
    /// step that it is independent of, and searches would miss orders.
    fn first_ready(&self, key: u64) -> Option<Ready> {
        self.ready(key)
    }

    /// Appends the objects that other tasks write when they complete the wait, the main one first.
    fn watched(&self, key: u64, out: &mut SmallVec<[Name; 2]>);

    /// Returns the objects whose readers could observe the completion of the wait. As long as no other task accesses
    /// these, the completion can be merged, because an item that is ready stays until the waiter has taken it.
    /// Returns `None` if the completion always needs its own event.
    fn unobserved(&self, key: u64) -> Option<UnobservedWait> {
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

    /// Appends the numbers of the tasks that would have to act before the wait can complete, as far as they are known:
    /// the tasks that hold a lock, the task that is joined. Only reports use it.
    fn blockers(&self, key: u64, out: &mut Vec<u32>) {
        let _ = (key, out);
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
pub enum WaitTarget {
    /// An object that tasks share, and a key.
    Object(Arc<dyn Readiness>, u64),
    /// A point in time, in nanoseconds since the execution began.
    Timer(u64),
    /// No target: the task only yields to others.
    Yield,
}

impl WaitTarget {
    /// Creates the wait for a source that may hold values with borrows. A wait is removed when its future is dropped,
    /// which happens before the borrow ends.
    pub fn of<'a, S: Readiness + 'a>(source: &Arc<S>, key: u64) -> WaitTarget {
        let source: Arc<dyn Readiness + 'a> = source.clone();
        // SAFETY: the source is not used after the wait is removed, see above.
        WaitTarget::Object(
            unsafe { std::mem::transmute::<Arc<dyn Readiness + 'a>, Arc<dyn Readiness + 'static>>(source) },
            key,
        )
    }
}

impl WaitTarget {
    /// Returns the reason that came first, if this is an object that is ready: see [`Readiness::first_ready`].
    pub(crate) fn first_ready(&self) -> Option<Ready> {
        match self {
            WaitTarget::Object(source, key) => source.first_ready(*key),
            WaitTarget::Timer(_) | WaitTarget::Yield => None,
        }
    }

    /// Returns `true` if the wait completes for a reason that need not have come first: see [`Readiness::is_contested`].
    pub(crate) fn is_contested(&self) -> bool {
        matches!(self, WaitTarget::Object(source, key) if source.is_contested(*key))
    }
}

impl fmt::Debug for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitTarget::Object(_, key) => write!(f, "source {key}"),
            WaitTarget::Timer(at) => write!(f, "timer {at}"),
            WaitTarget::Yield => f.write_str("yield"),
        }
    }
}

/// One registered wait of a task.
pub(crate) struct Wait {
    pub(crate) id: u32,
    pub(crate) polled: Polled,
    pub(crate) on: WaitTarget,
    pub(crate) action: Action,
    /// The waker of a future between the task and the waiter that polls only woken children.
    pub(crate) foreign: Option<Waker>,
    /// `true` if that waker was called since the last poll.
    pub(crate) called: bool,
    /// The unbiased `select!`s around it and their branches.
    pub(crate) path: SelectPath,
    /// Set for a timer that its task has registered: it may fire before any other step.
    pub(crate) armed: bool,
    /// The number of the poll that goes on where a check in a step of its own has found another wait ready. It does not
    /// read this wait again, which the check has left out because the same poll had found it not ready before.
    pub(crate) seen_in: u32,
}

/// The last poll of a wait.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Polled {
    /// Grows with every poll of a waiter: the order in which the task's futures were polled.
    pub(crate) order: u32,
    /// The number of the task's poll.
    pub(crate) poll: u32,
    /// The moment within the poll. If it [is earlier](crate::task::Moments::is_earlier) than the current one, the wait
    /// was found not ready, and something has happened since.
    pub(crate) moment: u32,
    /// `true` if the wait was really checked, and found not ready: see [`Execution::is_exact`].
    pub(crate) exact: bool,
    /// `true` if it was polled by a select or join whose polls are exact.
    pub(crate) strict: bool,
}

/// The handle of a waiting future to its registered wait.
#[derive(Debug, Default)]
pub struct Waiter {
    execution: u64,
    task: u32,
    id: u32,
}

impl Waiter {
    /// Creates a waiter without a wait.
    #[must_use]
    pub const fn new() -> Waiter {
        Waiter { execution: 0, task: 0, id: 0 }
    }

    /// Registers the wait that `wait` returns, whose completion is the event described by the action. `Ready` means
    /// that the wait is granted: the caller takes the item now, in this event. A registered waiter ignores new targets;
    /// call [`forget`](Waiter::forget) first.
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>, wait: impl FnOnce() -> (WaitTarget, Action)) -> Poll<()> {
        if self.id != 0
            && let Some(answer) = self.poll_again(cx)
        {
            return answer;
        }
        let (on, action) = wait();
        self.wait(cx, on, action)
    }

    /// Polls a waiter that is registered. Returns `None` if its wait is gone.
    fn poll_again(&mut self, cx: &Context<'_>) -> Option<Poll<()>> {
        let mut removed = None;
        let _by_hand = self.enter_by_hand();
        if self.id == 0 || !events::is_live() {
            return None;
        }
        let apart = with_running(|x| {
            if x.facts.is_over() || !self.is_of(x) {
                return None;
            }
            let task = x.task();
            if task.grant == self.id {
                task.grant = 0;
                removed = task.take_wait(self.id);
                self.id = 0;
                x.attach_probes();
                x.completes();
                return Some(Err(Poll::Ready(())));
            }
            let at = task.waits.iter().position(|wait| wait.id == self.id)?;
            let apart = x.looks_apart() && !matches!(x.task().waits[at].on, WaitTarget::Yield);
            Some(Ok(apart.then(|| x.task().waits[at].action)))
        });
        drop(removed.take());
        match apart?? {
            Err(answer) => return Some(answer),
            Ok(Some(action)) => check_apart(action)?,
            Ok(None) => {}
        }
        let mut foreign = foreign_waker(cx);
        let answer = with_running(|x| {
            let at = x.task().waits.iter().position(|wait| wait.id == self.id)?;
            if x.is_exact() {
                removed = self.take_if_ready(x, at, true);
                if removed.is_some() {
                    return Some(Poll::Ready(()));
                }
            }
            x.counters.polls += 1;
            let order = x.counters.polls;
            let exact = x.is_exact();
            let task = x.task();
            let Polling { number: poll, repeated, moments, .. } = task.polling;
            let (path, strict) = (task.selects.path, task.selects.composite > 0);
            let wait = &mut task.waits[at];
            // Another select may poll it now, as the timer of an interval that is awaited again and again.
            wait.path = path;
            let last = wait.polled;
            // This is a new check, unless the poll only repeats the previous one.
            let exact = exact || last.exact && repeated;
            wait.polled = Polled { order, poll, moment: moments.again(last.moment), exact, strict };
            std::mem::swap(&mut wait.foreign, &mut foreign);
            wait.called = false;
            x.registers(at);
            if x.task().waits[at].seen_in != poll {
                x.probe(at);
            }
            x.answers_pending(at, true);
            Some(Poll::Pending)
        });
        answer.flatten()
    }

    /// Begins an exact poll of a registered waiter, if its place polls by hand.
    fn enter_by_hand(&self) -> Option<ByHand> {
        let checks = with_running(|x| {
            if !x.learning.polls_by_hand {
                return None;
            }
            let task = &x.tasks[x.running() as usize];
            let wait = task.waits.iter().find(|wait| wait.id == self.id)?;
            if x.facts.is_over() || !self.is_of(x) || task.grant == self.id || !x.is_by_hand(&wait.action) {
                return None;
            }
            Some((!task.polling.exact && !matches!(wait.on, WaitTarget::Yield)).then_some(wait.action))
        });
        checks.flatten().map(ByHand::enter)
    }

    /// Returns `true` if the waiter was last polled by the running task.
    fn is_of(&self, x: &Execution) -> bool {
        self.execution == x.facts.id() && self.task == x.running()
    }

    #[inline(never)]
    fn wait(&mut self, cx: &Context<'_>, on: WaitTarget, action: Action) -> Poll<()> {
        let is_over = with_facts(|facts| (facts.running() != NONE).then(|| facts.is_over())).flatten();
        match is_over {
            Some(false) => {}
            Some(true) => return Poll::Pending,
            None => return outside::poll(cx, &on),
        }
        let by_hand = with_running(|x| {
            let checks = x.task().polling.asks.is_none() && !matches!(on, WaitTarget::Yield);
            x.is_by_hand(&action).then(|| checks.then_some(action))
        });
        let _by_hand = by_hand.flatten().map(ByHand::enter);
        if !events::is_live() {
            return Poll::Pending;
        }
        let apart = with_running(|x| {
            let apart = x.looks_apart() && x.is_beside_others();
            matches!(on, WaitTarget::Object(..)) && x.facts.deep || !matches!(on, WaitTarget::Yield) && apart
        });
        if apart == Some(true) && check_apart(action).is_none() {
            return Poll::Pending;
        }
        self.forget();
        let foreign = foreign_waker(cx);
        let found = with_running(|x| {
            x.counters.polls += 1;
            x.counters.waits += 1;
            (self.execution, self.task, self.id) = (x.facts.id(), x.running(), x.counters.waits);
            let exact = x.is_exact() && x.is_beside_others();
            let (id, order) = (x.counters.waits, x.counters.polls);
            let deep = x.facts.deep;
            let task = x.task();
            let (poll, path, strict) = (task.polling.number, task.selects.path, task.selects.composite > 0);
            let at = task.waits.len();
            let asked = std::mem::take(&mut task.polling.asks);
            if asked.is_some() {
                looks(&on, |touch| task.polling.asked_looks.push(touch));
            }
            let moments = task.polling.moments;
            // The request was the first check.
            let moment = if asked == Some(false) { moments.before() } else { moments.now() };
            let polled = Polled { order, poll, moment, exact, strict };
            let is_foreign = foreign.is_some();
            task.waits.push(Wait { id, polled, on, action, foreign, called: false, path, armed: false, seen_in: 0 });
            x.wakes.any |= is_foreign;
            if exact || deep {
                let found = self.take_if_ready(x, at, false);
                if found.is_some() {
                    return found;
                }
            }
            x.registers(at);
            x.probe(at);
            x.answers_pending(at, false);
            None
        });
        if found.flatten().is_some() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Removes and returns the wait if it is ready: futures that are polled after this waiter must not act then.
    fn take_if_ready(&mut self, x: &mut Execution, at: usize, again: bool) -> Option<Removed> {
        let wait = &x.task().waits[at];
        let (on, action) = (wait.on.clone(), wait.action);
        match on {
            // A task that has yielded continues with its next poll.
            WaitTarget::Yield => {}
            WaitTarget::Timer(_) => x.touch(Touch::read(CLOCK)),
            WaitTarget::Object(..) => x.look_at(&on),
        }
        let found = if matches!(on, WaitTarget::Yield) { again } else { x.finds_ready(&on) };
        if !found {
            return None;
        }
        x.instead_of_begin(action);
        let removed = x.task().take_wait(std::mem::take(&mut self.id));
        if matches!(on, WaitTarget::Object(..)) {
            x.acts();
        } else {
            x.completes();
        }
        removed
    }

    /// Removes the wait.
    pub fn forget(&mut self) {
        if self.id != 0 && with_facts(|facts| facts.id()) == Some(self.execution) {
            let removed = with_current(|x| x.tasks.get_mut(self.task as usize)?.take_wait(self.id));
            // Its object may hold the last values of the user.
            drop(removed);
        }
        self.id = 0;
    }
}

/// Checks a wait in a step of its own. Returns `None` if the execution is over then.
fn check_apart(action: Action) -> Option<()> {
    events::event(action);
    if !events::is_live() {
        return None;
    }
    with_running(|x| x.task().polling.moments.check())
}

/// Returns the waker of a future between the running task and a waiter, if it differs from the task's own.
fn foreign_waker(cx: &Context<'_>) -> Option<Waker> {
    let is_own = with_facts(|facts| waker::is_of_task(cx.waker(), facts.id(), facts.running())).unwrap_or(true);
    (!is_own).then(|| cx.waker().clone())
}

impl Drop for Waiter {
    #[inline]
    fn drop(&mut self) {
        if self.id != 0 {
            self.forget();
        }
    }
}
