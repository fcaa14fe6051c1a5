//! The extension traits `AsyncReadExt` and `AsyncWriteExt`, for all implementors of `AsyncRead` and `AsyncWrite`.

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::future::{Future, poll_fn};
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;

/// Reads some bytes with one read. Returns their number.
async fn read<R: AsyncRead + Unpin + ?Sized>(reader: &mut R, buffer: &mut [u8]) -> Result<usize> {
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

async fn read_to_end<R: AsyncRead + Unpin + ?Sized>(reader: &mut R, all: &mut Vec<u8>) -> Result<usize> {
    let before = all.len();
    let mut buffer = [0; 1024];
    loop {
        match read(reader, &mut buffer).await? {
            0 => return Ok(all.len() - before),
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn write_all<W: AsyncWrite + Unpin + ?Sized>(writer: &mut W, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await? {
            0 => return Err(ErrorKind::WriteZero.into()),
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}

macro_rules! numbers {
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

    numbers! { read read_u8: u8; read_u16: u16; read_u32: u32; read_u64: u64; read_i32: i32; read_i64: i64; }
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

    numbers! { write write_u8: u8; write_u16: u16; write_u32: u32; write_u64: u64; write_i32: i32; write_i64: i64; }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}
