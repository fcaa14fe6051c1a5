//! Dining philosophers that deadlock.
//!
//! Forks are actors that refuse to be picked up while they are held. `diningphil` (the TransDPOR paper, ActorFoundry;
//! its source is not public, but this program has the published counts): each philosopher picks up the left fork,
//! then the right fork, and puts both back, each by a call. If all philosophers hold their left fork, all are
//! blocked.
//!
//! `scala` (Table 3.1; also reconstructed, with the published counts): a philosopher asks for both forks at once,
//! waits until it has both, and puts them back without waiting for a reply.

use super::prelude::*;

pub(crate) const DININGPHIL: Subject = Subject {
    name: "diningphil",
    about: "philosophers who pick up forks one after the other and can deadlock",
    parameters: &[Parameter { default: "5", ..SIZE }],
    reconstructed: Some("from the description; its counts are the published ones"),
    body: |settings| {
        let n = settings.number("n");
        body(move |sys| foundry(sys, n))
    },
};

pub(crate) const PHILOSOPHERS: Subject = Subject {
    name: "philosophers",
    about: "dining philosophers, one fork after the other or (Scala) both at once",
    parameters: &[SIZE, VARIANT],
    reconstructed: Some("from the description; its counts are the published ones"),
    body: |settings| {
        let n = settings.number("n");
        if settings.is_scala() { body(move |sys| scala(sys, n)) } else { body(move |sys| foundry(sys, n)) }
    },
};

const SIZE: Parameter = Parameter::new("n", "2", Values::Number(2, 8), "number of philosophers");

#[derive(Clone, Debug, Default, Hash)]
struct Fork {
    held: bool,
}

#[derive(Clone, Debug, Hash)]
enum ForkMsg {
    PickUp(Reply<()>),
    Release(Reply<()>),
}

impl Actor for Fork {
    type Msg = ForkMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ForkMsg, cx: &mut Cx<Self>) {
        let (ForkMsg::PickUp(reply) | ForkMsg::Release(reply)) = msg;
        self.held = !self.held;
        cx.reply(reply, ());
    }

    fn accepts(&self, msg: &ForkMsg) -> bool {
        !(self.held && matches!(msg, ForkMsg::PickUp(_)))
    }
}

#[derive(Clone, Debug, Hash)]
struct Philosopher {
    left: Addr<Fork>,
    right: Addr<Fork>,
}

#[derive(Clone, Debug, Hash)]
struct Start;

impl Actor for Philosopher {
    type Msg = Start;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Start, cx: &mut Cx<Self>) {
        cx.call(self.left, ForkMsg::PickUp).await;
        cx.call(self.right, ForkMsg::PickUp).await;
        cx.call(self.right, ForkMsg::Release).await;
        cx.call(self.left, ForkMsg::Release).await;
    }
}

fn foundry(sys: &mut System, n: usize) {
    let forks: Vec<_> = (0..n).map(|_| sys.spawn(Fork::default())).collect();
    let philosopher = |i: usize| Philosopher { left: forks[i], right: forks[(i + 1) % n] };
    let philosophers: Vec<_> = (0..n).map(|i| sys.spawn(philosopher(i))).collect();
    for philosopher in philosophers {
        sys.send(philosopher, Start);
    }
}

#[derive(Clone, Debug)]
enum TableMsg {
    Take(Recipient<DinerMsg>),
    Put,
}

#[derive(Clone, Debug)]
enum DinerMsg {
    Start,
    Taken,
}

async fn fork(inbox: &mut Inbox<TableMsg>) {
    loop {
        let philosopher = receive!(inbox, TableMsg::Take(philosopher) => philosopher);
        inbox.send(philosopher, DinerMsg::Taken);
        receive!(inbox, TableMsg::Put => ());
    }
}

fn scala(sys: &mut System, n: usize) {
    let forks: Vec<_> = (0..n).map(|_| sys.spawn_fn_named("fork", fork)).collect();
    let philosopher = |i: usize| {
        let both = [forks[i], forks[(i + 1) % n]];
        async move |inbox: &mut Inbox<DinerMsg>| {
            receive!(inbox, DinerMsg::Start => ());
            let this = inbox.this();
            for fork in both {
                inbox.send(fork, TableMsg::Take(this));
            }
            for _ in both {
                receive!(inbox, DinerMsg::Taken => ());
            }
            for fork in both {
                inbox.send(fork, TableMsg::Put);
            }
        }
    };
    let philosophers: Vec<_> = (0..n).map(|i| sys.spawn_fn_named("philosopher", philosopher(i))).collect();
    for philosopher in philosophers {
        sys.send(philosopher, DinerMsg::Start);
    }
}
