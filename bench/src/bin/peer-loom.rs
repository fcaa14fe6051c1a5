//! Measures loom, with actors as its threads. Loom's own channels print a line to the terminal at every receive
//! (0.7.2), so a mailbox is a queue under a mutex, with a condition variable.

use loom::model::Builder;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use whippet_bench::{Counts, Msg, ThreadTool, Workload, deliveries, execute, measure};

fn main() -> ExitCode {
    measure(|_, workload, limits| Ok(run(workload, limits.executions)))
}

#[derive(Clone)]
struct Mailbox(Arc<(Mutex<VecDeque<Msg<Mailbox>>>, Condvar)>);

struct Loom;

impl ThreadTool for Loom {
    type Address = Mailbox;
    type Inbox = Mailbox;

    fn test() -> (Mailbox, Mailbox) {
        let mailbox = Mailbox(Arc::new((Mutex::new(VecDeque::new()), Condvar::new())));
        (mailbox.clone(), mailbox)
    }

    fn spawn(actor: impl FnOnce(Mailbox, Mailbox) + Send + 'static) -> Mailbox {
        let (address, inbox) = Loom::test();
        let own = address.clone();
        thread::spawn(move || actor(own, inbox));
        address
    }

    fn send(to: &Mailbox, message: Msg<Mailbox>) {
        let (queue, arrived) = &*to.0;
        queue.lock().expect("no thread panics").push_back(message);
        arrived.notify_one();
    }

    fn take(inbox: &Mailbox) -> Msg<Mailbox> {
        let (queue, arrived) = &*inbox.0;
        let mut queue = queue.lock().expect("no thread panics");
        loop {
            match queue.pop_front() {
                Some(message) => return message,
                None => queue = arrived.wait(queue).expect("no thread panics"),
            }
        }
    }
}

/// Runs all executions that loom regards as different, or the first `most`.
fn run(workload: Workload, most: u64) -> Counts {
    let executions = std::sync::Arc::new(AtomicU64::new(0));
    let counter = executions.clone();
    let mut builder = Builder::new();
    builder.max_threads = loom::MAX_THREADS;
    builder.max_branches = 100_000;
    // Loom checks its limit only before an execution for which it would write a checkpoint.
    builder.checkpoint_interval = most as usize + 1;
    builder.max_permutations = Some(most as usize + 1);
    builder.check(move || {
        counter.fetch_add(1, Relaxed);
        execute::<Loom>(workload);
    });
    let executions = executions.load(Relaxed);
    Counts { executions: Some(executions), states: None, transitions: deliveries(), complete: executions < most }
}
