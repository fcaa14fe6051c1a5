//! Which steps are dependent, said as touches of ranked objects.
//!
//! `Ranked`: two steps of different processes are dependent iff they are
//! 1. two sends, or two receives, on one mailbox: both write that end of it;
//! 2. a send or receive of rank k, which writes its slot, and a wait or test that looks at that slot because
//!    its own communication has rank k on the other side. Successful ones look at the one that they took, a
//!    test that fails at all it asked about;
//! 3. two locks of one mutex: both write the end of its queue;
//! 4. the unlock of request i, and a wait or test of request j > i of the same mutex that looks at it.
//!
//! At a port, the meeting of a message and a receive is a step of its own: it depends on both, on the meetings of earlier
//! receives that it had to wait for, and on the waits and tests that look at either side.
//!
//! `Paper`: the eleven independence theorems of Pham, Jéron and Quinson (FORTE 2019) as printed. They differ in that waits
//! and tests do not tell what they found (see `NetMachine::ways`), and in the mutexes: an unlock and a wait or test are
//! dependent if one of the two processes owns the mutex, and two unlocks are because no theorem speaks of them. The
//! theorems are not sound; see `tests/relation.rs`.

use crate::machine::{Deed, NetMachine};
use crate::net::Dependence;
use crate::op::Op;
use crate::port::Message;
use whippet_model::{Name, Touch};

/// The objects.
#[derive(Copy, Clone)]
enum Object {
    SendEnd = 1,
    SendSlot,
    ReceiveEnd,
    ReceiveSlot,
    LockEnd,
    Unlock,
    /// Of ports: a message that was sent, a receive, a message that was taken, a receive that took one.
    Posted,
    Asked,
    Taken,
    Met,
    /// Of the paper's relation: what owners release.
    Release,
    /// Of the paper's relation: who unlocks at all.
    Unlocks,
}

fn object(kind: Object, of: u32, rank: u32) -> Name {
    Name::ROOT.mixed(kind as u64).mixed(u64::from(of)).mixed(u64::from(rank))
}

fn message_object(kind: Object, port: u32, message: Message) -> Name {
    object(kind, port, message.from).mixed(u64::from(message.number))
}

/// Appends what a deed touches, in the current configuration or one that is like it for this deed.
pub(crate) fn touches(machine: &NetMachine, process: u32, op: &Op, deed: Deed, out: &mut Vec<Touch>) {
    match deed {
        Deed::Local => {}
        Deed::Sent { mailbox, rank } => {
            out.push(Touch::write(object(Object::SendEnd, mailbox, 0)));
            out.push(Touch::write(object(Object::SendSlot, mailbox, rank)));
        }
        Deed::Received { mailbox, rank } => {
            out.push(Touch::write(object(Object::ReceiveEnd, mailbox, 0)));
            out.push(Touch::write(object(Object::ReceiveSlot, mailbox, rank)));
        }
        Deed::Posted { port, message } => out.push(Touch::write(message_object(Object::Posted, port, message))),
        Deed::Asked { port, index } => out.push(Touch::write(object(Object::Asked, port, index))),
        Deed::Met { port, index, message } => meets(machine, port, index, message, out),
        Deed::Locked { mutex, .. } => out.push(Touch::write(object(Object::LockEnd, mutex, 0))),
        Deed::Completed { .. } | Deed::Incomplete => looks(machine, process, op, deed, out),
        _ => match machine.dependence {
            Dependence::Ranked => ranked_mutex(machine, process, op, deed, out),
            Dependence::Paper => paper_mutex(machine, process, op, deed, out),
        },
    }
}

/// The entries of `of` that a wait or test looked at.
fn looked_at(of: &[u32], deed: Deed) -> &[u32] {
    match deed {
        Deed::Completed { k } | Deed::Owned { k } => &of[k as usize..=k as usize],
        _ => of,
    }
}

/// A meeting needs the message and the receive, and that earlier receives have met theirs; waits and tests on both sides look at it.
fn meets(machine: &NetMachine, port: u32, index: u32, message: Message, out: &mut Vec<Touch>) {
    let needs = machine.ports[port as usize].needs(index, message).expect("it can be taken");
    for &step in &needs {
        if let Deed::Met { index, .. } = machine.steps[step as usize].deed {
            out.push(Touch::read(object(Object::Met, port, index)));
        }
    }
    out.push(Touch::read(message_object(Object::Posted, port, message)));
    out.push(Touch::read(object(Object::Asked, port, index)));
    out.push(Touch::write(message_object(Object::Taken, port, message)));
    out.push(Touch::write(object(Object::Met, port, index)));
}

fn looks(machine: &NetMachine, process: u32, op: &Op, deed: Deed, out: &mut Vec<Touch>) {
    let Op::Wait { of, .. } = op else { unreachable!("only waits and tests complete") };
    for &index in looked_at(of, deed) {
        out.push(Touch::read(match machine.steps[machine.own(process, index)].deed {
            Deed::Sent { mailbox, rank } => object(Object::ReceiveSlot, mailbox, rank),
            Deed::Received { mailbox, rank } => object(Object::SendSlot, mailbox, rank),
            Deed::Posted { port, message } => message_object(Object::Taken, port, message),
            Deed::Asked { port, index } => object(Object::Met, port, index),
            other => unreachable!("a process waits for communications only, not for {other:?}"),
        }));
    }
}

fn ranked_mutex(machine: &NetMachine, process: u32, op: &Op, deed: Deed, out: &mut Vec<Touch>) {
    match (deed, op) {
        (Deed::Unlocked { mutex, rank }, _) => out.push(Touch::write(object(Object::Unlock, mutex, rank))),
        (_, Op::MutexWait { of, .. }) => {
            for &index in looked_at(of, deed) {
                let (mutex, rank) = machine.request(machine.own(process, index));
                out.extend((0..rank).map(|i| Touch::read(object(Object::Unlock, mutex, i))));
            }
        }
        _ => unreachable!("the deeds of mutexes"),
    }
}

fn paper_mutex(machine: &NetMachine, process: u32, op: &Op, deed: Deed, out: &mut Vec<Touch>) {
    match (deed, op) {
        (Deed::Unlocked { mutex, .. }, Op::Unlock { of }) => {
            out.push(Touch::write(object(Object::Unlocks, mutex, 0)));
            if machine.owns(machine.own(process, *of)) {
                out.push(Touch::write(object(Object::Release, mutex, 0)));
            }
        }
        (_, Op::MutexWait { of, .. }) => {
            for &index in of {
                let request = machine.own(process, index);
                let (mutex, _) = machine.request(request);
                out.push(Touch::read(object(Object::Release, mutex, 0)));
                if machine.owns(request) {
                    out.push(Touch::read(object(Object::Unlocks, mutex, 0)));
                }
            }
        }
        _ => unreachable!("the deeds of mutexes"),
    }
}
