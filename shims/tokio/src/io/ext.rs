//! The extension traits `AsyncReadExt`, `AsyncWriteExt` and `AsyncSeekExt`, and the adapters that they return.

use super::buffered::{inner, rest};
use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf, SeekFrom};
use std::future::{Future, poll_fn};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads some bytes with one read. Returns their number.
pub(super) async fn read<R: AsyncRead + Unpin + ?Sized>(reader: &mut R, buffer: &mut [u8]) -> Result<usize> {
    let mut buffer = ReadBuf::new(buffer);
    poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, &mut buffer)).await?;
    Ok(buffer.filled().len())
}

async fn read_exact<R: AsyncRead + Unpin + ?Sized>(reader: &mut R, buffer: &mut [u8]) -> Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match read(reader, &mut buffer[done..]).await? {
            0 => return Err(Error::new(ErrorKind::UnexpectedEof, "early eof")),
            count => done += count,
        }
    }
    Ok(done)
}

pub(super) async fn read_to_end<R: AsyncRead + Unpin + ?Sized>(reader: &mut R, all: &mut Vec<u8>) -> Result<usize> {
    let before = all.len();
    let mut buffer = [0; 1024];
    loop {
        match read(reader, &mut buffer).await? {
            0 => return Ok(all.len() - before),
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

pub(super) async fn write_all<W: AsyncWrite + Unpin + ?Sized>(writer: &mut W, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await? {
            0 => return Err(ErrorKind::WriteZero.into()),
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}

macro_rules! numbers {
    (read little $($name:ident: $type:ty;)*) => {$(
        fn $name(&mut self) -> impl Future<Output = Result<$type>>
        where
            Self: Unpin,
        {
            async move {
                let mut bytes = [0; size_of::<$type>()];
                read_exact(self, &mut bytes).await?;
                Ok(<$type>::from_le_bytes(bytes))
            }
        }
    )*};
    (write little $($name:ident: $type:ty;)*) => {$(
        fn $name(&mut self, number: $type) -> impl Future<Output = Result<()>>
        where
            Self: Unpin,
        {
            async move { write_all(self, &number.to_le_bytes()).await }
        }
    )*};
    (read $($name:ident: $type:ty;)*) => {$(
        fn $name(&mut self) -> impl Future<Output = Result<$type>>
        where
            Self: Unpin,
        {
            async move {
                let mut bytes = [0; size_of::<$type>()];
                read_exact(self, &mut bytes).await?;
                Ok(<$type>::from_be_bytes(bytes))
            }
        }
    )*};
    (write $($name:ident: $type:ty;)*) => {$(
        fn $name(&mut self, number: $type) -> impl Future<Output = Result<()>>
        where
            Self: Unpin,
        {
            async move { write_all(self, &number.to_be_bytes()).await }
        }
    )*};
}

/// Shim of `tokio::io::AsyncReadExt`.
pub trait AsyncReadExt: AsyncRead {
    fn read<'a>(&'a mut self, buffer: &'a mut [u8]) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        read(self, buffer)
    }

    fn read_exact<'a>(&'a mut self, buffer: &'a mut [u8]) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        read_exact(self, buffer)
    }

    fn read_to_end<'a>(&'a mut self, all: &'a mut Vec<u8>) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        read_to_end(self, all)
    }

    fn read_to_string<'a>(&'a mut self, text: &'a mut String) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        async move {
            let mut all = Vec::new();
            let count = read_to_end(self, &mut all).await?;
            *text += std::str::from_utf8(&all).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            Ok(count)
        }
    }

    fn read_buf<'a, B: buffers::BufMut + ?Sized>(
        &'a mut self,
        buffer: &'a mut B,
    ) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        async move {
            if !buffer.has_remaining_mut() {
                return Ok(0);
            }
            let mut bytes = vec![0; buffer.chunk_mut().len().min(64 * 1024)];
            let count = read(self, &mut bytes).await?;
            buffer.put_slice(&bytes[..count]);
            Ok(count)
        }
    }

    fn chain<R: AsyncRead>(self, next: R) -> Chain<Self, R>
    where
        Self: Sized,
    {
        Chain { first: self, second: next, done: false }
    }

    fn take(self, limit: u64) -> Take<Self>
    where
        Self: Sized,
    {
        Take { inner: self, limit }
    }

    numbers! { read
        read_u8: u8; read_u16: u16; read_u32: u32; read_u64: u64; read_u128: u128;
        read_i8: i8; read_i16: i16; read_i32: i32; read_i64: i64; read_i128: i128; read_f32: f32; read_f64: f64;
    }
    numbers! { read little
        read_u16_le: u16; read_u32_le: u32; read_u64_le: u64; read_u128_le: u128;
        read_i16_le: i16; read_i32_le: i32; read_i64_le: i64; read_i128_le: i128; read_f32_le: f32; read_f64_le: f64;
    }
}

impl<R: AsyncRead + ?Sized> AsyncReadExt for R {}

/// Shim of `tokio::io::AsyncWriteExt`.
pub trait AsyncWriteExt: AsyncWrite {
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        poll_fn(move |cx| Pin::new(&mut *self).poll_write(cx, bytes))
    }

    fn write_all<'a>(&'a mut self, bytes: &'a [u8]) -> impl Future<Output = Result<()>> + 'a
    where
        Self: Unpin,
    {
        write_all(self, bytes)
    }

    fn flush(&mut self) -> impl Future<Output = Result<()>>
    where
        Self: Unpin,
    {
        poll_fn(move |cx| Pin::new(&mut *self).poll_flush(cx))
    }

    fn shutdown(&mut self) -> impl Future<Output = Result<()>>
    where
        Self: Unpin,
    {
        poll_fn(move |cx| Pin::new(&mut *self).poll_shutdown(cx))
    }

    fn write_vectored<'a, 'b>(
        &'a mut self,
        buffers: &'a [IoSlice<'b>],
    ) -> impl Future<Output = Result<usize>> + use<'a, 'b, Self>
    where
        Self: Unpin,
    {
        poll_fn(move |cx| Pin::new(&mut *self).poll_write_vectored(cx, buffers))
    }

    fn write_buf<'a, B: buffers::Buf>(&'a mut self, buffer: &'a mut B) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        poll_fn(move |cx| {
            if !buffer.has_remaining() {
                return Poll::Ready(Ok(0));
            }
            let count = ready!(Pin::new(&mut *self).poll_write(cx, buffer.chunk()))?;
            buffer.advance(count);
            Poll::Ready(Ok(count))
        })
    }

    fn write_all_buf<'a, B: buffers::Buf>(&'a mut self, buffer: &'a mut B) -> impl Future<Output = Result<()>> + 'a
    where
        Self: Unpin,
    {
        async move {
            while buffer.has_remaining() {
                if self.write_buf(buffer).await? == 0 {
                    return Err(ErrorKind::WriteZero.into());
                }
            }
            Ok(())
        }
    }

    numbers! { write
        write_u8: u8; write_u16: u16; write_u32: u32; write_u64: u64; write_u128: u128;
        write_i8: i8; write_i16: i16; write_i32: i32; write_i64: i64; write_i128: i128; write_f32: f32; write_f64: f64;
    }
    numbers! { write little
        write_u16_le: u16; write_u32_le: u32; write_u64_le: u64; write_u128_le: u128;
        write_i16_le: i16; write_i32_le: i32; write_i64_le: i64; write_i128_le: i128; write_f32_le: f32; write_f64_le: f64;
    }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}

/// Shim of `tokio::io::AsyncSeekExt`.
pub trait AsyncSeekExt: AsyncSeek {
    fn seek(&mut self, position: SeekFrom) -> impl Future<Output = Result<u64>>
    where
        Self: Unpin,
    {
        async move {
            poll_fn(|cx| Pin::new(&mut *self).poll_complete(cx)).await?;
            Pin::new(&mut *self).start_seek(position)?;
            poll_fn(|cx| Pin::new(&mut *self).poll_complete(cx)).await
        }
    }

    fn rewind(&mut self) -> impl Future<Output = Result<()>>
    where
        Self: Unpin,
    {
        async move { self.seek(SeekFrom::Start(0)).await.map(drop) }
    }

    fn stream_position(&mut self) -> impl Future<Output = Result<u64>>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}

/// Shim of `tokio::io::Take`: the first bytes of a reader, up to a limit.
#[derive(Debug)]
pub struct Take<R> {
    inner: R,
    limit: u64,
}

impl<R: AsyncRead> Take<R> {
    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    super::buffered::accessors!();
}

impl<R: AsyncRead> AsyncRead for Take<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX).min(buf.remaining());
        if most == 0 {
            return Poll::Ready(Ok(()));
        }
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
        ready!(inner!(self).poll_read(cx, &mut part))?;
        let count = part.filled().len();
        buf.advance(count);
        rest!(self).limit -= count as u64;
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncBufRead> AsyncBufRead for Take<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<&[u8]>> {
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if most == 0 {
            return Poll::Ready(Ok(&[]));
        }
        // SAFETY: the inner reader is pinned with its wrapper.
        let there = ready!(unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll_fill_buf(cx))?;
        Poll::Ready(Ok(&there[..there.len().min(most)]))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        let count = u64::min(count as u64, self.limit);
        rest!(self).limit -= count;
        inner!(self).consume(count as usize);
    }
}

/// Shim of `tokio::io::Chain`: one reader after the other.
#[derive(Debug)]
pub struct Chain<A, B> {
    first: A,
    second: B,
    done: bool,
}

impl<A: AsyncRead, B: AsyncRead> Chain<A, B> {
    pub fn get_ref(&self) -> (&A, &B) {
        (&self.first, &self.second)
    }

    pub fn get_mut(&mut self) -> (&mut A, &mut B) {
        (&mut self.first, &mut self.second)
    }

    pub fn into_inner(self) -> (A, B) {
        (self.first, self.second)
    }
}

impl<A: AsyncRead, B: AsyncRead> AsyncRead for Chain<A, B> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        // SAFETY: both readers are pinned with their wrapper.
        let (this, before) = (unsafe { self.get_unchecked_mut() }, buf.remaining());
        if !this.done {
            // SAFETY: as above.
            ready!(unsafe { Pin::new_unchecked(&mut this.first) }.poll_read(cx, buf))?;
            if buf.remaining() < before {
                return Poll::Ready(Ok(()));
            }
            this.done = true;
        }
        // SAFETY: as above.
        unsafe { Pin::new_unchecked(&mut this.second) }.poll_read(cx, buf)
    }
}
