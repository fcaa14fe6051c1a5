//! The events that a delivery makes possible, for programs where two deliveries are dependent iff one actor takes both.
//!
//! The deliveries of an actor are in a row. A message that has been sent can take any place in its
//! receiver's row from those in the past of its sending on, if the receiver would accept it there. So the newest delivery
//! makes possible: what the same actor can take next, and its sends, at every place of their receivers' rows.

use whippet_model::{Branch, Clocks, Extension, Machine, Name, Pending, Touch};

/// Stable names for the actors of the current execution, by their numbers.
#[derive(Default)]
pub(crate) struct Deliveries {
    actors: Vec<Name>,
}

impl Deliveries {
    /// Appends the events whose past contains the newest step, or is empty before the first.
    pub(crate) fn extensions<M: Machine>(&mut self, machine: &mut M, clocks: &Clocks, out: &mut Vec<Extension>) {
        let newest = machine.depth().checked_sub(1);
        self.learn(machine, newest);
        let sent = newest.map_or(0..0, |at| machine.sent(at));
        let actor = newest.map(|at| machine.step(at).actor);
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        for choice in enabled {
            let receiver = machine.actor(choice.what);
            if newest.is_none() || actor == Some(receiver) || sent.contains(&choice.what.0) {
                let sending = sending(machine, choice.what);
                let after = sending.into_iter().chain(clocks.last_of(receiver.0)).collect();
                out.push(self.delivery(machine, choice.what, choice.branch, after));
            }
        }
        let Some(newest) = newest else { return };
        for what in sent.map(Pending) {
            let mut place = clocks.last_of(machine.actor(what).0);
            while let Some(at) = place.filter(|&at| !clocks.before(at, newest)) {
                place = clocks.previous(at);
                if machine.accepted_at(what, at) {
                    let after = [newest].into_iter().chain(place).collect();
                    out.push(self.delivery(machine, what, Branch::FIRST, after));
                }
            }
        }
    }

    /// Forgets the actors that steps taken back had created.
    pub(crate) fn truncate<M: Machine>(&mut self, machine: &M) {
        self.actors.truncate(machine.actors());
    }

    fn learn<M: Machine>(&mut self, machine: &M, newest: Option<usize>) {
        let creator = newest.map_or(Name::ROOT, |at| machine.step(at).thread).mixed(0xac7);
        let first = self.actors.len();
        self.actors.extend((first..machine.actors()).map(|no| creator.child((no - first) as u32)));
    }

    fn delivery<M: Machine>(&self, machine: &M, what: Pending, branch: Branch, after: Vec<usize>) -> Extension {
        let thread = machine.thread(what);
        let touches = vec![Touch::write(self.actors[machine.actor(what).0 as usize])];
        Extension { thread, branch, event: thread.mixed(branch.0), after, touches }
    }
}

/// The step that sent a message, if it was not the set-up.
fn sending<M: Machine>(machine: &M, what: Pending) -> Option<usize> {
    (0..machine.depth()).rev().find(|&at| machine.sent(at).contains(&what.0))
}
