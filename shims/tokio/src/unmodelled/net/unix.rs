//! Sockets of the local system.

use std::future::Future;
use std::io;
use std::task::{Context, Poll};

types! { UnixListener UnixStream UnixDatagram UnixSocket SocketAddr UCred }
converts! {
    UnixListener "net::UnixListener::from_std" std::os::unix::net::UnixListener, SocketAddr;
    UnixStream "net::UnixStream::from_std" std::os::unix::net::UnixStream, SocketAddr;
    UnixDatagram "net::UnixDatagram::from_std" std::os::unix::net::UnixDatagram, SocketAddr;
}
halves! { UnixStream, SocketAddr }
is_socket! { UnixStream, UnixDatagram }

behind! { SocketAddr: fn is_unnamed() -> bool; fn as_pathname() -> Option<&'static std::path::Path>; }
behind! { UCred: fn uid() -> u32; fn gid() -> u32; fn pid() -> Option<i32>; }

impl UnixListener {
    makes! { "net::UnixListener::bind": fn bind<P>(path: P) -> io::Result<UnixListener>; }
}
behind! { async UnixListener: fn accept() -> io::Result<(UnixStream, SocketAddr)>; }
behind! { UnixListener:
    fn poll_accept(cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>>;
    fn take_error() -> io::Result<Option<io::Error>>;
}

impl UnixStream {
    opens! { "net::UnixStream::connect": fn connect<P>(path: P) -> io::Result<UnixStream>; }
    makes! { "net::UnixStream::pair": fn pair() -> io::Result<(UnixStream, UnixStream)>; }
}
behind! { UnixStream: fn peer_addr() -> io::Result<SocketAddr>; fn peer_cred() -> io::Result<UCred>; }

impl UnixDatagram {
    makes! {
        "net::UnixDatagram::bind": fn bind<P>(path: P) -> io::Result<UnixDatagram>;
        "net::UnixDatagram::pair": fn pair() -> io::Result<(UnixDatagram, UnixDatagram)>;
        "net::UnixDatagram::unbound": fn unbound() -> io::Result<UnixDatagram>;
    }
}
behind! { async UnixDatagram:
    fn readable() -> io::Result<()>;
    fn writable() -> io::Result<()>;
    fn send(buffer: &[u8]) -> io::Result<usize>;
    fn send_to<P>(buffer: &[u8], target: P) -> io::Result<usize>;
    fn recv(buffer: &mut [u8]) -> io::Result<usize>;
    fn recv_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
}
behind! { UnixDatagram:
    fn connect<P>(path: P) -> io::Result<()>;
    fn peer_addr() -> io::Result<SocketAddr>;
    fn try_send(buffer: &[u8]) -> io::Result<usize>;
    fn try_send_to<P>(buffer: &[u8], target: P) -> io::Result<usize>;
    fn try_recv(buffer: &mut [u8]) -> io::Result<usize>;
    fn try_recv_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn poll_send(cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>>;
    fn poll_recv(cx: &mut Context<'_>, buffer: &mut crate::io::ReadBuf<'_>) -> Poll<io::Result<()>>;
    fn shutdown(how: std::net::Shutdown) -> io::Result<()>;
}

impl UnixSocket {
    makes! {
        "net::UnixSocket::new_stream": fn new_stream() -> io::Result<UnixSocket>;
        "net::UnixSocket::new_datagram": fn new_datagram() -> io::Result<UnixSocket>;
    }
}
