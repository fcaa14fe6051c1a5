//! A register that is replicated with majorities (Attiya, Bar-Noy, Dolev), as in Stateright's example `linearizable-register`.
//!
//! The server that gets a request asks the others for their newest value, and then records the value that it writes or reads at a
//! majority. In the faulty version, servers answer alone, and only tell the others.

use super::clients::{Client, ClientMsg, RegisterServer, clients};
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "abd",
    about: "a register replicated with majorities is linearizable",
    parameters: &[
        Parameter::new("servers", "2", Values::Number(2, 5), "number of servers"),
        Parameter::new("clients", "2", Values::Number(1, 4), "number of clients; each writes and then reads"),
        versions(&["correct", "no-majority"], "servers wait for a majority, or answer alone"),
    ],
    reconstructed: None,
    body: |settings| {
        let (servers, count) = (settings.number("servers"), settings.number("clients"));
        let waits = is_correct(settings);
        body(move |sys| {
            let servers = sys.spawn_peers(servers, |k, peers| {
                let peers = others(peers, k);
                Server { id: k as u8, peers, waits, seq: (0, k as u8), value: '\0', phase: None }
            });
            clients(sys, &servers, count);
        })
    },
};

/// Returns all peers but one.
pub(super) fn others<A: Actor>(peers: &[Addr<A>], k: usize) -> Vec<Addr<A>> {
    peers.iter().enumerate().filter(|&(other, _)| other != k).map(|(_, &peer)| peer).collect()
}

/// The number of a write, and the server that performed it.
type Seq = (u64, u8);

#[derive(Clone, Debug, Hash)]
enum Phase {
    Asks { id: u64, client: Client, write: Option<char>, answers: BTreeMap<u8, (Seq, char)> },
    Records { id: u64, client: Client, read: Option<char>, acks: BTreeSet<u8> },
}

#[derive(Clone, Debug, Hash)]
enum Msg {
    Put(u64, char, Client),
    Get(u64, Client),
    Query(u64, Addr<Server>),
    AckQuery(u64, Seq, char, u8),
    Record(u64, Seq, char, Addr<Server>),
    AckRecord(u64, u8),
}

#[derive(Clone, Debug, Hash)]
struct Server {
    id: u8,
    peers: Vec<Addr<Server>>,
    waits: bool,
    seq: Seq,
    value: char,
    phase: Option<Phase>,
}

impl RegisterServer for Server {
    fn put(id: u64, value: char, client: Client) -> Msg {
        Msg::Put(id, value, client)
    }

    fn get(id: u64, client: Client) -> Msg {
        Msg::Get(id, client)
    }
}

impl Server {
    fn is_majority(&self, count: usize) -> bool {
        count == self.peers.len().div_ceil(2) + 1
    }

    fn ask(&mut self, id: u64, client: Client, write: Option<char>, cx: &mut Cx<Self>) {
        let answers = BTreeMap::from([(self.id, (self.seq, self.value))]);
        self.phase = Some(Phase::Asks { id, client, write, answers });
        if !self.waits {
            return self.record(cx);
        }
        self.peers.iter().for_each(|&peer| cx.send(peer, Msg::Query(id, cx.this())));
    }

    /// Records the newest value of a majority, or the one that is written.
    fn record(&mut self, cx: &mut Cx<Self>) {
        let Some(Phase::Asks { id, client, write, answers }) = self.phase.take() else { return };
        let &(newest, value) = answers.values().max().expect("a majority has answered");
        let (seq, value, read) = match write {
            Some(value) => ((newest.0 + 1, self.id), value, None),
            None => (newest, value, Some(value)),
        };
        self.peers.iter().for_each(|&peer| cx.send(peer, Msg::Record(id, seq, value, cx.this())));
        self.take_over(seq, value);
        if !self.waits {
            return cx.send(client, read.map_or(ClientMsg::PutOk(id), |value| ClientMsg::GetOk(id, value)));
        }
        self.phase = Some(Phase::Records { id, client, read, acks: BTreeSet::from([self.id]) });
    }

    fn take_over(&mut self, seq: Seq, value: char) {
        if seq > self.seq {
            (self.seq, self.value) = (seq, value);
        }
    }
}

impl Actor for Server {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match (msg, &mut self.phase) {
            (Msg::Put(id, value, client), None) => self.ask(id, client, Some(value), cx),
            (Msg::Get(id, client), None) => self.ask(id, client, None, cx),
            (Msg::Query(id, from), _) => cx.send(from, Msg::AckQuery(id, self.seq, self.value, self.id)),
            (Msg::AckQuery(of, seq, value, from), Some(Phase::Asks { id, answers, .. })) if *id == of => {
                answers.insert(from, (seq, value));
                let count = answers.len();
                if self.is_majority(count) {
                    self.record(cx);
                }
            }
            (Msg::Record(id, seq, value, from), _) => {
                cx.send(from, Msg::AckRecord(id, self.id));
                self.take_over(seq, value);
            }
            (Msg::AckRecord(of, from), Some(Phase::Records { id, client, read, acks })) if *id == of => {
                acks.insert(from);
                let (count, client, answer) = (acks.len(), *client, read.map(|value| ClientMsg::GetOk(of, value)));
                if self.is_majority(count) {
                    cx.send(client, answer.unwrap_or(ClientMsg::PutOk(of)));
                    self.phase = None;
                }
            }
            _ => {}
        }
    }
}
