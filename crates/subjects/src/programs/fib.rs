//! Fibonacci numbers computed by actors, in the three variants of the papers.
//!
//! `actorfoundry` (chapter 4 and the TransDPOR paper): a tree of actors. A node asked for `n` creates one child for
//! `n` − 1 and one for `n` − 2, and sends the sum of their results to its parent.
//!
//! `one-server` (Table 3.1): one server processes all requests, including those it sends to itself, and creates a
//! collector for every pair of results.
//!
//! `scala` (Table 3.1): a node creates a single child, which receives both subproblems; there is no boot message.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "fib",
    about: "Fibonacci numbers by a tree of actors",
    parameters: &[
        Parameter::new("n", "5", Values::Number(1, 12), "index of the Fibonacci number"),
        Parameter::new(
            "variant",
            "actorfoundry",
            Values::OneOf(&["actorfoundry", "one-server", "scala"]),
            "a tree of actors, one server for all requests, or the Scala program",
        ),
    ],
    reconstructed: None,
    body: |settings| {
        let n = settings.number("n") as u32;
        match settings.text("variant") {
            "scala" => body(move |sys| scala(sys, n)),
            "one-server" => body(move |sys| one_server(sys, n)),
            _ => body(move |sys| tree(sys, n)),
        }
    },
};

/// Returns the result for small `n`, which needs no recursion.
fn small(n: u32) -> Option<u64> {
    (n < 3).then_some(u64::from(n > 0))
}

/// A node of the tree. The root has no client.
#[derive(Clone, Debug, Hash)]
struct Fib {
    client: Option<Addr<Fib>>,
    first: Option<u64>,
}

#[derive(Clone, Debug, Hash)]
enum FibMsg {
    Boot(u32),
    Compute(u32),
    Result(u64),
}

impl Fib {
    fn ask(&self, n: u32, cx: &mut Cx<Self>) {
        let child = cx.spawn(Fib { client: Some(cx.this()), first: None });
        cx.send(child, FibMsg::Compute(n));
    }
}

impl Actor for Fib {
    type Msg = FibMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: FibMsg, cx: &mut Cx<Self>) {
        match msg {
            FibMsg::Boot(n) => self.ask(n, cx),
            FibMsg::Compute(n) => match (small(n), self.client) {
                (Some(value), Some(client)) => cx.send(client, FibMsg::Result(value)),
                _ => {
                    self.ask(n - 1, cx);
                    self.ask(n - 2, cx);
                }
            },
            FibMsg::Result(value) => match (self.first, self.client) {
                (Some(first), Some(client)) => cx.send(client, FibMsg::Result(first + value)),
                _ => self.first = Some(value),
            },
        }
    }
}

fn tree(sys: &mut System, n: u32) {
    let first = sys.spawn(Fib { client: None, first: None });
    sys.send(first, FibMsg::Boot(n));
}

/// The receiver of a result: a collector, or at the end the server itself.
type Client = Recipient<Answer>;

#[derive(Clone, Debug, Hash)]
struct Answer(u64);

#[derive(Clone, Debug, Hash)]
struct FibServer;

#[derive(Clone, Debug, Hash)]
enum ServerMsg {
    Boot(u32),
    Compute(u32, Option<Client>),
    Finished(u64),
}

impl Actor for FibServer {
    type Msg = ServerMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ServerMsg, cx: &mut Cx<Self>) {
        let this = cx.this();
        match msg {
            ServerMsg::Boot(n) => cx.send(this, ServerMsg::Compute(n, None)),
            ServerMsg::Compute(n, client) => match (small(n), client) {
                (Some(value), Some(client)) => cx.send(client, Answer(value)),
                (Some(value), None) => cx.send(this, ServerMsg::Finished(value)),
                (None, client) => {
                    let collector = cx.spawn(Collector { server: this, client, first: None }).into();
                    cx.send(this, ServerMsg::Compute(n - 1, Some(collector)));
                    cx.send(this, ServerMsg::Compute(n - 2, Some(collector)));
                }
            },
            ServerMsg::Finished(_) => {}
        }
    }
}

/// An actor that waits for two results and sends their sum on.
#[derive(Clone, Debug, Hash)]
struct Collector {
    server: Addr<FibServer>,
    client: Option<Client>,
    first: Option<u64>,
}

impl Actor for Collector {
    type Msg = Answer;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Answer(value): Answer, cx: &mut Cx<Self>) {
        match (self.first, self.client) {
            (None, _) => self.first = Some(value),
            (Some(first), Some(client)) => cx.send(client, Answer(first + value)),
            (Some(first), None) => cx.send(self.server, ServerMsg::Finished(first + value)),
        }
    }
}

fn one_server(sys: &mut System, n: u32) {
    let server = sys.spawn(FibServer);
    sys.send(server, ServerMsg::Boot(n));
}

#[derive(Clone, Debug)]
enum NodeMsg {
    Compute(u32, Recipient<NodeMsg>),
    /// A result, and the node that computed it.
    Result(u64, Recipient<NodeMsg>),
}

/// A problem that was split: the child that received both subproblems, the receiver of the sum, and the first result.
struct Split {
    child: Recipient<NodeMsg>,
    client: Recipient<NodeMsg>,
    first: Option<u64>,
}

async fn node(inbox: &mut Inbox<NodeMsg>) {
    let this = inbox.this();
    let mut splits: Vec<Split> = Vec::new();
    loop {
        match inbox.receive().await {
            NodeMsg::Compute(n, client) => match small(n) {
                Some(value) => inbox.send(client, NodeMsg::Result(value, this)),
                None => {
                    let child = inbox.spawn_fn_named("fib", node);
                    inbox.send(child, NodeMsg::Compute(n - 1, this));
                    inbox.send(child, NodeMsg::Compute(n - 2, this));
                    splits.push(Split { child, client, first: None });
                }
            },
            NodeMsg::Result(value, from) => {
                let split = splits.iter_mut().find(|s| s.child == from).expect("answers come from children");
                match split.first {
                    None => split.first = Some(value),
                    Some(first) => inbox.send(split.client, NodeMsg::Result(first + value, this)),
                }
            }
        }
    }
}

fn scala(sys: &mut System, n: u32) {
    let driver = sys.spawn_fn_named("driver", async |inbox: &mut Inbox<NodeMsg>| {
        receive!(inbox, NodeMsg::Result(..) => ());
    });
    let root = sys.spawn_fn_named("fib", node);
    sys.send(root, NodeMsg::Compute(n, driver));
}
