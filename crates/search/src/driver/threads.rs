//! A pool of threads for searches.
//!
//! A search is recursive and needs a large stack, and machines are not `Send`, so every search runs in a thread of
//! its own. Creating a thread takes as long as many executions of a small program. Therefore a thread that has
//! finished its search is kept and waits for the next one.

use crate::driver::control::lock;
use crate::options::Options;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread::{self, Builder};

/// A job for a thread. It returns a closure that delivers its result.
type Job = Box<dyn FnOnce() -> Box<dyn FnOnce()> + Send>;

/// A thread that waits for a job.
struct Idle {
    stack: usize,
    work: Sender<Job>,
}

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Executes `work` in a thread with a stack that is large enough for a search. The receiver gets its result or its
/// panic.
pub(crate) fn start<T: Send + 'static>(
    options: &Options,
    work: impl FnOnce() -> T + Send + 'static,
) -> Receiver<thread::Result<T>> {
    let (tell, told) = channel();
    let mut work: Job = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // The receiver is gone if the caller gave up waiting.
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
            // The thread becomes idle before the result is delivered, so that the caller can use this thread again at
            // once.
            lock(&IDLE).push(Idle { stack, work: sender.clone() });
            tell();
            next = more.recv();
        }
    };
    builder(options).spawn(wait).expect("the system gives us a thread");
    told
}

/// Removes and returns an idle thread with a stack of at least this size.
fn idle(stack: usize) -> Option<Idle> {
    let mut idle = lock(&IDLE);
    let place = idle.iter().position(|thread| thread.stack >= stack)?;
    Some(idle.swap_remove(place))
}

/// Returns a builder of threads with a stack that is large enough for a search.
pub(crate) fn builder(options: &Options) -> Builder {
    Builder::new().name("whippet search".into()).stack_size(stack_for(options))
}

/// Returns the size of the stack: a few kilobytes for each level of recursion, and room for user code.
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
        // A stack size that no other test uses.
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
