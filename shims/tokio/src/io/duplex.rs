//! In-memory pipes: `duplex`, `simplex`. Each read and each write is an event.
//!
//! A read gets as many bytes as are there, a write leaves as many as there is room for: so a read depends on all writes to
//! its pipe and the other way round.

use super::{AsyncRead, AsyncWrite, ReadBuf};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_runtime::{
    Action, Local, Object, Part, Place, Point, Readiness, Ready, WaitTarget, Waiter, enables, event, is_over, read,
    this_step, wake_polled, write,
};

const READ: u64 = 0;
const WRITE: u64 = 1;

struct State {
    bytes: VecDeque<u8>,
    most: usize,
    /// The newest steps that wrote and read bytes.
    written: u32,
    freed: u32,
    /// The steps that closed the two ends.
    no_writer: Option<u32>,
    no_reader: Option<u32>,
}

/// One direction of a stream.
struct Pipe {
    object: Object,
    state: Local<State>,
}

impl Readiness for Pipe {
    fn ready(&self, key: u64) -> Option<Ready> {
        let (item, free) = (self.object.part(Part::Item), self.object.part(Part::Free).mixed(1));
        self.state.with(|s| match key {
            READ if !s.bytes.is_empty() => Some(Ready { since: s.written, item }),
            READ => s.no_writer.map(|since| Ready { since, item }),
            _ => match s.no_reader {
                Some(since) => Some(Ready { since, item: free }),
                None => (s.bytes.len() < s.most).then_some(Ready { since: s.freed, item: free }),
            },
        })
    }

    fn watched(&self, key: u64, out: &mut SmallVec<[Name; 2]>) {
        out.push(self.object.part(if key == READ { Part::Tail } else { Part::Free }));
    }
}

impl Pipe {
    fn new(most: usize) -> Arc<Pipe> {
        let (written, freed) = (Ready::ALWAYS, Ready::ALWAYS);
        let state = State { bytes: VecDeque::new(), most, written, freed, no_writer: None, no_reader: None };
        Arc::new(Pipe { object: Object::new("pipe"), state: Local::here(state) })
    }

    /// Reads in the running step.
    fn read(&self, buffer: &mut ReadBuf<'_>) {
        read(self.object.part(Part::Tail));
        let step = this_step();
        let count = self.state.with(|s| {
            let count = buffer.remaining().min(s.bytes.len());
            for (k, part) in [s.bytes.as_slices().0, s.bytes.as_slices().1].into_iter().enumerate() {
                let rest = if k == 0 { count } else { count - s.bytes.as_slices().0.len().min(count) };
                buffer.put_slice(&part[..rest.min(part.len())]);
            }
            s.bytes.drain(..count);
            s.freed = step;
            count
        });
        if count > 0 {
            self.changes(Part::Free);
        }
    }

    /// Writes in the running step. Returns the number of bytes.
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        read(self.object.part(Part::Free));
        let step = this_step();
        let count = self.state.with(|s| {
            if s.no_reader.is_some() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let count = bytes.len().min(s.most - s.bytes.len());
            s.bytes.extend(&bytes[..count]);
            s.written = step;
            Ok(count)
        });
        if count.is_ok() {
            self.changes(Part::Tail);
        }
        count
    }

    /// Records that the running step changes what readers (`Tail`) or writers (`Free`) wait for.
    fn changes(&self, part: Part) {
        let watched = self.object.part(part);
        write(watched);
        enables(watched, if part == Part::Tail { self.object.part(Part::Item) } else { watched.mixed(1) });
        wake_polled();
    }

    fn close(&self, writer: bool) {
        let step = this_step();
        self.state.with(|s| {
            let end = if writer { &mut s.no_writer } else { &mut s.no_reader };
            end.get_or_insert(step);
        });
        self.changes(if writer { Part::Tail } else { Part::Free });
    }

    fn has_writer(&self) -> bool {
        self.state.with(|s| s.no_writer.is_none())
    }
}

/// The reading end of a pipe.
struct Reader {
    pipe: Arc<Pipe>,
    waiter: Waiter,
    place: Place,
}

impl Reader {
    fn poll(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let Reader { pipe, waiter, place } = self;
        ready!(waiter.poll(cx, || (WaitTarget::of(pipe, READ), Action::of::<u8>(Point::Receives, pipe.object, place))));
        pipe.read(buffer);
        Poll::Ready(Ok(()))
    }
}

/// The writing end of a pipe.
struct Writer {
    pipe: Arc<Pipe>,
    waiter: Waiter,
    place: Place,
}

impl Writer {
    fn poll(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let Writer { pipe, waiter, place } = self;
        ready!(waiter.poll(cx, || (WaitTarget::of(pipe, WRITE), Action::of::<u8>(Point::Sends, pipe.object, place))));
        Poll::Ready(pipe.write(bytes))
    }

    fn shut_down(&mut self) {
        if self.pipe.has_writer() {
            event(Action::new(Point::ClosesPermits, self.pipe.object, self.place));
            self.pipe.close(true);
        }
    }
}

/// Shim of `tokio::io::DuplexStream`.
pub struct DuplexStream {
    reader: Reader,
    writer: Writer,
}

#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let place = Location::caller();
    let (one, two) = (Pipe::new(max_buf_size), Pipe::new(max_buf_size));
    let end = |from: &Arc<Pipe>, to: &Arc<Pipe>| DuplexStream {
        reader: Reader { pipe: from.clone(), waiter: Waiter::new(), place },
        writer: Writer { pipe: to.clone(), waiter: Waiter::new(), place },
    };
    (end(&one, &two), end(&two, &one))
}

impl AsyncRead for DuplexStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.reader.poll(cx, buf)
    }
}

impl AsyncWrite for DuplexStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.writer.poll(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.shut_down();
        Poll::Ready(Ok(()))
    }
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        let DuplexStream { reader, writer } = self;
        if is_over() || !reader.pipe.state.is_mine() {
            return;
        }
        event(Action::new(Point::ClosesPermits, writer.pipe.object, writer.place));
        if !is_over() {
            writer.pipe.close(true);
            reader.pipe.close(false);
        }
    }
}

/// Shim of `tokio::io::SimplexStream`, the two halves of a pipe.
pub struct SimplexStream {
    reader: Reader,
    writer: Writer,
}

#[track_caller]
pub fn simplex(max_buf_size: usize) -> (super::ReadHalf<SimplexStream>, super::WriteHalf<SimplexStream>) {
    super::split(SimplexStream::new_unsplit(max_buf_size))
}

impl SimplexStream {
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> SimplexStream {
        let (place, pipe) = (Location::caller(), Pipe::new(max_buf_size));
        SimplexStream {
            reader: Reader { pipe: pipe.clone(), waiter: Waiter::new(), place },
            writer: Writer { pipe, waiter: Waiter::new(), place },
        }
    }
}

impl AsyncRead for SimplexStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.reader.poll(cx, buf)
    }
}

impl AsyncWrite for SimplexStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.writer.poll(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer.shut_down();
        Poll::Ready(Ok(()))
    }
}

impl std::fmt::Debug for DuplexStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DuplexStream").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SimplexStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimplexStream").finish_non_exhaustive()
    }
}
