//! Readers and writers that never wait: slices, vectors, cursors, `empty`, `sink`, `repeat`.

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf, SeekFrom};
use std::io::{self, BufRead, Cursor, Read, Seek, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Reads from a reader of the standard library that never blocks.
fn read(reader: &mut impl Read, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    let count = reader.read(buf.initialize_unfilled())?;
    buf.advance(count);
    Poll::Ready(Ok(()))
}

impl AsyncRead for &[u8] {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        read(&mut *self, buf)
    }
}

impl AsyncBufRead for &[u8] {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(*self))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        *self = &self[count..];
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncRead for Cursor<T> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        read(&mut *self, buf)
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncBufRead for Cursor<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(self.get_mut().fill_buf())
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        BufRead::consume(self.get_mut(), count);
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncSeek for Cursor<T> {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        Seek::seek(&mut *self, position).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.get_mut().position()))
    }
}

/// Implements `AsyncWrite` for writers of the standard library that never block.
macro_rules! writers {
    ($($type:ty)*) => {$(
        impl AsyncWrite for $type {
            fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                Poll::Ready(self.get_mut().write(buf))
            }
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
    )*};
}
writers!(Vec<u8> Cursor<Vec<u8>> Cursor<Box<[u8]>> Cursor<&mut Vec<u8>> Cursor<&mut [u8]> std::io::Sink);

/// Shim of `tokio::io::Empty`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Empty(());

pub fn empty() -> Empty {
    Empty(())
}

impl AsyncRead for Empty {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(&[]))
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

/// Shim of `tokio::io::Sink`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sink(());

pub fn sink() -> Sink {
    Sink(())
}

impl AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Shim of `tokio::io::Repeat`.
#[derive(Debug, Clone, Copy)]
pub struct Repeat(u8);

pub fn repeat(byte: u8) -> Repeat {
    Repeat(byte)
}

impl AsyncRead for Repeat {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let count = buf.remaining();
        buf.initialize_unfilled().fill(self.0);
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}
