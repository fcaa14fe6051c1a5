//! The common part of `broadcast` and `watch`: channels on which every receiver observes what every sender publishes.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{Action, Handles, Object, Part, Place, Readiness, Ready, WaitTarget, Waiter, event, read, write};

/// The messages or values published on a channel.
pub(super) trait News: Send + Sync {
    /// Returns the readiness of a receiver that has received everything up to `heard`, or `None` if nothing newer
    /// exists.
    fn after(&self, object: Object, heard: u64) -> Option<Ready>;
}

/// A channel with any number of senders and receivers.
pub(super) struct Hub<N> {
    pub(super) object: Object,
    pub(super) senders: Handles,
    pub(super) receivers: Handles,
    pub(super) news: N,
}

/// The key of a wait until no receivers are left. Any other key is the position that a receiver has reached.
const CLOSED: u64 = u64::MAX;

impl<N: News> Hub<N> {
    /// Creates a channel with one sender and the given number of receivers.
    pub(super) fn new(kind: &'static str, receivers: usize, news: N) -> Arc<Hub<N>> {
        let object = Object::new(kind);
        let (senders, receivers) = (Handles::senders(object), Handles::receivers(object, receivers));
        Arc::new(Hub { object, senders, receivers, news })
    }

    pub(super) fn tail(&self) -> Name {
        self.object.part(Part::Tail)
    }

    /// Returns the wait for something newer than `heard`, or until no senders are left.
    pub(super) fn after(self: &Arc<Self>, heard: u64) -> WaitTarget {
        WaitTarget::of(self, heard)
    }

    /// Adds a receiver. Scheduling point.
    pub(super) fn subscribe(&self, place: Place) {
        event(Action::new(Point::Subscribes, self.object, place));
        write(self.receivers.part());
        read(self.tail());
        self.receivers.join();
    }

    /// Waits until no receivers are left.
    pub(super) fn closed(self: &Arc<Self>, place: Place) -> impl Future<Output = ()> + use<'_, N> {
        let mut waiter = Waiter::new();
        let waits = move || (WaitTarget::of(self, CLOSED), Action::new(Point::WaitsForEnd, self.object, place));
        poll_fn(move |cx| waiter.poll(cx, waits))
    }
}

impl<N: News> Readiness for Hub<N> {
    fn ready(&self, key: u64) -> Option<Ready> {
        match key {
            CLOSED => self.receivers.gone(),
            heard => self.news.after(self.object, heard).or_else(|| self.senders.gone()),
        }
    }

    fn watched(&self, key: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        match key {
            CLOSED => out.push(self.receivers.part()),
            _ => out.extend([self.tail(), self.senders.part()]),
        }
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        match key {
            CLOSED => self.receivers.causes(out),
            heard => match self.news.after(self.object, heard) {
                Some(ready) => out.extend(Some(ready.since).filter(|&since| since != Ready::ALWAYS)),
                None => self.senders.causes(out),
            },
        }
    }
}
