//! The shared objects of a program, and the ends of its channels.

use super::hands::{Ends, Hands, Receiver, Sender, Slot, Weak};
use super::tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce};
use super::tokio::sync::{broadcast, mpsc, oneshot, watch};
use std::sync::Arc;
use tokio_reference::{Leaf, Object, ObjectId, Op, Program, Value};

/// An object that tasks share by reference.
pub enum Made {
    Channel,
    Notify(Arc<Notify>),
    Semaphore(Arc<Semaphore>),
    Mutex(Arc<Mutex<Vec<Value>>>),
    RwLock(Arc<RwLock<Vec<Value>>>),
    OnceCell(OnceCell<Value>),
    SetOnce(SetOnce<Value>),
    Barrier(Barrier),
}

/// Handles of a channel that a task needs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Needs {
    sender: bool,
    weak: bool,
    receiver: bool,
}

fn needs(ops: &[Op], id: ObjectId) -> Needs {
    let mut needs = Needs::default();
    ops.iter().for_each(|op| needs.see_op(op, id));
    needs
}

impl Needs {
    fn see_op(&mut self, op: &Op, id: ObjectId) {
        match op {
            Op::Await(leaf) => self.see_leaf(leaf, id),
            Op::Select { branches, .. } | Op::JoinAll(branches) => {
                branches.iter().for_each(|leaf| self.see_leaf(leaf, id));
            }
            Op::SendNow(o) | Op::TrySend(o) | Op::SendPermit(o) | Op::DropSender(o) | Op::Capacity(o) => {
                self.sender |= *o == id;
            }
            Op::IsClosed(o) | Op::Reply(o) | Op::Broadcast(o) | Op::Publish(o) => self.sender |= *o == id,
            Op::WeakSend(o) => self.weak |= *o == id,
            Op::TryRecv(o) | Op::Close(o) | Op::DropReceiver(o) | Op::Len(o) => self.receiver |= *o == id,
            Op::TryHear(o) | Op::HasChanged(o) | Op::Borrow(o) => self.receiver |= *o == id,
            _ => {}
        }
    }

    fn see_leaf(&mut self, leaf: &Leaf, id: ObjectId) {
        match leaf {
            Leaf::Recv(o) | Leaf::RecvMany(o, _) | Leaf::Answer(o) | Leaf::Heard(o) | Leaf::Changed(o) => {
                self.receiver |= *o == id;
            }
            Leaf::Send(o) | Leaf::ReserveSend(o) | Leaf::Reserve(o) | Leaf::SendTimeout(o, _) | Leaf::Closed(o) => {
                self.sender |= *o == id;
            }
            Leaf::Now(op) => self.see_op(op, id),
            Leaf::Then(op, leaf) => {
                self.see_op(op, id);
                self.see_leaf(leaf, id);
            }
            Leaf::Within(_, leaf) => self.see_leaf(leaf, id),
            _ => {}
        }
    }
}

/// Makes the objects of a program and gives out the handles: one set for each task.
pub fn make(program: &Program) -> (Vec<Made>, Vec<Hands>) {
    let mut hands: Vec<Hands> = program.tasks.iter().map(|ops| Hands::new(program, ops)).collect();
    let made = program.objects.iter().enumerate().map(|(id, object)| {
        let needs: Vec<Needs> = program.tasks.iter().map(|ops| needs(ops, id)).collect();
        let (made, ends) = one(object, &needs);
        for (hands, ends) in hands.iter_mut().zip(ends) {
            hands.ends.push(ends);
        }
        made
    });
    let made = made.collect();
    (made, hands)
}

fn one(object: &Object, needs: &[Needs]) -> (Made, Vec<Ends>) {
    let ends = match object {
        Object::Mpsc { capacity: Some(capacity) } => {
            let (tx, rx) = mpsc::channel(*capacity);
            let weak = tx.downgrade();
            queue(needs, Receiver::Bounded(rx), || Sender::Bounded(tx.clone()), || Weak::Bounded(weak.clone()))
        }
        Object::Mpsc { capacity: None } => {
            let (tx, rx) = mpsc::unbounded_channel();
            let weak = tx.downgrade();
            queue(needs, Receiver::Unbounded(rx), || Sender::Unbounded(tx.clone()), || Weak::Unbounded(weak.clone()))
        }
        Object::Oneshot => halves(needs),
        Object::Broadcast { capacity } => {
            let tx = broadcast::Sender::new(*capacity);
            each(needs, || Receiver::Broadcast(tx.subscribe()), || Sender::Broadcast(tx.clone()))
        }
        Object::Watch => {
            let tx = watch::Sender::new(0);
            each(needs, || Receiver::Watch(tx.subscribe()), || Sender::Watch(tx.clone()))
        }
        _ => needs.iter().map(|_| Ends::default()).collect(),
    };
    let made = match object {
        Object::Notify => Made::Notify(Arc::new(Notify::new())),
        Object::Semaphore { permits } => Made::Semaphore(Arc::new(Semaphore::new(*permits))),
        Object::Mutex => Made::Mutex(Arc::new(Mutex::new(Vec::new()))),
        Object::RwLock => Made::RwLock(Arc::new(RwLock::new(Vec::new()))),
        Object::OnceCell => Made::OnceCell(OnceCell::new()),
        Object::SetOnce => Made::SetOnce(SetOnce::new()),
        Object::Barrier { size } => Made::Barrier(Barrier::new(*size)),
        _ => Made::Channel,
    };
    (made, ends)
}

/// Gives out the ends of a queue: one receiver, senders for all who need one.
fn queue(needs: &[Needs], rx: Receiver, sender: impl Fn() -> Sender, weak: impl Fn() -> Weak) -> Vec<Ends> {
    let mut rx = Some(rx);
    let give = |needs: &Needs| Ends {
        receiver: Slot::new(if needs.receiver { rx.take() } else { None }),
        sender: Slot::new(needs.sender.then(|| Arc::new(sender()))),
        weak: needs.weak.then(&weak),
        ..Ends::default()
    };
    needs.iter().map(give).collect()
}

fn halves(needs: &[Needs]) -> Vec<Ends> {
    let (tx, rx) = oneshot::channel();
    let (mut tx, mut rx) = (Some(tx), Some(Receiver::Oneshot(rx)));
    let give = |needs: &Needs| Ends {
        receiver: Slot::new(if needs.receiver { rx.take() } else { None }),
        reply: Slot::new(if needs.sender { tx.take() } else { None }),
        ..Ends::default()
    };
    needs.iter().map(give).collect()
}

/// Gives each task that needs them a receiver and a sender of its own.
fn each(needs: &[Needs], receiver: impl Fn() -> Receiver, sender: impl Fn() -> Sender) -> Vec<Ends> {
    let give = |needs: &Needs| Ends {
        receiver: Slot::new(needs.receiver.then(&receiver)),
        sender: Slot::new(needs.sender.then(|| Arc::new(sender()))),
        ..Ends::default()
    };
    needs.iter().map(give).collect()
}
