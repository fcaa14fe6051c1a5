//! Orders, which decide the actor that goes first: those of chapter 4 of the Basset dissertation, and `stable`.
//!
//! An order sorts the actors that have enabled messages; the messages of one actor keep the order of sending. The
//! order influences how much a reduction can skip, but never what is covered. `hms` and `sgr` learn from the whole
//! exploration: their data is kept when the search rewinds. Actors are numbered in the order of creation, and ties go
//! to the lower number.
//!
//! `stable` (Albert, Arenas and Gómez-Zamalloa: "Actor- and Task-Selection Strategies") asks the machine for an
//! estimate of the messages that may still be sent to each actor, its level, and takes the actor with the lowest
//! level first. An actor with level 0 is *stable*: no further message can be sent to it. The paper relies on this and
//! tries no other actor; here the actor only goes first, because the machine may be wrong. Configurations without a
//! stable actor are counted (the paper's H).
//!
//! Searches use an order at every configuration: nothing is allocated, and small sets cost tens of nanoseconds.

use crate::driver::control::Control;
use crate::driver::run::Stop;
use crate::options::Order;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use whippet_model::{ActorNo, Choice, Machine, Pending};

mod published;
mod reach;

use reach::Reach;

/// An actor that has enabled messages.
#[derive(Copy, Clone, Debug)]
struct Group {
    actor: u32,
    /// The positions of its first and last message among those enabled.
    first: u32,
    last: u32,
    /// The number of its enabled messages.
    count: u32,
    /// Set if one of them is awake.
    awake: bool,
    /// For `stable`: its level.
    level: u64,
}

/// An order, and the data that it has learnt.
#[derive(Debug)]
pub(crate) struct Orders {
    order: Order,
    groups: Vec<Group>,
    /// The group of each actor: the number of the query for which it is valid, and its index in `groups`.
    group_of: Vec<(u32, u32)>,
    question: u32,
    sorted: Vec<Choice>,
    scratch: Vec<Choice>,
    /// For `hms`: the number of messages that each actor has received, and the number of messages that it sent
    /// meanwhile.
    averages: Vec<(u64, u64)>,
    reach: Reach,
    /// For `stable`: the number of configurations without a stable actor.
    unstable: Option<Arc<AtomicU64>>,
}

impl Orders {
    /// Creates the order for a search of this machine, which has not taken a step yet.
    pub(crate) fn new<M: Machine>(order: Order, machine: &M, control: &Control) -> Result<Orders, Stop> {
        if order == Order::Stable && inbound_estimate(machine, ActorNo(0)).is_none() {
            let others: Vec<&str> = Order::ALL.iter().filter(|o| **o != order).map(|o| o.name()).collect();
            return Err(Stop::unsupported(format!(
                "the order `stable` needs to know which actors may still send to which: this is known of .abs programs and \
                 learnt of native actors, but not known of this program. Choose one of these orders: {}",
                others.join(", ")
            )));
        }
        let mut reach = Reach::default();
        if matches!(order, Order::Sgr | Order::SgrPublished) {
            machine.profile().setup_sends.iter().for_each(|&(from, to)| reach.sends(from, to));
        }
        Ok(Orders {
            order,
            groups: Vec::new(),
            group_of: Vec::new(),
            question: 0,
            sorted: Vec::new(),
            scratch: Vec::new(),
            averages: Vec::new(),
            reach,
            unstable: (order == Order::Stable).then(|| control.unstable()),
        })
    }

    /// Learns from the newest step. Not to be called for steps that are executed again.
    #[inline]
    pub(crate) fn arrived<M: Machine>(&mut self, machine: &M) {
        if matches!(self.order, Order::Hms | Order::Sgr | Order::SgrPublished) {
            self.learn(machine);
        }
    }

    fn learn<M: Machine>(&mut self, machine: &M) {
        let at = machine.depth() - 1;
        let actor = machine.step(at).actor;
        let sent = machine.sent(at);
        if self.order == Order::Hms {
            let known = self.averages.len().max(actor.0 as usize + 1);
            self.averages.resize(known, (0, 0));
            let (received, sends) = &mut self.averages[actor.0 as usize];
            *received += 1;
            *sends += u64::from(sent.end - sent.start);
        } else {
            for message in sent {
                self.reach.sends(actor, machine.actor(Pending(message)));
            }
        }
    }

    /// Returns `true` if the actor of the first choice that is awake goes first.
    #[inline]
    pub(crate) fn as_they_come(&self) -> bool {
        matches!(self.order, Order::Default | Order::Fifo)
    }

    /// Returns the first actor that has an enabled message which is `awake`.
    #[inline]
    pub(crate) fn first<M: Machine>(
        &mut self,
        machine: &M,
        enabled: &[Choice],
        mut awake: impl FnMut(&Choice) -> bool,
    ) -> Option<ActorNo> {
        let actor = |choice: &Choice| machine.actor(choice.what);
        match self.order {
            Order::Default | Order::Fifo if enabled.first().is_none_or(&mut awake) => enabled.first().map(actor),
            Order::Lifo if enabled.last().is_none_or(&mut awake) => enabled.last().map(actor),
            Order::Eca => enabled.iter().filter(|choice| awake(choice)).map(actor).min(),
            Order::Lca => enabled.iter().filter(|choice| awake(choice)).map(actor).max(),
            Order::SgrPublished => self.sort(machine, enabled).iter().find(|choice| awake(choice)).map(actor),
            order => {
                self.group(machine, enabled, awake);
                if order == Order::Sgr {
                    let first = (0..self.groups.len()).find(|&done| self.reach.next(&mut self.groups, done).awake);
                    return first.map(|k| ActorNo(self.groups[k].actor));
                }
                let awake = self.groups.iter().filter(|group| group.awake);
                let first = awake.min_by_key(|group| (key(order, group, &self.averages), group.actor));
                first.map(|group| ActorNo(group.actor))
            }
        }
    }

    /// Returns the enabled choices sorted by actor.
    pub(crate) fn sort<M: Machine>(&mut self, machine: &M, enabled: &[Choice]) -> &[Choice] {
        self.sorted.clear();
        if self.order == Order::SgrPublished {
            self.sorted.extend_from_slice(enabled);
            let reach = &self.reach;
            let compare = |a: &Choice, b: &Choice| reach.compare(machine.actor(a.what), machine.actor(b.what));
            published::sort(&mut self.sorted, &mut self.scratch, compare);
            return &self.sorted;
        }
        self.group(machine, enabled, |_| true);
        match self.order {
            Order::Sgr => (0..self.groups.len()).for_each(|done| {
                self.reach.next(&mut self.groups, done);
            }),
            order => self.groups.sort_unstable_by_key(|group| (key(order, group, &self.averages), group.actor)),
        }
        for group in &self.groups {
            let range = &enabled[group.first as usize..=group.last as usize];
            if range.len() == group.count as usize {
                self.sorted.extend_from_slice(range);
            } else {
                self.sorted.extend(range.iter().filter(|c| machine.actor(c.what).0 == group.actor));
            }
        }
        &self.sorted
    }

    /// Groups the enabled messages by actor, in the order of each actor's first message, and marks the groups that
    /// have an `awake` message.
    fn group<M: Machine>(&mut self, machine: &M, enabled: &[Choice], mut awake: impl FnMut(&Choice) -> bool) {
        self.groups.clear();
        self.question = self.question.wrapping_add(1);
        if self.group_of.len() < machine.actors() {
            self.group_of.resize(machine.actors(), (self.question.wrapping_sub(1), 0));
        }
        for (at, choice) in enabled.iter().enumerate() {
            let (at, actor) = (at as u32, machine.actor(choice.what).0);
            let known = &mut self.group_of[actor as usize];
            if known.0 == self.question {
                let group = &mut self.groups[known.1 as usize];
                group.last = at;
                group.count += 1;
                group.awake = group.awake || awake(choice);
            } else {
                *known = (self.question, self.groups.len() as u32);
                let level = match &self.unstable {
                    Some(_) => {
                        inbound_estimate(machine, ActorNo(actor)).expect("the machine knew the first actor's level")
                    }
                    None => 0,
                };
                self.groups.push(Group { actor, first: at, last: at, count: 1, awake: awake(choice), level });
            }
        }
        if let Some(unstable) = &self.unstable
            && !self.groups.is_empty()
            && self.groups.iter().all(|group| group.level > 0)
        {
            unstable.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the machine's estimate of the messages that may still be sent to an actor.
fn inbound_estimate<M: Machine>(machine: &M, actor: ActorNo) -> Option<u64> {
    machine.order_hints()?.inbound_estimate(actor)
}

/// Returns the sort key of an actor.
fn key(order: Order, group: &Group, averages: &[(u64, u64)]) -> u64 {
    match order {
        Order::Default | Order::Fifo => u64::from(group.first),
        Order::Lifo => !u64::from(group.last),
        Order::Eca => u64::from(group.actor),
        Order::Lca => !u64::from(group.actor),
        Order::Ldm => u64::from(group.count),
        Order::Hdm => !u64::from(group.count),
        Order::Hms => {
            let average = match averages.get(group.actor as usize) {
                Some(&(received, sent)) if received > 0 => sent as f64 / received as f64,
                _ => 1.0,
            };
            // The bits of nonnegative floats have the same order as the floats.
            !average.to_bits()
        }
        Order::Stable => group.level,
        Order::Sgr | Order::SgrPublished => unreachable!("sorted in another way"),
    }
}
