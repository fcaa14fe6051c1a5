//! Ready sends: the check that the receive was started before.
//!
//! It does not matter which of the two came first in one execution. If no cause orders the start of the receive before
//! the send, there is an execution in which the send comes first.

use crate::machine::{Effect, NetMachine};
use crate::op::{Op, WaitMode};
use smallvec::SmallVec;
use whippet_model::{Branch, FindingKind, Name, Problem};

impl NetMachine {
    /// Appends the ready sends whose receives may have been started too late, or never.
    pub(crate) fn late_receives(&self, out: &mut Vec<Problem>) {
        for (at, record) in self.steps.iter().enumerate() {
            if !matches!(&**self.histories.op(record.node), Op::PortSend { ready: true, .. }) {
                continue;
            }
            let receive = self.partner(at);
            let why = match receive {
                Some(receive) if self.is_cause(receive, at) => continue,
                Some(receive) => format!("{} may not have been started before", self.communication_of(receive)),
                None => "there is no receive for it".into(),
            };
            let message = format!("ready send without a receive: {}: {why}", self.communication_of(at));
            let event = self.event(record.process, record.index, Branch::FIRST);
            let steps: Vec<usize> = match self.matched_by(at) {
                Some(matched) => vec![at, matched],
                // The absence of a receive depends on all processes.
                None => (0..self.processes.len() as u32).filter_map(|p| self.preceding_step(p)).collect(),
            };
            let key = Name::ROOT.mixed(0x4ead).mixed(event.0);
            let problem = Problem::new(FindingKind::Assertion, message, key);
            out.push(problem.with_place(self.histories.place(record.node)).with_steps(steps));
        }
    }

    /// Returns `true` if the step `of` would be impossible without `step`.
    fn is_cause(&self, step: usize, of: usize) -> bool {
        let mut seen = vec![false; of + 1];
        let mut open = vec![of];
        while let Some(at) = open.pop() {
            if at == step {
                return true;
            }
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            open.extend(self.steps[at].causes.iter().chain(&self.observed(at)).map(|&cause| cause as usize));
        }
        false
    }

    /// Returns the steps without which a successful test would have failed.
    fn observed(&self, at: usize) -> SmallVec<[u32; 4]> {
        let record = &self.steps[at];
        match (record.effect, &**self.histories.op(record.node)) {
            (Effect::Completed { k }, Op::Wait { of, mode: WaitMode::Test }) => {
                self.completing_steps(self.own_step(record.process, of[k as usize])).unwrap_or_default()
            }
            _ => SmallVec::new(),
        }
    }
}
