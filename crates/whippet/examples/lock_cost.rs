//! Measures the cost of a lock: two programs of the same shape, to be compared with an instruction counter.
//!
//! Several clients access one server, a few times each. In `calls`, each access is a call and its reply, two
//! deliveries; in `locks`, it is a lock and an unlock. Both programs have the same traces, one for each order in
//! which the clients reach the server, and are explored by the same search. `bench/locks.sh` counts the instructions.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use whippet::prelude::*;

#[derive(Clone, Debug)]
struct Server {
    value: u64,
}

#[derive(Clone, Debug)]
enum ServerMsg {
    Add(u64, Reply<u64>),
}

impl Actor for Server {
    type Msg = ServerMsg;

    async fn handle(&mut self, ServerMsg::Add(n, reply): ServerMsg, cx: &mut Cx<Self>) {
        self.value += n;
        cx.reply(reply, self.value);
    }
}

#[derive(Clone, Debug)]
struct Caller {
    server: Addr<Server>,
    times: u32,
}

impl Actor for Caller {
    type Msg = ();

    async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
        for _ in 0..self.times {
            cx.call(self.server, |reply| ServerMsg::Add(1, reply)).await;
        }
    }
}

#[derive(Clone, Debug)]
struct Locker {
    lock: Lock,
    times: u32,
}

impl Actor for Locker {
    type Msg = ();

    async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
        for _ in 0..self.times {
            drop(cx.lock(self.lock).await);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (what, clients, times) = (arguments.next(), arguments.next(), arguments.next());
    let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
    let (Some(what), Some(clients), Some(times)) = (what, number(clients), number(times)) else {
        eprintln!("usage: lock_cost calls|locks CLIENTS TIMES");
        std::process::exit(2);
    };
    let locks = what == "locks";
    let verdict = Checker::new(what).explore(move |sys: &mut System| {
        if locks {
            let lock = sys.new_lock();
            for _ in 0..clients {
                let client = sys.spawn(Locker { lock, times });
                sys.send(client, ());
            }
        } else {
            let server = sys.spawn(Server { value: 0 });
            for _ in 0..clients {
                let client = sys.spawn(Caller { server, times });
                sys.send(client, ());
            }
        }
    });
    let verdict = verdict.expect("the program can be explored");
    assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
    let counters = verdict.counters;
    println!("{} executions, {} transitions", counters.executions, counters.transitions);
}
