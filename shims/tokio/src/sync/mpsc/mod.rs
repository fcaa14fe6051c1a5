//! `mpsc`: channels with one queue each, in the order of the sends.

#[macro_use]
mod api;
mod bounded;
mod ends;
pub mod error;
mod permit;
mod unbounded;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
