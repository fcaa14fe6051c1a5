//! Waiting for room in a bounded channel, in order of asking.

use super::chan::Chan;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_tasks::{Action, Leaf, Part, Place, event, read, this_step, write};

/// The wait for places in a bounded channel.
pub(super) struct Asking<T> {
    pub(super) chan: Arc<Chan<T>>,
    place: Place,
    count: usize,
    /// What is sent at once if there is room, and when there is room.
    pub(super) value: Option<T>,
    reserve: bool,
    id: Option<u64>,
    leaf: Leaf,
}

/// Whether the places are there, or the value comes back.
pub(super) type Placed<T> = Result<(), Option<T>>;

impl<T> Unpin for Asking<T> {}

impl<T> Asking<T> {
    pub(super) fn new(chan: &Arc<Chan<T>>, value: Option<T>, count: usize, place: Place) -> Asking<T> {
        let reserve = value.is_none();
        Asking { chan: chan.clone(), place, count, value, reserve, id: None, leaf: Leaf::new() }
    }

    fn action(&self) -> Action {
        if self.reserve {
            Action::new("reserves a place in", self.chan.object, self.place)
        } else {
            self.chan.action("sends", "to", self.place)
        }
    }

    fn ask(&mut self) -> Option<Placed<T>> {
        event(self.action());
        if whippet_tasks::is_over() {
            return None;
        }
        match self.chan.ask(self.count) {
            Err(()) => Some(Err(self.value.take())),
            Ok(None) => {
                if let Some(value) = self.value.take() {
                    self.chan.push(value);
                }
                Some(Ok(()))
            }
            Ok(Some(id)) => {
                self.id = Some(id);
                None
            }
        }
    }

    fn got(&mut self) -> Placed<T> {
        let id = self.id.take().expect("it asked");
        let given = self.chan.state.with(|s| {
            let permits = s.permits.as_mut().expect("it is bounded");
            let given = permits.ready(id).is_some() && s.closed.is_none();
            permits.take(id);
            given
        });
        read(self.chan.object.part(Part::Closed));
        if !given {
            return Err(self.value.take());
        }
        if let Some(value) = self.value.take() {
            self.chan.push(value);
        }
        Ok(())
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Placed<T>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let mut action = self.action();
        action.verb = if self.reserve { "gets a place in" } else { "gets room and sends" };
        ready!(self.leaf.poll(cx, &self.chan.on(id), action));
        Poll::Ready(self.got())
    }

    pub(super) fn here(&mut self) -> Placed<T> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(self.value.take()) };
        let on = self.chan.on(id);
        if whippet_tasks::wait_here(&on, self.action()) { self.got() } else { Err(self.value.take()) }
    }
}

impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("stops waiting for room in", self.chan.object, self.place));
        let free = self.chan.object.part(Part::Free);
        write(self.chan.object.part(Part::Line));
        write(free);
        whippet_tasks::enables(free, free.mixed(1));
        let step = this_step();
        self.chan.state.with(|s| s.permits.as_mut().expect("it is bounded").give_up(id, step));
    }
}
