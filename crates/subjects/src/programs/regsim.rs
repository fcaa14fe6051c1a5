//! Servers that register (the TransDPOR paper's `regsim` and `regsim-2-level`).
//!
//! One level: a master creates `n` servers, sends a `Result` to the first one and tells all others to send theirs to
//! it, so the first server receives `n` results in any order.
//!
//! Two levels: a master creates `groups` sub-masters. Each creates `n` workers and reports to the master when it has
//! received a result from each worker. The source of the original is not public; this program has the published
//! number of executions, (3!)⁴ for 3 groups of 3, but not the published transitions.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "regsim",
    about: "servers that all register with the first of them",
    parameters: &[Parameter::new("n", "6", Values::Number(1, 10), "number of servers")],
    reconstructed: None,
    body: |settings| {
        let n = settings.number("n");
        body(move |sys| {
            let master = sys.spawn(Master);
            sys.send(master, Boot(n));
        })
    },
};

#[derive(Clone, Debug, Hash)]
struct Master;

#[derive(Clone, Debug, Hash)]
struct Boot(usize);

impl Actor for Master {
    type Msg = Boot;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Boot(n): Boot, cx: &mut Cx<Self>) {
        let servers: Vec<_> = (0..n).map(|id| cx.spawn(Server { id, known: Vec::new() })).collect();
        let first = servers[0];
        cx.send(first, ServerMsg::Result(0));
        for &server in &servers[1..] {
            cx.send(server, ServerMsg::Boot(first));
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Server {
    id: usize,
    known: Vec<usize>,
}

#[derive(Clone, Debug, Hash)]
enum ServerMsg {
    Boot(Addr<Server>),
    Result(usize),
}

impl Actor for Server {
    type Msg = ServerMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ServerMsg, cx: &mut Cx<Self>) {
        match msg {
            ServerMsg::Boot(first) => cx.send(first, ServerMsg::Result(self.id)),
            ServerMsg::Result(id) => self.known.push(id),
        }
    }
}

pub(crate) const TWO_LEVELS: Subject = Subject {
    name: "regsim-2-level",
    about: "workers that register with sub-masters, which register with a master",
    parameters: &[
        Parameter::new("groups", "3", Values::Number(1, 5), "number of sub-masters"),
        Parameter::new("n", "3", Values::Number(1, 5), "number of workers of each"),
    ],
    reconstructed: Some(
        "from its name and its number of executions; the published transitions belong to another program",
    ),
    body: |settings| {
        let (groups, n) = (settings.number("groups"), settings.number("n"));
        body(move |sys| {
            let top = sys.spawn(Registrar { above: None, id: 0, known: Vec::new(), expected: 0 });
            sys.send(top, RegistrarMsg::Boot(vec![groups, n]));
        })
    },
};

/// A node of the tree: the master, a sub-master or a worker.
#[derive(Clone, Debug, Hash)]
struct Registrar {
    above: Option<Addr<Registrar>>,
    id: usize,
    known: Vec<usize>,
    expected: usize,
}

#[derive(Clone, Debug, Hash)]
enum RegistrarMsg {
    /// The numbers of nodes to create per parent, for each level below.
    Boot(Vec<usize>),
    Result(usize),
}

impl Registrar {
    fn report(&self, cx: &mut Cx<Self>) {
        if let Some(above) = self.above {
            cx.send(above, RegistrarMsg::Result(self.id));
        }
    }
}

impl Actor for Registrar {
    type Msg = RegistrarMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: RegistrarMsg, cx: &mut Cx<Self>) {
        match msg {
            RegistrarMsg::Boot(levels) => match levels.split_first() {
                None => self.report(cx),
                Some((&count, below)) => {
                    self.expected = count;
                    let above = Some(cx.this());
                    let new = |id| Registrar { above, id, known: Vec::new(), expected: 0 };
                    let created: Vec<_> = (0..count).map(|id| cx.spawn(new(id))).collect();
                    for registrar in created {
                        cx.send(registrar, RegistrarMsg::Boot(below.to_vec()));
                    }
                }
            },
            RegistrarMsg::Result(id) => {
                self.known.push(id);
                if self.known.len() == self.expected {
                    self.report(cx);
                }
            }
        }
    }
}
