//! The receiving half of bounded and unbounded channels.

use super::TryRecvError;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_runtime::Point;
use whippet_runtime::{Part, Place, Queue, Refused, Waiter, read};

/// The receiving half of a channel of either kind. Dropping it closes the channel.
pub(super) struct Rx<T> {
    pub(super) chan: Arc<Queue<T>>,
    pub(super) waiter: Waiter,
}

impl<T> Rx<T> {
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Option<T>> {
        ready!(self.waiter.poll(cx, || (self.chan.to_receive(), self.chan.action(Point::Receives, place))));
        Poll::Ready(self.chan.take(place))
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
        // The number of messages taken depends on the number sent so far.
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
        self.chan.try_take(place).map_err(|refused| match refused {
            Refused::Now => TryRecvError::Empty,
            Refused::Forever => TryRecvError::Disconnected,
        })
    }
}

impl<T> Drop for Rx<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.chan.abandon(Location::caller());
    }
}
