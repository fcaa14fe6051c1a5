//! Ports: the messages that arrive for one rank, and how they are matched with its receives.
//!
//! A mailbox matches sends and receives by their order. At a port, as in MPI, a receive selects messages by source and
//! by tag. Two rules restrict the matching: a message is matched with the first unmatched receive that accepts it, and
//! a receive takes the messages of one source in the order they were sent. The rules do not determine which of several
//! sources comes first. So each match is a separate step with one branch for each message that the receive could take,
//! just as a wait for any of several communications has one branch for each; sends and receives themselves are
//! independent of each other. The step is taken by an auxiliary process that is created with the receive.

use crate::op::Envelope;
use smallvec::{SmallVec, smallvec};
use whippet_model::Name;

/// A message that was sent to a port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PortSend {
    pub(crate) step: u32,
    pub(crate) envelope: Envelope,
    /// The step that matched the message with a receive.
    pub(crate) matched_by: Option<u32>,
}

/// A receive at a port, or a probe.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PortReceive {
    pub(crate) step: u32,
    /// A probe is matched with a message as a receive is, but leaves it to be received.
    pub(crate) is_probe: bool,
    pub(crate) filter: ReceiveFilter,
    /// The step that matched the receive with a message.
    pub(crate) matched_by: Option<u32>,
}

/// The messages that a receive accepts: those of one communicator, from one source or any, with one tag or any.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveFilter {
    pub(crate) communicator: Name,
    pub(crate) source: Option<u32>,
    pub(crate) tag: Option<u32>,
}

impl ReceiveFilter {
    pub(crate) fn accepts(self, from: u32, envelope: Envelope) -> bool {
        self.communicator == envelope.communicator
            && self.source.is_none_or(|source| source == from)
            && self.tag.is_none_or(|wanted| wanted == envelope.tag)
    }
}

/// A message, identified by its source and its number among that source's messages to this port.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) from: u32,
    pub(crate) number: u32,
}

impl Message {
    /// Returns the branch number of the step in which this message is matched.
    pub(crate) fn branch(self) -> u64 {
        u64::from(self.from) << 32 | u64::from(self.number)
    }

    pub(crate) fn from_branch(branch: u64) -> Message {
        Message { from: (branch >> 32) as u32, number: branch as u32 }
    }
}

/// The port of one rank. All its receives are by one process, and all sends of one source are by one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Port {
    pub(crate) receives: Vec<PortReceive>,
    /// The messages of each source.
    pub(crate) sends: Vec<Vec<PortSend>>,
}

impl Port {
    pub(crate) fn sent(&self, message: Message) -> &PortSend {
        &self.sends[message.from as usize][message.number as usize]
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        let row =
            |from: usize| (0..self.sends[from].len() as u32).map(move |number| Message { from: from as u32, number });
        (0..self.sends.len()).flat_map(row)
    }

    /// Returns the steps that must precede a match of receive `index` with this message, or `None` if the match is not
    /// possible yet. The message must have been sent, each earlier receive that accepts it must be matched with another
    /// message, and all earlier messages of the same source that this receive accepts must be matched with earlier
    /// receives.
    pub(crate) fn required_steps(&self, index: u32, message: Message) -> Option<SmallVec<[u32; 4]>> {
        let receive = &self.receives[index as usize];
        let earlier = || self.receives[..index as usize].iter().filter(|earlier| !earlier.is_probe);
        let posted = self.sent(message);
        if !receive.filter.accepts(message.from, posted.envelope) {
            return None;
        }
        let mut required: SmallVec<[u32; 4]> = smallvec![posted.step];
        for other in earlier().filter(|other| other.filter.accepts(message.from, posted.envelope)) {
            required.push(other.matched_by.filter(|_| other.matched_by != posted.matched_by)?);
        }
        let before = &self.sends[message.from as usize][..message.number as usize];
        for other in before.iter().filter(|other| receive.filter.accepts(message.from, other.envelope)) {
            required
                .push(other.matched_by.filter(|_| earlier().any(|receive| receive.matched_by == other.matched_by))?);
        }
        required.sort_unstable();
        required.dedup();
        Some(required)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: ReceiveFilter = ReceiveFilter { communicator: Name::ROOT, source: None, tag: None };

    fn tagged(tag: u32) -> Envelope {
        Envelope { communicator: Name::ROOT, tag }
    }

    fn receive(step: u32, filter: ReceiveFilter, matched_by: Option<u32>) -> PortReceive {
        PortReceive { step, is_probe: false, filter, matched_by }
    }

    fn takeable(port: &Port, index: u32) -> Vec<(u32, u32)> {
        let takeable = port.messages().filter(|&message| port.required_steps(index, message).is_some());
        takeable.map(|message| (message.from, message.number)).collect()
    }

    #[test]
    fn receive_takes_first_message_of_each_source() {
        let sent = |step, tag| PortSend { step, envelope: tagged(tag), matched_by: None };
        let sends = vec![vec![sent(0, 7), sent(1, 8)], vec![sent(2, 8)]];
        let mut port = Port { receives: vec![receive(3, ANY, None)], sends };
        assert_eq!(takeable(&port, 0), [(0, 0), (1, 0)]);
        port.receives[0].filter.tag = Some(8);
        assert_eq!(takeable(&port, 0), [(0, 1), (1, 0)]);
        port.receives[0].filter.source = Some(0);
        assert_eq!(takeable(&port, 0), [(0, 1)]);
    }

    #[test]
    fn probe_takes_no_message() {
        let sends = vec![vec![PortSend { step: 0, envelope: tagged(0), matched_by: None }]];
        let probe = PortReceive { is_probe: true, ..receive(1, ANY, None) };
        let port = Port { receives: vec![probe, receive(2, ANY, None), probe], sends };
        assert_eq!(takeable(&port, 0), [(0, 0)]);
        assert_eq!(takeable(&port, 1), [(0, 0)]);
        assert_eq!(takeable(&port, 2), [], "the message is for the receive before the probe");
    }

    #[test]
    fn message_goes_to_first_accepting_receive() {
        let first = ReceiveFilter { source: Some(0), ..ANY };
        let sends = vec![
            vec![PortSend { step: 0, envelope: tagged(0), matched_by: None }],
            vec![PortSend { step: 1, envelope: tagged(0), matched_by: None }],
        ];
        let mut port = Port { receives: vec![receive(2, first, None), receive(3, ANY, None)], sends };
        assert_eq!(takeable(&port, 1), [(1, 0)], "the message of source 0 is for the first receive");
        port.receives[0].filter = ANY;
        assert_eq!(takeable(&port, 1), []);
        (port.receives[0].matched_by, port.sends[1][0].matched_by) = (Some(4), Some(4));
        assert_eq!(takeable(&port, 1), [(0, 0)]);
        assert_eq!(port.required_steps(1, Message { from: 0, number: 0 }).unwrap().as_slice(), [0, 4]);
    }
}
