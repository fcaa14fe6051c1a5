//! Permits and the line of those who want some: the core of semaphores, locks and bounded channels.
//!
//! Asking is an event that never waits: it takes a place in the line, in order of asking, as in tokio. Getting
//! permits happens after the releases that made them free. Whether getting is a step of its own must not depend
//! on when others release, or equivalent executions would differ: so only permits that were never held are
//! given with the asking. Where the permits may be closed, it matters whether they were free when they were asked for:
//! there asking depends on the releases before it, and free permits are always given with the asking.

use crate::waiting::Ready;
use std::collections::VecDeque;

/// A waiter in the line.
#[derive(Debug)]
struct Want {
    id: u64,
    need: usize,
    /// The permits that are assigned to it so far, and the steps that released them.
    assigned: usize,
    released_by: Vec<u32>,
}

impl Want {
    fn is_served(&self) -> bool {
        self.assigned == self.need
    }
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
        if (at_once || need <= self.fresh) && self.try_ask(need) {
            return Asked::Now;
        }
        self.fresh = 0;
        let id = self.next;
        self.next += 1;
        self.line.push_back(Want { id, need, assigned: 0, released_by: Vec::new() });
        self.assign();
        Asked::Wait(id)
    }

    /// Takes permits if that needs no waiting.
    pub fn try_ask(&mut self, need: usize) -> bool {
        if self.available() < need {
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
            self.assign();
        }
    }

    /// Assigns free permits to the waiters in their order. The first one gets what is free, even if it needs more.
    fn assign(&mut self) {
        if self.closed {
            return;
        }
        while let Some(k) = self.line.iter().position(|want| !want.is_served()) {
            let part = self.available().min(self.line[k].need - self.line[k].assigned);
            if part == 0 {
                return;
            }
            let steps = self.draw(part);
            self.line[k].assigned += part;
            self.line[k].released_by.extend(steps);
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

    fn waiter(&self, id: u64) -> Option<&Want> {
        self.line.iter().find(|want| want.id == id)
    }

    /// The steps that released the permits of waiter `id`, if it has all that it needs.
    #[must_use]
    pub fn ready(&self, id: u64) -> Option<Vec<u32>> {
        self.waiter(id).filter(|want| want.is_served()).map(|want| want.released_by.clone())
    }

    /// The number of permits that are assigned to waiter `id`.
    #[must_use]
    pub fn assigned(&self, id: u64) -> usize {
        self.waiter(id).map_or(0, |want| want.assigned)
    }

    /// Removes waiter `id` from the line; it keeps what is assigned to it.
    pub fn take(&mut self, id: u64) {
        self.line.retain(|want| want.id != id);
    }

    /// Removes waiter `id` from the line in step `step`; what is assigned to it is free again.
    pub fn give_up(&mut self, id: u64, step: u32) {
        let assigned = self.assigned(id);
        self.take(id);
        self.release(assigned, step);
    }

    /// Takes up to `count` free permits away for good.
    pub fn forget(&mut self, count: usize) -> usize {
        let count = count.min(self.available());
        self.fresh = self.fresh.saturating_sub(count);
        self.draw(count);
        count
    }
}
