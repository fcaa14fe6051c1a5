//! APIs that the shim does not model: network, files, processes, signals and standard I/O.
//!
//! They exist so that programs that mention them compile. Calling a function that would create such a resource is an
//! error that names the function and the line. The resource types have no values, so their methods are never called.

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

/// Defines functions that would create a resource. They fail when they are called.
macro_rules! makes {
    ($($item:literal: fn $name:ident$(<$($generic:ident),*>)?($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[track_caller]
        pub fn $name$(<$($generic),*>)?($(_: $type),*) -> $result {
            $crate::unmodelled::not_modelled($item, std::panic::Location::caller())
        }
    )*};
}

/// Defines methods of a type without values. All of them borrow `self`, whatever tokio's do: nothing can tell.
macro_rules! behind {
    ($type:ty: $(fn $name:ident$(<$($generic:ident),*>)?($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl $type {
            $(#[allow(clippy::missing_errors_doc, clippy::must_use_candidate)]
            pub fn $name$(<$($generic),*>)?(&self $(, _: $kind)*) -> $result {
                match self.0 {}
            })*
        }
    };
    (async $type:ty: $(fn $name:ident$(<$($generic:ident),*>)?($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl $type {
            $(pub fn $name$(<$($generic),*>)?(&self $(, _: $kind)*) -> impl Future<Output = $result> + use<$($($generic),*)?> {
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
        pub struct $type(pub(crate) $crate::unmodelled::Never);
    )*};
}

/// Implements `AsyncRead` for types without values.
macro_rules! reads {
    ($($type:ty),*) => {$(
        impl $crate::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
                _: &mut $crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                match self.0 {}
            }
        }
    )*};
}

/// Implements `AsyncWrite` for types without values.
macro_rules! writes {
    ($($type:ty),*) => {$(
        impl $crate::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
                _: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                match self.0 {}
            }
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                match self.0 {}
            }
            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                match self.0 {}
            }
        }
    )*};
}

/// Implements the traits of file descriptors for types without values.
macro_rules! descriptors {
    ($($type:ident)*) => {$(
        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                match self.0 {}
            }
        }
        #[cfg(unix)]
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                match self.0 {}
            }
        }
    )*};
}

pub mod fs;
pub mod net;
pub mod process;
pub mod signal;
pub mod standard;
