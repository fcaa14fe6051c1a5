//! TCP.

use crate::io::ReadBuf;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

types! { TcpListener TcpStream TcpSocket }
converts! {
    TcpListener "net::TcpListener::from_std" std::net::TcpListener, SocketAddr;
    TcpStream "net::TcpStream::from_std" std::net::TcpStream, SocketAddr;
}
descriptors! { TcpSocket }
halves! { TcpStream, SocketAddr }
is_socket! { TcpStream }

impl TcpListener {
    opens! { "net::TcpListener::bind": fn bind<A>(address: A) -> io::Result<TcpListener>; }
}
behind! { async TcpListener: fn accept() -> io::Result<(TcpStream, SocketAddr)>; }
behind! { TcpListener:
    fn poll_accept(cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>>;
    fn ttl() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
}

impl TcpStream {
    opens! { "net::TcpStream::connect": fn connect<A>(address: A) -> io::Result<TcpStream>; }
}
behind! { TcpStream:
    fn peer_addr() -> io::Result<SocketAddr>;
    fn poll_peek(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<usize>>;
    fn quickack() -> io::Result<bool>;
    fn set_quickack(on: bool) -> io::Result<()>;
    fn ttl() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
}
behind! { async TcpStream: fn peek(buffer: &mut [u8]) -> io::Result<usize>; }
behind! { OwnedReadHalf: fn poll_peek(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<usize>>; }
behind! { async OwnedReadHalf: fn peek(buffer: &mut [u8]) -> io::Result<usize>; }

impl TcpSocket {
    makes! {
        "net::TcpSocket::new_v4": fn new_v4() -> io::Result<TcpSocket>;
        "net::TcpSocket::new_v6": fn new_v6() -> io::Result<TcpSocket>;
        "net::TcpSocket::from_std_stream": fn from_std_stream(stream: std::net::TcpStream) -> TcpSocket;
    }
}
behind! { async TcpSocket: fn connect(address: SocketAddr) -> io::Result<TcpStream>; }
behind! { TcpSocket:
    fn bind(address: SocketAddr) -> io::Result<()>;
    fn listen(backlog: u32) -> io::Result<TcpListener>;
    fn local_addr() -> io::Result<SocketAddr>;
    fn take_error() -> io::Result<Option<io::Error>>;
    fn set_keepalive(on: bool) -> io::Result<()>;
    fn keepalive() -> io::Result<bool>;
    fn set_reuseaddr(on: bool) -> io::Result<()>;
    fn reuseaddr() -> io::Result<bool>;
    fn set_reuseport(on: bool) -> io::Result<()>;
    fn reuseport() -> io::Result<bool>;
    fn set_send_buffer_size(size: u32) -> io::Result<()>;
    fn send_buffer_size() -> io::Result<u32>;
    fn set_recv_buffer_size(size: u32) -> io::Result<()>;
    fn recv_buffer_size() -> io::Result<u32>;
    fn tos_v4() -> io::Result<u32>;
    fn set_tos_v4(tos: u32) -> io::Result<()>;
    fn tclass_v6() -> io::Result<u32>;
    fn set_tclass_v6(class: u32) -> io::Result<()>;
    fn device() -> io::Result<Option<Vec<u8>>>;
    fn bind_device(interface: Option<&[u8]>) -> io::Result<()>;
}

/// Defines the options that streams and sockets have in common.
macro_rules! has_options {
    ($($type:ident)*) => {$(
        behind! { $type:
            fn nodelay() -> io::Result<bool>;
            fn set_nodelay(on: bool) -> io::Result<()>;
            fn linger() -> io::Result<Option<Duration>>;
            fn set_linger(time: Option<Duration>) -> io::Result<()>;
            fn set_zero_linger() -> io::Result<()>;
        }
    )*};
}
has_options! { TcpStream TcpSocket }

#[cfg(unix)]
impl std::os::fd::FromRawFd for TcpSocket {
    #[track_caller]
    unsafe fn from_raw_fd(_: std::os::fd::RawFd) -> TcpSocket {
        crate::unmodelled::not_modelled("net::TcpSocket::from_raw_fd", std::panic::Location::caller())
    }
}

#[cfg(unix)]
impl std::os::fd::IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> std::os::fd::RawFd {
        match self.0 {}
    }
}
