//! Signals of the operating system.

use std::future::Future;
use std::io;

opens! { "signal::ctrl_c": fn ctrl_c() -> io::Result<()>; }

#[cfg(unix)]
pub mod unix {
    use std::future::Future;
    use std::io;
    use std::task::{Context, Poll};

    types! { Signal }
    behind! { async Signal: fn recv() -> Option<()>; }
    behind! { Signal: fn poll_recv(cx: &mut Context<'_>) -> Poll<Option<()>>; }

    /// The kind of a signal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct SignalKind(&'static str);

    macro_rules! kinds {
        ($($name:ident)*) => {
            impl SignalKind {
                $(pub const fn $name() -> SignalKind {
                    SignalKind(stringify!($name))
                })*
            }
        };
    }
    kinds! { interrupt terminate hangup quit alarm child pipe user_defined1 user_defined2 window_change io }

    #[track_caller]
    pub fn signal(kind: SignalKind) -> io::Result<Signal> {
        let place = std::panic::Location::caller();
        crate::unmodelled::not_modelled(&format!("signal::unix::signal({})", kind.0), place)
    }
}
