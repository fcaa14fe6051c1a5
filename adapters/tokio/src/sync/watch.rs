//! `watch`: the newest value. Looking at it is an event.

use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, RwLock, RwLockReadGuard};
use std::task::ready;
use whippet_model::Name;
use whippet_tasks::{
    Action, Leaf, Local, Object, On, Part, Place, Ready, Source, contributes, event, read, this_step, write,
};

pub mod error {
    use std::fmt;
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub struct SendError<T>(pub T);
    impl<T> fmt::Debug for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("SendError").finish_non_exhaustive()
        }
    }
    impl<T> fmt::Display for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }
    impl<T> std::error::Error for SendError<T> {}
    #[derive(Debug, Clone)]
    pub struct RecvError(pub(super) ());
    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }
    impl std::error::Error for RecvError {}
}
use error::{RecvError, SendError};

struct State {
    version: u64,
    /// The steps of all versions after the first.
    steps: Vec<u32>,
    senders: usize,
    /// The steps in which senders were dropped.
    drops: Vec<u32>,
    receivers: usize,
    /// The steps in which receivers were dropped.
    gone: Vec<u32>,
}

struct Chan<T> {
    object: Object,
    state: Local<State>,
    value: RwLock<T>,
}

// All tasks of an execution run on one thread.
unsafe impl<T> Send for Chan<T> {}
unsafe impl<T> Sync for Chan<T> {}

const CLOSED: u64 = u64::MAX;

impl<T> Chan<T> {
    fn on(self: &Arc<Self>, key: u64) -> On {
        let source: Arc<dyn Source + '_> = self.clone();
        // Values may borrow. A wait is forgotten when its future is dropped, which is before that borrow ends.
        On::Source(unsafe { std::mem::transmute::<Arc<dyn Source + '_>, Arc<dyn Source + 'static>>(source) }, key)
    }

    fn look(&self, verb: &'static str, place: Place) {
        event(Action::new(verb, self.object, place));
        read(self.object.part(Part::Tail));
    }

    fn changed(&self) {
        let tail = self.object.part(Part::Tail);
        write(tail);
        whippet_tasks::enables(tail, self.object.part(Part::Item));
        let step = this_step();
        self.state.with(|s| {
            s.version += 1;
            s.steps.push(step);
        });
    }

    fn borrow(&self) -> Ref<'_, T> {
        Ref { guard: self.value.read().unwrap_or_else(std::sync::PoisonError::into_inner), changed: false }
    }
}

impl<T> Source for Chan<T> {
    /// The key is the version that was seen.
    fn ready(&self, key: u64) -> Option<Ready> {
        self.state.with(|s| match key {
            CLOSED if s.receivers > 0 => None,
            CLOSED => Some(Ready { since: newest(&s.gone), item: self.object.part(Part::Members) }),
            seen if s.version > seen => {
                Some(Ready { since: s.steps[seen as usize], item: self.object.part(Part::Item) })
            }
            _ if s.senders > 0 => None,
            _ => Some(Ready { since: newest(&s.drops), item: self.object.part(Part::Drops) }),
        })
    }

    fn watched(&self, key: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        if key == CLOSED {
            out.push(self.object.part(Part::Members));
        } else {
            out.extend([self.object.part(Part::Tail), self.object.part(Part::Drops)]);
        }
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        let ready = self.ready(key);
        self.state.with(|s| match ready {
            _ if key == CLOSED => out.extend(&s.gone),
            Some(ready) if ready.item == self.object.part(Part::Drops) => out.extend(&s.drops),
            ready => out.extend(ready.map(|r| r.since).filter(|&since| since != Ready::ALWAYS)),
        });
    }
}

/// The newest of some steps.
fn newest(steps: &[u32]) -> u32 {
    steps.iter().copied().max().unwrap_or(Ready::ALWAYS)
}

pub struct Ref<'a, T> {
    guard: RwLockReadGuard<'a, T>,
    changed: bool,
}

impl<T> Ref<'_, T> {
    pub fn has_changed(&self) -> bool {
        self.changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, f)
    }
}

pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
    seen: u64,
    leaf: Leaf,
}

pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let state = State { version: 0, steps: Vec::new(), senders: 1, drops: Vec::new(), receivers: 1, gone: Vec::new() };
    let chan = Arc::new(Chan { object: Object::new("watch"), state: Local::new(state), value: RwLock::new(value) });
    (Sender { chan: chan.clone() }, Receiver { chan, seen: 0, leaf: Leaf::new() })
}

impl<T> Sender<T> {
    pub fn new(value: T) -> Sender<T> {
        channel(value).0
    }

    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let place = Location::caller();
        event(Action::of::<T>("sends", "to", self.chan.object, place));
        read(self.chan.object.part(Part::Members));
        if self.chan.state.with(|s| s.receivers == 0) {
            return Err(SendError(value));
        }
        let old =
            std::mem::replace(&mut *self.chan.value.write().unwrap_or_else(std::sync::PoisonError::into_inner), value);
        self.chan.changed();
        drop(old);
        Ok(())
    }

    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        event(Action::of::<T>("sends", "to", self.chan.object, Location::caller()));
        let old =
            std::mem::replace(&mut *self.chan.value.write().unwrap_or_else(std::sync::PoisonError::into_inner), value);
        self.chan.changed();
        old
    }

    #[track_caller]
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified_at(Location::caller(), |value| {
            modify(value);
            true
        });
    }

    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.send_if_modified_at(Location::caller(), modify)
    }

    fn send_if_modified_at(&self, place: Place, modify: impl FnOnce(&mut T) -> bool) -> bool {
        event(Action::of::<T>("changes", "in", self.chan.object, place));
        write(self.chan.object.part(Part::Tail));
        let changed = modify(&mut self.chan.value.write().unwrap_or_else(std::sync::PoisonError::into_inner));
        if changed {
            self.chan.changed();
        }
        changed
    }

    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.look("reads", Location::caller());
        self.chan.borrow()
    }

    pub fn subscribe(&self) -> Receiver<T> {
        write(self.chan.object.part(Part::Members));
        read(self.chan.object.part(Part::Tail));
        let seen = self.chan.state.with(|s| {
            s.receivers += 1;
            s.version
        });
        Receiver { chan: self.chan.clone(), seen, leaf: Leaf::new() }
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        event(Action::new("looks at", self.chan.object, Location::caller()));
        read(self.chan.object.part(Part::Members));
        self.chan.state.with(|s| s.receivers == 0)
    }

    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        event(Action::new("looks at", self.chan.object, Location::caller()));
        read(self.chan.object.part(Part::Members));
        self.chan.state.with(|s| s.receivers)
    }

    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        let place = Location::caller();
        let mut leaf = Leaf::new();
        poll_fn(move |cx| {
            leaf.poll(cx, &self.chan.on(CLOSED), Action::new("waits for the end of", self.chan.object, place))
        })
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.chan.state.with(|s| s.senders += 1);
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("drops a sender of", self.chan.object, Location::caller()));
        contributes(self.chan.object.part(Part::Tail), self.chan.object.part(Part::Drops));
        let step = this_step();
        self.chan.state.with(|s| {
            s.senders -= 1;
            s.drops.push(step);
        });
    }
}

impl<T> Receiver<T> {
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.look("reads", Location::caller());
        Ref { changed: self.chan.state.with(|s| s.version > self.seen), ..self.chan.borrow() }
    }

    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.chan.look("reads", Location::caller());
        let version = self.chan.state.with(|s| s.version);
        let changed = version > std::mem::replace(&mut self.seen, version);
        Ref { changed, ..self.chan.borrow() }
    }

    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.chan.look("looks at", Location::caller());
        read(self.chan.object.part(Part::Drops));
        self.chan.state.with(|s| if s.senders == 0 { Err(RecvError(())) } else { Ok(s.version > self.seen) })
    }

    pub fn mark_changed(&mut self) {
        self.seen = self.seen.saturating_sub(1);
    }

    pub fn mark_unchanged(&mut self) {
        read(self.chan.object.part(Part::Tail));
        self.seen = self.chan.state.with(|s| s.version);
    }

    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> + use<'_, T> {
        let place = Location::caller();
        poll_fn(move |cx| {
            let action = Action::new("sees a change of", self.chan.object, place);
            ready!(self.leaf.poll(cx, &self.chan.on(self.seen), action));
            let (version, ended) = self.chan.state.with(|s| (s.version, s.senders == 0));
            if version == self.seen && ended {
                return std::task::Poll::Ready(Err(RecvError(())));
            }
            read(self.chan.object.part(Part::Tail));
            self.seen = version;
            std::task::Poll::Ready(Ok(()))
        })
    }

    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut holds: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let place = Location::caller();
        async move {
            loop {
                self.chan.look("reads", place);
                self.seen = self.chan.state.with(|s| s.version);
                if holds(&self.chan.borrow()) {
                    return Ok(self.chan.borrow());
                }
                self.changed().await?;
            }
        }
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        self.chan.state.with(|s| s.receivers += 1);
        Receiver { chan: self.chan.clone(), seen: self.seen, leaf: Leaf::new() }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("drops a receiver of", self.chan.object, Location::caller()));
        let members = self.chan.object.part(Part::Members);
        contributes(members, members);
        let step = this_step();
        self.chan.state.with(|s| {
            s.receivers -= 1;
            s.gone.push(step);
        });
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Sender<T> {
        Sender::new(T::default())
    }
}

impl<T> std::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
