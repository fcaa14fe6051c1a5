//! The traits of asynchronous reading and writing. They are here because libraries name them in their types;
//! sources and sinks of bytes are not modelled.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A buffer that is filled step by step.
#[derive(Debug)]
pub struct ReadBuf<'a> {
    buffer: &'a mut [u8],
    filled: usize,
}

impl<'a> ReadBuf<'a> {
    pub fn new(buffer: &'a mut [u8]) -> ReadBuf<'a> {
        ReadBuf { buffer, filled: 0 }
    }
    pub fn capacity(&self) -> usize {
        self.buffer.len()
    }
    pub fn filled(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
    pub fn remaining(&self) -> usize {
        self.buffer.len() - self.filled
    }
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.buffer[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }
}

pub trait AsyncRead {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
}

pub trait AsyncWrite {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

pub use std::io::{Error, ErrorKind, Result, SeekFrom};
