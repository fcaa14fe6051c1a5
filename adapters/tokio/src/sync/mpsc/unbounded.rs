//! Channels without a limit.

use super::chan::{CLOSED, Chan};
use super::ends::Rx;
use super::{SendError, TryRecvError};
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_tasks::{Action, Leaf, Part, event, read};

channel_kind!(UnboundedReceiver, UnboundedSender, WeakUnboundedSender);

pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(None);
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver(Rx { chan, leaf: Leaf::new() }))
}

impl<T> UnboundedSender<T> {
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        event(self.chan.action("sends", "to", Location::caller()));
        read(self.chan.object.part(Part::Closed));
        if self.chan.is_closed() {
            return Err(SendError(value));
        }
        self.chan.push(value);
        Ok(())
    }
}
