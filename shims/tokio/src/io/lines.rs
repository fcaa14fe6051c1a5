//! `AsyncBufReadExt`: reading up to a byte, and line by line.

use super::AsyncBufRead;
use std::future::{Future, poll_fn};
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Polls for the bytes up to and including `delimiter`, which are appended to `to`. Returns the number of all bytes since
/// `read` was 0.
fn poll_until<R: AsyncBufRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    delimiter: u8,
    to: &mut Vec<u8>,
    read: &mut usize,
) -> Poll<Result<usize>> {
    loop {
        let (done, used) = {
            let there = ready!(reader.as_mut().poll_fill_buf(cx))?;
            match there.iter().position(|&byte| byte == delimiter) {
                Some(at) => {
                    to.extend_from_slice(&there[..=at]);
                    (true, at + 1)
                }
                None => {
                    to.extend_from_slice(there);
                    (there.is_empty(), there.len())
                }
            }
        };
        reader.as_mut().consume(used);
        *read += used;
        if done {
            return Poll::Ready(Ok(std::mem::take(read)));
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// Shim of `tokio::io::AsyncBufReadExt`.
pub trait AsyncBufReadExt: AsyncBufRead {
    fn read_until<'a>(&'a mut self, byte: u8, to: &'a mut Vec<u8>) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        let mut read = 0;
        poll_fn(move |cx| poll_until(Pin::new(&mut *self), cx, byte, to, &mut read))
    }

    fn read_line<'a>(&'a mut self, to: &'a mut String) -> impl Future<Output = Result<usize>> + 'a
    where
        Self: Unpin,
    {
        async move {
            let mut bytes = Vec::new();
            let count = self.read_until(b'\n', &mut bytes).await?;
            to.push_str(&text(bytes)?);
            Ok(count)
        }
    }

    fn fill_buf(&mut self) -> impl Future<Output = Result<&[u8]>>
    where
        Self: Unpin,
    {
        async move {
            poll_fn(|cx| Pin::new(&mut *self).poll_fill_buf(cx).map_ok(drop)).await?;
            // The buffer is filled: a second poll returns it.
            match Pin::new(self).poll_fill_buf(&mut Context::from_waker(std::task::Waker::noop())) {
                Poll::Ready(there) => there,
                Poll::Pending => Err(ErrorKind::WouldBlock.into()),
            }
        }
    }

    fn consume(&mut self, count: usize)
    where
        Self: Unpin,
    {
        AsyncBufRead::consume(Pin::new(self), count);
    }

    fn split(self, byte: u8) -> Split<Self>
    where
        Self: Sized + Unpin,
    {
        Split { reader: self, delimiter: byte, buffer: Vec::new(), read: 0 }
    }

    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines { reader: self, buffer: Vec::new(), read: 0 }
    }
}

impl<R: AsyncBufRead + ?Sized> AsyncBufReadExt for R {}

/// Shim of `tokio::io::Lines`.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    read: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub async fn next_line(&mut self) -> Result<Option<String>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_line(cx)).await
    }

    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: AsyncBufRead> Lines<R> {
    pub fn poll_next_line(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Option<String>>> {
        // SAFETY: the reader is pinned with its wrapper, the other fields are not.
        let Lines { reader, buffer, read } = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let count = ready!(poll_until(unsafe { Pin::new_unchecked(reader) }, cx, b'\n', buffer, read))?;
        let mut line = std::mem::take(buffer);
        if count == 0 && line.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        Poll::Ready(text(line).map(Some))
    }
}

/// Shim of `tokio::io::Split`.
#[derive(Debug)]
pub struct Split<R> {
    reader: R,
    delimiter: u8,
    buffer: Vec<u8>,
    read: usize,
}

impl<R: AsyncBufRead + Unpin> Split<R> {
    pub async fn next_segment(&mut self) -> Result<Option<Vec<u8>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_segment(cx)).await
    }
}

impl<R: AsyncBufRead> Split<R> {
    pub fn poll_next_segment(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Option<Vec<u8>>>> {
        // SAFETY: the reader is pinned with its wrapper, the other fields are not.
        let Split { reader, delimiter, buffer, read } = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let count = ready!(poll_until(unsafe { Pin::new_unchecked(reader) }, cx, *delimiter, buffer, read))?;
        let mut segment = std::mem::take(buffer);
        if count == 0 && segment.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if segment.last() == Some(delimiter) {
            segment.pop();
        }
        Poll::Ready(Ok(Some(segment)))
    }
}
