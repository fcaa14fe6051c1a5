//! Sockets.

/// Defines the methods of a stream and of its halves that read.
macro_rules! reads_bytes {
    ($($type:ty),*) => {$(
        behind! { $type:
            fn try_read(buffer: &mut [u8]) -> std::io::Result<usize>;
            fn try_read_vectored(buffers: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize>;
            fn try_read_buf<B>(buffer: &mut B) -> std::io::Result<usize>;
            fn poll_read_ready(cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>>;
        }
        behind! { async $type: fn readable() -> std::io::Result<()>; }
    )*};
}

/// Defines the methods of a stream and of its halves that write.
macro_rules! writes_bytes {
    ($($type:ty),*) => {$(
        behind! { $type:
            fn try_write(buffer: &[u8]) -> std::io::Result<usize>;
            fn try_write_vectored(buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize>;
            fn poll_write_ready(cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>>;
        }
        behind! { async $type: fn writable() -> std::io::Result<()>; }
    )*};
}

/// Defines the methods that all sockets have, of which some read and write by closures.
macro_rules! is_socket {
    ($($type:ty),*) => {$(
        behind! { $type:
            fn try_io<R, F>(interest: $crate::io::Interest, work: F) -> std::io::Result<R>;
            fn take_error() -> std::io::Result<Option<std::io::Error>>;
        }
        behind! { async $type:
            fn ready(interest: $crate::io::Interest) -> std::io::Result<$crate::io::Ready>;
            fn async_io<R, F>(interest: $crate::io::Interest, work: F) -> std::io::Result<R>;
        }
    )*};
}

/// Defines the conversions of a socket from and to the one of `std`, and the names of its ends.
macro_rules! converts {
    ($($type:ident $item:literal $std:ty, $address:ty;)*) => {$(
        impl $type {
            makes! { $item: fn from_std(socket: $std) -> std::io::Result<$type>; }
        }
        impl TryFrom<$std> for $type {
            type Error = std::io::Error;
            #[track_caller]
            fn try_from(socket: $std) -> std::io::Result<$type> {
                $type::from_std(socket)
            }
        }
        impl AsRef<$type> for $type {
            fn as_ref(&self) -> &$type {
                self
            }
        }
        descriptors! { $type }
        behind! { $type:
            fn into_std() -> std::io::Result<$std>;
            fn local_addr() -> std::io::Result<$address>;
        }
    )*};
}

/// Defines the halves of a stream.
macro_rules! halves {
    ($stream:ident, $address:ty) => {
        types! { OwnedReadHalf OwnedWriteHalf }

        #[derive(Debug)]
        pub struct ReadHalf<'a>($crate::unmodelled::Never, std::marker::PhantomData<&'a ()>);

        #[derive(Debug)]
        pub struct WriteHalf<'a>($crate::unmodelled::Never, std::marker::PhantomData<&'a ()>);

        /// The error of two halves that are not of the same stream.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }
        impl std::error::Error for ReuniteError {}

        impl $stream {
            pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                match self.0 {}
            }
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                match self.0 {}
            }
        }
        impl AsRef<$stream> for OwnedReadHalf {
            fn as_ref(&self) -> &$stream {
                match self.0 {}
            }
        }
        impl AsRef<$stream> for OwnedWriteHalf {
            fn as_ref(&self) -> &$stream {
                match self.0 {}
            }
        }
        reads! { $stream, OwnedReadHalf, ReadHalf<'_> }
        writes! { $stream, OwnedWriteHalf, WriteHalf<'_> }
        reads_bytes! { $stream, OwnedReadHalf, ReadHalf<'_> }
        writes_bytes! { $stream, OwnedWriteHalf, WriteHalf<'_> }
        behind! { OwnedReadHalf:
            fn reunite(other: OwnedWriteHalf) -> Result<$stream, ReuniteError>;
            fn local_addr() -> std::io::Result<$address>;
            fn peer_addr() -> std::io::Result<$address>;
        }
        behind! { OwnedWriteHalf:
            fn reunite(other: OwnedReadHalf) -> Result<$stream, ReuniteError>;
            fn forget() -> ();
            fn local_addr() -> std::io::Result<$address>;
            fn peer_addr() -> std::io::Result<$address>;
        }
        behind! { ReadHalf<'_>: fn local_addr() -> std::io::Result<$address>; fn peer_addr() -> std::io::Result<$address>; }
        behind! { WriteHalf<'_>: fn local_addr() -> std::io::Result<$address>; fn peer_addr() -> std::io::Result<$address>; }
        behind! { async OwnedReadHalf: fn ready(interest: $crate::io::Interest) -> std::io::Result<$crate::io::Ready>; }
        behind! { async OwnedWriteHalf: fn ready(interest: $crate::io::Interest) -> std::io::Result<$crate::io::Ready>; }
    };
}

pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;

use std::future::Future;
use std::io;
use std::net::SocketAddr;

pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

opens! { "net::lookup_host": fn lookup_host<A>(host: A) -> io::Result<std::vec::IntoIter<SocketAddr>>; }

/// Shim of `tokio::net::ToSocketAddrs`. All types implement it, because no address is ever used.
pub trait ToSocketAddrs {}
impl<A> ToSocketAddrs for A {}
