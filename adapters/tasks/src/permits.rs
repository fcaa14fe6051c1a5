//! Permits and the line of those who want some: the core of semaphores, locks and bounded channels.
//!
//! Asking is an event that never waits: it takes a place in the line, in order of asking, as in tokio. Getting
//! permits happens after the releases that made them free. Whether getting is a step of its own must not depend
//! on when others release, or equivalent executions would differ: so only permits that were never held are
//! given with the asking. Where the permits may be closed, it matters whether they were free when they were asked for:
//! there asking depends on the releases before it, and free permits are always given with the asking.

use crate::waiting::Ready;
use std::collections::VecDeque;

#[derive(Debug)]
struct Want {
    id: u64,
    need: usize,
    /// When the permits were assigned: the steps that had released them.
    given: Option<Vec<u32>>,
}

/// Permits, free or held, and the line of those who want some.
#[derive(Debug)]
pub struct Permits {
    /// What is free, by the step that released it.
    free: VecDeque<(u32, usize)>,
    /// How much of it nobody ever held or asked for.
    fresh: usize,
    line: VecDeque<Want>,
    next: u64,
    /// Closed: no waiter gets permits any more.
    closed: bool,
    /// The newest step that released permits.
    released: Option<u32>,
}

/// The answer to [`Permits::ask`].
#[derive(Copy, Clone, Debug)]
pub enum Asked {
    /// They are given.
    Now,
    /// Wait for this number in the line.
    Wait(u64),
}

impl Default for Permits {
    fn default() -> Permits {
        Permits::new()
    }
}

impl Permits {
    /// No permits.
    #[must_use]
    pub const fn new() -> Permits {
        Permits { free: VecDeque::new(), fresh: 0, line: VecDeque::new(), next: 1, closed: false, released: None }
    }

    /// As many, which nobody ever held.
    #[must_use]
    pub fn with(count: usize) -> Permits {
        let mut permits = Permits::new();
        permits.fresh = count;
        permits.free.push_back((Ready::ALWAYS, count));
        permits
    }

    /// How many are free.
    #[must_use]
    pub fn available(&self) -> usize {
        self.free.iter().map(|(_, count)| count).sum()
    }

    fn waiting(&self) -> bool {
        self.line.iter().any(|want| want.given.is_none())
    }

    fn draw(&mut self, mut need: usize) -> Vec<u32> {
        let mut steps = Vec::new();
        while need > 0 {
            let Some((step, count)) = self.free.front_mut() else { break };
            let part = need.min(*count);
            steps.push(*step);
            *count -= part;
            need -= part;
            if *count == 0 {
                self.free.pop_front();
            }
        }
        steps
    }

    /// Asks for permits. With `at_once`, free ones are given with the asking, wherever they come from.
    pub fn ask(&mut self, need: usize, at_once: bool) -> Asked {
        if at_once || need <= self.fresh {
            if self.try_ask(need) {
                return Asked::Now;
            }
        }
        self.fresh = 0;
        let id = self.next;
        self.next += 1;
        self.line.push_back(Want { id, need, given: None });
        self.assign(None);
        Asked::Wait(id)
    }

    /// Takes permits if that needs no waiting.
    pub fn try_ask(&mut self, need: usize) -> bool {
        if self.waiting() || self.available() < need {
            return false;
        }
        self.fresh = self.fresh.saturating_sub(need);
        self.draw(need);
        true
    }

    /// Step `step` releases permits.
    pub fn release(&mut self, count: usize, step: u32) {
        if count > 0 {
            self.released = Some(step);
            self.free.push_back((step, count));
            self.assign(None);
        }
    }

    /// Gives what is free to those who are next, because of a step that left the line if there is one.
    fn assign(&mut self, left: Option<u32>) {
        if self.closed {
            return;
        }
        while let Some(k) = self.line.iter().position(|want| want.given.is_none()) {
            let need = self.line[k].need;
            if self.available() < need {
                return;
            }
            let mut steps = self.draw(need);
            steps.extend(left);
            self.line[k].given = Some(steps);
        }
    }

    /// The newest step that released permits, if there was one.
    #[must_use]
    pub fn released(&self) -> Option<u32> {
        self.released.filter(|&step| step != Ready::ALWAYS)
    }

    /// Closes the permits: waiters get none from now on.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The steps that released what was given to this number in the line, if it was given.
    #[must_use]
    pub fn ready(&self, id: u64) -> Option<Vec<u32>> {
        self.line.iter().find(|want| want.id == id)?.given.clone()
    }

    /// Leaves the line with what was given.
    pub fn take(&mut self, id: u64) {
        self.line.retain(|want| want.id != id);
    }

    /// Leaves the line; what was assigned is free again.
    pub fn give_up(&mut self, id: u64, step: u32) {
        if let Some(k) = self.line.iter().position(|want| want.id == id) {
            let want = self.line.remove(k).expect("it was found");
            if want.given.is_some() {
                self.release(want.need, step);
            } else {
                // It may have kept others behind it from what is free.
                self.assign(Some(step));
            }
        }
    }

    /// Takes up to `count` free permits away for good.
    pub fn forget(&mut self, count: usize) -> usize {
        let count = count.min(self.available());
        self.fresh = self.fresh.saturating_sub(count);
        self.draw(count);
        count
    }
}
