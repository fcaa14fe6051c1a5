//! Crashes of actors, as faults with a budget.
//!
//! For each actor that may crash, a message of its own is pending: its delivery is the crash, and uses the budget; its loss
//! means that the actor does not crash any more, which nothing observes. So a crash has the dependences of a message that
//! may be lost: it is a step of its actor.

use super::ActorMachine;
use crate::current_step::TEST;
use crate::engine::Engine;
use crate::messages::{MessageContent, PENDING, SendKind, SentMessage};
use crate::network::{Network, NetworkFault};
use std::panic::Location;
use whippet_model::Name;

/// Salt that distinguishes crashes from messages.
const CRASH: u64 = 0xC4A5;

impl ActorMachine {
    /// Lets these actors crash, together at most this many times in an execution.
    pub(crate) fn set_crashes(&mut self, actors: &[u32], most: u32, site: &'static Location<'static>) {
        if self.faults.as_ref().is_none_or(|faults| faults.networks.is_empty()) {
            self.set_network(Network::reliable());
        }
        let faults = self.faults.as_mut().expect("it was set just now");
        faults.networks.push(Network::of(NetworkFault::Crash, most));
        let number = faults.networks.len() - 1;
        faults.crashes.extend(actors.iter().map(|&actor| (actor, (number, site))));
    }

    /// Makes the first crash of each actor that may crash pending.
    pub(super) fn post_first_crashes(&mut self) {
        let Some(faults) = &self.faults else { return };
        let mut crashes: Vec<_> =
            faults.crashes.iter().map(|(&actor, &(number, site))| (actor, number, site)).collect();
        crashes.sort_unstable_by_key(|&(actor, ..)| actor);
        for (actor, number, site) in crashes {
            let engine = &mut *self.engine.borrow_mut();
            if faults.networks[number].budgets[NetworkFault::Crash as usize] > 0 {
                let name = engine.actors[actor as usize].name.mixed(CRASH);
                post(engine, actor, name, site);
            }
        }
    }

    /// Makes the next crash of an actor pending that crashes now, if the budget allows one.
    pub(super) fn post_next_crash(&mut self, what: u32) {
        let Some(faults) = &self.faults else { return };
        let engine = &mut *self.engine.borrow_mut();
        let SentMessage { to, name, site, .. } = engine.messages[what];
        if faults.network_of(engine, what).is_some_and(|number| faults.left(number, NetworkFault::Crash) > 0) {
            post(engine, to, name.mixed(CRASH), site);
        }
    }
}

/// Makes a crash pending.
fn post(engine: &mut Engine, to: u32, name: Name, site: &'static Location<'static>) {
    let by = engine.current.step;
    if engine.shared.tracks_clocks() {
        engine.shared.clocks.sent(TEST, engine.messages.len() as usize, by);
    }
    let (content, kind) = (MessageContent::Crash, SendKind::Crash);
    engine.messages.post(SentMessage {
        name,
        to,
        from: TEST,
        by,
        delivered: PENDING,
        content,
        origin: name.0,
        enabled: false,
        kind,
        site,
    });
}
