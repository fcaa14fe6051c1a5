//! Permits: reserved places in a bounded channel that have not been used yet.

use super::Sender;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use whippet_runtime::Point;
use whippet_runtime::{Action, Place, Queue, event};

fn put_back<T>(chan: &Queue<T>, place: Place) {
    if whippet_runtime::is_over() || !chan.is_mine() {
        return;
    }
    event(Action::new(Point::GivesBackPlace, chan.object, place));
    if !whippet_runtime::is_over() {
        chan.free(1);
    }
}

pub struct Permit<'a, T> {
    pub(super) chan: &'a Arc<Queue<T>>,
    pub(super) sent: bool,
}

impl<T> Permit<'_, T> {
    #[track_caller]
    pub fn send(mut self, value: T) {
        self.sent = true;
        event(self.chan.action(Point::Sends, Location::caller()));
        self.chan.push(value);
    }
}

impl<T> Drop for Permit<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.sent {
            put_back(self.chan, Location::caller());
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

pub struct PermitIterator<'a, T> {
    pub(super) chan: &'a Arc<Queue<T>>,
    pub(super) left: usize,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;
    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { chan: self.chan, sent: false })
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> std::iter::FusedIterator for PermitIterator<'_, T> {}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("capacity", &self.left).finish_non_exhaustive()
    }
}

impl<T> std::panic::UnwindSafe for Permit<'_, T> {}
impl<T> std::panic::RefUnwindSafe for Permit<'_, T> {}
impl<T> std::panic::UnwindSafe for PermitIterator<'_, T> {}
impl<T> std::panic::RefUnwindSafe for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        for _ in 0..self.left {
            put_back(self.chan, Location::caller());
        }
    }
}

pub struct OwnedPermit<T> {
    pub(super) sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    #[track_caller]
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.sender.take().expect("it is used once");
        event(sender.chan.action(Point::Sends, Location::caller()));
        sender.chan.push(value);
        sender
    }

    fn chan(&self) -> Option<&Arc<Queue<T>>> {
        self.sender.as_ref().map(|sender| &sender.chan)
    }

    pub fn same_channel(&self, other: &OwnedPermit<T>) -> bool {
        self.chan().zip(other.chan()).is_some_and(|(one, two)| Arc::ptr_eq(one, two))
    }

    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.chan().is_some_and(|chan| Arc::ptr_eq(chan, &sender.chan))
    }

    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect("it is used once");
        put_back(&sender.chan, Location::caller());
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            put_back(&sender.chan, Location::caller());
        }
    }
}

opaque!(OwnedPermit);
