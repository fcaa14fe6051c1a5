//! Buffered readers and writers.

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf, SeekFrom};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

const DEFAULT: usize = 8 * 1024;

/// Projects the pin of a wrapper to its inner stream.
macro_rules! inner {
    ($self:ident) => {
        // SAFETY: the inner stream is pinned with its wrapper, and never moved out of it while pinned.
        unsafe { Pin::new_unchecked(&mut $self.as_mut().get_unchecked_mut().inner) }
    };
}
pub(super) use inner;

/// Returns the fields of a wrapper other than its inner stream, which are not pinned.
macro_rules! rest {
    ($self:ident) => {
        // SAFETY: only fields that are not pinned are used.
        unsafe { $self.as_mut().get_unchecked_mut() }
    };
}
pub(super) use rest;

/// Defines the accessors of a wrapper.
macro_rules! accessors {
    () => {
        pub fn get_ref(&self) -> &R {
            &self.inner
        }
        pub fn get_mut(&mut self) -> &mut R {
            &mut self.inner
        }
        pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
            // SAFETY: the inner stream is pinned with its wrapper.
            unsafe { self.map_unchecked_mut(|this| &mut this.inner) }
        }
        pub fn into_inner(self) -> R {
            self.inner
        }
    };
}
pub(super) use accessors;

/// Passes writes on to the inner stream.
macro_rules! writes_through {
    ($type:ident) => {
        impl<R: AsyncWrite> AsyncWrite for $type<R> {
            fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                inner!(self).poll_write(cx, buf)
            }
            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                inner!(self).poll_flush(cx)
            }
            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                inner!(self).poll_shutdown(cx)
            }
        }
    };
}

/// Shim of `tokio::io::BufReader`.
#[derive(Debug)]
pub struct BufReader<R> {
    inner: R,
    buffer: Box<[u8]>,
    from: usize,
    to: usize,
}

impl<R: AsyncRead> BufReader<R> {
    pub fn new(inner: R) -> BufReader<R> {
        BufReader::with_capacity(DEFAULT, inner)
    }

    pub fn with_capacity(capacity: usize, inner: R) -> BufReader<R> {
        BufReader { inner, buffer: vec![0; capacity].into_boxed_slice(), from: 0, to: 0 }
    }

    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.from..self.to]
    }

    accessors!();
}

impl<R: AsyncRead> AsyncRead for BufReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.from == self.to && buf.remaining() >= self.buffer.len() {
            return inner!(self).poll_read(cx, buf);
        }
        let there = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = there.len().min(buf.remaining());
        buf.put_slice(&there[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        if self.from == self.to {
            let mut buffer = std::mem::take(&mut rest!(self).buffer);
            let mut filled = ReadBuf::new(&mut buffer);
            let answer = inner!(self).poll_read(cx, &mut filled);
            let count = filled.filled().len();
            let this = rest!(self);
            this.buffer = buffer;
            ready!(answer)?;
            (this.from, this.to) = (0, count);
        }
        Poll::Ready(Ok(self.into_ref().get_ref().buffer()))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        let this = rest!(self);
        this.from = this.to.min(this.from + count);
    }
}

writes_through!(BufReader);

impl<R: AsyncRead + AsyncSeek> AsyncSeek for BufReader<R> {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let unread = (self.to - self.from) as i64;
        let position = match position {
            SeekFrom::Current(by) => SeekFrom::Current(by - unread),
            other => other,
        };
        let this = rest!(self);
        (this.from, this.to) = (0, 0);
        inner!(self).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        inner!(self).poll_complete(cx)
    }
}

/// Shim of `tokio::io::BufWriter`.
#[derive(Debug)]
pub struct BufWriter<R> {
    inner: R,
    buffer: Vec<u8>,
    written: usize,
    capacity: usize,
}

impl<R: AsyncWrite> BufWriter<R> {
    pub fn new(inner: R) -> BufWriter<R> {
        BufWriter::with_capacity(DEFAULT, inner)
    }

    pub fn with_capacity(capacity: usize, inner: R) -> BufWriter<R> {
        BufWriter { inner, buffer: Vec::with_capacity(capacity), written: 0, capacity }
    }

    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    accessors!();

    fn poll_flush_buffer(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.buffer.len() {
            let buffer = std::mem::take(&mut rest!(self).buffer);
            let written = self.written;
            let answer = inner!(self).poll_write(cx, &buffer[written..]);
            rest!(self).buffer = buffer;
            match ready!(answer)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => rest!(self).written += count,
            }
        }
        let this = rest!(self);
        this.buffer.clear();
        this.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncWrite> AsyncWrite for BufWriter<R> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.buffer.len() + buf.len() > self.capacity {
            ready!(self.as_mut().poll_flush_buffer(cx))?;
        }
        if buf.len() >= self.capacity {
            return inner!(self).poll_write(cx, buf);
        }
        rest!(self).buffer.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buffer(cx))?;
        inner!(self).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buffer(cx))?;
        inner!(self).poll_shutdown(cx)
    }
}

impl<R: AsyncWrite + AsyncRead> AsyncRead for BufWriter<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inner!(self).poll_read(cx, buf)
    }
}

impl<R: AsyncWrite + AsyncBufRead> AsyncBufRead for BufWriter<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        // SAFETY: the inner stream is pinned with its wrapper.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        inner!(self).consume(count);
    }
}

/// Shim of `tokio::io::BufStream`.
#[derive(Debug)]
pub struct BufStream<R> {
    inner: BufReader<BufWriter<R>>,
}

impl<R: AsyncRead + AsyncWrite> BufStream<R> {
    pub fn new(stream: R) -> BufStream<R> {
        BufStream { inner: BufReader::new(BufWriter::new(stream)) }
    }

    pub fn with_capacity(reader: usize, writer: usize, stream: R) -> BufStream<R> {
        BufStream { inner: BufReader::with_capacity(reader, BufWriter::with_capacity(writer, stream)) }
    }

    pub fn get_ref(&self) -> &R {
        self.inner.get_ref().get_ref()
    }

    pub fn get_mut(&mut self) -> &mut R {
        self.inner.get_mut().get_mut()
    }

    pub fn into_inner(self) -> R {
        self.inner.into_inner().into_inner()
    }
}

impl<R: AsyncRead + AsyncWrite> AsyncRead for BufStream<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inner!(self).poll_read(cx, buf)
    }
}

impl<R: AsyncRead + AsyncWrite> AsyncBufRead for BufStream<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        // SAFETY: the inner stream is pinned with its wrapper.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        inner!(self).consume(count);
    }
}

impl<R: AsyncRead + AsyncWrite> AsyncWrite for BufStream<R> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        inner!(self).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(self).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(self).poll_shutdown(cx)
    }
}
