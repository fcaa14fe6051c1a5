//! Chain replication (van Renesse, Schneider): writes enter at the head and pass along a chain of servers to the tail, which
//! acknowledges them; reads are answered by the tail. In the faulty version the head answers to the last client.

use super::clients::{Client, ClientMsg, RegisterServer, clients};
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "chain",
    about: "chain replication is linearizable if the tail answers to reads",
    parameters: &[
        Parameter::new("servers", "3", Values::Number(2, 5), "number of servers"),
        Parameter::new("clients", "3", Values::Number(1, 4), "number of clients; each writes and then reads"),
        versions(&["correct", "reads-anywhere"], "reads are answered by the tail, or by any server"),
    ],
    reconstructed: None,
    body: |settings| {
        let (servers, count) = (settings.number("servers"), settings.number("clients"));
        let correct = is_correct(settings);
        body(move |sys| {
            let servers = sys.spawn_peers(servers, |k, peers| Server {
                head: peers[0],
                next: peers.get(k + 1).copied(),
                tail: peers[peers.len() - 1],
                correct,
                number: 0,
                value: '\0',
            });
            clients(sys, &servers, count);
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Msg {
    Put(u64, char, Client),
    Get(u64, Client),
    /// The number of a write, and the write.
    Write(u32, u64, char, Client),
}

#[derive(Clone, Debug, Hash)]
struct Server {
    head: Addr<Server>,
    next: Option<Addr<Server>>,
    tail: Addr<Server>,
    correct: bool,
    /// The number of writes so far.
    number: u32,
    value: char,
}

impl RegisterServer for Server {
    fn put(id: u64, value: char, client: Client) -> Msg {
        Msg::Put(id, value, client)
    }

    fn get(id: u64, client: Client) -> Msg {
        Msg::Get(id, client)
    }
}

impl Actor for Server {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    /// Writes are taken in the order of their numbers, as over a connection.
    fn accepts(&self, msg: &Msg) -> bool {
        !matches!(msg, Msg::Write(number, ..) if *number != self.number + 1)
    }

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Put(id, value, client) if cx.this() == self.head => {
                self.write(self.number + 1, (id, value, client), cx);
            }
            Msg::Put(id, value, client) => cx.send(self.head, Msg::Put(id, value, client)),
            Msg::Get(id, client) if cx.this() == self.tail || !self.correct => {
                cx.send(client, ClientMsg::GetOk(id, self.value));
            }
            Msg::Get(id, client) => cx.send(self.tail, Msg::Get(id, client)),
            Msg::Write(number, id, value, client) => self.write(number, (id, value, client), cx),
        }
    }
}

impl Server {
    fn write(&mut self, number: u32, (id, value, client): (u64, char, Client), cx: &mut Cx<Self>) {
        (self.number, self.value) = (number, value);
        match self.next {
            Some(next) => cx.send(next, Msg::Write(number, id, value, client)),
            None => cx.send(client, ClientMsg::PutOk(id)),
        }
    }
}
