//! Ports: where the messages for one rank arrive, and which of its receives takes which.
//!
//! A mailbox pairs by rank. A port is for receives that choose, by source and by tag, as those of MPI do. Two rules say
//! what may meet: a message goes to the first receive that takes it and has none, and a receive takes the messages of one source in
//! the order of sending. What they leave open is which source is first. So a meeting is a step of its own, with a way for
//! each message that the receive could take, as a wait for any of several communications has a way for each; and neither
//! sends nor receives depend on each other. The step belongs to a little process that begins with the receive.

use smallvec::{SmallVec, smallvec};

/// A message that was sent to a port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) step: u32,
    pub(crate) tag: u32,
    /// The step in which a receive met it.
    pub(crate) met: Option<u32>,
}

/// A receive at a port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) step: u32,
    pub(crate) wants: Wants,
    /// The step in which it met a message.
    pub(crate) met: Option<u32>,
}

/// Which messages a receive takes: those from a source, or any; those with a tag, or any.
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

/// A message, by its source and which of that source's messages to this port it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) from: u32,
    pub(crate) number: u32,
}

impl Message {
    /// A number for the way in which it is taken.
    pub(crate) fn way(self) -> u64 {
        u64::from(self.from) << 32 | u64::from(self.number)
    }

    pub(crate) fn of_way(way: u64) -> Message {
        Message { from: (way >> 32) as u32, number: way as u32 }
    }
}

/// One rank's port. All receives are of one process, and so are the sends of each source.
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

    /// The steps without which receive `index` could not take this message, if they have been taken: it was sent; each
    /// earlier receive that would take it has another one; what the same source sent before and this receive would take
    /// is with earlier receives.
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
