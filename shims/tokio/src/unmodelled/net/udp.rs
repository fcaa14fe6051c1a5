//! UDP.

use crate::io::ReadBuf;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

types! { UdpSocket }
converts! { UdpSocket "net::UdpSocket::from_std" std::net::UdpSocket, SocketAddr; }
is_socket! { UdpSocket }

impl UdpSocket {
    opens! { "net::UdpSocket::bind": fn bind<A>(address: A) -> io::Result<UdpSocket>; }
}
behind! { async UdpSocket:
    fn connect<A>(address: A) -> io::Result<()>;
    fn readable() -> io::Result<()>;
    fn writable() -> io::Result<()>;
    fn send(buffer: &[u8]) -> io::Result<usize>;
    fn send_to<A>(buffer: &[u8], address: A) -> io::Result<usize>;
    fn recv(buffer: &mut [u8]) -> io::Result<usize>;
    fn recv_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn recv_buf<B>(buffer: &mut B) -> io::Result<usize>;
    fn recv_buf_from<B>(buffer: &mut B) -> io::Result<(usize, SocketAddr)>;
    fn peek(buffer: &mut [u8]) -> io::Result<usize>;
    fn peek_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn peek_sender() -> io::Result<SocketAddr>;
}
behind! { UdpSocket:
    fn peer_addr() -> io::Result<SocketAddr>;
    fn poll_send_ready(cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_send(cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>>;
    fn poll_send_to(cx: &mut Context<'_>, buffer: &[u8], target: SocketAddr) -> Poll<io::Result<usize>>;
    fn try_send(buffer: &[u8]) -> io::Result<usize>;
    fn try_send_to(buffer: &[u8], target: SocketAddr) -> io::Result<usize>;
    fn poll_recv_ready(cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_recv(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
    fn poll_recv_from(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>>;
    fn try_recv(buffer: &mut [u8]) -> io::Result<usize>;
    fn try_recv_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn try_recv_buf<B>(buffer: &mut B) -> io::Result<usize>;
    fn try_recv_buf_from<B>(buffer: &mut B) -> io::Result<(usize, SocketAddr)>;
    fn poll_peek(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
    fn poll_peek_from(cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>>;
    fn try_peek(buffer: &mut [u8]) -> io::Result<usize>;
    fn try_peek_from(buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
    fn broadcast() -> io::Result<bool>;
    fn set_broadcast(on: bool) -> io::Result<()>;
    fn multicast_loop_v4() -> io::Result<bool>;
    fn set_multicast_loop_v4(on: bool) -> io::Result<()>;
    fn multicast_loop_v6() -> io::Result<bool>;
    fn set_multicast_loop_v6(on: bool) -> io::Result<()>;
    fn multicast_ttl_v4() -> io::Result<u32>;
    fn set_multicast_ttl_v4(ttl: u32) -> io::Result<()>;
    fn ttl() -> io::Result<u32>;
    fn set_ttl(ttl: u32) -> io::Result<()>;
    fn join_multicast_v4(group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
    fn leave_multicast_v4(group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
    fn join_multicast_v6(group: &Ipv6Addr, interface: u32) -> io::Result<()>;
    fn leave_multicast_v6(group: &Ipv6Addr, interface: u32) -> io::Result<()>;
}
