//! Bounded channels: a send waits for free capacity.

use super::ends::Rx;
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::task::blocking::check_blocking;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use whippet_runtime::Point;
use whippet_runtime::{Action, Asking, Part, Place, Queue, Refused, Waiter, event, read};

channel_kind!(Receiver, Sender, WeakSender);

#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let chan = Queue::new(Some(buffer));
    (Sender { chan: chan.clone() }, Receiver(Rx { chan, waiter: Waiter::new() }))
}

impl<T> Receiver<T> {
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.0.chan.room(Location::caller())
    }
    pub fn max_capacity(&self) -> usize {
        self.0.chan.capacity()
    }
}

impl<T> Sender<T> {
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, Some(value), 1, Location::caller());
        async move { poll_fn(move |cx| asking.poll(cx)).await.map_err(|value| SendError(value.expect("it was not sent"))) }
    }

    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        check_blocking();
        let answer = Asking::new(&self.chan, Some(value), 1, Location::caller()).here();
        answer.map_err(|value| SendError(value.expect("it was not sent")))
    }

    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, Some(value), 1, Location::caller());
        let mut sleep = crate::time::sleep(timeout);
        async move {
            poll_fn(move |cx| {
                if let Poll::Ready(answer) = asking.poll(cx) {
                    let error = |value: Option<T>| SendTimeoutError::Closed(value.expect("it was not sent"));
                    return Poll::Ready(answer.map_err(error));
                }
                ready!(std::pin::Pin::new(&mut sleep).poll(cx));
                Poll::Ready(Err(SendTimeoutError::Timeout(asking.take_back().expect("it was not sent"))))
            })
            .await
        }
    }

    fn try_place(&self, count: usize, place: Place, point: Point) -> Result<(), TrySendError<()>> {
        self.chan.try_ask(count, point, place).map_err(|refused| match refused {
            Refused::Now => TrySendError::Full(()),
            Refused::Forever => TrySendError::Closed(()),
        })
    }

    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.try_place(1, Location::caller(), Point::TriesToSend) {
            Ok(()) => {
                self.chan.push(value);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(value)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(value)),
        }
    }

    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, None, 1, Location::caller());
        async move {
            poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            Ok(Permit { chan: &self.chan, sent: false })
        }
    }

    #[track_caller]
    pub fn reserve_many(
        &self,
        count: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, None, count, Location::caller());
        async move {
            if self.chan.capacity() < count {
                return Err(SendError(()));
            }
            poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            Ok(PermitIterator { chan: &self.chan, left: count })
        }
    }

    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let mut asking = Asking::new(&self.chan, None, 1, Location::caller());
        async move {
            poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            Ok(OwnedPermit { sender: Some(self) })
        }
    }

    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.try_place(1, Location::caller(), Point::TriesToReservePlace)?;
        Ok(Permit { chan: &self.chan, sent: false })
    }

    #[track_caller]
    pub fn try_reserve_many(&self, count: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        if self.max_capacity() < count {
            return Err(TrySendError::Full(()));
        }
        self.try_place(count, Location::caller(), Point::TriesToReservePlaces)?;
        Ok(PermitIterator { chan: &self.chan, left: count })
    }

    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Sender<T>>> {
        match self.try_place(1, Location::caller(), Point::TriesToReservePlace) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.chan.room(Location::caller())
    }

    pub fn max_capacity(&self) -> usize {
        self.chan.capacity()
    }
}
