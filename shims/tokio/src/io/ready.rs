//! `Interest` and `Ready`: sets of the states of a resource. The resources themselves are not modelled.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// Defines a set of flags.
macro_rules! flags {
    ($type:ident: $($constant:ident $test:ident $value:literal)*) => {
        /// Shim of the type of this name in tokio.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(u8);

        impl $type {
            $(pub const $constant: $type = $type($value);

            pub const fn $test(self) -> bool {
                self.0 & $value != 0
            })*
        }

        impl BitOr for $type {
            type Output = $type;
            fn bitor(self, other: $type) -> $type {
                $type(self.0 | other.0)
            }
        }

        impl BitOrAssign for $type {
            fn bitor_assign(&mut self, other: $type) {
                self.0 |= other.0;
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut names = Vec::new();
                $(if self.0 & $value != 0 {
                    names.push(stringify!($constant));
                })*
                f.write_str(&names.join(" | "))
            }
        }
    };
}

flags! { Interest: READABLE is_readable 1 WRITABLE is_writable 2 PRIORITY is_priority 4 ERROR is_error 8 }
flags! { Ready: READABLE is_readable 1 WRITABLE is_writable 2 READ_CLOSED is_read_closed 16 WRITE_CLOSED is_write_closed 32 PRIORITY is_priority 4 ERROR is_error 8 }

impl Interest {
    #[must_use]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    #[must_use]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        Some(Interest(self.0 & !other.0)).filter(|rest| rest.0 != 0)
    }
}

impl Ready {
    pub const EMPTY: Ready = Ready(0);
    pub const ALL: Ready = Ready(63);

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitAnd for Ready {
    type Output = Ready;
    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;
    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

/// Resources by their descriptors. Waiting for them is not modelled.
pub mod unix {
    use crate::io::Interest;
    use crate::unmodelled::Never;
    use std::io;
    use std::panic::Location;

    /// Shim of `tokio::io::unix::AsyncFd`.
    #[derive(Debug)]
    pub struct AsyncFd<T> {
        inner: T,
        nothing: Never,
    }

    impl<T> AsyncFd<T> {
        #[track_caller]
        pub fn new(_: T) -> io::Result<AsyncFd<T>> {
            crate::unmodelled::not_modelled("io::unix::AsyncFd", Location::caller())
        }

        #[track_caller]
        pub fn with_interest(_: T, _: Interest) -> io::Result<AsyncFd<T>> {
            crate::unmodelled::not_modelled("io::unix::AsyncFd", Location::caller())
        }

        pub fn get_ref(&self) -> &T {
            &self.inner
        }

        pub fn get_mut(&mut self) -> &mut T {
            &mut self.inner
        }

        pub fn into_inner(self) -> T {
            match self.nothing {}
        }
    }
}
