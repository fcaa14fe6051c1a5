//! The dependence relation, expressed as footprints over ranked objects.
//!
//! `Ranked`: two steps of different processes are dependent iff they are
//!
//! 1. two sends, or two receives, on one mailbox: both write that end of it;
//! 2. a send or receive of rank k, which writes its slot, and a wait or test that reads that slot because its own
//!    communication has rank k on the other side. A successful wait or test reads only the slot of the communication it
//!    completed; a failed test reads the slots of all its communications;
//! 3. two locks of one mutex: both write the end of its queue;
//! 4. the unlock of request i, and a wait or test of request j > i of the same mutex that reads it.
//!
//! At a port, matching a message with a receive is a separate step. It depends on the send, on the receive, on the
//! matches of earlier receives that had to come first, and on the waits and tests of either side.
//!
//! `Paper`: the eleven independence theorems of Pham, Jéron and Quinson (FORTE 2019) as printed. They differ in two
//! respects. The result of a wait or test is not part of the event (see `NetMachine::ways`). For mutexes, an unlock and
//! a wait or test are dependent if one of the two processes owns the mutex, and two unlocks are dependent because no
//! theorem covers them. The theorems are not sound; see `tests/all/relation.rs`.

use crate::machine::{Deed, NetMachine};
use crate::net::MailboxRelation;
use crate::op::Op;
use crate::port::Message;
use whippet_model::{Name, Touch};

/// The kinds of objects in footprints.
#[derive(Copy, Clone)]
enum Object {
    SendEnd = 1,
    SendSlot,
    ReceiveEnd,
    ReceiveSlot,
    LockEnd,
    Unlock,
    /// For ports: a message sent, a receive, a matched message, a matched receive.
    Posted,
    Asked,
    Taken,
    Met,
    /// For the paper's relation: written by unlocks of owners.
    Release,
    /// For the paper's relation: written by all unlocks.
    Unlocks,
}

fn object(kind: Object, of: u32, rank: u32) -> Name {
    Name::ROOT.mixed(kind as u64).mixed(u64::from(of)).mixed(u64::from(rank))
}

fn message_object(kind: Object, port: u32, message: Message) -> Name {
    object(kind, port, message.from).mixed(u64::from(message.number))
}

/// Appends the footprint of a deed, in the current configuration or one that is equivalent for this deed.
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
        _ => match machine.relation {
            MailboxRelation::Ranked => ranked_mutex(machine, process, op, deed, out),
            MailboxRelation::Paper => paper_mutex(machine, process, op, deed, out),
        },
    }
}

/// Returns the entries of `of` that a wait or test read.
fn looked_at(of: &[u32], deed: Deed) -> &[u32] {
    match deed {
        Deed::Completed { k } | Deed::Owned { k } => &of[k as usize..=k as usize],
        _ => of,
    }
}

/// Appends the footprint of a match: it reads the message, the receive and the earlier matches that had to come first;
/// it writes the objects that waits and tests of both sides read.
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
