//! Unbounded channels.

use super::ends::Rx;
use super::{SendError, TryRecvError};
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_runtime::{Action, Part, Queue, Waiter, event, read};

channel_kind!(UnboundedReceiver, UnboundedSender, WeakUnboundedSender);

pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Queue::new(None);
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver(Rx { chan, waiter: Waiter::new() }))
}

impl<T> UnboundedSender<T> {
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.chan.send(value, Location::caller()).map_err(SendError)
    }
}
