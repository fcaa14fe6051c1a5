//! Leader election in a ring (a program of the dCUTE study).
//!
//! Every process starts with its own number and sends it to its right neighbour (`First`). An active process forwards
//! the number it receives as `Second`, so that every active process learns the numbers of its left neighbour and of
//! the neighbour's left neighbour. If the left neighbour's number is larger than both the other one and its own, the
//! process adopts it and sends it on as `First`; otherwise it becomes passive and only forwards messages.
//!
//! Set-up: the driver tells each process its right neighbour by a call. Scala: it does so by a message, and process 1 is
//! created before process 0.

use super::driver::introduce;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "leader",
    about: "processes in a ring elect the one with the largest number",
    parameters: &[Parameter::new("n", "3", Values::Number(2, 8), "number of processes"), VARIANT],
    reconstructed: None,
    body: |settings| {
        let n = settings.number("n");
        if settings.is_scala() { body(move |sys| scala(sys, n)) } else { body(move |sys| foundry(sys, n)) }
    },
};

/// The state and logic of a process, shared by both variants.
#[derive(Clone, Debug, Hash)]
struct Part {
    max: usize,
    active: bool,
    left: Option<usize>,
}

#[derive(Copy, Clone, Debug, Hash)]
enum Number {
    First(usize),
    Second(usize),
}

impl Part {
    fn new(id: usize) -> Part {
        Part { max: id, active: true, left: None }
    }

    /// Processes a number and returns the number to send to the right neighbour, if any.
    fn hear(&mut self, number: Number) -> Option<Number> {
        match number {
            _ if !self.active => Some(number),
            Number::First(heard) if heard == self.max => None,
            Number::First(heard) => {
                self.left = Some(heard);
                Some(Number::Second(heard))
            }
            Number::Second(heard) => match self.left {
                Some(left) if left > heard && left > self.max => {
                    self.max = left;
                    Some(Number::First(left))
                }
                _ => {
                    self.active = false;
                    None
                }
            },
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Process {
    part: Part,
    right: Option<Addr<Process>>,
}

#[derive(Clone, Debug, Hash)]
enum ProcessMsg {
    Init(Addr<Process>, Option<Reply<()>>),
    Hear(Number),
}

impl Actor for Process {
    type Msg = ProcessMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ProcessMsg, cx: &mut Cx<Self>) {
        match msg {
            ProcessMsg::Init(right, reply) => {
                self.right = Some(right);
                if let Some(reply) = reply {
                    cx.reply(reply, ());
                }
            }
            ProcessMsg::Hear(number) => {
                if let (Some(number), Some(right)) = (self.part.hear(number), self.right) {
                    cx.send(right, ProcessMsg::Hear(number));
                }
            }
        }
    }
}

fn foundry(sys: &mut System, n: usize) {
    let ring: Vec<_> = (0..n).map(|id| sys.spawn(Process { part: Part::new(id), right: None })).collect();
    let rights = ring.clone();
    introduce(sys, ring.clone(), move |i, reply| ProcessMsg::Init(rights[(i + 1) % n], Some(reply)));
    for i in 0..n {
        sys.send(ring[(i + 1) % n], ProcessMsg::Hear(Number::First(i)));
    }
}

fn scala(sys: &mut System, n: usize) {
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(0, 1);
    let mut ring: Vec<_> =
        order.into_iter().map(|id| sys.spawn(Process { part: Part::new(id), right: None })).collect();
    ring.swap(0, 1);
    for i in 0..n {
        sys.send(ring[i], ProcessMsg::Init(ring[(i + 1) % n], None));
    }
    sys.finish_setup();
    for i in 0..n {
        sys.send(ring[(i + 1) % n], ProcessMsg::Hear(Number::First(i)));
    }
}
