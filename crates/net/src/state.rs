//! The state of a machine, expressed as queries about the steps taken, and the effect of one step on it.

use crate::collective::CollectiveCall;
use crate::history::IdentifiedAnswer;
use crate::machine::{Effect, NetMachine, StepRecord};
use crate::net::MailboxRelation;
use crate::op::{Answer, NO_NODE, Op, WaitMode};
use crate::port::{Message, PortReceive, PortSend};
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::{Branch, Choice, Name, Pending};

impl NetMachine {
    // ---- queries about the state -------------------------------------------------------------------

    /// Returns the operation that a process executes next.
    pub(crate) fn op(&self, process: u32) -> &Rc<Op> {
        self.histories.op(self.processes[process as usize].node)
    }

    /// Returns the `index`-th step of a process.
    pub(crate) fn own_step(&self, process: u32, index: u32) -> usize {
        self.processes[process as usize].steps[index as usize] as usize
    }

    /// Returns the send or receive that was matched with the communication started by a step, if any.
    pub(crate) fn partner(&self, communication: usize) -> Option<usize> {
        let by = self.matched_by(communication)?;
        Some(match (self.steps[communication].effect, self.steps[by].effect) {
            (Effect::PortSendStarted { port, .. }, Effect::Matched { index, .. }) => {
                self.ports[port as usize].receives[index as usize].step as usize
            }
            (Effect::PortReceiveStarted { port, .. }, Effect::Matched { message, .. }) => {
                self.ports[port as usize].sent(message).step as usize
            }
            _ => by,
        })
    }

    /// Returns the steps that completed the communication started by a step, in order, if it is complete. A buffered
    /// send needs none, a collective operation one for each other member that it needs.
    pub(crate) fn completing_steps(&self, communication: usize) -> Option<SmallVec<[u32; 4]>> {
        match &**self.histories.op(self.steps[communication].node) {
            Op::PortSend { buffered: true, .. } | Op::Local(_) => Some(SmallVec::new()),
            Op::Arrive { call, .. } => self.joined_by(communication, call),
            _ => self.matched_by(communication).map(|step| SmallVec::from_elem(step as u32, 1)),
        }
    }

    /// Returns the step since which the communication started by a step is complete, if it is.
    pub(crate) fn complete_since(&self, communication: usize) -> Option<usize> {
        Some(self.completing_steps(communication)?.iter().map(|&step| step as usize).fold(communication, usize::max))
    }

    /// Returns the steps that complete a collective call, if it is complete.
    fn joined_by(&self, arrival: usize, call: &CollectiveCall) -> Option<SmallVec<[u32; 4]>> {
        let joined = self.joined_so_far(arrival, call);
        let others = call.needs.iter().filter(|&&member| member != call.member).count();
        let matches = |&step: &u32| match &**self.histories.op(self.steps[step as usize].node) {
            Op::Arrive { call: other, .. } => call.signature.matches(&other.signature),
            _ => unreachable!("arrivals are steps of this operation"),
        };
        (joined.len() == others && joined.iter().all(matches)).then_some(joined)
    }

    /// Returns the steps in which other members joined a collective call that needs them, in order.
    pub(crate) fn joined_so_far(&self, arrival: usize, call: &CollectiveCall) -> SmallVec<[u32; 4]> {
        let place = self.place_of(arrival) as usize;
        let others = call.needs.iter().filter(|&&member| member != call.member);
        let mut joined: SmallVec<[u32; 4]> =
            others.filter_map(|&member| self.arrivals.of(call.communicator, member).get(place).copied()).collect();
        joined.sort_unstable();
        joined
    }

    /// Returns the number of a collective call among those of its member.
    pub(crate) fn place_of(&self, arrival: usize) -> u32 {
        match self.steps[arrival].effect {
            Effect::Arrived { place } => place,
            other => unreachable!("a collective call is an arrival, not {other:?}"),
        }
    }

    /// Returns the step that matched the communication started by a step. At a mailbox this is the partner; at a port
    /// it is the match.
    pub(crate) fn matched_by(&self, communication: usize) -> Option<usize> {
        let (list, rank) = match self.steps[communication].effect {
            Effect::SendStarted { mailbox, rank } => (&self.mailboxes[mailbox as usize].receives, rank),
            Effect::ReceiveStarted { mailbox, rank } => (&self.mailboxes[mailbox as usize].sends, rank),
            Effect::PortSendStarted { port, message } => {
                return self.ports[port as usize].sent(message).matched_by.map(|step| step as usize);
            }
            Effect::PortReceiveStarted { port, index } => {
                return self.ports[port as usize].receives[index as usize].matched_by.map(|step| step as usize);
            }
            Effect::Local | Effect::Arrived { .. } => return None,
            other => unreachable!("a process waits for communications only, not for {other:?}"),
        };
        list.get(rank as usize).map(|&step| step as usize)
    }

    /// Returns the mutex and the rank of the request made by a step.
    pub(crate) fn request(&self, step: usize) -> (u32, u32) {
        match self.steps[step].effect {
            Effect::LockRequested { mutex, rank } => (mutex, rank),
            other => unreachable!("a process waits for requests only, not for {other:?}"),
        }
    }

    /// Returns `true` if the request made by a step is the first in its queue.
    pub(crate) fn owns(&self, step: usize) -> bool {
        let (mutex, rank) = self.request(step);
        self.mutexes[mutex as usize].unlocks[..rank as usize].iter().all(Option::is_some)
    }

    /// Returns the step that precedes the next step of a process: its newest step, or the one that created it.
    pub(crate) fn preceding_step(&self, process: u32) -> Option<usize> {
        let process = &self.processes[process as usize];
        process.steps.last().or(process.creator.as_ref()).map(|&step| step as usize)
    }

    pub(crate) fn event(&self, process: u32, index: u32, branch: Branch) -> Name {
        self.processes[process as usize].name.mixed(0x65).child(index).mixed(branch.0)
    }

    // ---- one step ---------------------------------------------------------------------------------

    /// Appends the choices that a process has now.
    pub(crate) fn branches(&self, process: u32, out: &mut Vec<Choice>) {
        let mut add = |k: usize| out.push(Choice { what: Pending(process), branch: Branch(k as u64) });
        let (of, test, ready): (_, _, &dyn Fn(usize) -> bool) = match &**self.op(process) {
            Op::Done | Op::Failed { .. } => return,
            Op::Match => {
                let (port, index) = self.receive_of_matcher(process);
                let port = &self.ports[port as usize];
                let takeable = port.messages().filter(|&message| port.required_steps(index, message).is_some());
                return takeable.for_each(|message| add(message.branch() as usize));
            }
            Op::Wait { of, mode } => (of, *mode == WaitMode::Test, &|step| self.completing_steps(step).is_some()),
            Op::Choose { of } => return (0..of.len()).for_each(add),
            Op::LearnChoice { process } => {
                return self.processes[*process as usize].steps.first().into_iter().for_each(|_| add(0));
            }
            Op::MutexWait { of, test } => (of, *test, &|step| self.owns(step)),
            _ => return add(0),
        };
        let ready = |&k: &usize| ready(self.own_step(process, of[k]));
        let none = match self.relation {
            MailboxRelation::Ranked => (0..of.len()).filter(ready).map(&mut add).count() == 0,
            // In the relation as printed, the result of a wait or test is not part of the event: it is the entry that
            // became ready first.
            MailboxRelation::Paper => {
                let first =
                    (0..of.len()).filter(ready).min_by_key(|&k| self.ready_since(self.own_step(process, of[k])));
                first.map(&mut add).is_none()
            }
        };
        if none && test {
            add(of.len());
        }
    }

    /// Returns the step at which the communication of a step became complete, or at which its request became the first.
    fn ready_since(&self, step: usize) -> usize {
        match self.steps[step].effect {
            Effect::LockRequested { mutex, rank } => {
                let before = self.mutexes[mutex as usize].unlocks[..rank as usize].iter().flatten();
                before.max().map_or(step, |&u| step.max(u as usize))
            }
            _ => self.complete_since(step).unwrap_or(step),
        }
    }

    /// Returns the port and index of the receive for which an auxiliary process matches a message.
    pub(crate) fn receive_of_matcher(&self, process: u32) -> (u32, u32) {
        let creator = self.processes[process as usize].creator.expect("a receive created it");
        match self.steps[creator as usize].effect {
            Effect::PortReceiveStarted { port, index } => (port, index),
            other => unreachable!("receives create such processes, not {other:?}"),
        }
    }

    /// Returns the effect of a process's operation along a branch.
    pub(crate) fn effect(&self, process: u32, op: &Op, branch: Branch) -> Effect {
        let k = branch.0 as u32;
        match op {
            Op::Local(_) | Op::Create { .. } => Effect::Local,
            Op::Choose { .. } => Effect::Chosen { k },
            Op::LearnChoice { process } => {
                let choice = self.processes[*process as usize].steps[0];
                match self.steps[choice as usize].effect {
                    Effect::Chosen { k } => Effect::Learnt { k },
                    other => unreachable!("internal error: the process began with {other:?} instead of a choice"),
                }
            }
            Op::Arrive { call, .. } => {
                Effect::Arrived { place: self.arrivals.of(call.communicator, call.member).len() as u32 }
            }
            Op::Send { mailbox, .. } => {
                Effect::SendStarted { mailbox: *mailbox, rank: self.mailboxes[*mailbox as usize].sends.len() as u32 }
            }
            Op::Receive { mailbox } => Effect::ReceiveStarted {
                mailbox: *mailbox,
                rank: self.mailboxes[*mailbox as usize].receives.len() as u32,
            },
            Op::Lock { mutex } => {
                Effect::LockRequested { mutex: *mutex, rank: self.mutexes[*mutex as usize].locks.len() as u32 }
            }
            Op::Unlock { of } => {
                let (mutex, rank) = self.request(self.own_step(process, *of));
                Effect::Unlocked { mutex, rank }
            }
            Op::PortSend { port, from, .. } => {
                let row = self.ports[*port as usize].sends.get(*from as usize);
                let number = row.map_or(0, |row| row.len() as u32);
                Effect::PortSendStarted { port: *port, message: Message { from: *from, number } }
            }
            Op::PortReceive { port, .. } => {
                Effect::PortReceiveStarted { port: *port, index: self.ports[*port as usize].receives.len() as u32 }
            }
            Op::Match => {
                let (port, index) = self.receive_of_matcher(process);
                Effect::Matched { port, index, message: Message::from_branch(branch.0) }
            }
            Op::Wait { of, .. } if (k as usize) < of.len() => Effect::Completed { k },
            Op::Wait { .. } => Effect::Incomplete,
            Op::MutexWait { of, .. } if (k as usize) < of.len() => Effect::Owned { k },
            Op::MutexWait { .. } => Effect::NotOwned,
            Op::Done | Op::Failed { .. } => unreachable!("a process that has ended takes no step"),
        }
    }

    /// Returns the answer to a process's operation.
    pub(crate) fn answer(&self, process: u32, op: &Op, effect: Effect) -> IdentifiedAnswer {
        let (answer, payload_id) = match (effect, op) {
            (Effect::Completed { k }, Op::Wait { of, .. }) => {
                let step = self.own_step(process, of[k as usize]);
                if let Op::Arrive { call, .. } = &**self.histories.op(self.steps[step].node) {
                    return self.gathered(k, step, call);
                }
                let Some(partner) = self.partner(step) else {
                    return IdentifiedAnswer {
                        answer: Answer::Ready { k, from: NO_NODE },
                        payload_id: Name::ROOT,
                        gathered: None,
                    };
                };
                let record = &self.steps[partner];
                let sender = &self.processes[record.process as usize];
                let identity = sender.name.child(record.index);
                match record.effect {
                    // Payloads of lists of operations are never inspected; only the identity of the send can matter.
                    Effect::SendStarted { .. } if self.histories.remaining_ops(record.node).is_some() => {
                        (Answer::Ready { k, from: record.node }, identity)
                    }
                    Effect::SendStarted { .. } | Effect::PortSendStarted { .. } => {
                        (Answer::Ready { k, from: record.node }, identity.mixed(self.histories.hash(record.node).0))
                    }
                    _ => (Answer::Ready { k, from: NO_NODE }, Name::ROOT),
                }
            }
            (Effect::Owned { k } | Effect::Chosen { k } | Effect::Learnt { k }, _) => {
                (Answer::Ready { k, from: NO_NODE }, Name::ROOT)
            }
            (Effect::Incomplete | Effect::NotOwned, _) => (Answer::NotYet, Name::ROOT),
            _ => (Answer::Done, Name::ROOT),
        };
        IdentifiedAnswer { answer, payload_id, gathered: None }
    }

    /// Returns the answer to a wait or test whose `k`-th entry is a complete collective call.
    fn gathered(&self, k: u32, arrival: usize, call: &CollectiveCall) -> IdentifiedAnswer {
        let place = self.place_of(arrival) as usize;
        let (mut key, mut payload_id) = (Name::ROOT.mixed(0x6a7).mixed(u64::from(k)), Name::ROOT);
        let nodes = call.reads.iter().map(|&member| {
            let record = &self.steps[self.arrivals.of(call.communicator, member)[place] as usize];
            let sender = &self.processes[record.process as usize];
            key = key.mixed(u64::from(record.node));
            payload_id = payload_id.mixed(sender.name.child(record.index).0).mixed(self.histories.hash(record.node).0);
            record.node
        });
        let gathered = Some(nodes.collect());
        IdentifiedAnswer { answer: Answer::Gathered { k, key: key.0 }, payload_id, gathered }
    }

    /// Returns the steps that an effect requires: the preceding step of the process, and the steps that a wait waits for.
    /// (A test can be executed earlier with another result, so the steps it observes are conflicts instead.)
    pub(crate) fn causes_of(&self, process: u32, op: &Op, effect: Effect) -> SmallVec<[u32; 4]> {
        let mut causes: SmallVec<[u32; 4]> = self.preceding_step(process).map(|step| step as u32).into_iter().collect();
        match (op, effect) {
            (Op::Wait { of, mode: WaitMode::Wait | WaitMode::Poll }, Effect::Completed { k }) => {
                let completing = self.completing_steps(self.own_step(process, of[k as usize]));
                causes.extend(completing.into_iter().flatten());
            }
            (Op::LearnChoice { process }, _) => causes.push(self.processes[*process as usize].steps[0]),
            (Op::Match, Effect::Matched { port, index, message }) => {
                causes.extend(self.ports[port as usize].required_steps(index, message).expect("it can be taken"));
            }
            (Op::MutexWait { of, test: false }, Effect::Owned { k }) => {
                let (mutex, rank) = self.request(self.own_step(process, of[k as usize]));
                causes.extend(self.mutexes[mutex as usize].unlocks[..rank as usize].iter().flatten().copied());
            }
            _ => {}
        }
        causes
    }

    /// Returns the panic message and location of a process that failed.
    pub(crate) fn failure(&self, node: u32) -> Option<(String, Option<String>)> {
        match &**self.histories.op(node) {
            Op::Failed { message, place } => Some((message.clone(), place.clone())),
            _ => None,
        }
    }

    pub(crate) fn has_failed(&self, node: u32) -> bool {
        matches!(&**self.histories.op(node), Op::Failed { .. })
    }

    pub(crate) fn apply(&mut self, process: u32, op: &Op, effect: Effect) {
        let at = self.steps.len() as u32;
        match effect {
            Effect::SendStarted { mailbox, .. } => self.mailboxes[mailbox as usize].sends.push(at),
            Effect::ReceiveStarted { mailbox, .. } => self.mailboxes[mailbox as usize].receives.push(at),
            Effect::LockRequested { mutex, .. } => {
                self.mutexes[mutex as usize].locks.push(at);
                self.mutexes[mutex as usize].unlocks.push(None);
            }
            Effect::Unlocked { mutex, rank } => self.mutexes[mutex as usize].unlocks[rank as usize] = Some(at),
            Effect::Matched { port, index, message } => self.set_match(port, index, message, Some(at)),
            _ => {}
        }
        match op {
            Op::Create { body } => self.start_process(*body, Some(at)),
            Op::Arrive { call, .. } => self.arrivals.push(call, at),
            Op::PortSend { port, from, envelope, .. } => {
                let rows = &mut self.ports[*port as usize].sends;
                rows.resize_with(rows.len().max(*from as usize + 1), Vec::new);
                rows[*from as usize].push(PortSend { step: at, envelope: *envelope, matched_by: None });
            }
            Op::PortReceive { port, filter, is_probe } => {
                let receive = PortReceive { step: at, is_probe: *is_probe, filter: *filter, matched_by: None };
                self.ports[*port as usize].receives.push(receive);
                let name = self.event(process, self.processes[process as usize].steps.len() as u32, Branch::FIRST);
                self.start_process_as(name.mixed(0x3ee7), self.matcher_body, Some(at));
            }
            _ => {}
        }
        self.processes[process as usize].steps.push(at);
    }

    pub(crate) fn undo(&mut self, record: &StepRecord) {
        match record.effect {
            Effect::SendStarted { mailbox, .. } => drop(self.mailboxes[mailbox as usize].sends.pop()),
            Effect::ReceiveStarted { mailbox, .. } => drop(self.mailboxes[mailbox as usize].receives.pop()),
            Effect::LockRequested { mutex, .. } => {
                self.mutexes[mutex as usize].locks.pop();
                self.mutexes[mutex as usize].unlocks.pop();
            }
            Effect::Unlocked { mutex, rank } => self.mutexes[mutex as usize].unlocks[rank as usize] = None,
            Effect::Matched { port, index, message } => self.set_match(port, index, message, None),
            Effect::PortSendStarted { port, message } => {
                self.ports[port as usize].sends[message.from as usize].pop();
            }
            Effect::PortReceiveStarted { port, .. } => {
                self.ports[port as usize].receives.pop();
                self.processes.pop();
            }
            _ => {}
        }
        match &**self.histories.op(record.node) {
            Op::Create { .. } => drop(self.processes.pop()),
            Op::Arrive { call, .. } => self.arrivals.pop(call),
            _ => {}
        }
        let process = &mut self.processes[record.process as usize];
        process.steps.pop();
        process.node = record.node;
        self.problems -= usize::from(record.fails);
    }

    fn set_match(&mut self, port: u32, index: u32, message: Message, matched_by: Option<u32>) {
        let port = &mut self.ports[port as usize];
        let receive = &mut port.receives[index as usize];
        receive.matched_by = matched_by;
        if receive.is_probe {
            return;
        }
        port.sends[message.from as usize][message.number as usize].matched_by = matched_by;
    }
}
