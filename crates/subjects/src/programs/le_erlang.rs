//! A leader election that is supposed to be fault-tolerant but is not (the TransDPOR paper's `le-erlang3-failure` and
//! `le-erlang4`, after an election used in telephone switches in which Arts, Claessen and Svensson found faults).
//!
//! A node campaigns among the nodes with smaller numbers: it asks each of them for its vote (`Capture`). A node that
//! is itself campaigning gives up and votes; a node that has voted, or is the leader, does not answer. A node with
//! the votes of more than half of the nodes, including its own, becomes the leader and tells the others.
//!
//! Two faults are built in, as in the paper's two scenarios:
//! * with a crash (`crash=true`), a node forgets its vote when it restarts and may vote again: two leaders;
//! * without a crash, four nodes can capture each other in a chain, so that no node gets more than two votes: no
//!   leader.
//!
//! The paper's own program is not public; this one is built from the description of the faults.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "le-erlang",
    about: "an election that can end with two leaders after a crash, or with none",
    parameters: &[
        Parameter::new("n", "3", Values::Number(2, 6), "number of nodes"),
        Parameter::new("crash", "true", Values::Flag, "node 0 crashes and restarts at some time"),
    ],
    reconstructed: Some("from the description of its faults"),
    body: |settings| {
        let (n, crash) = (settings.number("n"), settings.flag("crash"));
        body(move |sys| elect(sys, n, crash))
    },
};

#[derive(Clone, Debug, Hash)]
struct Node {
    id: usize,
    nodes: Vec<Addr<Node>>,
    role: Role,
    /// The leaders that this node has been told of.
    heard: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// Campaigning, with the number of votes so far.
    Candidate(usize),
    /// Has voted for this other node.
    Voter(usize),
    Leader,
}

#[derive(Clone, Debug, Hash)]
enum NodeMsg {
    /// The addresses of all nodes, in the order of their numbers.
    Nodes(Vec<Addr<Node>>),
    Start,
    /// A request for a vote.
    Capture(usize),
    /// A vote.
    Accept,
    /// The announcement of a leader.
    Elected(usize),
    /// A crash and restart, in which the node loses its memory.
    Crash,
}

impl Node {
    fn count(&mut self, votes: usize, cx: &mut Cx<Self>) {
        self.role = Role::Candidate(votes);
        if votes * 2 > self.nodes.len() {
            self.role = Role::Leader;
            let others = self.nodes.iter().filter(|&&node| node != cx.this());
            for &node in others.collect::<Vec<_>>() {
                cx.send(node, NodeMsg::Elected(self.id));
            }
        }
    }
}

impl Actor for Node {
    type Msg = NodeMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: NodeMsg, cx: &mut Cx<Self>) {
        match (msg, &self.role) {
            (NodeMsg::Nodes(nodes), _) => self.nodes = nodes,
            (NodeMsg::Start, _) => {
                for &weaker in &self.nodes[..self.id] {
                    cx.send(weaker, NodeMsg::Capture(self.id));
                }
            }
            (NodeMsg::Capture(by), Role::Candidate(_)) => {
                self.role = Role::Voter(by);
                cx.send(self.nodes[by], NodeMsg::Accept);
            }
            (NodeMsg::Accept, &Role::Candidate(votes)) => self.count(votes + 1, cx),
            (NodeMsg::Elected(leader), _) => self.heard.push(leader),
            (NodeMsg::Crash, _) => self.role = Role::Candidate(1),
            (NodeMsg::Capture(_) | NodeMsg::Accept, _) => {}
        }
    }
}

fn elect(sys: &mut System, n: usize, crash: bool) {
    let new = |id| Node { id, nodes: Vec::new(), role: Role::Candidate(1), heard: Vec::new() };
    let nodes: Vec<_> = (0..n).map(|id| sys.spawn(new(id))).collect();
    for &node in &nodes {
        sys.send(node, NodeMsg::Nodes(nodes.clone()));
    }
    sys.finish_setup();
    for &node in &nodes {
        sys.send(node, NodeMsg::Start);
    }
    if crash {
        sys.send(nodes[0], NodeMsg::Crash);
    }
    sys.at_end(nodes, |nodes| {
        let leaders: Vec<_> = nodes.iter().filter(|node| node.role == Role::Leader).map(|node| node.id).collect();
        assert!(leaders.len() < 2, "two leaders: {leaders:?}");
        assert!(!leaders.is_empty(), "no leader");
    });
}
