//! Messages to ranks that are never received.

use crate::machine::NetMachine;
use whippet_model::{FindingKind, Name, Problem};

impl NetMachine {
    /// Appends a warning for each place that sent a message which no receive took, in an execution in which all
    /// processes ended.
    pub(crate) fn unreceived(&self, out: &mut Vec<Problem>) {
        // That nothing takes a message depends on all processes.
        let steps: Vec<usize> = (0..self.processes.len() as u32).filter_map(|p| self.preceding_step(p)).collect();
        for (rank, port) in self.ports.iter().enumerate() {
            let unmatched = port.messages().map(|message| port.sent(message)).filter(|sent| sent.matched_by.is_none());
            for sent in unmatched {
                let send = sent.step as usize;
                let place = self.histories.place(self.steps[send].node);
                let receiver = self.label(rank as u32);
                let mut key = Name::ROOT.mixed(FindingKind::Undeliverable as u64).mixed(rank as u64);
                for byte in place.iter().flat_map(|place| place.bytes()) {
                    key = key.mixed(u64::from(byte));
                }
                let message = format!(
                    "{} with tag {} is never received by {receiver}",
                    self.message_text(send),
                    sent.envelope.tag
                );
                let problem = Problem::new(FindingKind::Undeliverable, message, key);
                out.push(problem.with_place(place).with_steps(steps.clone()).with_warning(true));
            }
        }
    }
}
