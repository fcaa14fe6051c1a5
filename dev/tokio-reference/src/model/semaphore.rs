//! The semaphore that bounded channels, locks, `OnceCell` and `Semaphore` itself are made of.

use super::state::Key;

/// A fair semaphore with a line of waiters.
///
/// `tokio::sync::Semaphore` docs: the semaphore is fair, permits are given out in the order they were requested, also
/// by `acquire_many`: a request for many permits at the front of the line keeps smaller ones behind it waiting.
///
/// Permits that come back are assigned to the front of the line piece by piece, and a request joins the line with what
/// was available taken already, so there are no permits to take while the line is not empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Semaphore {
    pub(super) permits: u32,
    pub(super) closed: bool,
    /// The line, with the number of permits that each waiter still lacks.
    line: Vec<(Key, u32)>,
    /// Waiters that left the line because they lack nothing or the semaphore was closed, and have not noticed yet.
    /// Sorted, as their order has no meaning.
    released: Vec<(Key, u32)>,
}

/// The result of polling a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acquired {
    Granted,
    Closed,
    /// It has to wait; `joined` if it joined the line just now.
    Waiting {
        joined: bool,
    },
}

impl Semaphore {
    pub(super) fn new(permits: u32) -> Semaphore {
        Semaphore { permits, closed: false, line: Vec::new(), released: Vec::new() }
    }

    /// Takes permits if they are available at once.
    ///
    /// `Semaphore::try_acquire` docs: an error tells that the semaphore is closed, or that there are no permits left.
    pub(super) fn try_acquire(&mut self, needed: u32) -> Acquired {
        if self.closed {
            Acquired::Closed
        } else if self.permits >= needed {
            self.permits -= needed;
            Acquired::Granted
        } else {
            Acquired::Waiting { joined: false }
        }
    }

    /// Polls a request for permits; `queued` tells if it has joined the line, and is kept by the caller.
    ///
    /// `Semaphore::acquire` docs: an error if the semaphore has been closed. The docs of `Semaphore::close` say that all
    /// pending waiters are notified of it. The implementation looks at the closed flag first: a waiter that was assigned
    /// all its permits before the close, but was not polled yet, fails as well, and its permits go back.
    pub(super) fn poll(&mut self, key: Key, needed: u32, queued: &mut bool) -> Acquired {
        if self.closed {
            self.leave(key, needed, queued);
            return Acquired::Closed;
        }
        if *queued {
            if self.is_released(key) {
                self.released.retain(|entry| entry.0 != key);
                *queued = false;
                return Acquired::Granted;
            }
            return Acquired::Waiting { joined: false };
        }
        if self.permits >= needed {
            self.permits -= needed;
            return Acquired::Granted;
        }
        self.line.push((key, needed - self.permits));
        self.permits = 0;
        *queued = true;
        Acquired::Waiting { joined: true }
    }

    /// Tells if polling a queued request again would end its waiting.
    pub(super) fn is_released(&self, key: Key) -> bool {
        self.released.iter().any(|entry| entry.0 == key)
    }

    /// Drops a request. Returns true if it was in the line or had permits.
    ///
    /// `Semaphore::acquire` docs, cancel safety: cancelling a call gives up the place in the queue. Permits that were
    /// assigned to it go to the next in line.
    pub(super) fn leave(&mut self, key: Key, needed: u32, queued: &mut bool) -> bool {
        if !*queued {
            return false;
        }
        *queued = false;
        let found = |list: &mut Vec<(Key, u32)>| {
            let place = list.iter().position(|entry| entry.0 == key)?;
            Some(list.remove(place).1)
        };
        let lacking = found(&mut self.line).or_else(|| found(&mut self.released)).expect("a queued request is known");
        self.add(needed - lacking);
        true
    }

    /// Adds permits: to the waiters in order, the rest to the semaphore.
    pub(super) fn add(&mut self, mut added: u32) {
        while added > 0 && !self.line.is_empty() {
            let assigned = added.min(self.line[0].1);
            added -= assigned;
            self.line[0].1 -= assigned;
            if self.line[0].1 == 0 {
                let entry = self.line.remove(0);
                self.release(entry);
            }
        }
        self.permits += added;
    }

    /// Closes it.
    ///
    /// `Semaphore::close` docs: prevents the semaphore from issuing new permits and notifies all pending waiters.
    pub(super) fn close(&mut self) {
        self.closed = true;
        for entry in std::mem::take(&mut self.line) {
            self.release(entry);
        }
    }

    fn release(&mut self, entry: (Key, u32)) {
        let place = self.released.partition_point(|other| other.0 < entry.0);
        self.released.insert(place, entry);
    }
}
