//! The doors to the outside: there, so that programs that mention them compile; using one is an error that names it.

use crate::whippet::not_modelled;
use std::io;

macro_rules! doors {
    ($($type:ident: $($function:ident)*;)*) => {$(
        #[derive(Debug)]
        pub struct $type(());
        impl $type {
            $(
                #[track_caller]
                pub fn $function<A>(_: A) -> impl Future<Output = io::Result<$type>> {
                    let place = std::panic::Location::caller();
                    async move { not_modelled_at(concat!(stringify!($type), "::", stringify!($function)), place) }
                }
            )*
        }
    )*};
}

fn not_modelled_at(item: &str, place: whippet_tasks::Place) -> ! {
    whippet_tasks::misuse(format!(
        "whippet's stand-in does not model tokio's {item}, used at {}:{}: keep it out of the tests that are explored",
        place.file(),
        place.line()
    ))
}

pub mod net {
    use super::{Future, io, not_modelled_at};
    doors! {
        TcpListener: bind;
        TcpStream: connect;
        UdpSocket: bind;
        UnixListener: bind;
        UnixStream: connect;
    }
}

pub mod fs {
    use super::{Future, io, not_modelled_at};
    doors! {
        File: open create;
    }

    #[track_caller]
    pub fn read_to_string<P>(_: P) -> impl Future<Output = io::Result<String>> {
        let place = std::panic::Location::caller();
        async move { not_modelled_at("fs::read_to_string", place) }
    }

    #[track_caller]
    pub fn read<P>(_: P) -> impl Future<Output = io::Result<Vec<u8>>> {
        let place = std::panic::Location::caller();
        async move { not_modelled_at("fs::read", place) }
    }

    #[track_caller]
    pub fn write<P, C>(_: P, _: C) -> impl Future<Output = io::Result<()>> {
        let place = std::panic::Location::caller();
        async move { not_modelled_at("fs::write", place) }
    }
}

pub mod process {
    use super::not_modelled;

    #[derive(Debug)]
    pub struct Command(());

    impl Command {
        #[track_caller]
        pub fn new<S>(_: S) -> Command {
            not_modelled("process::Command")
        }
    }
}

pub mod signal {
    use super::{Future, io, not_modelled_at};

    /// Nobody presses Ctrl-C here.
    #[track_caller]
    pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
        let place = std::panic::Location::caller();
        async move { not_modelled_at("signal::ctrl_c", place) }
    }
}

use std::future::Future;
