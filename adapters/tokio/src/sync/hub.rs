//! What every sender says and every receiver hears: the common part of `broadcast` and `watch`.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use whippet_model::Name;
use whippet_tasks::{Action, Handles, Leaf, Object, On, Part, Place, Ready, Source, event, read, write};

/// What was said.
pub(super) trait News: Send + Sync {
    /// What there is for a receiver that has heard so much.
    fn after(&self, object: Object, heard: u64) -> Option<Ready>;
}

/// A channel with any number of senders and receivers.
pub(super) struct Hub<N> {
    pub(super) object: Object,
    pub(super) senders: Handles,
    pub(super) receivers: Handles,
    pub(super) news: N,
}

/// The wait for no receivers; other keys are what was heard.
const CLOSED: u64 = u64::MAX;

impl<N: News> Hub<N> {
    /// With one sender.
    pub(super) fn new(kind: &'static str, receivers: usize, news: N) -> Arc<Hub<N>> {
        let object = Object::new(kind);
        let (senders, receivers) = (Handles::senders(object), Handles::receivers(object, receivers));
        Arc::new(Hub { object, senders, receivers, news })
    }

    pub(super) fn tail(&self) -> Name {
        self.object.part(Part::Tail)
    }

    /// The wait for something new, or for no senders.
    pub(super) fn after(self: &Arc<Self>, heard: u64) -> On {
        On::of(self, heard)
    }

    /// There is one more receiver.
    pub(super) fn subscribe(&self, place: Place) {
        event(Action::new("subscribes to", self.object, place));
        write(self.receivers.part());
        read(self.tail());
        self.receivers.join();
    }

    /// The wait for no receivers.
    pub(super) fn closed(self: &Arc<Self>, place: Place) -> impl Future<Output = ()> + use<'_, N> {
        let mut leaf = Leaf::new();
        let waits = move || (On::of(self, CLOSED), Action::new("waits for the end of", self.object, place));
        poll_fn(move |cx| leaf.poll(cx, waits))
    }
}

impl<N: News> Source for Hub<N> {
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
