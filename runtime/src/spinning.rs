//! Tasks that spin, and fairness.
//!
//! A task *spins* if it repeats the same operations, which only read: it yields, or looks at a channel, until another task
//! does something. Without fairness, the search runs such a task ever longer before the others: there is one more execution for each
//! round, or an execution that does not end. A real runtime lets everybody who is ready run.
//!
//! A task is learnt to spin when it has taken [`MANY`] steps in a row that repeat (the same footprints, no writes, nothing created,
//! no choices, with a period of at most [`LONGEST`]). Until then, and in programs in which no task does so, nothing is
//! different. In the search that then begins again, such a task is *fair*: after [`FREE`] rounds it takes its next step only
//!
//! * (a) if another task has written something that its last round has read, for one more round; or
//! * (b) if no other task can go on. If several tasks spin, they take turns; and a timer fires after each round of all of them. If
//!   there is no timer and it looks at the clock, that advances, by more each time.
//!
//! # What is cut
//!
//! Executions in which a spinning task begins another round, beyond the free ones, although nothing that it looks at has changed, and another task
//! can run. A round that reads the same values ends in the same state, but for what the task counts by itself. So
//! the round can be left out: the rest of the execution is possible without it, and shows the same to all other tasks. What is lost are
//! outcomes that depend on such a count being exhausted while another task is ready to run for all that time, through more than
//! [`MANY`] rounds. In fair executions that happens only if that task itself takes as many steps.
//!
//! # Why this is sound for a reduction
//!
//! A reduction needs the footprints to say what a step's being enabled depends on. (a) depends on writes to what the round
//! has read: each step of a fair task beyond the free ones reads all of that again. (b) depends on all steps: it writes
//! [`IDLE`], to which each other step adds.

use crate::execution::{CLOCK, DUE, Execution, IDLE};
use crate::grant::is_able;
use crate::system::SHOWN;
use crate::task::State;
use crate::timers::has_timers;
use smallvec::SmallVec;
use whippet_model::{Access, Branch, Name, Touch};

/// The number of steps that repeat from which on a task is taken to spin.
const MANY: u32 = 200;

/// The number of rounds of a fair task that are not restricted.
const FREE: u32 = 4;

/// The longest period in steps.
const LONGEST: usize = 8;

/// The salt of the names under which fair tasks are learnt.
const FAIR: u64 = 0x4641_4952_0000_0001;

/// The newest steps of a task.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// Hashes of its newest steps, and what they have read. The newest one is the last.
    recent: SmallVec<[(u64, SmallVec<[Name; 2]>); LONGEST]>,
    /// The number of steps in a row that repeat the one before them by `period`.
    same: u32,
    period: u32,
    /// The number of steps that it may take because something has changed.
    allowed: u32,
    /// The number of steps that it has taken because nothing else was possible.
    idle: u32,
    /// The number of objects and tasks that it had created.
    created: u32,
}

impl Rounds {
    /// Forgets all steps.
    pub(crate) fn clear(&mut self) {
        self.recent.clear();
        (self.same, self.period, self.allowed, self.idle, self.created) = (0, 0, 0, 0, 0);
    }

    /// Adds a step that only reads. Returns `true` if the task is to be learnt.
    fn push(&mut self, hash: u64, reads: SmallVec<[Name; 2]>) -> bool {
        let back = |period: u32| self.recent.len().checked_sub(period as usize).map(|at| self.recent[at].0);
        if self.period > 0 && back(self.period) == Some(hash) {
            self.same += 1;
        } else {
            let period = (1..=LONGEST as u32).find(|&period| back(period) == Some(hash));
            (self.period, self.same) = (period.unwrap_or(0), 0);
        }
        if self.recent.len() == LONGEST {
            self.recent.remove(0);
        }
        self.recent.push((hash, reads));
        self.allowed = self.allowed.saturating_sub(1);
        self.same == MANY
    }

    /// Returns `true` if the free rounds are over.
    fn repeats(&self) -> bool {
        self.period > 0 && self.same >= FREE * self.period
    }

    /// Returns the objects that its last round has read.
    fn reads(&self) -> impl Iterator<Item = Name> {
        let from = self.recent.len() - (self.period as usize).min(self.recent.len());
        self.recent[from..].iter().flat_map(|(_, reads)| reads.iter().copied())
    }
}

/// Returns `true` if a task is fair and its free rounds are over.
fn spins(x: &Execution, at: usize) -> bool {
    let task = &x.tasks[at];
    task.rounds.repeats() && x.is_marked(task.name.mixed(FAIR))
}

/// Returns `true` if a task spins, and nothing that it looks at has changed.
#[inline]
pub(crate) fn waits(x: &Execution, at: usize) -> bool {
    let task = &x.tasks[at];
    let is_called = || task.cancelled().is_some() || task.interrupts.woken.is_some();
    task.rounds.period > 0 && task.rounds.allowed == 0 && spins(x, at) && !is_called()
}

/// Returns `true` if some task may [wait](waits), so that the enabled tasks depend on all others.
#[inline]
pub(crate) fn is_any(x: &Execution) -> bool {
    x.spinning
}

/// Returns `true` if no task can go on but those that wait for a change.
pub(crate) fn are_alone(x: &Execution) -> bool {
    !(0..x.tasks.len()).any(|at| is_able(x, at) && !waits(x, at))
}

/// Returns `true` if a timer fires next, because all spinning tasks have had a round.
pub(crate) fn have_had_their_round(x: &Execution) -> bool {
    let waiting = (0..x.tasks.len()).filter(|&at| is_able(x, at) && waits(x, at));
    x.idle_steps >= waiting.map(|at| x.tasks[at].rounds.period).sum()
}

/// Returns `true` if it is the turn of a task that waits for a change.
pub(crate) fn has_its_turn(x: &Execution, at: usize) -> bool {
    let turn = |at: usize| (x.tasks[at].rounds.idle / x.tasks[at].rounds.period.max(1), at);
    are_alone(x)
        && (0..x.tasks.len()).filter(|&other| is_able(x, other) && waits(x, other)).all(|other| turn(at) <= turn(other))
}

/// Adds the footprint of a step that has begun: that it is possible only if no other is, and what a fair task looks at.
pub(crate) fn begin_step(x: &mut Execution, at: usize) {
    let idle = waits(x, at);
    x.idle_steps = if idle { x.idle_steps + 1 } else { 0 };
    if idle {
        x.tasks[at].rounds.idle += 1;
        x.mark(IDLE);
        // Not a read: it would be in conflict with each of the steps so far, and not only with those since the last write.
        x.touch(Touch::write(IDLE));
        let looks_at_clock = x.tasks[at].rounds.reads().any(|name| name == CLOCK || name == SHOWN);
        if looks_at_clock && !has_timers(x) {
            // It waits for a time, which passes because it takes time to do so.
            let more = 1_000_000 << x.waited_for_time.min(40);
            x.waited_for_time += 1;
            x.advances_by(more);
        }
    } else if x.is_marked(IDLE) {
        x.touch(Touch::add(IDLE));
    }
    if spins(x, at) {
        let reads: SmallVec<[Name; 8]> = x.tasks[at].rounds.reads().collect();
        reads.into_iter().for_each(|name| x.touch(Touch::read(name)));
    }
}

/// Records the footprint of the newest step, with that of its merged events.
pub(crate) fn end_step(x: &mut Execution, number: u32, branch: Branch, touches: &[Touch]) {
    let created = x.tasks[number as usize].children;
    let quiet = x.record.has_sent_nothing()
        && x.record.arities.is_empty()
        && x.record.fires.is_none()
        && x.record.enables.is_empty()
        && std::mem::replace(&mut x.tasks[number as usize].rounds.created, created) == created;
    let is_own = |touch: &&Touch| touch.object != IDLE;
    let is_read = |touch: &Touch| touch.access == Access::Read && touch.object != DUE;
    let touches = touches.iter().filter(is_own);
    if quiet && touches.clone().all(is_read) {
        let mut reads: SmallVec<[Name; 2]> = touches.map(|touch| touch.object).collect();
        reads.sort_unstable();
        reads.dedup();
        let point = x.record.action.map_or(0, |action| action.point as u64);
        let start = Name(point).mixed(branch.0);
        let hash = reads.iter().fold(start, |hash, name| hash.mixed(name.0)).0;
        if x.tasks[number as usize].rounds.push(hash, reads) && !matches!(x.tasks[number as usize].state, State::Done) {
            x.mark(x.tasks[number as usize].name.mixed(FAIR));
        }
        return x.spinning |= spins(x, number as usize);
    }
    x.tasks[number as usize].rounds.clear();
    x.tasks[number as usize].rounds.created = created;
    if x.spinning {
        let written: SmallVec<[Name; 8]> =
            touches.filter(|touch| touch.access != Access::Read).map(|touch| touch.object).collect();
        for at in (0..x.tasks.len()).filter(|&at| at != number as usize) {
            let rounds = &mut x.tasks[at].rounds;
            if rounds.reads().any(|name| written.contains(&name)) {
                rounds.allowed = rounds.period + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_counted_with_their_period() {
        let mut rounds = Rounds::default();
        let mut learnt = Vec::new();
        for k in 0..3 * MANY {
            let hash = if k < 10 { u64::from(k) } else { 100 + u64::from(k % 3) };
            if rounds.push(hash, SmallVec::from_slice(&[Name(hash)])) {
                learnt.push(k);
            }
        }
        assert_eq!(learnt, [13 + MANY], "the first repetition is the fourth of these steps");
        assert!(rounds.repeats() && rounds.period == 3);
        let mut reads: Vec<Name> = rounds.reads().collect();
        reads.sort_unstable();
        assert_eq!(reads, [100, 101, 102].map(Name));
        rounds.push(1, SmallVec::new());
        assert!(!rounds.repeats());
    }
}
