//! `watch`: channels that hold only the newest value. Reading it is an event.

use super::hub::{Hub, News};
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::ready;
use whippet_runtime::Point;
use whippet_runtime::{Action, Local, Object, Part, Place, Ready, Waiter, event, read, this_step, write};

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
    /// The number of the newest version, counted from 1: 0 means that a receiver has seen none.
    version: u64,
    /// The steps that set the versions after the first.
    steps: Vec<u32>,
}

/// The newest value and its version.
struct Newest<T> {
    state: Local<State>,
    value: RwLock<T>,
}

// SAFETY: all tasks of an execution run on one thread.
unsafe impl<T> Send for Newest<T> {}
unsafe impl<T> Sync for Newest<T> {}

impl<T> News for Newest<T> {
    fn after(&self, object: Object, seen: u64) -> Option<Ready> {
        self.state.with(|s| {
            // No step made the first version.
            let since = match seen {
                0 => Ready::ALWAYS,
                _ => *s.steps.get(seen as usize - 1)?,
            };
            Some(Ready { since, item: object.part(Part::Item) })
        })
    }
}

type Chan<T> = Hub<Newest<T>>;

impl<T> Chan<T> {
    fn look(&self, point: Point, place: Place) {
        event(Action::new(point, self.object, place));
        read(self.tail());
    }

    fn version(&self) -> u64 {
        self.news.state.with(|s| s.version)
    }

    /// Sets the value in the current step. Returns the old value.
    fn replace(&self, value: T) -> T {
        let old = std::mem::replace(&mut *self.write(), value);
        self.changed();
        old
    }

    fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.news.value.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        write(self.tail());
        whippet_runtime::enables(self.tail(), self.object.part(Part::Item));
        let step = this_step();
        self.news.state.with(|s| {
            s.version += 1;
            s.steps.push(step);
        });
        whippet_runtime::wake_polled();
    }

    fn borrow(&self, seen: u64) -> Ref<'_, T> {
        let guard = self.news.value.read().unwrap_or_else(PoisonError::into_inner);
        Ref { guard, changed: self.version() > seen }
    }
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
    waiter: Waiter,
}

fn hub<T>(value: T, receivers: usize) -> Arc<Chan<T>> {
    let state = Local::here(State { version: 1, steps: Vec::new() });
    Hub::new("watch", receivers, Newest { state, value: RwLock::new(value) })
}

pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let chan = hub(value, 1);
    (Sender { chan: chan.clone() }, Receiver { chan, seen: 1, waiter: Waiter::new() })
}

impl<T> Sender<T> {
    pub fn new(value: T) -> Sender<T> {
        Sender { chan: hub(value, 0) }
    }

    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        event(Action::of::<T>(Point::Publishes, self.chan.object, Location::caller()));
        read(self.chan.receivers.part());
        if self.chan.receivers.left() == 0 {
            return Err(SendError(value));
        }
        self.chan.replace(value);
        Ok(())
    }

    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        event(Action::of::<T>(Point::Publishes, self.chan.object, Location::caller()));
        self.chan.replace(value)
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
        event(Action::of::<T>(Point::Changes, self.chan.object, place));
        write(self.chan.tail());
        let changed = modify(&mut self.chan.write());
        if changed {
            self.chan.changed();
        }
        changed
    }

    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.look(Point::Reads, Location::caller());
        // A sender has always seen the newest version.
        self.chan.borrow(u64::MAX)
    }

    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        self.chan.subscribe(Location::caller());
        Receiver { chan: self.chan.clone(), seen: self.chan.version(), waiter: Waiter::new() }
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.chan.receivers.are_gone(Location::caller())
    }

    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.chan.receivers.strong_count(Location::caller())
    }

    #[track_caller]
    pub fn sender_count(&self) -> usize {
        self.chan.senders.strong_count(Location::caller())
    }

    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        self.chan.closed(Location::caller())
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        self.chan.senders.clone_one(Location::caller());
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.chan.senders.drop_one(Location::caller());
    }
}

impl<T> Receiver<T> {
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.look(Point::Reads, Location::caller());
        self.chan.borrow(self.seen)
    }

    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.chan.look(Point::Reads, Location::caller());
        let seen = std::mem::replace(&mut self.seen, self.chan.version());
        self.chan.borrow(seen)
    }

    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.chan.look(Point::LooksAtChannel, Location::caller());
        read(self.chan.senders.part());
        if self.chan.senders.left() == 0 { Err(RecvError(())) } else { Ok(self.chan.version() > self.seen) }
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.chan.senders.are_gone(Location::caller())
    }

    pub fn mark_changed(&mut self) {
        self.seen = self.seen.saturating_sub(1);
    }

    pub fn mark_unchanged(&mut self) {
        read(self.chan.tail());
        self.seen = self.chan.version();
    }

    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> + use<'_, T> {
        let place = Location::caller();
        // An earlier, cancelled wait may have been registered for an older version.
        self.waiter.forget();
        poll_fn(move |cx| {
            let (chan, seen) = (&self.chan, self.seen);
            let sees = || (chan.after(seen), Action::new(Point::SeesChange, chan.object, place));
            ready!(self.waiter.poll(cx, sees));
            let version = self.chan.version();
            if version == self.seen && self.chan.senders.left() == 0 {
                return std::task::Poll::Ready(Err(RecvError(())));
            }
            read(self.chan.tail());
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
                self.chan.look(Point::Reads, place);
                let seen = std::mem::replace(&mut self.seen, self.chan.version());
                if holds(&self.chan.borrow(seen)) {
                    return Ok(self.chan.borrow(seen));
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
    #[track_caller]
    fn clone(&self) -> Receiver<T> {
        self.chan.receivers.clone_one(Location::caller());
        Receiver { chan: self.chan.clone(), seen: self.seen, waiter: Waiter::new() }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.chan.receivers.drop_one(Location::caller());
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Sender<T> {
        Sender::new(T::default())
    }
}

opaque!(Sender Receiver);
