//! Tests that fail again and again, and requests that are never completed.

use super::fail;
use crate::op::{Op, WaitMode};
use crate::process::perform;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The failed tests of a rank since it last did something else.
#[derive(Debug)]
pub(super) struct Polling {
    limit: u32,
    /// Set when the limit was reached.
    reached: Arc<AtomicBool>,
    /// The sets of requests that were tested, each with the number of times.
    failed: RefCell<Vec<(Vec<u32>, u32)>>,
}

impl Polling {
    pub(super) fn new(limit: u32, reached: Arc<AtomicBool>) -> Polling {
        Polling { limit, reached, failed: RefCell::default() }
    }

    /// Forgets the failed tests.
    pub(super) fn reset(&self) {
        self.failed.borrow_mut().clear();
    }

    /// Waits for one of the requests tested since the last reset, if this set of them failed too often.
    pub(super) async fn before_test(&self, of: &[u32]) {
        let union = {
            let failed = self.failed.borrow();
            let often = failed.iter().any(|(other, times)| other == of && *times >= self.limit);
            let mut union: Vec<u32> =
                if often { failed.iter().flat_map(|(other, _)| other.iter().copied()).collect() } else { Vec::new() };
            union.sort_unstable();
            union.dedup();
            union
        };
        if !union.is_empty() {
            self.reached.store(true, Ordering::Relaxed);
            perform(Op::Wait { of: union, mode: WaitMode::Poll }).await;
        }
    }

    /// Counts a failed test.
    pub(super) fn failed(&self, of: Vec<u32>) {
        let mut failed = self.failed.borrow_mut();
        match failed.iter_mut().find(|(other, _)| *other == of) {
            Some((_, times)) => *times += 1,
            None => failed.push((of, 1)),
        }
    }
}

/// The requests that a rank has started, for the report of those that it never completes.
#[derive(Clone, Debug)]
pub(super) struct Unfinished {
    rank: u32,
    started: Option<Rc<RefCell<Vec<StartedRequest>>>>,
}

#[derive(Debug)]
struct StartedRequest {
    text: String,
    done: Rc<Cell<bool>>,
}

impl Unfinished {
    /// Creates the list of a rank. Nothing is reported unless `wanted`.
    pub(super) fn new(rank: u32, wanted: bool) -> Unfinished {
        Unfinished { rank, started: wanted.then(Rc::default) }
    }

    /// Adds a request with its description, and the flag that tells if it is complete.
    pub(super) fn add(&self, text: impl FnOnce() -> String, done: &Rc<Cell<bool>>) {
        if let Some(started) = &self.started {
            started.borrow_mut().push(StartedRequest { text: text(), done: done.clone() });
        }
    }

    /// Ends the process with a finding if a request is not complete.
    pub(super) fn report(&self) {
        let started = self.started.iter().flat_map(|started| started.take());
        let open: Vec<String> = started.filter(|request| !request.done.get()).map(|request| request.text).collect();
        let Some(first) = open.first() else { return };
        let more = match open.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        fail(format!("rank {} ended with an unfinished request: {first}{more}", self.rank));
    }
}
