//! APIs that the shim does not model: network, files, processes, signals and standard I/O.
//!
//! They exist so that programs that mention them compile. Calling a function that would create such a resource is an
//! error that names the function and the line. The resource types have no values, so their methods are never called.

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A type without values.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// Fails with an error that names the item and the place of its use.
pub(crate) fn not_modelled(item: &str, place: whippet_runtime::Place) -> ! {
    whippet_runtime::misuse(format!(
        "whippet's shim does not model tokio's {item}, used at {}:{}: do not use it in tests that are explored",
        place.file(),
        place.line()
    ))
}

/// Defines functions that would create a resource. They fail when their future is polled.
macro_rules! opens {
    ($($item:literal: fn $name:ident$(<$($generic:ident),*>)?($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[track_caller]
        pub fn $name$(<$($generic),*>)?($(_: $type),*) -> impl Future<Output = $result> {
            let place = std::panic::Location::caller();
            async move { $crate::unmodelled::not_modelled($item, place) }
        }
    )*};
}

/// Defines methods of a type without values.
macro_rules! behind {
    ($type:ident: $(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl $type {
            $(#[allow(clippy::missing_errors_doc, clippy::must_use_candidate)]
            pub fn $name(&self $(, _: $kind)*) -> $result {
                match self.0 {}
            })*
        }
    };
    (async $type:ident: $(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl $type {
            $(pub fn $name(&self $(, _: $kind)*) -> impl Future<Output = $result> + use<> {
                let nothing = self.0;
                async move { match nothing {} }
            })*
        }
    };
}

/// Defines types without values.
macro_rules! types {
    ($($type:ident)*) => {$(
        #[derive(Debug)]
        pub struct $type(super::Never);
    )*};
}

/// Implements `AsyncRead` and `AsyncWrite` for types without values.
macro_rules! streams {
    ($($type:ident)*) => {$(
        impl AsyncRead for $type {
            fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
                match self.0 {}
            }
        }
        impl AsyncWrite for $type {
            fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
                match self.0 {}
            }
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.0 {}
            }
            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.0 {}
            }
        }
    )*};
}

/// Sockets.
pub mod net {
    use super::{AsyncRead, AsyncWrite, Context, Future, Pin, Poll, ReadBuf, io};
    use std::net::SocketAddr;

    types! { TcpListener TcpStream UdpSocket UnixListener UnixStream TcpSocket }
    streams! { TcpStream UnixStream }

    impl TcpListener {
        opens! { "net::TcpListener::bind": fn bind<A>(address: A) -> io::Result<TcpListener>; }
    }
    behind! { async TcpListener: fn accept() -> io::Result<(TcpStream, SocketAddr)>; }
    behind! { TcpListener: fn local_addr() -> io::Result<SocketAddr>; }

    impl TcpStream {
        opens! { "net::TcpStream::connect": fn connect<A>(address: A) -> io::Result<TcpStream>; }
        pub fn split(&mut self) -> (tcp::ReadHalf<'_>, tcp::WriteHalf<'_>) {
            match self.0 {}
        }
        pub fn into_split(self) -> (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) {
            match self.0 {}
        }
    }
    behind! { TcpStream:
        fn local_addr() -> io::Result<SocketAddr>;
        fn peer_addr() -> io::Result<SocketAddr>;
        fn set_nodelay(on: bool) -> io::Result<()>;
        fn nodelay() -> io::Result<bool>;
        fn try_read(buffer: &mut [u8]) -> io::Result<usize>;
        fn try_write(buffer: &[u8]) -> io::Result<usize>;
    }
    behind! { async TcpStream: fn readable() -> io::Result<()>; fn writable() -> io::Result<()>; }

    impl UdpSocket {
        opens! { "net::UdpSocket::bind": fn bind<A>(address: A) -> io::Result<UdpSocket>; }
        pub async fn connect<A>(&self, _: A) -> io::Result<()> {
            match self.0 {}
        }
        pub async fn send_to<A>(&self, _: &[u8], _: A) -> io::Result<usize> {
            match self.0 {}
        }
        pub async fn recv_from(&self, _: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
            match self.0 {}
        }
        pub async fn send(&self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }
        pub async fn recv(&self, _: &mut [u8]) -> io::Result<usize> {
            match self.0 {}
        }
    }
    behind! { UdpSocket: fn local_addr() -> io::Result<SocketAddr>; }

    impl UnixListener {
        #[track_caller]
        pub fn bind<P>(_: P) -> io::Result<UnixListener> {
            super::not_modelled("net::UnixListener::bind", std::panic::Location::caller())
        }
    }
    behind! { async UnixListener: fn accept() -> io::Result<(UnixStream, unix::SocketAddr)>; }

    impl UnixStream {
        opens! { "net::UnixStream::connect": fn connect<P>(path: P) -> io::Result<UnixStream>; }
        #[track_caller]
        pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
            super::not_modelled("net::UnixStream::pair", std::panic::Location::caller())
        }
    }

    impl TcpSocket {
        #[track_caller]
        pub fn new_v4() -> io::Result<TcpSocket> {
            super::not_modelled("net::TcpSocket::new_v4", std::panic::Location::caller())
        }
        #[track_caller]
        pub fn new_v6() -> io::Result<TcpSocket> {
            super::not_modelled("net::TcpSocket::new_v6", std::panic::Location::caller())
        }
    }

    opens! { "net::lookup_host": fn lookup_host<A>(host: A) -> io::Result<std::vec::IntoIter<SocketAddr>>; }

    /// Shim of `tokio::net::ToSocketAddrs`. All types implement it, because no address is ever used.
    pub trait ToSocketAddrs {}
    impl<A> ToSocketAddrs for A {}

    pub mod tcp {
        use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
        use std::io;
        use std::pin::Pin;
        use std::task::{Context, Poll};

        #[derive(Debug)]
        pub struct OwnedReadHalf(pub(super) crate::unmodelled::Never);
        #[derive(Debug)]
        pub struct OwnedWriteHalf(pub(super) crate::unmodelled::Never);
        #[derive(Debug)]
        pub struct ReadHalf<'a>(pub(super) crate::unmodelled::Never, pub(super) std::marker::PhantomData<&'a ()>);
        #[derive(Debug)]
        pub struct WriteHalf<'a>(pub(super) crate::unmodelled::Never, pub(super) std::marker::PhantomData<&'a ()>);

        macro_rules! halves {
            ($reads:ty, $writes:ty) => {
                impl AsyncRead for $reads {
                    fn poll_read(
                        self: Pin<&mut Self>,
                        _: &mut Context<'_>,
                        _: &mut ReadBuf<'_>,
                    ) -> Poll<io::Result<()>> {
                        match self.0 {}
                    }
                }
                impl AsyncWrite for $writes {
                    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
                        match self.0 {}
                    }
                    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                        match self.0 {}
                    }
                    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                        match self.0 {}
                    }
                }
            };
        }
        halves!(OwnedReadHalf, OwnedWriteHalf);
        halves!(ReadHalf<'_>, WriteHalf<'_>);
    }

    pub mod unix {
        #[derive(Debug)]
        pub struct SocketAddr(pub(super) crate::unmodelled::Never);
    }
}

/// Files.
pub mod fs {
    use super::{AsyncRead, AsyncWrite, Context, Future, Pin, Poll, ReadBuf, io};

    types! { File ReadDir DirEntry }
    streams! { File }

    impl File {
        opens! {
            "fs::File::open": fn open<P>(path: P) -> io::Result<File>;
            "fs::File::create": fn create<P>(path: P) -> io::Result<File>;
        }
    }
    behind! { async File:
        fn sync_all() -> io::Result<()>;
        fn sync_data() -> io::Result<()>;
        fn set_len(length: u64) -> io::Result<()>;
        fn metadata() -> io::Result<std::fs::Metadata>;
    }

    opens! {
        "fs::read": fn read<P>(path: P) -> io::Result<Vec<u8>>;
        "fs::read_to_string": fn read_to_string<P>(path: P) -> io::Result<String>;
        "fs::write": fn write<P, C>(path: P, contents: C) -> io::Result<()>;
        "fs::copy": fn copy<P, Q>(from: P, to: Q) -> io::Result<u64>;
        "fs::rename": fn rename<P, Q>(from: P, to: Q) -> io::Result<()>;
        "fs::remove_file": fn remove_file<P>(path: P) -> io::Result<()>;
        "fs::remove_dir": fn remove_dir<P>(path: P) -> io::Result<()>;
        "fs::remove_dir_all": fn remove_dir_all<P>(path: P) -> io::Result<()>;
        "fs::create_dir": fn create_dir<P>(path: P) -> io::Result<()>;
        "fs::create_dir_all": fn create_dir_all<P>(path: P) -> io::Result<()>;
        "fs::metadata": fn metadata<P>(path: P) -> io::Result<std::fs::Metadata>;
        "fs::try_exists": fn try_exists<P>(path: P) -> io::Result<bool>;
        "fs::canonicalize": fn canonicalize<P>(path: P) -> io::Result<std::path::PathBuf>;
        "fs::read_dir": fn read_dir<P>(path: P) -> io::Result<ReadDir>;
    }

    impl ReadDir {
        pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
            match self.0 {}
        }
    }
    behind! { DirEntry: fn path() -> std::path::PathBuf; fn file_name() -> std::ffi::OsString; }

    /// The options for opening a file. Setting them has no effect; opening a file is an error.
    #[derive(Debug, Clone, Default)]
    pub struct OpenOptions(());

    impl OpenOptions {
        pub fn new() -> OpenOptions {
            OpenOptions(())
        }
        opens! { "fs::OpenOptions::open": fn open_file<P>(path: P) -> io::Result<File>; }
        #[track_caller]
        pub fn open<P>(&self, path: P) -> impl Future<Output = io::Result<File>> + use<P> {
            OpenOptions::open_file(path)
        }
    }

    macro_rules! options {
        ($($name:ident)*) => {
            impl OpenOptions {
                $(pub fn $name(&mut self, _: bool) -> &mut OpenOptions {
                    self
                })*
            }
        };
    }
    options! { read write append truncate create create_new }
}

/// Child processes.
pub mod process {
    use std::panic::Location;

    types! { Command Child }

    impl Command {
        #[track_caller]
        pub fn new<S>(_: S) -> Command {
            super::not_modelled("process::Command", Location::caller())
        }
        pub fn arg<S>(&mut self, _: S) -> &mut Command {
            match self.0 {}
        }
        pub fn args<I>(&mut self, _: I) -> &mut Command {
            match self.0 {}
        }
        pub fn env<K, V>(&mut self, _: K, _: V) -> &mut Command {
            match self.0 {}
        }
        pub fn current_dir<P>(&mut self, _: P) -> &mut Command {
            match self.0 {}
        }
        pub fn stdin<T>(&mut self, _: T) -> &mut Command {
            match self.0 {}
        }
        pub fn stdout<T>(&mut self, _: T) -> &mut Command {
            match self.0 {}
        }
        pub fn stderr<T>(&mut self, _: T) -> &mut Command {
            match self.0 {}
        }
        pub fn kill_on_drop(&mut self, _: bool) -> &mut Command {
            match self.0 {}
        }
        pub fn spawn(&mut self) -> std::io::Result<Child> {
            match self.0 {}
        }
        pub async fn output(&mut self) -> std::io::Result<std::process::Output> {
            match self.0 {}
        }
        pub async fn status(&mut self) -> std::io::Result<std::process::ExitStatus> {
            match self.0 {}
        }
    }

    impl Child {
        pub fn id(&self) -> Option<u32> {
            match self.0 {}
        }
        pub async fn wait(&mut self) -> std::io::Result<std::process::ExitStatus> {
            match self.0 {}
        }
        pub async fn wait_with_output(self) -> std::io::Result<std::process::Output> {
            match self.0 {}
        }
        pub async fn kill(&mut self) -> std::io::Result<()> {
            match self.0 {}
        }
    }
}

/// Signals of the operating system.
pub mod signal {
    use super::{Future, io};

    opens! { "signal::ctrl_c": fn ctrl_c() -> io::Result<()>; }

    #[cfg(unix)]
    pub mod unix {
        use std::io;

        #[derive(Debug)]
        pub struct Signal(super::super::Never);

        impl Signal {
            pub async fn recv(&mut self) -> Option<()> {
                match self.0 {}
            }
        }

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
            super::super::not_modelled(&format!("signal::unix::signal({})", kind.0), place)
        }
    }
}

/// Standard input and output.
pub mod standard {
    use super::{AsyncRead, AsyncWrite, Context, Location, Pin, Poll, ReadBuf, io};

    types! { Stdin Stdout Stderr }
    streams! { Stdin Stdout Stderr }

    macro_rules! standard {
        ($($name:ident: $type:ident;)*) => {$(
            #[track_caller]
            pub fn $name() -> $type {
                super::not_modelled(concat!("io::", stringify!($name)), Location::caller())
            }
        )*};
    }
    standard! { stdin: Stdin; stdout: Stdout; stderr: Stderr; }
}
