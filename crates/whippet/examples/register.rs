//! The program of `docs/protocols.md`: a register that is replicated on three servers.
//!
//! Run it: `cargo run -p whippet --example register`

#![allow(clippy::print_stdout)]

use whippet::prelude::*;
use whippet::report::headline;
use whippet::{Answer, History, Register, RegisterOp};

/// A value, after the number of its write: of two values, the one with the larger number is newer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Stamped(u32, u32);

/// A message to a replica: store this value, if there is one, and tell what you have.
#[derive(Clone, Debug, Hash)]
struct Request {
    id: u32,
    store: Option<Stamped>,
    client: Addr<Client>,
}

/// A message to a client.
#[derive(Clone, Debug, Hash)]
enum Response {
    Start,
    Current { id: u32, current: Stamped },
}

/// A server that keeps the newest value it has seen.
#[derive(Clone, Debug, Default, Hash)]
struct Replica {
    current: Stamped,
}

impl Actor for Replica {
    type Msg = Request;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, request: Request, cx: &mut Cx<Self>) {
        self.current = self.current.max(request.store.unwrap_or_default());
        cx.send(request.client, Response::Current { id: request.id, current: self.current });
    }
}

/// The version of the protocol.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Version {
    /// A reader returns the newest value of a majority.
    ReadMajority,
    /// It also writes this value back.
    WriteBack,
    /// And it returns what it has written back.
    Repaired,
}

/// A client performs one operation after the other.
#[derive(Clone, Debug, Hash)]
struct Client {
    version: Version,
    replicas: Vec<Addr<Replica>>,
    history: History<Register<u32>>,
    /// The operations that are left, the next one last.
    operations: Vec<RegisterOp<u32>>,
    /// The number of the current request, the answers to it so far, and the newest value among them.
    request: u32,
    answers: usize,
    newest: Stamped,
    /// The value that the current request writes back, if it does so.
    written_back: Option<Stamped>,
}

impl Client {
    /// Begins the next operation.
    fn begin(&mut self, cx: &mut Cx<Self>) {
        let Some(operation) = self.operations.last().cloned() else { return };
        cx.invoked(self.history, operation.clone());
        match operation {
            RegisterOp::Write(value) => self.ask(cx, Some(Stamped(1, value))),
            _ => self.ask(cx, None),
        }
    }

    /// Sends a request to all replicas.
    fn ask(&mut self, cx: &mut Cx<Self>, store: Option<Stamped>) {
        (self.request, self.answers, self.newest) = (self.request + 1, 0, Stamped::default());
        for &replica in &self.replicas {
            cx.send(replica, Request { id: self.request, store, client: cx.this() });
        }
    }

    /// Handles the answers of a majority.
    fn answered(&mut self, cx: &mut Cx<Self>) {
        let reads = self.operations.last() == Some(&RegisterOp::Read);
        if reads && self.version != Version::ReadMajority && self.written_back.is_none() {
            self.written_back = Some(self.newest);
            return self.ask(cx, self.written_back);
        }
        let written_back = self.written_back.take();
        let read = written_back.filter(|_| self.version == Version::Repaired).unwrap_or(self.newest);
        self.operations.pop();
        cx.returned(self.history, if reads { Answer::Value(read.1) } else { Answer::Done });
        self.begin(cx);
    }
}

impl Actor for Client {
    type Msg = Response;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, response: Response, cx: &mut Cx<Self>) {
        match response {
            Response::Start => self.begin(cx),
            // A late answer to an earlier request.
            Response::Current { id, .. } if id != self.request => {}
            Response::Current { current, .. } => {
                self.answers += 1;
                self.newest = self.newest.max(current);
                if self.answers == self.replicas.len() / 2 + 1 {
                    self.answered(cx);
                }
            }
        }
    }
}

/// Sets up three replicas, a client that writes, and one that reads twice.
fn register(sys: &mut System, version: Version) {
    let replicas: Vec<Addr<Replica>> = (0..3).map(|_| sys.spawn(Replica::default())).collect();
    let history = sys.linearizable(Register::new(0));
    let scripts = [("writer", vec![RegisterOp::Write(7)]), ("reader", vec![RegisterOp::Read, RegisterOp::Read])];
    for (name, operations) in scripts {
        let replicas = replicas.clone();
        let newest = Stamped::default();
        let (request, answers, written_back) = (0, 0, None);
        let client = Client { version, replicas, history, operations, request, answers, newest, written_back };
        let client = sys.spawn_named(name, client);
        sys.send(client, Response::Start);
    }
}

/// Returns what the guide shows: a part for each version.
pub(crate) fn report() -> String {
    let mut text = String::new();
    for version in [Version::ReadMajority, Version::WriteBack, Version::Repaired] {
        let checker = Checker::new("register").reduction(Reduction::Stateful);
        let verdict = checker.explore(move |sys| register(sys, version)).expect("it can be explored");
        text += &format!("== {version:?}: {} states\n", verdict.counters.states.unwrap_or(0));
        for finding in &verdict.findings {
            text += &format!("{}\n", headline(finding));
            for (k, step) in finding.counterexample.iter().enumerate() {
                text += &format!("  {:>2}. {} {}\n", k + 1, step.actor, step.action);
            }
        }
    }
    text
}

#[allow(dead_code, reason = "a test includes this file as a module")]
fn main() {
    print!("{}", report());
}
