//! Single-decree Paxos, as in Stateright's example `paxos`: the first value that a majority accepts is the value of the register.
//!
//! The server that gets a write proposes it, unless a majority knows of an accepted value, which it then proposes instead. In
//! the faulty version it always proposes its own.

use super::abd::others;
use super::clients::{Client, ClientMsg, RegisterServer, clients};
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "paxos",
    about: "single-decree Paxos is linearizable",
    parameters: &[
        Parameter::new("servers", "3", Values::Number(3, 5), "number of servers"),
        Parameter::new("clients", "2", Values::Number(1, 4), "number of clients; each writes and then reads"),
        versions(&["correct", "own-value"], "leaders propose an accepted value first, or always their own"),
    ],
    reconstructed: None,
    body: |settings| {
        let (servers, count) = (settings.number("servers"), settings.number("clients"));
        let correct = is_correct(settings);
        body(move |sys| {
            let servers = sys.spawn_peers(servers, |k, peers| Server::new(k, others(peers, k), correct));
            clients(sys, &servers, count);
        })
    },
};

type Ballot = (u32, u8);
/// The number of a request, its client, and the value.
type Proposal = (u64, Client, char);
type Accepted = Option<(Ballot, Proposal)>;

#[derive(Clone, Debug, Hash)]
enum Msg {
    Put(Proposal),
    Get(u64, Client),
    Prepare(Ballot, Addr<Server>),
    Prepared(Ballot, Accepted, u8),
    Accept(Ballot, Proposal, Addr<Server>),
    Accepted(Ballot, u8),
    Decided(Ballot, Proposal),
}

#[derive(Clone, Debug, Hash)]
struct Server {
    id: u8,
    peers: Vec<Addr<Server>>,
    correct: bool,
    ballot: Ballot,
    proposal: Option<Proposal>,
    prepared: BTreeMap<u8, Accepted>,
    accepts: BTreeSet<u8>,
    accepted: Accepted,
    decided: bool,
}

impl RegisterServer for Server {
    fn put(id: u64, value: char, client: Client) -> Msg {
        Msg::Put((id, client, value))
    }

    fn get(id: u64, client: Client) -> Msg {
        Msg::Get(id, client)
    }
}

impl Server {
    fn new(k: usize, peers: Vec<Addr<Server>>, correct: bool) -> Server {
        let (prepared, accepts) = Default::default();
        let (id, ballot, proposal, accepted) = (k as u8, (0, 0), None, None);
        Server { id, peers, correct, ballot, proposal, prepared, accepts, accepted, decided: false }
    }

    fn is_majority(&self, count: usize) -> bool {
        count == self.peers.len().div_ceil(2) + 1
    }

    fn broadcast(&self, msg: &Msg, cx: &mut Cx<Self>) {
        self.peers.iter().for_each(|&peer| cx.send(peer, msg.clone()));
    }

    /// Proposes the value that was accepted last, or else that of the client.
    fn propose(&mut self, cx: &mut Cx<Self>) {
        let newest = self.prepared.values().flatten().max_by_key(|(ballot, _)| *ballot);
        let known = newest.filter(|_| self.correct).map(|&(_, proposal)| proposal);
        let Some(proposal) = known.or(self.proposal) else { return };
        self.proposal = Some(proposal);
        self.accepted = Some((self.ballot, proposal));
        self.accepts.insert(self.id);
        self.broadcast(&Msg::Accept(self.ballot, proposal, cx.this()), cx);
    }
}

impl Actor for Server {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        if self.decided {
            if let (Msg::Get(id, client), Some((_, (_, _, value)))) = (msg, self.accepted) {
                cx.send(client, ClientMsg::GetOk(id, value));
            }
            return;
        }
        match msg {
            Msg::Put(proposal) if self.proposal.is_none() => {
                self.proposal = Some(proposal);
                self.ballot = (self.ballot.0 + 1, self.id);
                self.prepared = BTreeMap::from([(self.id, self.accepted)]);
                self.accepts.clear();
                self.broadcast(&Msg::Prepare(self.ballot, cx.this()), cx);
            }
            Msg::Prepare(ballot, from) if self.ballot < ballot => {
                self.ballot = ballot;
                cx.send(from, Msg::Prepared(ballot, self.accepted, self.id));
            }
            Msg::Prepared(ballot, accepted, from) if ballot == self.ballot => {
                self.prepared.insert(from, accepted);
                if self.is_majority(self.prepared.len()) {
                    self.propose(cx);
                }
            }
            Msg::Accept(ballot, proposal, from) if self.ballot <= ballot => {
                (self.ballot, self.accepted) = (ballot, Some((ballot, proposal)));
                cx.send(from, Msg::Accepted(ballot, self.id));
            }
            Msg::Accepted(ballot, from) if ballot == self.ballot => {
                self.accepts.insert(from);
                if let Some(proposal) = self.proposal.filter(|_| self.is_majority(self.accepts.len())) {
                    self.decided = true;
                    self.broadcast(&Msg::Decided(ballot, proposal), cx);
                    cx.send(proposal.1, ClientMsg::PutOk(proposal.0));
                }
            }
            Msg::Decided(ballot, proposal) => {
                (self.ballot, self.accepted, self.decided) = (ballot, Some((ballot, proposal)), true);
            }
            _ => {}
        }
    }
}
