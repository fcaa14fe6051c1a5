//! Asynchronous reading and writing: the traits, their adapters, and pipes in memory. Standard input and output are not
//! modelled.

mod buffered;
mod copy;
mod duplex;
mod ext;
mod lines;
mod memory;
mod ready;
mod split;

use std::fmt;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use crate::unmodelled::standard::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use buffered::{BufReader, BufStream, BufWriter};
pub use copy::{copy, copy_bidirectional, copy_bidirectional_with_sizes, copy_buf};
pub use duplex::{DuplexStream, SimplexStream, duplex, simplex};
pub use ext::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, Chain, Take};
pub use lines::{AsyncBufReadExt, Lines, Split};
pub use memory::{Empty, Repeat, Sink, empty, repeat, sink};
pub use ready::{Interest, Ready, unix};
pub use split::{ReadHalf, WriteHalf, split};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

/// A buffer that is filled incrementally: `..filled` contains the bytes read, `..initialized` is initialized memory.
pub struct ReadBuf<'a> {
    buffer: &'a mut [MaybeUninit<u8>],
    filled: usize,
    initialized: usize,
}

impl fmt::Debug for ReadBuf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBuf").field("filled", &self.filled).field("capacity", &self.capacity()).finish()
    }
}

impl<'a> ReadBuf<'a> {
    pub fn new(buffer: &'a mut [u8]) -> ReadBuf<'a> {
        let initialized = buffer.len();
        // SAFETY: `u8` and `MaybeUninit<u8>` have the same layout, and `ReadBuf` writes no uninitialized bytes.
        let buffer = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
        ReadBuf { buffer, filled: 0, initialized }
    }

    pub fn uninit(buffer: &'a mut [MaybeUninit<u8>]) -> ReadBuf<'a> {
        ReadBuf { buffer, filled: 0, initialized: 0 }
    }

    fn bytes(&self, to: usize) -> &[u8] {
        // SAFETY: callers only pass ranges of initialized bytes.
        unsafe { self.buffer[..to].assume_init_ref() }
    }

    fn bytes_mut(&mut self, from: usize, to: usize) -> &mut [u8] {
        // SAFETY: callers only pass ranges of initialized bytes.
        unsafe { self.buffer[from..to].assume_init_mut() }
    }

    pub fn capacity(&self) -> usize {
        self.buffer.len()
    }

    pub fn remaining(&self) -> usize {
        self.buffer.len() - self.filled
    }

    pub fn filled(&self) -> &[u8] {
        self.bytes(self.filled)
    }

    pub fn filled_mut(&mut self) -> &mut [u8] {
        self.bytes_mut(0, self.filled)
    }

    pub fn initialized(&self) -> &[u8] {
        self.bytes(self.initialized)
    }

    pub fn initialized_mut(&mut self) -> &mut [u8] {
        self.bytes_mut(0, self.initialized)
    }

    /// # Safety
    /// The caller must not de-initialize bytes that are initialized.
    pub unsafe fn inner_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.buffer
    }

    /// # Safety
    /// The caller must not de-initialize bytes that are initialized.
    pub unsafe fn unfilled_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.buffer[self.filled..]
    }

    pub fn initialize_unfilled(&mut self) -> &mut [u8] {
        self.initialize_unfilled_to(self.remaining())
    }

    pub fn initialize_unfilled_to(&mut self, count: usize) -> &mut [u8] {
        assert!(self.remaining() >= count, "n overflows remaining");
        let end = self.filled + count;
        if self.initialized < end {
            self.buffer[self.initialized..end].fill(MaybeUninit::new(0));
            self.initialized = end;
        }
        self.bytes_mut(self.filled, end)
    }

    pub fn clear(&mut self) {
        self.filled = 0;
    }

    pub fn advance(&mut self, count: usize) {
        self.set_filled(self.filled + count);
    }

    pub fn set_filled(&mut self, count: usize) {
        assert!(count <= self.initialized, "filled must not become larger than initialized");
        self.filled = count;
    }

    /// # Safety
    /// The first `count` unfilled bytes must be initialized.
    pub unsafe fn assume_init(&mut self, count: usize) {
        self.initialized = self.initialized.max(self.filled + count);
    }

    pub fn put_slice(&mut self, bytes: &[u8]) {
        assert!(self.remaining() >= bytes.len(), "buf.len() must fit in remaining()");
        self.initialize_unfilled_to(bytes.len()).copy_from_slice(bytes);
        self.filled += bytes.len();
    }
}

pub trait AsyncRead {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
}

pub trait AsyncBufRead: AsyncRead {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>>;
    fn consume(self: Pin<&mut Self>, count: usize);
}

pub trait AsyncSeek {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()>;
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>>;
}

pub trait AsyncWrite {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = buffers.iter().find(|buffer| !buffer.is_empty()).map_or(&[][..], |buffer| &**buffer);
        self.poll_write(cx, first)
    }

    fn is_write_vectored(&self) -> bool {
        false
    }
}

/// Implements a trait for pointers to its implementors.
macro_rules! through_pointers {
    ($trait:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)* }) => {
        impl<T: ?Sized + $trait + Unpin> $trait for Box<T> {
            $(fn $name(mut self: Pin<&mut Self>, $($argument: $type),*) -> $result {
                Pin::new(&mut **self).$name($($argument),*)
            })*
        }
        impl<T: ?Sized + $trait + Unpin> $trait for &mut T {
            $(fn $name(mut self: Pin<&mut Self>, $($argument: $type),*) -> $result {
                Pin::new(&mut **self).$name($($argument),*)
            })*
        }
        impl<P: DerefMut<Target: $trait>> $trait for Pin<P> {
            $(fn $name(self: Pin<&mut Self>, $($argument: $type),*) -> $result {
                self.as_deref_mut().$name($($argument),*)
            })*
        }
    };
}

through_pointers!(AsyncRead {
    fn poll_read(cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
});
through_pointers!(AsyncSeek {
    fn start_seek(position: SeekFrom) -> io::Result<()>;
    fn poll_complete(cx: &mut Context<'_>) -> Poll<io::Result<u64>>;
});
through_pointers!(AsyncWrite {
    fn poll_write(cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;
    fn poll_flush(cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_shutdown(cx: &mut Context<'_>) -> Poll<io::Result<()>>;
});

macro_rules! buffered_pointers {
    ($($type:ty),*) => {$(
        impl<T: ?Sized + AsyncBufRead + Unpin> AsyncBufRead for $type {
            fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
                Pin::new(&mut **self.get_mut()).poll_fill_buf(cx)
            }
            fn consume(mut self: Pin<&mut Self>, count: usize) {
                Pin::new(&mut **self).consume(count);
            }
        }
    )*};
}
buffered_pointers!(Box<T>, &mut T);

impl<P: DerefMut<Target: AsyncBufRead>> AsyncBufRead for Pin<P> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.as_deref_mut().poll_fill_buf(cx)
    }
    fn consume(self: Pin<&mut Self>, count: usize) {
        self.as_deref_mut().consume(count);
    }
}
