//! `tokio::sync::Notify`.

use super::state::Key;

/// A `Notify`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Notify {
    /// The stored permit. `Notify::notify_one` docs: at most one permit may be stored.
    permit: bool,
    /// The number of calls of `notify_waiters`.
    calls: u32,
    /// The waiters in the order in which they were enabled.
    line: Vec<Key>,
    /// Waiters that were notified and have not noticed yet; true if by `notify_one`. Sorted.
    notified: Vec<(Key, bool)>,
}

/// A `Notified` future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Notified {
    /// Not polled yet, with the number of calls of `notify_waiters` when it was created.
    Created(u32),
    /// In line, or notified.
    Waiting,
    /// Has received its notification.
    Done,
}

impl Notify {
    /// Creates a future.
    ///
    /// `Notify::notified` docs: the future is guaranteed to receive wakeups from `notify_waiters` as soon as it has been
    /// created, but from `notify_one` only once it has been polled or enabled.
    pub(super) fn create(&self) -> Notified {
        Notified::Created(self.calls)
    }

    /// Polls or enables a future. Returns true if it is ready.
    ///
    /// `Notify::notified` docs: with a permit available it completes at once and consumes the permit. A future that
    /// `notify_waiters` has reached already leaves the permit alone. `Notified::enable` docs: returns true if the future
    /// is ready, and then the next poll returns ready.
    pub(super) fn poll(&mut self, key: Key, future: &mut Notified) -> bool {
        match *future {
            Notified::Created(calls) if calls != self.calls => *future = Notified::Done,
            Notified::Created(_) if self.permit => {
                self.permit = false;
                *future = Notified::Done;
            }
            Notified::Created(_) => {
                self.line.push(key);
                *future = Notified::Waiting;
            }
            Notified::Waiting if self.is_notified(key) => {
                self.notified.retain(|entry| entry.0 != key);
                *future = Notified::Done;
            }
            Notified::Waiting | Notified::Done => {}
        }
        *future == Notified::Done
    }

    /// Tells if a waiting future was notified.
    pub(super) fn is_notified(&self, key: Key) -> bool {
        self.notified.iter().any(|entry| entry.0 == key)
    }

    /// Notifies the first waiter.
    ///
    /// `Notify::notify_one` docs: if a task is waiting, that task is notified, in the order in which they began to wait;
    /// otherwise a permit is stored.
    pub(super) fn notify_one(&mut self) {
        if self.line.is_empty() {
            self.permit = true;
        } else {
            let key = self.line.remove(0);
            self.mark((key, true));
        }
    }

    /// Notifies all waiters.
    ///
    /// `Notify::notify_waiters` docs: notifies all waiting tasks, no permit is stored for later ones.
    pub(super) fn notify_waiters(&mut self) {
        self.calls += 1;
        for key in std::mem::take(&mut self.line) {
            self.mark((key, false));
        }
    }

    /// Drops a future. Returns true if others can notice.
    ///
    /// `Notify::notified` docs, cancel safety: cancelling loses the place in the queue. A notification of `notify_one`
    /// that the future has received but not used is passed on to the next waiter, or stored.
    pub(super) fn leave(&mut self, key: Key, future: Notified) -> bool {
        if future != Notified::Waiting {
            return false;
        }
        if let Some(place) = self.notified.iter().position(|entry| entry.0 == key) {
            let (_, by_one) = self.notified.remove(place);
            if by_one {
                self.notify_one();
            }
            return by_one;
        }
        self.line.retain(|other| *other != key);
        true
    }

    fn mark(&mut self, entry: (Key, bool)) {
        let place = self.notified.partition_point(|other| other.0 < entry.0);
        self.notified.insert(place, entry);
    }
}
