//! Waiting for slots in a bounded channel, in the order of the requests.

use super::Queue;
use crate::drive::wait_here;
use crate::events::{enables, event, has_asked, is_over, read, this_step, write};
use crate::object::{Action, Part, Place};
use crate::points::Point;
use crate::waiting::{Readiness, WaitTarget, Waiter};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The wait for slots in a bounded channel.
pub struct Asking<T> {
    queue: Arc<Queue<T>>,
    place: Place,
    count: usize,
    /// The value to send as soon as there is a slot, if the wait is part of a send.
    value: Option<T>,
    reserve: bool,
    id: Option<u64>,
    waiter: Waiter,
}

/// The result of the wait: the slots are granted, or the value is returned.
pub type Placed<T> = Result<(), Option<T>>;

impl<T> Unpin for Asking<T> {}

impl<T> Asking<T> {
    /// Creates a wait for `count` slots that has not requested them yet.
    pub fn new(queue: &Arc<Queue<T>>, value: Option<T>, count: usize, place: Place) -> Asking<T> {
        let reserve = value.is_none();
        Asking { queue: queue.clone(), place, count, value, reserve, id: None, waiter: Waiter::new() }
    }

    fn action(&self) -> Action {
        if self.reserve {
            Action::new(Point::ReservesPlace, self.queue.object, self.place)
        } else {
            self.queue.action(Point::Sends, self.place)
        }
    }

    fn ask(&mut self) -> Option<Placed<T>> {
        event(self.action());
        if is_over() {
            return None;
        }
        match self.queue.ask(self.count) {
            Err(()) => Some(Err(self.value.take())),
            Ok(None) => {
                if let Some(value) = self.value.take() {
                    self.queue.push(value);
                }
                Some(Ok(()))
            }
            Ok(Some(id)) => {
                self.id = Some(id);
                has_asked(self.queue.ready(id).is_some());
                None
            }
        }
    }

    fn got(&mut self) -> Placed<T> {
        let id = self.id.expect("it asked");
        let closed = self.queue.state.with(|s| {
            let permits = s.permits.as_mut().expect("it is bounded");
            let closed = s.closed.is_some();
            // Slots that a closed channel has assigned are released when the wait is dropped.
            if !closed || permits.assigned(id) == 0 {
                permits.take(id);
                self.id = None;
            }
            closed
        });
        read(self.queue.object.part(Part::Closed));
        if closed {
            return Err(self.value.take());
        }
        if let Some(value) = self.value.take() {
            self.queue.push(value);
        }
        Ok(())
    }

    /// Returns the value if it was not sent.
    pub fn take_back(&mut self) -> Option<T> {
        self.value.take()
    }

    /// Requests the slots, on the first call, and waits for them.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Placed<T>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let mut action = self.action();
        action.point = if self.reserve { Point::GetsPlace } else { Point::GetsRoomAndSends };
        ready!(self.waiter.poll(cx, || (WaitTarget::of(&self.queue, id), action)));
        Poll::Ready(self.got())
    }

    /// Requests the slots, and blocks inside the current poll until they are available.
    pub fn here(&mut self) -> Placed<T> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(self.value.take()) };
        let on = WaitTarget::of(&self.queue, id);
        if wait_here(&on, self.action()) { self.got() } else { Err(self.value.take()) }
    }
}

impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if is_over() || !self.queue.state.is_mine() {
            return;
        }
        event(Action::new(Point::StopsWaitingForRoom, self.queue.object, self.place));
        let free = self.queue.object.part(Part::Free);
        write(self.queue.object.part(Part::Line));
        write(free);
        enables(free, free.mixed(1));
        self.queue.read_closed();
        let step = this_step();
        self.queue.state.with(|s| s.permits.as_mut().expect("it is bounded").give_up(id, step));
        crate::wake_polled();
    }
}
