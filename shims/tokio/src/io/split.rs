//! `split`: the two halves of a stream, for two tasks.

use super::{AsyncRead, AsyncWrite, ReadBuf};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The stream that both halves use. A task that finds it in use, because the task of the other half was suspended in the
/// middle of a poll, is polled again.
struct Shared<T> {
    stream: Mutex<T>,
}

impl<T> Shared<T> {
    fn with<R>(&self, cx: &mut Context<'_>, work: impl FnOnce(Pin<&mut T>, &mut Context<'_>) -> Poll<R>) -> Poll<R> {
        match self.stream.try_lock() {
            // SAFETY: the stream stays in its allocation until it is dropped; `unsplit` requires that it can be moved.
            Ok(mut stream) => work(unsafe { Pin::new_unchecked(&mut *stream) }, cx),
            Err(std::sync::TryLockError::Poisoned(stream)) => {
                let mut stream = stream.into_inner();
                // SAFETY: as above.
                work(unsafe { Pin::new_unchecked(&mut *stream) }, cx)
            }
            Err(std::sync::TryLockError::WouldBlock) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// The readable half of a stream.
pub struct ReadHalf<T> {
    shared: Arc<Shared<T>>,
}

/// The writable half of a stream.
pub struct WriteHalf<T> {
    shared: Arc<Shared<T>>,
}

pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let shared = Arc::new(Shared { stream: Mutex::new(stream) });
    (ReadHalf { shared: shared.clone() }, WriteHalf { shared })
}

impl<T> ReadHalf<T> {
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        other.is_pair_of(self)
    }

    /// Reunites the halves.
    ///
    /// # Panics
    /// Panics if they are of different streams.
    #[track_caller]
    pub fn unsplit(self, other: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(self.is_pair_of(&other), "Unrelated `split::Write` passed to `split::Read::unsplit`.");
        drop(other);
        let shared = Arc::try_unwrap(self.shared).ok().expect("the halves are the only owners");
        shared.stream.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> WriteHalf<T> {
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.shared.with(cx, |stream, cx| stream.poll_read(cx, buf))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.shared.with(cx, |stream, cx| stream.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.with(cx, |stream, cx| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.with(cx, |stream, cx| stream.poll_shutdown(cx))
    }
}

impl<T: fmt::Debug> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::ReadHalf").finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::WriteHalf").finish()
    }
}
