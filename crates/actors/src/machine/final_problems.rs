//! Problems of a configuration in which no step is enabled: deadlocks, messages that are never received, failed tasks
//! that no actor waited for, actors that have not stopped, and failed checks.

use super::ActorMachine;
use super::finish::key_of_panic;
use crate::address::with_labels;
use crate::cell::ActorStatus;
use crate::current_step::{SETUP, WaitKind};
use crate::describe;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::lock::LockActor;
use crate::messages::{MessageContent, PENDING, SendKind, SentMessage};
use crate::rwlock::RwLockActor;
use crate::semaphore::SemaphoreActor;
use std::panic::Location;
use whippet_model::{FindingKind, Name, Problem, WaitFor};

/// Salt that distinguishes failures of tasks from other panics.
const FAILED: u64 = 0xFA11;

/// The number of messages that are never received and that the message of a failed check lists.
const MOST_MISSING: usize = 5;

/// An actor that waits for the reply of another actor, a task or a lock.
struct BlockedActor {
    actor: u32,
    /// The actor that would have to act next: the callee, or the holder if the callee is a lock.
    next: u32,
    /// The callee.
    callee: u32,
    request: u32,
    site: &'static Location<'static>,
}

/// An actor that is suspended in a receive, and the source location of the receive.
type BlockedReceiver = (u32, &'static Location<'static>);

impl ActorMachine {
    /// Appends all problems of the current configuration, taken as the end of an execution.
    pub(super) fn find_final_problems(&self, out: &mut Vec<Problem>) {
        let engine = self.engine.borrow();
        let blocked = self.blocked_actors(&engine);
        let closed = self.environment == Environment::Closed;
        if blocked.is_empty()
            && !closed
            && engine.messages.nothing_pending()
            && engine.failed.is_empty()
            && self.at_end.is_empty()
            && self.outcomes.is_empty()
            && self.temporal.is_empty()
            && engine.histories.is_empty()
            && self.at_start.is_none()
        {
            return;
        }
        out.extend(self.at_start.clone());
        let labels = describe::labels(&engine);
        with_labels(labels.clone(), || {
            if !blocked.is_empty() {
                out.push(self.deadlock(&engine, &labels, &blocked));
            }
            self.undeliverable(&engine, &labels, out);
            self.failed_tasks(&engine, &labels, out);
            if closed && blocked.is_empty() {
                self.not_stopped(&engine, &labels, out);
            }
            self.check_ended_histories(&engine, out);
            self.find_outcomes(&engine, &labels, out);
            self.check_temporal(out);
            for (k, check) in self.at_end.iter().enumerate() {
                if let Err(panic) = check.run(&self.cells) {
                    let key = key_of_panic(&panic).mixed(k as u64);
                    let (missing, sent) = self.missing(&engine, &labels, &check.slots);
                    let steps = check.slots.iter().flat_map(|&slot| self.steps_of(slot));
                    let steps = steps.chain(self.losses()).chain(sent).collect();
                    let message = format!("at the end: {}{missing}", panic.message);
                    let place = panic.place;
                    out.push(Problem::new(FindingKind::Assertion, message, key).with_place(place).with_steps(steps));
                }
            }
        });
    }

    fn blocked_actors(&self, engine: &Engine) -> Vec<BlockedActor> {
        let mut blocked = Vec::new();
        for (actor, cell) in self.cells.iter().enumerate() {
            if let ActorStatus::Waiting(wait) = cell.current_status()
                && let WaitKind::Reply(call) = wait.kind
                && let Some(request) = engine.messages.all().iter().position(|sent| sent.name == call)
                && !self.answered(engine, call)
            {
                let callee = engine.messages[request as u32].to;
                let next = self.holder(engine, callee).unwrap_or(callee);
                blocked.push(BlockedActor {
                    actor: actor as u32,
                    next,
                    callee,
                    request: request as u32,
                    site: wait.site,
                });
            }
        }
        // Sorts in an order that is the same in equivalent executions.
        blocked.sort_by_key(|one| {
            let info = &engine.actors[one.actor as usize];
            (if info.by == SETUP { one.actor } else { u32::MAX }, info.name)
        });
        blocked
    }

    /// Returns `true` if the reply to a call is pending. This happens if a counterexample is cut off before the program
    /// ends.
    fn answered(&self, engine: &Engine, call: Name) -> bool {
        let mut replies = engine.messages.pending().map(|p| engine.messages[p].content);
        replies.any(|content| matches!(content, MessageContent::Reply(_, answers) if answers == call))
    }

    fn deadlock(&self, engine: &Engine, labels: &[String], blocked: &[BlockedActor]) -> Problem {
        let (reported, receiver) = match cycle(blocked) {
            Some(cycle) => (cycle, None),
            None => self.chain(engine, blocked).map_or((Vec::new(), None), |(chain, wait)| (chain, Some(wait))),
        };
        let (reported, cycle) = if reported.is_empty() { (blocked.iter().collect(), false) } else { (reported, true) };
        let mut lines = Vec::new();
        let mut key = Name::ROOT.mixed(FindingKind::Deadlock as u64);
        let mut sum = 0u64;
        let mut steps = Vec::new();
        for one in &reported {
            lines.push(self.waiting(engine, labels, one));
            let pair = engine.actors[one.actor as usize].name.mixed(engine.actors[one.callee as usize].name.0);
            sum = sum.wrapping_add(pair.0);
            steps.extend(self.steps_of(one.actor));
            steps.extend(self.steps_of(one.callee));
        }
        if let Some((actor, site)) = receiver {
            let place = format!("{}:{}", site.file(), site.line());
            lines.push(format!(
                "{} waits for a message (at {place}), and only the waiting actors could send one",
                labels[actor as usize]
            ));
        }
        key = key.mixed(sum);
        steps.extend(self.losses());
        steps.sort_unstable();
        steps.dedup();
        let head = match (cycle, reported.len()) {
            (true, _) => "a cycle of actors that wait for each other: ".to_owned(),
            (false, 1) => String::new(),
            (false, n) => format!("{n} actors wait forever: "),
        };
        let place = reported.first().map(|one| format!("{}:{}", one.site.file(), one.site.line()));
        let message = format!("{head}{}", lines.join("; "));
        let waits = reported.iter().map(|one| self.wait_for(engine, labels, one)).collect();
        Problem::new(FindingKind::Deadlock, message, key).with_place(place).with_steps(steps).with_waits(waits)
    }

    /// Returns the longest chain of waiting actors that ends at an actor in a receive. Since no step is enabled, only
    /// the waiting actors themselves could send it a message, so the chain counts as a cycle.
    fn chain<'a>(
        &self,
        engine: &Engine,
        blocked: &'a [BlockedActor],
    ) -> Option<(Vec<&'a BlockedActor>, BlockedReceiver)> {
        let chains = blocked.iter().filter_map(|start| {
            let mut chain = vec![start];
            while let Some(next) = after(blocked, chain[chain.len() - 1]) {
                chain.push(next);
            }
            let end = chain[chain.len() - 1].next;
            if engine.actors[end as usize].service {
                return None;
            }
            match self.cells[end as usize].current_status() {
                ActorStatus::Waiting(wait) if matches!(wait.kind, WaitKind::Message(_)) => {
                    Some((chain, (end, wait.site)))
                }
                _ => None,
            }
        });
        // Selects the first of several equally long chains, in the order of `stuck`.
        chains.min_by_key(|(chain, _)| std::cmp::Reverse(chain.len()))
    }

    /// Returns an actor that holds a lock or a permit; if there are several, preferably one that is waiting itself.
    fn holder(&self, engine: &Engine, lock: u32) -> Option<u32> {
        let state = self.cells[lock as usize].view(usize::MAX)?;
        let names = if let Some(lock) = state.downcast_ref::<LockActor>() {
            lock.owner().into_iter().collect()
        } else if let Some(lock) = state.downcast_ref::<RwLockActor>() {
            lock.holders()
        } else {
            state.downcast_ref::<SemaphoreActor>()?.holders()
        };
        let holders: Vec<u32> = names.into_iter().filter_map(|name| engine.slot_of(name)).collect();
        let waits = |&&actor: &&u32| {
            let status = self.cells[actor as usize].current_status();
            matches!(status, ActorStatus::Waiting(wait) if matches!(wait.kind, WaitKind::Reply(_)))
        };
        holders.iter().find(waits).or(holders.first()).copied()
    }

    /// Returns the wait of one actor as data.
    fn wait_for(&self, engine: &Engine, labels: &[String], one: &BlockedActor) -> WaitFor {
        let actor = labels[one.actor as usize].clone();
        let text = self.waiting(engine, labels, one)[actor.len() + 1..].to_owned();
        WaitFor { actor, text, on: vec![labels[one.next as usize].clone()] }
    }

    /// Describes the wait of one actor. The text begins with its label.
    fn waiting(&self, engine: &Engine, labels: &[String], one: &BlockedActor) -> String {
        let (actor, on) = (&labels[one.actor as usize], &labels[one.callee as usize]);
        let place = format!("{}:{}", one.site.file(), one.site.line());
        if one.next != one.callee {
            return format!("{actor} waits for {on}, which {} holds (at {place})", labels[one.next as usize]);
        }
        if engine.actors[one.callee as usize].service {
            return format!("{actor} waits for {on} (at {place})");
        }
        let pending = engine.messages[one.request].delivered == PENDING;
        let why = match (pending, self.cells[one.callee as usize].current_status()) {
            _ if self.was_lost(engine, one.request) => " (the network lost the request)",
            _ if self.reply_was_lost(engine, one.request) => " (the network lost the reply)",
            (_, ActorStatus::Stopped) => ", which has stopped",
            (_, ActorStatus::Failed) => ", which has panicked",
            (true, ActorStatus::Waiting(_)) => ", which is itself waiting",
            (true, ActorStatus::Rest) => ", which refuses the request",
            (false, _) => ", which received the request and did not reply",
        };
        let request = self.cells[one.callee as usize].show_message(engine, one.request);
        format!("{actor} waits for {on}{why}, to answer {request} (called at {place})")
    }

    fn undeliverable(&self, engine: &Engine, labels: &[String], out: &mut Vec<Problem>) {
        out.extend(self.never_received(engine, labels).into_iter().map(|(_, problem)| problem));
    }

    /// Returns the messages that are never received: the receiver, and the problem.
    fn never_received(&self, engine: &Engine, labels: &[String]) -> Vec<(u32, Problem)> {
        let mut out = Vec::new();
        // Problems with the same key are all reported; the collector keeps the one with the shortest counterexample.
        for p in engine.messages.pending() {
            let sent = engine.messages[p];
            // A timer was cancelled, or its actor has stopped; a crash came too late.
            let crashed = || self.records.iter().any(|record| record.actor == sent.to && record.is_crash());
            let is_reply = matches!(sent.content, MessageContent::Reply(..));
            if matches!(sent.kind, SendKind::Timer | SendKind::Crash) || is_reply && crashed() {
                continue;
            }
            let why = match (self.cells[sent.to as usize].current_status(), sent.content) {
                (_, MessageContent::Reply(_, call)) if self.is_answered_twice(engine, call) => {
                    "already got a reply to this call: it is answered twice"
                }
                (ActorStatus::Stopped, _) => "has stopped",
                (ActorStatus::Failed, _) => "has panicked",
                (ActorStatus::Rest, MessageContent::Message(_)) => "never accepts it",
                (ActorStatus::Waiting(wait), MessageContent::Message(_))
                    if matches!(wait.kind, WaitKind::Message(_)) =>
                {
                    "waits for other messages"
                }
                (_, MessageContent::Reply(..)) => "no longer waits for it",
                // An actor that waits for a reply is reported as a deadlock.
                _ => continue,
            };
            let text = self.cells[sent.to as usize].show_message(engine, p);
            let mut key = Name::ROOT.mixed(FindingKind::Undeliverable as u64);
            for part in [&*engine.actors[sent.to as usize].kind, describe::variant(&text), why] {
                key = part.bytes().fold(key, |key, byte| key.mixed(u64::from(byte)));
            }
            let mut steps = self.steps_of(sent.to);
            if sent.by != SETUP {
                steps.push(sent.by as usize);
            }
            out.push((
                sent.to,
                Problem::new(
                    FindingKind::Undeliverable,
                    format!(
                        "{text} from {} is never received: {} {why}",
                        labels[sent.from as usize], labels[sent.to as usize]
                    ),
                    key,
                )
                .with_place(Some(format!("{}:{}", sent.site.file(), sent.site.line())))
                .with_steps(steps)
                .with_warning(true),
            ));
        }
        out
    }

    /// Returns `true` if two replies to this call were sent, apart from copies that the network made.
    fn is_answered_twice(&self, engine: &Engine, call: Name) -> bool {
        let answers = |sent: &&SentMessage| {
            sent.kind == SendKind::Sent && matches!(sent.content, MessageContent::Reply(_, answers) if answers == call)
        };
        engine.messages.all().iter().filter(answers).count() > 1
    }

    /// Describes the messages that are never received and may explain why a check of these actors fails: those to one
    /// of them, or all of them if nothing happened to the actors. Returns the text and the steps that sent them.
    fn missing(&self, engine: &Engine, labels: &[String], slots: &[u32]) -> (String, Vec<usize>) {
        let idle = slots.iter().all(|&slot| self.steps_of(slot).is_empty());
        let problems = self.never_received(engine, labels).into_iter();
        let concerned = |(to, problem)| (idle || slots.contains(&to)).then_some(problem);
        let problems: Vec<Problem> = problems.filter_map(concerned).collect();
        let steps = problems.iter().filter(|_| idle).flat_map(|problem| problem.steps.clone()).collect();
        let mut lines: Vec<String> = problems
            .iter()
            .map(|problem| {
                let place = problem.place.as_ref().map_or_else(String::new, |place| format!(" (sent {place})"));
                format!("\n{}{place}", problem.message)
            })
            .collect();
        // In an order that is the same in equivalent executions.
        lines.sort();
        lines.truncate(MOST_MISSING);
        (lines.concat(), steps)
    }

    /// Appends the tasks whose body panicked and for which no actor waited.
    fn failed_tasks(&self, engine: &Engine, labels: &[String], out: &mut Vec<Problem>) {
        for (actor, step, failure) in &engine.failed {
            let awaited = engine.messages.all().iter().any(|sent| sent.to == *actor && sent.delivered != PENDING);
            if !awaited {
                let key = failure.place.as_deref().unwrap_or(&failure.message);
                out.push(
                    Problem::new(
                        FindingKind::Panic,
                        format!(
                            "{} panicked, and no actor waited for its result: {}",
                            labels[*actor as usize], failure.message
                        ),
                        key.bytes().fold(Name::ROOT.mixed(FAILED), |key, byte| key.mixed(u64::from(byte))),
                    )
                    .with_place(failure.place.clone())
                    .with_steps((*step != SETUP).then_some(*step as usize).into_iter().collect()),
                );
            }
        }
    }

    fn not_stopped(&self, engine: &Engine, labels: &[String], out: &mut Vec<Problem>) {
        let running: Vec<u32> = (1..self.cells.len() as u32)
            .filter(|&a| !self.cells[a as usize].current_status().is_end() && !engine.actors[a as usize].service)
            .collect();
        if running.is_empty() {
            return;
        }
        let names: Vec<&str> = running.iter().map(|&a| labels[a as usize].as_str()).collect();
        let sum = running.iter().fold(0u64, |sum, &a| sum.wrapping_add(engine.actors[a as usize].name.mixed(1).0));
        let verb = if running.len() == 1 { "has" } else { "have" };
        out.push(
            Problem::new(
                FindingKind::Environment,
                format!("the environment is closed, but {} {verb} not stopped", names.join(", ")),
                Name::ROOT.mixed(FindingKind::Environment as u64).mixed(sum),
            )
            .with_steps(running.iter().flat_map(|&a| self.steps_of(a)).chain(self.losses()).collect()),
        );
    }

    /// Returns the steps that determine the state of an actor: its newest step, which depends on all earlier ones, or
    /// all of its steps if they may commute.
    pub(super) fn steps_of(&self, actor: u32) -> Vec<usize> {
        let mut steps: Vec<usize> = (0..self.records.len())
            .filter(|&at| self.records[at].actor == actor && !self.records[at].is_loss())
            .collect();
        if !self.cells[actor as usize].has_fields() {
            steps.drain(..steps.len().saturating_sub(1));
        }
        steps
    }
}

/// Returns the entry of the actor that `one` waits for, if that actor waits as well.
fn after<'a>(blocked: &'a [BlockedActor], one: &BlockedActor) -> Option<&'a BlockedActor> {
    blocked.iter().find(|other| other.actor == one.next)
}

/// Returns a cycle of waiting actors, if one exists.
fn cycle(blocked: &[BlockedActor]) -> Option<Vec<&BlockedActor>> {
    for start in blocked {
        let mut path: Vec<&BlockedActor> = vec![start];
        while let Some(next) = after(blocked, path[path.len() - 1]) {
            if let Some(from) = path.iter().position(|one| one.actor == next.actor) {
                return Some(path.split_off(from));
            }
            path.push(next);
        }
    }
    None
}
