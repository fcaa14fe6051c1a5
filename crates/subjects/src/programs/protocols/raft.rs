//! Leader election of Raft: a node whose timer fires asks for votes in a new term, and leads with those of a majority.
//!
//! Nodes note the terms in which they have led, so that the check at the end sees all leaders. In the faulty version a node
//! forgets for whom it voted.

use super::abd::others;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "raft-election",
    about: "Raft elects at most one leader in a term",
    parameters: &[
        Parameter::new("n", "3", Values::Number(3, 5), "number of nodes"),
        Parameter::new("timers", "2", Values::Number(1, 5), "number of nodes whose timer fires"),
        versions(&["correct", "forgets-vote"], "nodes vote once in a term, or as often as they are asked"),
    ],
    reconstructed: None,
    body: |settings| {
        let (n, timers, correct) = (settings.number("n"), settings.number("timers"), is_correct(settings));
        body(move |sys| {
            let nodes = sys.spawn_peers(n, |k, peers| Node::new(k, others(peers, k), correct));
            nodes.iter().take(timers).for_each(|&node| sys.send(node, Msg::Start));
            sys.finish_setup();
            sys.at_end(nodes, |nodes| {
                let mut led: Vec<u32> = nodes.iter().flat_map(|node| node.led.iter().copied()).collect();
                led.sort_unstable();
                assert!(led.windows(2).all(|pair| pair[0] != pair[1]), "two leaders in one term");
            });
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Msg {
    Start,
    Elect,
    RequestVote(u32, u8, Addr<Node>),
    Granted(u32, u8),
    Leads(u32),
}

#[derive(Clone, Debug, Hash)]
struct Node {
    id: u8,
    peers: Vec<Addr<Node>>,
    correct: bool,
    term: u32,
    voted: Option<u8>,
    candidate: bool,
    votes: BTreeSet<u8>,
    led: BTreeSet<u32>,
}

impl Node {
    fn new(k: usize, peers: Vec<Addr<Node>>, correct: bool) -> Node {
        let (votes, led) = Default::default();
        Node { id: k as u8, peers, correct, term: 0, voted: None, candidate: false, votes, led }
    }

    fn reach(&mut self, term: u32) {
        if term > self.term {
            (self.term, self.voted, self.candidate) = (term, None, false);
            self.votes.clear();
        }
    }
}

impl Actor for Node {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Start => cx.set_timer(Duration::from_millis(150), Msg::Elect),
            Msg::Elect => {
                self.reach(self.term + 1);
                (self.voted, self.candidate) = (Some(self.id), true);
                self.votes.insert(self.id);
                self.peers.iter().for_each(|&peer| cx.send(peer, Msg::RequestVote(self.term, self.id, cx.this())));
            }
            Msg::RequestVote(term, candidate, from) => {
                self.reach(term);
                if term == self.term && self.voted.is_none_or(|voted| voted == candidate || !self.correct) {
                    self.voted = Some(candidate);
                    cx.send(from, Msg::Granted(term, self.id));
                }
            }
            Msg::Granted(term, from) if term == self.term && self.candidate => {
                self.votes.insert(from);
                if self.votes.len() > self.peers.len().div_ceil(2) {
                    self.candidate = false;
                    self.led.insert(term);
                    self.peers.iter().for_each(|&peer| cx.send(peer, Msg::Leads(term)));
                }
            }
            Msg::Leads(term) => self.reach(term),
            Msg::Granted(..) => {}
        }
    }
}
