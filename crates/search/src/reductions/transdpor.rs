//! TransDPOR (Tasharofi, Karmani, Lauterburg, Legay, Marinov and Agha): persistent sets that use the transitivity of
//! races between actors.
//!
//! A level's list B starts with one message. A race at level k adds one message there and *freezes* the level:
//! because races between messages to one actor are transitive, a message that is not added now will be in a race with
//! the one that was added. The flag is cleared whenever a message is picked. Notation: i → m means that step i is in
//! the past of the send of m; act_k is the receiver of the message being explored at level k; msg_j and actor_j are
//! the message and the receiver of step j.
//!
//! The rule behind the numbers of the paper's tables, for step k with act_k = receiver(m) and not k → m:
//! * after a send of m: ADD(k, msg_j, actor_j), where j is the first step after k with j → m;
//! * after m was executed: ADD(k, msg_j, act_k), or ADD(k, m, act_k) if m was already pending at k.
//!
//! ADD(k, x, a) does nothing if k is frozen and a = act_k, or if x is in B or asleep. If k is frozen, x replaces the
//! last element of B (Table 2: only if that element is for act_k); otherwise x is appended and k is frozen.
//!
//! As published, this misses executions if actors refuse messages or stop. The `sound` rule makes it complete: a
//! message that was not enabled at k is not added (R1), and at the end of an execution (R2), even of a blocked one
//! (R3), every message that is still pending counts as executed. Without sleep sets it extends the rule of Table 1,
//! with sleep sets that of Table 2, so that the published numbers stay the same.

use crate::driver::run::{Run, Stop};
use crate::options::Rule;
use crate::orders::Orders;
use crate::reductions::backtrack::{Backtrack, Level, first_after, only_same_actor, search as walk};
use whippet_model::{ActorNo, Choice, Machine, Pending};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    only_same_actor(run, "transdpor")?;
    let (rule, sleep) = (run.options.rule, run.options.sleep);
    match rule {
        Rule::Table1 | Rule::Table2 => run.control.note_missing(format!(
            "the rule `{rule}` of transdpor may miss executions where actors refuse messages or stop; `sound` does not"
        )),
        Rule::Figure2 if sleep => run.control.note_missing(
            "the rule `figure2` of transdpor may miss executions when used with sleep sets; `sound` does not",
        ),
        Rule::Figure2 | Rule::Sound => {}
    }
    let mut pending = Vec::new();
    run.machine().pending(&mut pending);
    let known = pending.iter().map(|what| what.0 as usize + 1).max().unwrap_or(0);
    let replaces_all = rule == Rule::Table1 || rule == Rule::Sound && !sleep;
    walk(run, Transdpor { rule, replaces_all, sent_by: vec![None; known], pending }, sleep)
}

struct Transdpor {
    rule: Rule,
    /// Set if the last message of a frozen level is replaced regardless of its receiver.
    replaces_all: bool,
    /// The step that sent each message. Messages that were pending before the first step have none.
    sent_by: Vec<Option<usize>>,
    pending: Vec<Pending>,
}

impl Backtrack for Transdpor {
    fn begin<M: Machine>(&mut self, machine: &M, level: &mut Level, orders: &mut Orders) {
        let Level { enabled, sleep, .. } = &*level;
        let awake = |choice: &Choice| !sleep.contains(*choice);
        let first = orders.first(machine, enabled, awake);
        let first = enabled.iter().find(|c| Some(machine.actor(c.what)) == first && awake(c)).copied();
        level.list.extend(first);
    }

    fn next<M: Machine>(&mut self, _: &M, level: &mut Level) -> Option<Choice> {
        // Only the published rules list messages that were not enabled, and only figure 2 lists sleeping ones.
        let possible = |level: &Level, c: Choice| level.enabled.contains(&c) && !level.sleep.contains(c);
        loop {
            let choice = level.take()?;
            level.flag = false;
            if possible(level, choice) {
                return Some(choice);
            }
        }
    }

    fn arrived<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        let at = levels.len() - 1;
        for message in run.machine().sent(at) {
            self.sent_by.resize(self.sent_by.len().max(message as usize + 1), None);
            self.sent_by[message as usize] = Some(at);
        }
        if self.rule == Rule::Figure2 {
            return self.as_printed(run, levels);
        }
        for message in run.machine().sent(at) {
            let receiver = run.machine().actor(Pending(message));
            let mut k = run.clocks.last_of(receiver.0);
            while let Some(step) = k.filter(|&step| !run.clocks.before(step, at)) {
                let j = first_after(&run.clocks, step, at).expect("the send is in its own past");
                let cause = run.machine().step(j);
                self.add(run, &mut levels[step], cause.choice.what, cause.actor);
                k = run.clocks.previous(step);
            }
        }
        self.executed(run, levels, run.machine().step(at).choice.what, run.clocks.previous(at));
    }

    fn ended<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) -> Result<(), Stop> {
        if self.rule != Rule::Sound {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        run.machine().pending(&mut pending);
        for &message in &pending {
            let last = run.clocks.last_of(run.machine().actor(message).0);
            self.executed(run, levels, message, last);
        }
        self.pending = pending;
        Ok(())
    }
}

impl Transdpor {
    /// Handles a message that was executed, or counts as executed. `last` is the step of its receiver before it.
    fn executed<M: Machine>(&self, run: &Run<'_, M>, levels: &mut [Level], message: Pending, last: Option<usize>) {
        let sent = self.sent_by[message.0 as usize];
        let mut k = last;
        while let Some(step) = k.filter(|&step| sent.is_none_or(|sent| !run.clocks.before(step, sent))) {
            let x = self.cause(run, step, message);
            let receiver = levels[step].actor;
            self.add(run, &mut levels[step], x, receiver);
            k = run.clocks.previous(step);
        }
    }

    /// Returns the message of the first step after `k` that leads to the send of `message`, or `message` itself if
    /// there is no such step.
    fn cause<M: Machine>(&self, run: &Run<'_, M>, k: usize, message: Pending) -> Pending {
        let first = self.sent_by[message.0 as usize].and_then(|sent| first_after(&run.clocks, k, sent));
        first.map_or(message, |j| run.machine().step(j).choice.what)
    }

    /// ADD(k, x, a) as defined at the head of this file.
    fn add<M: Machine>(&self, run: &Run<'_, M>, level: &mut Level, x: Pending, a: ActorNo) {
        let x = Choice::first(x);
        if level.flag && a == level.actor || level.list.contains(&x) || level.sleep.contains(x) {
            return;
        }
        if self.rule == Rule::Sound && !level.enabled.contains(&x) {
            return;
        }
        if level.flag {
            let last = level.list.last().expect("a frozen level has got a message");
            if !self.replaces_all && run.machine().actor(last.what) != level.actor {
                return;
            }
            level.list.pop();
        }
        level.list.push(x);
        level.flag = true;
    }

    /// Figure 2, lines 3 to 9: at every configuration, for every pending message, considers only the last race.
    fn as_printed<M: Machine>(&mut self, run: &Run<'_, M>, levels: &mut [Level]) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        run.machine().pending(&mut pending);
        for &message in &pending {
            let last = run.clocks.last_of(run.machine().actor(message).0);
            let sent = self.sent_by[message.0 as usize];
            let Some(k) = last.filter(|&k| sent.is_none_or(|sent| !run.clocks.before(k, sent))) else { continue };
            let level = &mut levels[k];
            let x = Choice::first(self.cause(run, k, message));
            if !level.flag && level.enabled.contains(&x) && !level.list.contains(&x) {
                level.list.push(x);
                level.flag = true;
            }
        }
        self.pending = pending;
    }
}
