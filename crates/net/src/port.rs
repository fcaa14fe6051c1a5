//! Ports: the messages that arrive for one rank, and how they are matched with its receives.
//!
//! A mailbox matches sends and receives by their order. At a port, as in MPI, a receive selects messages by source and
//! by tag. Two rules restrict the matching: a message is matched with the first unmatched receive that accepts it, and
//! a receive takes the messages of one source in the order they were sent. The rules do not determine which of several
//! sources comes first. So each match is a separate step with one branch for each message that the receive could take,
//! just as a wait for any of several communications has one branch for each; sends and receives themselves are
//! independent of each other. The step is taken by an auxiliary process that is created with the receive.

use smallvec::{SmallVec, smallvec};

/// A message that was sent to a port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) step: u32,
    pub(crate) tag: u32,
    /// The step that matched the message with a receive.
    pub(crate) met: Option<u32>,
}

/// A receive at a port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) step: u32,
    pub(crate) wants: Wants,
    /// The step that matched the receive with a message.
    pub(crate) met: Option<u32>,
}

/// The messages that a receive accepts: those from one source or any, with one tag or any.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) source: Option<u32>,
    pub(crate) tag: Option<u32>,
}

impl Wants {
    pub(crate) fn take(self, from: u32, tag: u32) -> bool {
        self.source.is_none_or(|source| source == from) && self.tag.is_none_or(|wanted| wanted == tag)
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
    pub(crate) fn way(self) -> u64 {
        u64::from(self.from) << 32 | u64::from(self.number)
    }

    pub(crate) fn of_way(way: u64) -> Message {
        Message { from: (way >> 32) as u32, number: way as u32 }
    }
}

/// The port of one rank. All its receives are by one process, and all sends of one source are by one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Port {
    pub(crate) receives: Vec<Asked>,
    /// The messages of each source.
    pub(crate) sends: Vec<Vec<Posted>>,
}

impl Port {
    pub(crate) fn sent(&self, message: Message) -> &Posted {
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
    pub(crate) fn needs(&self, index: u32, message: Message) -> Option<SmallVec<[u32; 4]>> {
        let (earlier, receive) = (&self.receives[..index as usize], &self.receives[index as usize]);
        let posted = self.sent(message);
        if !receive.wants.take(message.from, posted.tag) {
            return None;
        }
        let mut needs: SmallVec<[u32; 4]> = smallvec![posted.step];
        for other in earlier.iter().filter(|other| other.wants.take(message.from, posted.tag)) {
            needs.push(other.met.filter(|_| other.met != posted.met)?);
        }
        let before = &self.sends[message.from as usize][..message.number as usize];
        for other in before.iter().filter(|other| receive.wants.take(message.from, other.tag)) {
            needs.push(other.met.filter(|_| earlier.iter().any(|receive| receive.met == other.met))?);
        }
        needs.sort_unstable();
        needs.dedup();
        Some(needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Wants = Wants { source: None, tag: None };

    fn receive(step: u32, wants: Wants, met: Option<u32>) -> Asked {
        Asked { step, wants, met }
    }

    fn ways(port: &Port, index: u32) -> Vec<(u32, u32)> {
        let ways = port.messages().filter(|&message| port.needs(index, message).is_some());
        ways.map(|message| (message.from, message.number)).collect()
    }

    #[test]
    fn a_receive_takes_the_first_of_each_source() {
        let sent = |step, tag| Posted { step, tag, met: None };
        let sends = vec![vec![sent(0, 7), sent(1, 8)], vec![sent(2, 8)]];
        let mut port = Port { receives: vec![receive(3, ANY, None)], sends };
        assert_eq!(ways(&port, 0), [(0, 0), (1, 0)]);
        port.receives[0].wants.tag = Some(8);
        assert_eq!(ways(&port, 0), [(0, 1), (1, 0)]);
        port.receives[0].wants.source = Some(0);
        assert_eq!(ways(&port, 0), [(0, 1)]);
    }

    #[test]
    fn a_message_goes_to_the_first_receive_that_takes_it() {
        let first = Wants { source: Some(0), tag: None };
        let sends = vec![vec![Posted { step: 0, tag: 0, met: None }], vec![Posted { step: 1, tag: 0, met: None }]];
        let mut port = Port { receives: vec![receive(2, first, None), receive(3, ANY, None)], sends };
        assert_eq!(ways(&port, 1), [(1, 0)], "the message of source 0 is for the first receive");
        port.receives[0].wants = ANY;
        assert_eq!(ways(&port, 1), []);
        (port.receives[0].met, port.sends[1][0].met) = (Some(4), Some(4));
        assert_eq!(ways(&port, 1), [(0, 0)]);
        assert_eq!(port.needs(1, Message { from: 0, number: 0 }).unwrap().as_slice(), [0, 4]);
    }
}
