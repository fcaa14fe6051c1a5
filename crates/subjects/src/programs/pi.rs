//! An approximation of π by a master and its workers (figure 4.1 of the Basset dissertation, after an MPI example).
//!
//! The master sends every worker its share of the intervals and adds up the partial sums; after the last one it stops
//! the workers and itself. The partial sums can arrive in `workers`! orders. Sums are integers in units of 10⁻⁹,
//! because with floating-point addition the final state would depend on the order.
//!
//! Scala: the body of the master starts immediately, without a message.

use super::prelude::*;
use std::sync::Arc;

pub(crate) const SUBJECT: Subject = Subject {
    name: "pi",
    about: "a master splits an integral and adds up the parts of its workers",
    parameters: &[Parameter::new("workers", "4", Values::Number(1, 12), "number of workers"), VARIANT],
    reconstructed: None,
    body: |settings| {
        let workers = settings.number("workers");
        if settings.is_scala() { body(move |sys| scala(sys, workers)) } else { body(move |sys| foundry(sys, workers)) }
    },
};

/// The total number of intervals.
const INTERVALS: usize = 100;

/// Returns the part of π that worker `id` of `workers` computes, in units of 10⁻⁹.
fn part(id: usize, workers: usize) -> i64 {
    let h = 1.0 / INTERVALS as f64;
    let heights = (id + 1..=INTERVALS).step_by(workers).map(|i| {
        let x = h * (i as f64 - 0.5);
        4.0 / (1.0 + x * x)
    });
    (h * heights.sum::<f64>() * 1e9) as i64
}

#[derive(Clone, Debug, Hash)]
struct Worker {
    id: usize,
    workers: usize,
}

#[derive(Clone, Debug, Hash)]
enum WorkerMsg {
    Intervals(Recipient<MasterMsg>),
    Stop,
}

impl Actor for Worker {
    type Msg = WorkerMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: WorkerMsg, cx: &mut Cx<Self>) {
        match msg {
            WorkerMsg::Intervals(master) => cx.send(master, MasterMsg::Sum(part(self.id, self.workers))),
            WorkerMsg::Stop => cx.stop(),
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
enum MasterMsg {
    Boot,
    Sum(i64),
}

impl Actor for Master {
    type Msg = MasterMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: MasterMsg, cx: &mut Cx<Self>) {
        match msg {
            MasterMsg::Boot => {
                for &worker in &*self.workers {
                    cx.send(worker, WorkerMsg::Intervals(cx.this().into()));
                }
            }
            MasterMsg::Sum(part) => {
                self.sum += part;
                self.received += 1;
                if self.received == self.workers.len() {
                    for &worker in &*self.workers {
                        cx.send(worker, WorkerMsg::Stop);
                    }
                    cx.stop();
                }
            }
        }
    }
}

fn foundry(sys: &mut System, count: usize) {
    let workers = (0..count).map(|id| sys.spawn(Worker { id, workers: count })).collect();
    let master = sys.spawn(Master { workers, received: 0, sum: 0 });
    sys.send(master, MasterMsg::Boot);
}

fn scala(sys: &mut System, count: usize) {
    let worker = |id| {
        async move |inbox: &mut Inbox<WorkerMsg>| {
            let master = receive!(inbox, WorkerMsg::Intervals(master) => master);
            inbox.send(master, MasterMsg::Sum(part(id, count)));
            receive!(inbox, WorkerMsg::Stop => ());
        }
    };
    let workers: Vec<_> = (0..count).map(|id| sys.spawn_fn_named("worker", worker(id))).collect();
    sys.spawn_fn_named("master", async move |inbox: &mut Inbox<MasterMsg>| {
        let this = inbox.this();
        for &worker in &workers {
            inbox.send(worker, WorkerMsg::Intervals(this));
        }
        let mut sum = 0;
        for _ in &workers {
            sum += receive!(inbox, MasterMsg::Sum(part) => part);
        }
        assert!((sum - 3_141_592_653).abs() < 10_000_000, "{sum} is not π");
        for &worker in &workers {
            inbox.send(worker, WorkerMsg::Stop);
        }
    });
}
