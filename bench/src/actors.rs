//! The workloads as actors that are threads, for every tool that runs threads which send and receive.
//!
//! The test's own thread plays the actor that waits for the others, if the workload has one.

use crate::workload::{Colour, Number, Process, Workload, keep, part_of_pi, small_fib};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A tool that runs actors as threads.
pub trait ThreadTool: 'static {
    /// The address of an actor, for sending.
    type Address: Clone + Send + 'static;
    /// The mailbox of an actor, for receiving.
    type Inbox;
    /// Returns the address and the inbox of the test's own thread.
    fn test() -> (Self::Address, Self::Inbox);
    /// Starts an actor and returns its address.
    fn spawn(actor: impl FnOnce(Self::Address, Self::Inbox) + Send + 'static) -> Self::Address;
    /// Sends a message.
    fn send(to: &Self::Address, message: Msg<Self::Address>);
    /// Waits for a message and returns it.
    fn take(inbox: &Self::Inbox) -> Msg<Self::Address>;
}

/// The messages of all workloads.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg<A> {
    /// A request to do the worker's part and report to this address.
    Work(A),
    Stop,
    Sum(i64),
    Register(usize),
    Compute(u32),
    Result(u64),
    Start,
    Item(usize),
    Hear(Number),
    Ask(A, Colour),
    Meet(Colour),
}

static DELIVERIES: AtomicU64 = AtomicU64::new(0);

/// Returns the number of messages received since the last call.
pub fn deliveries() -> u64 {
    DELIVERIES.swap(0, Relaxed)
}

fn receive<T: ThreadTool>(inbox: &T::Inbox) -> Msg<T::Address> {
    let message = T::take(inbox);
    DELIVERIES.fetch_add(1, Relaxed);
    message
}

/// Runs one execution of the workload.
pub fn execute<T: ThreadTool>(workload: Workload) {
    match workload {
        Workload::Pi(workers) => pi::<T>(workers),
        Workload::Registry(workers) => registry::<T>(workers),
        Workload::Fib(n) => fib::<T>(n),
        Workload::Producers { k, sum, .. } => producers::<T>(k, sum),
        Workload::Leader(n) => leader::<T>(n),
        Workload::Chameneos(meetings) => chameneos::<T>(meetings),
    }
}

fn pi<T: ThreadTool>(count: usize) {
    let (me, inbox) = T::test();
    let worker = |id| {
        T::spawn(move |_, inbox| {
            while let Msg::Work(master) = receive::<T>(&inbox) {
                T::send(&master, Msg::Sum(part_of_pi(id, count)));
            }
        })
    };
    let workers: Vec<_> = (0..count).map(worker).collect();
    workers.iter().for_each(|worker| T::send(worker, Msg::Work(me.clone())));
    let mut sum = 0;
    for _ in 0..count {
        let Msg::Sum(part) = receive::<T>(&inbox) else { unreachable!("a master gets sums") };
        sum += part;
    }
    std::hint::black_box(sum);
    workers.iter().for_each(|worker| T::send(worker, Msg::Stop));
}

fn registry<T: ThreadTool>(count: usize) {
    let (me, inbox) = T::test();
    T::send(&me, Msg::Register(0));
    let worker = |id| {
        T::spawn(move |_, inbox| {
            let Msg::Work(registry) = receive::<T>(&inbox) else {
                unreachable!("a worker first receives the registry")
            };
            T::send(&registry, Msg::Register(id));
        })
    };
    let workers: Vec<_> = (1..=count).map(worker).collect();
    workers.iter().for_each(|worker| T::send(worker, Msg::Work(me.clone())));
    let mut known = Vec::new();
    while known.len() <= count {
        let Msg::Register(id) = receive::<T>(&inbox) else { unreachable!("a registry gets registrations") };
        known.push(id);
    }
    std::hint::black_box(known);
}

fn fib<T: ThreadTool>(n: u32) {
    let (me, inbox) = T::test();
    ask::<T>(n, me);
    std::hint::black_box(result::<T>(&inbox));
}

/// Creates a node of the tree and sends it its request.
fn ask<T: ThreadTool>(n: u32, client: T::Address) {
    let node = T::spawn(move |me, inbox| {
        let Msg::Compute(n) = receive::<T>(&inbox) else { unreachable!("a node is asked first") };
        let value = small_fib(n).unwrap_or_else(|| {
            ask::<T>(n - 1, me.clone());
            ask::<T>(n - 2, me.clone());
            result::<T>(&inbox) + result::<T>(&inbox)
        });
        T::send(&client, Msg::Result(value));
    });
    T::send(&node, Msg::Compute(n));
}

fn result<T: ThreadTool>(inbox: &T::Inbox) -> u64 {
    let Msg::Result(value) = receive::<T>(inbox) else { unreachable!("a node that asked gets results") };
    value
}

fn producers<T: ThreadTool>(k: usize, only_sum: bool) {
    let (me, inbox) = T::test();
    let producer = |id: usize| {
        let consumer = me.clone();
        T::spawn(move |_, inbox| {
            receive::<T>(&inbox);
            (id * k..(id + 1) * k).for_each(|item| T::send(&consumer, Msg::Item(item)));
        })
    };
    let producers = [0, 1].map(producer);
    producers.iter().for_each(|producer| T::send(producer, Msg::Start));
    let mut kept = Vec::new();
    for _ in 0..2 * k {
        let Msg::Item(item) = receive::<T>(&inbox) else { unreachable!("a consumer gets items") };
        keep(&mut kept, item, only_sum);
    }
    std::hint::black_box(kept);
}

/// Runs the election. The test's own thread is process 0, because each process must know its right neighbour. No
/// process ever ends.
fn leader<T: ThreadTool>(n: usize) {
    let (me, inbox) = T::test();
    let mut ring = vec![me];
    for id in (1..n).rev() {
        let right = ring[ring.len() - 1].clone();
        ring.push(T::spawn(move |_, inbox| process::<T>(id, &right, &inbox)));
    }
    // The ring is stored against its direction, from process 0: 0, n - 1, …, 1.
    for id in 0..n {
        T::send(&ring[(2 * n - (id + 1)) % n], Msg::Hear(Number::First(id)));
    }
    process::<T>(0, &ring[n - 1], &inbox);
}

fn process<T: ThreadTool>(id: usize, right: &T::Address, inbox: &T::Inbox) {
    let mut process = Process::new(id);
    while let Msg::Hear(number) = receive::<T>(inbox) {
        if let Some(number) = process.hear(number) {
            T::send(right, Msg::Hear(number));
        }
    }
}

fn chameneos<T: ThreadTool>(mut meetings: usize) {
    let (me, inbox) = T::test();
    for colour in Colour::ALL {
        let broker = me.clone();
        let creature = T::spawn(move |me, inbox| creature::<T>(colour, &broker, &me, &inbox));
        T::send(&creature, Msg::Start);
    }
    let (mut waiting, mut home) = (None, 0);
    while home < 3 {
        let Msg::Ask(one, colour) = receive::<T>(&inbox) else { unreachable!("a broker is asked") };
        if meetings == 0 {
            T::send(&one, Msg::Stop);
            home += 1;
        } else if let Some((other, its)) = waiting.take() {
            meetings -= 1;
            T::send(&other, Msg::Meet(colour));
            T::send(&one, Msg::Meet(its));
        } else {
            waiting = Some((one, colour));
        }
    }
}

fn creature<T: ThreadTool>(mut colour: Colour, broker: &T::Address, me: &T::Address, inbox: &T::Inbox) {
    loop {
        match receive::<T>(inbox) {
            Msg::Start => {}
            Msg::Meet(other) => colour = colour.meets(other),
            _ => return,
        }
        T::send(broker, Msg::Ask(me.clone(), colour));
    }
}
