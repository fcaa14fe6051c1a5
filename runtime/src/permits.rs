//! Permits and the queue of their waiters: the core of semaphores, locks and bounded channels.
//!
//! A request is an event that never blocks: it appends a waiter to the queue, in the order of the requests, as in
//! tokio. Getting the permits happens after the releases that made them free. If getting the permits were a separate
//! step only when other tasks release late, equivalent executions would have different steps. Therefore only permits
//! that were never held are granted with the request. If the permits may be closed, it matters if they were free at
//! the request: the request then depends on the releases before it, and free permits are always granted with it.

use crate::waiting::Ready;
use std::collections::VecDeque;

/// A waiter in the queue.
#[derive(Debug)]
struct Want {
    id: u64,
    need: usize,
    /// The permits that are assigned to it so far; `released_by` has the steps that released them.
    assigned: usize,
    released_by: Vec<u32>,
}

impl Want {
    fn is_served(&self) -> bool {
        self.assigned == self.need
    }
}

/// Permits, free or held, and the queue of their waiters.
#[derive(Debug)]
pub struct Permits {
    /// The free permits, by the step that released them.
    free: VecDeque<(u32, usize)>,
    /// The number of free permits that were never held or requested.
    fresh: usize,
    line: VecDeque<Want>,
    next: u64,
    /// `true` if closed: waiters get no permits from now on.
    closed: bool,
    /// The newest step that released permits.
    released: Option<u32>,
}

/// The result of [`Permits::ask`].
#[derive(Copy, Clone, Debug)]
pub enum Asked {
    /// The permits are granted.
    Now,
    /// The caller has to wait as the waiter with this id.
    Wait(u64),
}

impl Default for Permits {
    fn default() -> Permits {
        Permits::new()
    }
}

impl Permits {
    /// Creates an empty set of permits.
    #[must_use]
    pub const fn new() -> Permits {
        Permits { free: VecDeque::new(), fresh: 0, line: VecDeque::new(), next: 1, closed: false, released: None }
    }

    /// Creates `count` permits that were never held.
    #[must_use]
    pub fn with(count: usize) -> Permits {
        let mut permits = Permits::new();
        permits.fresh = count;
        permits.free.push_back((Ready::ALWAYS, count));
        permits
    }

    /// Returns the number of free permits.
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

    /// Requests permits. With `at_once`, free ones are granted with the request even if they were held before.
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

    /// Takes permits if they are free. Returns `false` otherwise.
    pub fn try_ask(&mut self, need: usize) -> bool {
        if self.available() < need {
            return false;
        }
        self.fresh = self.fresh.saturating_sub(need);
        self.draw(need);
        true
    }

    /// Releases permits in step `step`.
    pub fn release(&mut self, count: usize, step: u32) {
        if count > 0 {
            self.released = Some(step);
            self.free.push_back((step, count));
            self.assign();
        }
    }

    /// Assigns free permits to the waiters in their order. The first one gets the free permits even if it needs more.
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

    /// Returns the newest step that released permits, if there was one.
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

    /// Returns the steps that released the permits of waiter `id`, if it has all that it needs.
    #[must_use]
    pub fn ready(&self, id: u64) -> Option<Vec<u32>> {
        self.waiter(id).filter(|want| want.is_served()).map(|want| want.released_by.clone())
    }

    /// Returns the step that released the last permit of waiter `id`, or [`Ready::ALWAYS`], if it has all that it needs.
    #[must_use]
    pub fn served_since(&self, id: u64) -> Option<u32> {
        let want = self.waiter(id).filter(|want| want.is_served())?;
        Some(want.released_by.iter().copied().filter(|&step| step != Ready::ALWAYS).max().unwrap_or(Ready::ALWAYS))
    }

    /// Returns the number of permits that are assigned to waiter `id`.
    #[must_use]
    pub fn assigned(&self, id: u64) -> usize {
        self.waiter(id).map_or(0, |want| want.assigned)
    }

    /// Removes waiter `id` from the queue; its assigned permits count as held.
    pub fn take(&mut self, id: u64) {
        self.line.retain(|want| want.id != id);
    }

    /// Removes waiter `id` from the queue in step `step`; its assigned permits are free again.
    pub fn give_up(&mut self, id: u64, step: u32) {
        let assigned = self.assigned(id);
        self.take(id);
        self.release(assigned, step);
    }

    /// Removes up to `count` free permits permanently, and returns their number.
    pub fn forget(&mut self, count: usize) -> usize {
        let count = count.min(self.available());
        self.fresh = self.fresh.saturating_sub(count);
        self.draw(count);
        count
    }
}
