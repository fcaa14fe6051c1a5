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
//! respects. The result of a wait or test is not part of the event (see `NetMachine::branches`). For mutexes, an unlock
//! and a wait or test are dependent if one of the two processes owns the mutex, and two unlocks are dependent because
//! no theorem covers them. The theorems are not sound; see `tests/all/relation.rs`.

use crate::machine::{Effect, NetMachine};
use crate::net::MailboxRelation;
use crate::op::Op;
use crate::port::Message;
use whippet_model::{Name, Touch};

/// The kinds of objects in footprints.
#[derive(Copy, Clone)]
enum ObjectKind {
    SendEnd = 1,
    SendSlot,
    ReceiveEnd,
    ReceiveSlot,
    LockEnd,
    Unlock,
    /// For ports: a message sent, a receive, a matched message, a matched receive.
    PortSend,
    PortReceive,
    MessageMatch,
    ReceiveMatch,
    /// The arrival of a member at a collective operation.
    Arrival,
    /// A choice of a process.
    Choice,
    /// For the paper's relation: written by unlocks of owners.
    Release,
    /// For the paper's relation: written by all unlocks.
    Unlocks,
}

fn object(kind: ObjectKind, of: u32, rank: u32) -> Name {
    Name::ROOT.mixed(kind as u64).mixed(u64::from(of)).mixed(u64::from(rank))
}

fn message_object(kind: ObjectKind, port: u32, message: Message) -> Name {
    object(kind, port, message.from).mixed(u64::from(message.number))
}

fn arrival_object(communicator: Name, member: u32, place: u32) -> Name {
    object(ObjectKind::Arrival, member, place).mixed(communicator.0)
}

/// Appends the footprint of an effect, in the current configuration or one that is equivalent for this effect.
pub(crate) fn touches(machine: &NetMachine, process: u32, op: &Op, effect: Effect, out: &mut Vec<Touch>) {
    match effect {
        Effect::Local => {}
        Effect::Chosen { .. } => out.push(Touch::write(object(ObjectKind::Choice, process, 0))),
        Effect::Learnt { .. } => {
            let Op::LearnChoice { process } = op else { unreachable!("only this operation learns a choice") };
            out.push(Touch::read(object(ObjectKind::Choice, *process, 0)));
        }
        Effect::Arrived { place } => {
            let Op::Arrive { call, .. } = op else { unreachable!("only arrivals arrive") };
            out.push(Touch::write(arrival_object(call.communicator, call.member, place)));
        }
        Effect::SendStarted { mailbox, rank } => {
            out.push(Touch::write(object(ObjectKind::SendEnd, mailbox, 0)));
            out.push(Touch::write(object(ObjectKind::SendSlot, mailbox, rank)));
        }
        Effect::ReceiveStarted { mailbox, rank } => {
            out.push(Touch::write(object(ObjectKind::ReceiveEnd, mailbox, 0)));
            out.push(Touch::write(object(ObjectKind::ReceiveSlot, mailbox, rank)));
        }
        Effect::PortSendStarted { port, message } => {
            out.push(Touch::write(message_object(ObjectKind::PortSend, port, message)))
        }
        Effect::PortReceiveStarted { port, index } => {
            out.push(Touch::write(object(ObjectKind::PortReceive, port, index)))
        }
        Effect::Matched { port, index, message } => match_touches(machine, port, index, message, out),
        Effect::LockRequested { mutex, .. } => out.push(Touch::write(object(ObjectKind::LockEnd, mutex, 0))),
        Effect::Completed { .. } | Effect::Incomplete => wait_touches(machine, process, op, effect, out),
        _ => match machine.relation {
            MailboxRelation::Ranked => ranked_mutex(machine, process, op, effect, out),
            MailboxRelation::Paper => paper_mutex(machine, process, op, effect, out),
        },
    }
}

/// Returns the entries of `of` that a wait or test read.
fn inspected(of: &[u32], effect: Effect) -> &[u32] {
    match effect {
        Effect::Completed { k } | Effect::Owned { k } => &of[k as usize..=k as usize],
        _ => of,
    }
}

/// Appends the footprint of a match: it reads the message, the receive and the earlier matches that had to come first;
/// it writes the objects that waits and tests of both sides read. The sender does not notice a probe.
fn match_touches(machine: &NetMachine, port: u32, index: u32, message: Message, out: &mut Vec<Touch>) {
    let required = machine.ports[port as usize].required_steps(index, message).expect("it can be taken");
    for &step in &required {
        if let Effect::Matched { index, .. } = machine.steps[step as usize].effect {
            out.push(Touch::read(object(ObjectKind::ReceiveMatch, port, index)));
        }
    }
    out.push(Touch::read(message_object(ObjectKind::PortSend, port, message)));
    out.push(Touch::read(object(ObjectKind::PortReceive, port, index)));
    if !machine.ports[port as usize].receives[index as usize].is_probe {
        out.push(Touch::write(message_object(ObjectKind::MessageMatch, port, message)));
    }
    out.push(Touch::write(object(ObjectKind::ReceiveMatch, port, index)));
}

fn wait_touches(machine: &NetMachine, process: u32, op: &Op, effect: Effect, out: &mut Vec<Touch>) {
    let Op::Wait { of, .. } = op else { unreachable!("only waits and tests complete") };
    for &index in inspected(of, effect) {
        let step = machine.own_step(process, index);
        match &**machine.histories.op(machine.steps[step].node) {
            Op::PortSend { buffered: true, .. } | Op::Local(_) => continue,
            Op::Arrive { call, .. } => {
                let (place, others) = (machine.place_of(step), call.needs.iter().filter(|&&m| m != call.member));
                out.extend(others.map(|&member| Touch::read(arrival_object(call.communicator, member, place))));
                continue;
            }
            _ => {}
        }
        out.push(Touch::read(match machine.steps[step].effect {
            Effect::SendStarted { mailbox, rank } => object(ObjectKind::ReceiveSlot, mailbox, rank),
            Effect::ReceiveStarted { mailbox, rank } => object(ObjectKind::SendSlot, mailbox, rank),
            Effect::PortSendStarted { port, message } => message_object(ObjectKind::MessageMatch, port, message),
            Effect::PortReceiveStarted { port, index } => object(ObjectKind::ReceiveMatch, port, index),
            other => unreachable!("a process waits for communications only, not for {other:?}"),
        }));
    }
}

fn ranked_mutex(machine: &NetMachine, process: u32, op: &Op, effect: Effect, out: &mut Vec<Touch>) {
    match (effect, op) {
        (Effect::Unlocked { mutex, rank }, _) => out.push(Touch::write(object(ObjectKind::Unlock, mutex, rank))),
        (_, Op::MutexWait { of, .. }) => {
            for &index in inspected(of, effect) {
                let (mutex, rank) = machine.request(machine.own_step(process, index));
                out.extend((0..rank).map(|i| Touch::read(object(ObjectKind::Unlock, mutex, i))));
            }
        }
        _ => unreachable!("effects of mutex operations"),
    }
}

fn paper_mutex(machine: &NetMachine, process: u32, op: &Op, effect: Effect, out: &mut Vec<Touch>) {
    match (effect, op) {
        (Effect::Unlocked { mutex, .. }, Op::Unlock { of }) => {
            out.push(Touch::write(object(ObjectKind::Unlocks, mutex, 0)));
            if machine.owns(machine.own_step(process, *of)) {
                out.push(Touch::write(object(ObjectKind::Release, mutex, 0)));
            }
        }
        (_, Op::MutexWait { of, .. }) => {
            for &index in of {
                let request = machine.own_step(process, index);
                let (mutex, _) = machine.request(request);
                out.push(Touch::read(object(ObjectKind::Release, mutex, 0)));
                if machine.owns(request) {
                    out.push(Touch::read(object(ObjectKind::Unlocks, mutex, 0)));
                }
            }
        }
        _ => unreachable!("effects of mutex operations"),
    }
}
