//! Threads for searches, kept for the next one.
//!
//! A search is recursive and needs a large stack, and machines are not `Send`: so it runs in a thread of its own. Making
//! one takes as long as many executions of a small program. Therefore a thread that has done its work waits for more.

use crate::control::lock;
use crate::options::Options;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread::{self, Builder};

/// Does what is to be done, and gives what tells of it.
type Work = Box<dyn FnOnce() -> Box<dyn FnOnce()> + Send>;

/// A thread that waits for work.
struct Idle {
    stack: usize,
    work: Sender<Work>,
}

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Does `work` in a thread with room for a search. What it comes to is told, or how it panicked.
pub(crate) fn start<T: Send + 'static>(
    options: &Options,
    work: impl FnOnce() -> T + Send + 'static,
) -> Receiver<thread::Result<T>> {
    let (tell, told) = channel();
    let mut work: Work = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody listens any more when this took too long.
        Box::new(move || drop(tell.send(result)))
    });
    let stack = stack_for(options);
    while let Some(thread) = idle(stack) {
        match thread.work.send(work) {
            Ok(()) => return told,
            Err(SendError(back)) => work = back,
        }
    }
    let (sender, more) = channel();
    let wait = move || {
        let mut next = Ok(work);
        while let Ok(work) = next {
            let tell = work();
            // First, so that whoever is told can go on with this thread.
            lock(&IDLE).push(Idle { stack, work: sender.clone() });
            tell();
            next = more.recv();
        }
    };
    builder(options).spawn(wait).expect("the system gives us a thread");
    told
}

/// A thread that waits and has such a stack.
fn idle(stack: usize) -> Option<Idle> {
    let mut idle = lock(&IDLE);
    let place = idle.iter().position(|thread| thread.stack >= stack)?;
    Some(idle.swap_remove(place))
}

/// A thread with room for a search.
pub(crate) fn builder(options: &Options) -> Builder {
    Builder::new().name("whippet search".into()).stack_size(stack_for(options))
}

/// A level of a recursive search and a few of the user's own need some kilobytes.
fn stack_for(options: &Options) -> usize {
    const LEVEL: usize = 4 << 10;
    const USER: usize = 64 << 20;
    const MOST: usize = 4 << 30;
    USER + options.limits.steps.saturating_mul(LEVEL).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_used_again_even_after_a_panic() {
        let mut options = Options::default();
        // A stack that no other test asks for.
        options.limits.steps += 4_321;
        let id = |told: Receiver<thread::Result<thread::ThreadId>>| told.recv().unwrap().unwrap();
        let first = id(start(&options, || thread::current().id()));
        let panicked = start(&options, || panic!("on purpose")).recv().unwrap();
        assert!(panicked.is_err());
        assert_eq!(id(start(&options, || thread::current().id())), first);
        options.limits.steps *= 2;
        assert_ne!(id(start(&options, || thread::current().id())), first, "its stack is too small");
    }
}
