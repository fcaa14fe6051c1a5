//! What receivers of either kind do.

use super::TryRecvError;
use super::chan::{Chan, RECEIVE, State};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_tasks::{Action, Leaf, Part, Place, Source, event, read};

/// The receiving half, of either kind.
pub(super) struct Rx<T> {
    pub(super) chan: Arc<Chan<T>>,
    pub(super) leaf: Leaf,
}

impl<T> Rx<T> {
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Option<T>> {
        let action = self.chan.action("receives", "from", place);
        ready!(self.leaf.poll(cx, &self.chan.on(RECEIVE), action));
        Poll::Ready(self.chan.pop())
    }

    pub(super) fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        limit: usize,
        place: Place,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let Some(first) = ready!(self.poll_recv(cx, place)) else { return Poll::Ready(0) };
        out.push(first);
        // How many are taken depends on how many were sent by now.
        read(self.chan.object.part(Part::Tail));
        let mut count = 1;
        while count < limit
            && let Some(value) = self.chan.pop()
        {
            out.push(value);
            count += 1;
        }
        Poll::Ready(count)
    }

    pub(super) fn try_recv(&mut self, place: Place) -> Result<T, TryRecvError> {
        event(self.chan.action("tries to receive", "from", place));
        self.looks();
        match self.chan.pop() {
            Some(value) => Ok(value),
            None if self.chan.ready(RECEIVE).is_some() => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The running step sees what was sent and which senders are gone.
    fn looks(&self) {
        read(self.chan.object.part(Part::Tail));
        read(self.chan.senders.part());
    }

    pub(super) fn blocking_recv(&mut self, place: Place) -> Option<T> {
        let action = self.chan.action("receives", "from", place);
        if whippet_tasks::wait_here(&self.chan.on(RECEIVE), action) { self.chan.pop() } else { None }
    }

    pub(super) fn look<R>(&self, place: Place, work: impl FnOnce(&State<T>) -> R) -> R {
        event(Action::new("looks at", self.chan.object, place));
        self.looks();
        self.chan.state.with(|s| work(s))
    }
}

impl<T> Drop for Rx<T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.chan.state.is_mine() {
            return;
        }
        self.chan.close(Location::caller());
        // What nobody took is dropped with the receiver.
        let rest = self.chan.state.with(|s| std::mem::take(&mut s.queue));
        drop(rest);
    }
}
