//! The programs whose parts grow.

use std::sync::Arc;
use whippet::prelude::*;
use whippet::{ActorProgram, Delivery};
use whippet_abs::AbsProgram;
use whippet_net::Net;

/// An actor that returns a ball, and ignores everything else.
#[derive(Clone, Debug, Hash)]
struct Player {
    left: usize,
    partner: Option<Addr<Player>>,
}

#[derive(Clone, Debug, Hash)]
enum Play {
    Partner(Addr<Player>),
    Ball,
    Noise,
}

impl Actor for Player {
    type Msg = Play;

    async fn handle(&mut self, msg: Play, cx: &mut Cx<Self>) {
        match msg {
            Play::Partner(partner) => self.partner = Some(partner),
            Play::Noise => {}
            Play::Ball if self.left == 0 => {}
            Play::Ball => {
                self.left -= 1;
                self.partner.iter().for_each(|&partner| cx.send(partner, Play::Ball));
            }
        }
    }
}

/// Two actors that send each other a ball. One that is `disturbed` receives another message at any time.
pub(crate) fn ball(steps: usize, disturbed: bool) -> ActorProgram {
    ActorProgram::new("ball", move |sys| {
        let first = sys.spawn(Player { left: steps / 2, partner: None });
        let second = sys.spawn(Player { left: steps / 2, partner: Some(first) });
        sys.send(first, Play::Partner(second));
        sys.send(second, Play::Ball);
        if disturbed {
            sys.send(first, Play::Noise);
        }
    })
}

/// Two processes that send to a mailbox, and one that receives.
pub(crate) fn mailbox(steps: usize) -> Net {
    let (sends, receives) = ("S0 W0 ".repeat(steps / 8), "R0 W0 ".repeat(steps / 4));
    Net::parse("mailbox", &format!("a: {sends}\nb: {sends}\nc: {receives}")).expect("the program is correct")
}

/// Two objects that call each other. One receives another call at any time.
pub(crate) fn two_objects(steps: usize) -> AbsProgram {
    let text = format!(
        "interface I {{ Unit partner(I other); Unit ball(Int left); Unit noise(); }}
         class C implements I {{
             I other = null;
             Int count = 0;
             Unit partner(I it) {{ other = it; }}
             Unit ball(Int left) {{ count = count + 1; if (left > 0) {{ other!ball(left - 1); }} }}
             Unit noise() {{ count = count * 2; }}
         }}
         {{
             I a = new C(); I b = new C();
             Fut<Unit> one = a!partner(b); await one?;
             Fut<Unit> two = b!partner(a); await two?;
             a!ball({steps}); a!noise();
         }}"
    );
    AbsProgram::parse("ball.abs", &text).unwrap_or_else(|error| panic!("{error}")).statement_limit(u64::MAX)
}

/// Many objects with two calls each, whose order matters.
pub(crate) fn pairs(count: usize) -> AbsProgram {
    let text = format!(
        "interface I {{ Unit add(); Unit double(); }}
         class C implements I {{ Int n = 0; Unit add() {{ n = n + 1; }} Unit double() {{ n = n * 2; }} }}
         {{ Int i = 0; while (i < {count}) {{ I a = new C(); a!add(); a!double(); i = i + 1; }} }}"
    );
    AbsProgram::parse("pairs.abs", &text).unwrap_or_else(|error| panic!("{error}")).statement_limit(u64::MAX)
}

/// Counts what it receives.
#[derive(Clone, Debug, Hash)]
struct Counter(usize);

impl Actor for Counter {
    type Msg = u32;

    async fn handle(&mut self, _: u32, _: &mut Cx<Self>) {
        self.0 += 1;
    }
}

/// Many messages for one actor.
pub(crate) fn pending(messages: usize, fifo: bool) -> ActorProgram {
    let delivery = if fifo { Delivery::Fifo } else { Delivery::Unordered };
    ActorProgram::new("pending", move |sys| {
        let counter = sys.spawn(Counter(0));
        (0..messages).for_each(|n| sys.send(counter, n as u32));
    })
    .delivery(delivery)
}

/// Many actors, with a message each.
pub(crate) fn actors(count: usize) -> ActorProgram {
    ActorProgram::new("actors", move |sys| {
        for n in 0..count {
            let counter = sys.spawn(Counter(0));
            sys.send(counter, n as u32);
        }
    })
}

/// Sends its message on.
#[derive(Clone, Debug, Hash)]
struct Forwarder(Addr<Counter>);

impl Actor for Forwarder {
    type Msg = u32;

    async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
        cx.send(self.0, n);
    }
}

/// Many actors that send to the same one.
pub(crate) fn race(count: usize) -> ActorProgram {
    ActorProgram::new("race", move |sys| {
        let counter = sys.spawn(Counter(0));
        for n in 0..count {
            let forwarder = sys.spawn(Forwarder(counter));
            sys.send(forwarder, n as u32);
        }
    })
}

/// An actor with a large state, of which a message changes nothing.
#[derive(Clone, Debug)]
struct Holder<T>(usize, T);

impl<T: Clone + std::fmt::Debug + Send + 'static> Actor for Holder<T> {
    type Msg = u32;

    async fn handle(&mut self, _: u32, _: &mut Cx<Self>) {
        self.0 += 1;
    }
}

/// Five messages for an actor with a large state.
pub(crate) fn state(bytes: usize, shared: bool) -> ActorProgram {
    ActorProgram::new("state", move |sys| {
        let all = vec![1u8; bytes];
        if shared {
            let holder = sys.spawn(Holder(0, Arc::new(all)));
            (0..5).for_each(|n| sys.send(holder, n));
        } else {
            let holder = sys.spawn(Holder(0, all));
            (0..5).for_each(|n| sys.send(holder, n));
        }
    })
}

/// Forgets what it receives.
#[derive(Clone, Debug)]
struct Sink<T>(usize, std::marker::PhantomData<fn(T)>);

impl<T: Clone + std::fmt::Debug + Send + 'static> Actor for Sink<T> {
    type Msg = T;

    async fn handle(&mut self, _: T, _: &mut Cx<Self>) {
        self.0 += 1;
    }
}

/// Five large messages.
pub(crate) fn message(bytes: usize, shared: bool) -> ActorProgram {
    fn send<T: Clone + std::fmt::Debug + Send + 'static>(sys: &mut System, value: T) {
        let sink = sys.spawn(Sink(0, std::marker::PhantomData));
        (0..5).for_each(|_| sys.send(sink, value.clone()));
    }
    ActorProgram::new("message", move |sys| {
        let all = vec![1u8; bytes];
        if shared { send(sys, Arc::new(all)) } else { send(sys, all) }
    })
}

/// A worker of [`pi`], and its answer.
#[derive(Clone, Debug, Hash)]
struct Worker(i64);

#[derive(Clone, Debug, Hash)]
enum Work {
    Begin(Addr<Master>),
    Stop,
}

impl Actor for Worker {
    type Msg = Work;

    async fn handle(&mut self, msg: Work, cx: &mut Cx<Self>) {
        match msg {
            Work::Begin(master) => cx.send(master, Sum::Part(self.0)),
            Work::Stop => cx.stop(),
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Master {
    workers: Arc<[Addr<Worker>]>,
    received: usize,
    sum: i64,
}

#[derive(Clone, Debug, Hash)]
enum Sum {
    Boot,
    Part(i64),
}

impl Actor for Master {
    type Msg = Sum;

    async fn handle(&mut self, msg: Sum, cx: &mut Cx<Self>) {
        match msg {
            Sum::Boot => self.workers.iter().for_each(|&worker| cx.send(worker, Work::Begin(cx.this()))),
            Sum::Part(part) => {
                self.sum += part;
                self.received += 1;
                if self.received == self.workers.len() {
                    self.workers.iter().for_each(|&worker| cx.send(worker, Work::Stop));
                    cx.stop();
                }
            }
        }
    }
}

/// A master and its workers, as the subject `pi`, without the computation.
pub(crate) fn pi(count: usize) -> ActorProgram {
    ActorProgram::new("pi", move |sys| {
        let workers = (0..count).map(|id| sys.spawn(Worker(id as i64))).collect();
        let master = sys.spawn(Master { workers, received: 0, sum: 0 });
        sys.send(master, Sum::Boot);
    })
}
