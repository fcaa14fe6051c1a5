//! The programs, by name. Every one of them has a finding or a warning.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};
use whippet::prelude::*;
use whippet_explorer::{Explorer, Server};
use whippet_model::{Program, Verdict};
use whippet_net::mpi::{Rank, World};
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, explore};

/// A program with the options of its search.
pub(crate) trait Subject {
    fn verdict(&self) -> Result<Verdict, String>;
    fn serve(&self, name: &str) -> Result<Server, String>;
}

struct Searched<P> {
    program: Arc<P>,
    options: Options,
}

impl<P: Program + Send + 'static> Subject for Searched<P> {
    fn verdict(&self) -> Result<Verdict, String> {
        explore(self.program.clone(), &self.options, &()).map_err(|why| why.to_string())
    }

    fn serve(&self, name: &str) -> Result<Server, String> {
        let explorer = Explorer::new(name).options(self.options.clone());
        explorer.serve(self.program.clone()).map_err(|why| why.to_string())
    }
}

fn searched<P: Program + Send + 'static>(program: P) -> Box<dyn Subject> {
    Box::new(Searched { program: Arc::new(program), options: Options::default() })
}

fn first_bug<P: Program + Send + 'static>(program: P) -> Box<dyn Subject> {
    Box::new(Searched { program: Arc::new(program), options: Options::default().with_first_bug(true) })
}

/// Returns all programs.
pub(crate) fn all() -> Vec<(&'static str, Box<dyn Subject>)> {
    vec![
        ("bank", searched(bank())),
        ("transfers", searched(transfers())),
        ("backpressure", searched(backpressure())),
        ("ranks", searched(ranks())),
        ("livelock", livelock()),
        ("crowd", first_bug(crowd())),
        ("counter", searched(counter())),
        ("stopped", searched(stopped())),
        ("at-the-end", searched(at_the_end())),
    ]
}

enum Request {
    Balance(oneshot::Sender<i64>),
    Withdraw(i64),
}

/// Two customers check the balance before they withdraw.
fn bank() -> TaskProgram {
    async fn customer(account: mpsc::Sender<Request>, amount: i64) {
        let (reply, balance) = oneshot::channel();
        account.send(Request::Balance(reply)).await.ok();
        if balance.await.unwrap_or(0) >= amount {
            account.send(Request::Withdraw(amount)).await.ok();
        }
    }
    TaskProgram::new("bank", Settings::default(), || async {
        let (to_account, mut requests) = mpsc::channel(8);
        let account = tokio::spawn(async move {
            let mut balance = 100;
            while let Some(request) = requests.recv().await {
                match request {
                    Request::Balance(reply) => drop(reply.send(balance)),
                    Request::Withdraw(amount) => balance -= amount,
                }
            }
            balance
        });
        tokio::spawn(customer(to_account.clone(), 80));
        tokio::spawn(customer(to_account, 80));
        let balance = account.await.unwrap();
        assert!(balance >= 0, "overdrawn: {balance}");
    })
}

/// Two transfers lock two accounts in opposite orders.
fn transfers() -> TaskProgram {
    async fn transfer(from: Arc<Mutex<i64>>, to: Arc<Mutex<i64>>) {
        let mut from = from.lock().await;
        let mut to = to.lock().await;
        *from -= 1;
        *to += 1;
    }
    TaskProgram::new("transfers", Settings::default(), || async {
        let (a, b) = (Arc::new(Mutex::new(10)), Arc::new(Mutex::new(10)));
        let one = tokio::spawn(transfer(a.clone(), b.clone()));
        let other = tokio::spawn(transfer(b, a));
        one.await.unwrap();
        other.await.unwrap();
    })
}

/// A server that answers through a full channel, and a client that asks without receiving.
fn backpressure() -> TaskProgram {
    TaskProgram::new("backpressure", Settings::default(), || async {
        let (ask, mut asked) = mpsc::channel(1);
        let (answer, mut answers) = mpsc::channel(1);
        let server = tokio::spawn(async move {
            while let Some(n) = asked.recv().await {
                answer.send(n * 2).await.unwrap();
            }
        });
        for n in 0..4 {
            ask.send(n).await.unwrap();
        }
        drop(ask);
        while answers.recv().await.is_some() {}
        server.await.unwrap();
    })
}

/// Two MPI ranks that send to each other without a buffer.
fn ranks() -> whippet_net::Net {
    World::new(2).program("ranks", async |mpi: Rank<usize>| {
        let other = 1 - mpi.rank();
        mpi.ssend(other, 0, mpi.rank()).await;
        mpi.recv(other, 0).await;
    })
}

/// Two actors that send a message back and forth forever.
fn livelock() -> Box<dyn Subject> {
    #[derive(Clone, Debug)]
    struct Player {
        hits: u64,
    }
    #[derive(Clone, Debug)]
    struct Ball(Addr<Player>);
    impl Actor for Player {
        type Msg = Ball;
        async fn handle(&mut self, ball: Ball, cx: &mut Cx<Self>) {
            self.hits = (self.hits + 1) % 2;
            cx.send(ball.0, Ball(cx.this()));
        }
    }
    let program = Checker::new("livelock").program(|sys| {
        let ping = sys.spawn_named("ping", Player { hits: 0 });
        let pong = sys.spawn_named("pong", Player { hits: 0 });
        sys.send(ping, Ball(pong));
    });
    let mut options = Options::default().with_first_bug(true);
    options.limits.steps = 10_000;
    options.limits.time = Some(Duration::from_secs(60));
    Box::new(Searched { program: Arc::new(program), options })
}

/// 200 workers report to one collector, which wants the first of them to come first.
fn crowd() -> impl Program + Send + use<> {
    #[derive(Clone, Debug, Default)]
    struct Collector {
        seen: Vec<u32>,
    }
    impl Actor for Collector {
        type Msg = u32;
        async fn handle(&mut self, worker: u32, _cx: &mut Cx<Self>) {
            self.seen.push(worker);
            assert!(self.seen.len() < 199 || self.seen[0] == 0, "worker {} came first", self.seen[0]);
        }
    }
    #[derive(Clone, Debug)]
    struct Worker {
        number: u32,
        to: Addr<Collector>,
    }
    impl Actor for Worker {
        type Msg = ();
        async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
            cx.send(self.to, self.number);
        }
    }
    Checker::new("crowd").program(|sys| {
        let to = sys.spawn(Collector::default());
        for number in (0..200).rev() {
            let worker = sys.spawn(Worker { number, to });
            sys.send(worker, ());
        }
    })
}

/// Two actors write a variable that nothing protects.
fn counter() -> impl Program + Send + use<> {
    Checker::new("counter").program(|sys| {
        let total = sys.new_shared(0);
        for name in ["left", "right"] {
            let adder = sys.spawn_fn_named(name, async move |inbox: &mut Inbox<u32>| {
                let n = inbox.receive().await;
                let sum = inbox.read(total) + n;
                inbox.write(total, sum);
            });
            sys.send(adder, 1);
        }
    })
}

/// A message for an actor that may have stopped: a warning.
fn stopped() -> impl Program + Send + use<> {
    Checker::new("stopped").program(|sys| {
        let door = sys.spawn_fn_named(
            "door",
            async |inbox: &mut Inbox<&'static str>| {
                while inbox.receive().await != "close" {}
            },
        );
        sys.send(door, "knock");
        sys.send(door, "close");
    })
}

/// A check at the end that fails because a message was refused.
fn at_the_end() -> impl Program + Send + use<> {
    #[derive(Clone, Debug)]
    struct Account {
        open: bool,
        balance: i64,
        history: Vec<(&'static str, i64)>,
    }
    #[derive(Clone, Debug)]
    enum Order {
        Deposit(i64),
        Close,
    }
    impl Actor for Account {
        type Msg = Order;
        fn accepts(&self, order: &Order) -> bool {
            self.open || matches!(order, Order::Close)
        }
        async fn handle(&mut self, order: Order, _cx: &mut Cx<Self>) {
            match order {
                Order::Deposit(n) => {
                    self.balance += n;
                    self.history.push(("deposit", n));
                }
                Order::Close => self.open = false,
            }
        }
    }
    Checker::new("at the end").program(|sys| {
        let account = sys.spawn(Account { open: true, balance: 0, history: Vec::new() });
        sys.send(account, Order::Deposit(5));
        sys.send(account, Order::Deposit(7));
        sys.send(account, Order::Close);
        sys.at_end(account, |account| assert_eq!(account.balance, 12, "a deposit is missing"));
    })
}
