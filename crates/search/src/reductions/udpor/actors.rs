//! The events that a delivery enables, for programs in which two deliveries are dependent iff they have the same
//! receiver.
//!
//! The deliveries of an actor form a sequence. A message that has been sent can take any position in its receiver's
//! sequence after the deliveries in the past of its send, if the receiver would accept it there. So the newest
//! delivery enables the deliveries that its own receiver can take next, and the delivery of each message that it
//! sent, at every position of the sequence of that message's receiver.

use crate::driver::run::{Run, Stop};
use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Machine, Name, Pending, Touch};

/// A delivery that is possible.
pub(crate) struct PossibleDelivery {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    /// The steps that it would directly follow: the send, and the previous delivery to its receiver.
    pub(crate) after: SmallVec<[usize; 2]>,
    /// The access to its receiver.
    pub(crate) touch: Touch,
}

/// Sentinel: the message was sent by the set-up, not by a step.
const SET_UP: u32 = u32::MAX;

/// Data of the current execution.
#[derive(Default)]
pub(crate) struct DeliveryEvents {
    /// Stable names of the actors, by actor number.
    actors: Vec<Name>,
    /// The step that sent each message.
    sender: Vec<u32>,
    enabled: Vec<Choice>,
}

impl DeliveryEvents {
    /// Appends the events whose past contains the newest step or, before the first step, is empty.
    pub(crate) fn extensions<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        out: &mut Vec<PossibleDelivery>,
    ) -> Result<(), Stop> {
        let newest = run.depth().checked_sub(1);
        self.learn(run.machine(), newest);
        let sent = newest.map_or(0..0, |at| run.machine().sent(at));
        let actor = newest.map(|at| run.machine().step(at).actor);
        let mut enabled = std::mem::take(&mut self.enabled);
        run.all_enabled(&mut enabled)?;
        for choice in enabled.drain(..) {
            let receiver = run.machine().actor(choice.what);
            if newest.is_none() || actor == Some(receiver) || sent.contains(&choice.what.0) {
                let after = self.sending(choice.what).into_iter().chain(run.clocks.last_of(receiver.0)).collect();
                out.push(self.delivery(run.machine(), choice.what, choice.branch, after));
            }
        }
        self.enabled = enabled;
        let Some(newest) = newest else { return Ok(()) };
        for what in sent.map(Pending) {
            let mut place = run.clocks.last_of(run.machine().actor(what).0);
            while let Some(at) = place.filter(|&at| !run.clocks.before(at, newest)) {
                place = run.clocks.previous(at);
                if run.accepted_at(what, at) {
                    let after = [newest].into_iter().chain(place).collect();
                    out.push(self.delivery(run.machine(), what, Branch::FIRST, after));
                }
            }
        }
        Ok(())
    }

    /// Removes the actors that were created by steps that have been undone.
    pub(crate) fn truncate<M: Machine>(&mut self, machine: &M) {
        self.actors.truncate(machine.actors());
    }

    fn learn<M: Machine>(&mut self, machine: &M, newest: Option<usize>) {
        let creator = newest.map_or(Name::ROOT, |at| machine.step(at).thread).mixed(0xac7);
        let first = self.actors.len();
        self.actors.extend((first..machine.actors()).map(|no| creator.child((no - first) as u32)));
        if let Some(at) = newest {
            let sent = machine.sent(at);
            // The handles of messages whose sends were undone are used again.
            self.sender.resize(self.sender.len().max(sent.end as usize), SET_UP);
            self.sender[sent.start as usize..sent.end as usize].fill(at as u32);
        }
    }

    /// Returns the step that sent a message, or `None` if the set-up did.
    fn sending(&self, what: Pending) -> Option<usize> {
        self.sender.get(what.0 as usize).filter(|&&step| step != SET_UP).map(|&step| step as usize)
    }

    fn delivery<M: Machine>(
        &self,
        machine: &M,
        what: Pending,
        branch: Branch,
        after: SmallVec<[usize; 2]>,
    ) -> PossibleDelivery {
        let touch = Touch::write(self.actors[machine.actor(what).0 as usize]);
        PossibleDelivery { thread: machine.thread(what), branch, after, touch }
    }
}
