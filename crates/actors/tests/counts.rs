//! Small programs with known numbers of executions and transitions, explored by a naive search.

use whippet_actors::{Actor, ActorProgram, Addr, Cx, Delivery, Inbox, Recipient, Reply, System, receive};
use whippet_model::{Machine, Problem, Program};

/// The numbers of executions and transitions, and the problems found.
#[derive(Default, Debug)]
struct Seen {
    executions: usize,
    transitions: usize,
    problems: Vec<Problem>,
}

fn explore<M: Machine>(machine: &mut M, seen: &mut Seen) {
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    if choices.is_empty() {
        seen.executions += 1;
        for at in 0..machine.depth() {
            seen.problems.extend(machine.problem(at));
        }
        machine.final_problems(&mut seen.problems).unwrap();
    }
    let depth = machine.depth();
    for mut choice in choices {
        loop {
            let next = machine.execute(choice).unwrap().next_branch;
            seen.transitions += 1;
            explore(machine, seen);
            machine.rewind(depth);
            match next {
                Some(branch) => choice.branch = branch,
                None => break,
            }
        }
    }
}

fn count(test: &ActorProgram) -> Seen {
    let mut machine = test.machine(&Default::default()).unwrap();
    let mut seen = Seen::default();
    explore(&mut machine, &mut seen);
    seen
}

// ---- pi: a master and its workers ---------------------------------------------------------------

#[derive(Clone, Debug)]
enum WorkerMsg {
    Intervals(Addr<Master>),
    Stop,
}

#[derive(Clone, Debug)]
struct Worker;

impl Actor for Worker {
    type Msg = WorkerMsg;

    async fn handle(&mut self, msg: WorkerMsg, cx: &mut Cx<Self>) {
        match msg {
            WorkerMsg::Intervals(master) => cx.send(master, MasterMsg::Sum(1)),
            WorkerMsg::Stop => cx.stop(),
        }
    }
}

#[derive(Clone, Debug)]
enum MasterMsg {
    Boot,
    Sum(u32),
}

#[derive(Clone, Debug)]
struct Master {
    workers: Vec<Addr<Worker>>,
    left: usize,
    sum: u32,
}

impl Actor for Master {
    type Msg = MasterMsg;

    async fn handle(&mut self, msg: MasterMsg, cx: &mut Cx<Self>) {
        match msg {
            MasterMsg::Boot => {
                for &worker in &self.workers {
                    cx.send(worker, WorkerMsg::Intervals(cx.this()));
                }
            }
            MasterMsg::Sum(x) => {
                self.sum += x;
                self.left -= 1;
                if self.left == 0 {
                    for &worker in &self.workers {
                        cx.send(worker, WorkerMsg::Stop);
                    }
                    cx.stop();
                }
            }
        }
    }
}

fn pi(n: usize) -> ActorProgram {
    ActorProgram::new("pi", move |system: &mut System| {
        let workers: Vec<_> = (0..n).map(|_| system.spawn(Worker)).collect();
        let master = system.spawn(Master { left: n, sum: 0, workers });
        system.send(master, MasterMsg::Boot);
    })
}

#[test]
fn pi_has_the_published_numbers() {
    let seen = count(&pi(3));
    assert_eq!((seen.executions, seen.transitions), (540, 1621));
    assert!(seen.problems.is_empty());
}

// ---- server: two reads and a write --------------------------------------------------------------

#[derive(Clone, Debug)]
enum ServerMsg {
    Set(i32),
    Get(Reply<i32>),
    Shutdown,
}

#[derive(Clone, Debug, Default)]
struct Server {
    value: i32,
}

impl Actor for Server {
    type Msg = ServerMsg;

    async fn handle(&mut self, msg: ServerMsg, cx: &mut Cx<Self>) {
        match msg {
            ServerMsg::Set(v) => self.value = v,
            ServerMsg::Get(reply) => cx.reply(reply, self.value),
            ServerMsg::Shutdown => cx.stop(),
        }
    }
}

#[derive(Clone, Debug)]
struct Client {
    server: Addr<Server>,
}

impl Actor for Client {
    type Msg = ();

    async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
        cx.send(self.server, ServerMsg::Set(5));
        let v1 = cx.call(self.server, ServerMsg::Get).await;
        let v2 = cx.call(self.server, ServerMsg::Get).await;
        cx.send(self.server, ServerMsg::Shutdown);
        assert_eq!(v1, v2, "inconsistent read");
    }
}

fn server(delivery: Delivery) -> ActorProgram {
    ActorProgram::new("server", |system: &mut System| {
        let server = system.spawn(Server::default());
        let client = system.spawn(Client { server });
        system.send(client, ());
    })
    .delivery(delivery)
}

fn server_with_bodies() -> ActorProgram {
    ActorProgram::new("server, explicit receive", |system: &mut System| {
        let server = system.spawn_fn(async |inbox: &mut Inbox<ServerMsg>| {
            let mut value = 0;
            loop {
                match inbox.receive().await {
                    ServerMsg::Set(v) => value = v,
                    ServerMsg::Get(reply) => inbox.reply(reply, value),
                    ServerMsg::Shutdown => break,
                }
            }
        });
        let client = system.spawn_fn(async move |inbox: &mut Inbox<()>| {
            receive!(inbox, () => ());
            inbox.send(server, ServerMsg::Set(5));
            let _v1: i32 = inbox.call(server, ServerMsg::Get).await;
            let _v2: i32 = inbox.call(server, ServerMsg::Get).await;
            inbox.send(server, ServerMsg::Shutdown);
        });
        let client: Recipient<()> = client;
        system.send(client, ());
    })
}

#[test]
fn server_shows_its_inconsistent_read() {
    let seen = count(&server(Delivery::Unordered));
    assert_eq!((seen.executions, seen.transitions), (6, 26));
    assert!(seen.problems.iter().any(|p| p.message.contains("inconsistent read")));
    assert!(seen.problems.iter().any(|p| p.message.contains("Set(5) from client is never received")));
    let seen = count(&server(Delivery::Fifo));
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
}

#[test]
fn explicit_receive_counts_alike() {
    let seen = count(&server_with_bodies());
    assert_eq!((seen.executions, seen.transitions), (6, 26));
}
