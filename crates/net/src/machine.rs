//! The machine of mailbox-and-mutex programs.
//!
//! Matching is by rank: the k-th send on a mailbox meets its k-th receive, and a mutex belongs to the lowest
//! request that has not been given up. So a mailbox is two lists of steps, a mutex is two lists of steps, and a
//! step is taken back by taking it off its list. A process is a node of its [`Histories`].
//!
//! Which steps are dependent is said in `relation.rs`, what the unfolding search asks in `unfold.rs`, the words in
//! `words.rs`.

use crate::history::Histories;
use crate::net::Dependence;
use crate::op::{Answer, NOWHERE, Op};
use crate::relation::touches;
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Extension, Kind, Machine, MachineError, Name, Pending, Problem,
    Relation, Step, StepText, Touch,
};

/// What happened at a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A local computation, or the creation of a process.
    Local,
    Sent {
        mailbox: u32,
        rank: u32,
    },
    Received {
        mailbox: u32,
        rank: u32,
    },
    /// A wait or test found its `k`-th communication complete.
    Completed {
        k: u32,
    },
    /// A test found no communication complete.
    Incomplete,
    Locked {
        mutex: u32,
        rank: u32,
    },
    Unlocked {
        mutex: u32,
        rank: u32,
    },
    /// A wait or test found its `k`-th mutex its own.
    Owned {
        k: u32,
    },
    /// A test found no mutex its own.
    NotOwned,
}

/// A step taken.
pub(crate) struct Record {
    pub(crate) process: u32,
    /// Which of the process's steps it is.
    pub(crate) index: u32,
    /// Where the process was.
    pub(crate) node: u32,
    pub(crate) branch: Branch,
    pub(crate) deed: Deed,
    /// Earlier steps without which this one is impossible.
    pub(crate) causes: SmallVec<[u32; 4]>,
    touches_to: u32,
    fails: bool,
}

/// A process of the current execution.
pub(crate) struct Process {
    pub(crate) name: Name,
    pub(crate) body: u32,
    pub(crate) node: u32,
    pub(crate) steps: Vec<u32>,
    /// The step that created it.
    pub(crate) creator: Option<u32>,
}

/// Steps by rank.
#[derive(Clone, Default)]
pub(crate) struct Mailbox {
    pub(crate) sends: Vec<u32>,
    pub(crate) receives: Vec<u32>,
}

/// The requests by rank, and the step that gave each up.
#[derive(Clone, Default)]
pub(crate) struct Mutex {
    pub(crate) locks: Vec<u32>,
    pub(crate) unlocks: Vec<Option<u32>>,
}

/// Runs one mailbox-and-mutex program.
pub struct NetMachine {
    pub(crate) histories: Histories,
    pub(crate) dependence: Dependence,
    pub(crate) processes: Vec<Process>,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) mutexes: Vec<Mutex>,
    pub(crate) mailbox_names: Vec<String>,
    pub(crate) mutex_names: Vec<String>,
    pub(crate) steps: Vec<Record>,
    touches: Vec<Touch>,
    problems: usize,
}

impl NetMachine {
    pub(crate) fn new(
        histories: Histories,
        bodies: &[u32],
        mailbox_names: Vec<String>,
        mutex_names: Vec<String>,
        dependence: Dependence,
    ) -> NetMachine {
        let mut machine = NetMachine {
            histories,
            dependence,
            processes: Vec::new(),
            mailboxes: vec![Mailbox::default(); mailbox_names.len()],
            mutexes: vec![Mutex::default(); mutex_names.len()],
            mailbox_names,
            mutex_names,
            steps: Vec::new(),
            touches: Vec::new(),
            problems: 0,
        };
        for &body in bodies {
            machine.begin(body, None);
        }
        machine
    }

    fn begin(&mut self, body: u32, creator: Option<u32>) {
        let (name, node) = (self.histories.name(body), self.histories.root(body));
        self.processes.push(Process { name, body, node, steps: Vec::new(), creator });
    }

    // ---- the state, as questions about steps ------------------------------------------------------

    /// The operation that a process is at.
    pub(crate) fn op(&self, process: u32) -> &Rc<Op> {
        self.histories.op(self.processes[process as usize].node)
    }

    /// The step that a process took as its `index`-th.
    pub(crate) fn own(&self, process: u32, index: u32) -> usize {
        self.processes[process as usize].steps[index as usize] as usize
    }

    /// The step that the communication begun by a step met, if any.
    pub(crate) fn partner(&self, communication: usize) -> Option<usize> {
        let (list, rank) = match self.steps[communication].deed {
            Deed::Sent { mailbox, rank } => (&self.mailboxes[mailbox as usize].receives, rank),
            Deed::Received { mailbox, rank } => (&self.mailboxes[mailbox as usize].sends, rank),
            other => unreachable!("a process waits for communications only, not for {other:?}"),
        };
        list.get(rank as usize).map(|&step| step as usize)
    }

    /// The mutex and the rank of the request made by a step.
    pub(crate) fn request(&self, step: usize) -> (u32, u32) {
        match self.steps[step].deed {
            Deed::Locked { mutex, rank } => (mutex, rank),
            other => unreachable!("a process waits for requests only, not for {other:?}"),
        }
    }

    /// Whether the request made by a step is the first in its queue.
    pub(crate) fn owns(&self, step: usize) -> bool {
        let (mutex, rank) = self.request(step);
        self.mutexes[mutex as usize].unlocks[..rank as usize].iter().all(Option::is_some)
    }

    /// The last step before a process's next one.
    pub(crate) fn before(&self, process: u32) -> Option<usize> {
        let process = &self.processes[process as usize];
        process.steps.last().or(process.creator.as_ref()).map(|&step| step as usize)
    }

    pub(crate) fn event(&self, process: u32, index: u32, branch: Branch) -> Name {
        self.processes[process as usize].name.mixed(0x65).child(index).mixed(branch.0)
    }

    // ---- one step ---------------------------------------------------------------------------------

    /// Appends the ways that a process can go now.
    fn ways(&self, process: u32, out: &mut Vec<Choice>) {
        let mut way = |k: usize| out.push(Choice { what: Pending(process), branch: Branch(k as u64) });
        let (of, test, ready): (_, _, &dyn Fn(usize) -> bool) = match &**self.op(process) {
            Op::Done | Op::Failed { .. } => return,
            Op::Wait { of, test } => (of, *test, &|step| self.partner(step).is_some()),
            Op::MutexWait { of, test } => (of, *test, &|step| self.owns(step)),
            _ => return way(0),
        };
        let ready = |&k: &usize| ready(self.own(process, of[k]));
        let none = match self.dependence {
            Dependence::Ranked => (0..of.len()).filter(ready).map(&mut way).count() == 0,
            // As printed, waits and tests do not tell what they found: it is what was there first.
            Dependence::Paper => {
                let first = (0..of.len()).filter(ready).min_by_key(|&k| self.since(self.own(process, of[k])));
                first.map(&mut way).is_none()
            }
        };
        if none && test {
            way(of.len());
        }
    }

    /// The step that completed the communication, or made the request the first, of a step.
    fn since(&self, step: usize) -> usize {
        match self.steps[step].deed {
            Deed::Locked { mutex, rank } => {
                let before = self.mutexes[mutex as usize].unlocks[..rank as usize].iter().flatten();
                before.max().map_or(step, |&u| step.max(u as usize))
            }
            _ => self.partner(step).map_or(step, |partner| step.max(partner)),
        }
    }

    /// What a process does if it goes this way.
    pub(crate) fn deed(&self, process: u32, op: &Op, branch: Branch) -> Deed {
        let k = branch.0 as u32;
        match op {
            Op::Local(_) | Op::Create { .. } => Deed::Local,
            Op::Send { mailbox, .. } => {
                Deed::Sent { mailbox: *mailbox, rank: self.mailboxes[*mailbox as usize].sends.len() as u32 }
            }
            Op::Receive { mailbox } => {
                Deed::Received { mailbox: *mailbox, rank: self.mailboxes[*mailbox as usize].receives.len() as u32 }
            }
            Op::Lock { mutex } => {
                Deed::Locked { mutex: *mutex, rank: self.mutexes[*mutex as usize].locks.len() as u32 }
            }
            Op::Unlock { of } => {
                let (mutex, rank) = self.request(self.own(process, *of));
                Deed::Unlocked { mutex, rank }
            }
            Op::Wait { of, .. } if (k as usize) < of.len() => Deed::Completed { k },
            Op::Wait { .. } => Deed::Incomplete,
            Op::MutexWait { of, .. } if (k as usize) < of.len() => Deed::Owned { k },
            Op::MutexWait { .. } => Deed::NotOwned,
            Op::Done | Op::Failed { .. } => unreachable!("a process that has ended takes no step"),
        }
    }

    /// What a process learns from its deed, and a name for what that brings.
    fn answer(&self, process: u32, op: &Op, deed: Deed) -> (Answer, Name) {
        match (deed, op) {
            (Deed::Completed { k }, Op::Wait { of, .. }) => {
                let partner = self.partner(self.own(process, of[k as usize])).expect("it is complete");
                let record = &self.steps[partner];
                let sender = &self.processes[record.process as usize];
                let identity = sender.name.child(record.index);
                match record.deed {
                    // What a list of operations sends is not looked at; only who sent it can matter.
                    Deed::Sent { .. } if self.histories.ahead(record.node).is_some() => {
                        (Answer::Ready { k, from: record.node }, identity)
                    }
                    Deed::Sent { .. } => {
                        (Answer::Ready { k, from: record.node }, identity.mixed(self.histories.hash(record.node).0))
                    }
                    _ => (Answer::Ready { k, from: NOWHERE }, Name::ROOT),
                }
            }
            (Deed::Owned { k }, _) => (Answer::Ready { k, from: NOWHERE }, Name::ROOT),
            (Deed::Incomplete | Deed::NotOwned, _) => (Answer::NotYet, Name::ROOT),
            _ => (Answer::Done, Name::ROOT),
        }
    }

    /// The steps that a deed needs: the process's step before, and what a wait waits for. (A test can come earlier
    /// with another result, so what it sees is a conflict.)
    fn causes(&self, process: u32, op: &Op, deed: Deed) -> SmallVec<[u32; 4]> {
        let mut causes: SmallVec<[u32; 4]> = self.before(process).map(|step| step as u32).into_iter().collect();
        match (op, deed) {
            (Op::Wait { of, test: false }, Deed::Completed { k }) => {
                causes.extend(self.partner(self.own(process, of[k as usize])).map(|step| step as u32));
            }
            (Op::MutexWait { of, test: false }, Deed::Owned { k }) => {
                let (mutex, rank) = self.request(self.own(process, of[k as usize]));
                causes.extend(self.mutexes[mutex as usize].unlocks[..rank as usize].iter().flatten().copied());
            }
            _ => {}
        }
        causes
    }

    /// What went wrong in a process that failed.
    pub(crate) fn failure(&self, node: u32) -> Option<(String, Option<String>)> {
        match &**self.histories.op(node) {
            Op::Failed { message, place } => Some((message.clone(), place.clone())),
            _ => None,
        }
    }

    fn fails(&self, node: u32) -> bool {
        matches!(&**self.histories.op(node), Op::Failed { .. })
    }

    fn enter(&mut self, process: u32, op: &Op, deed: Deed) {
        let at = self.steps.len() as u32;
        match deed {
            Deed::Sent { mailbox, .. } => self.mailboxes[mailbox as usize].sends.push(at),
            Deed::Received { mailbox, .. } => self.mailboxes[mailbox as usize].receives.push(at),
            Deed::Locked { mutex, .. } => {
                self.mutexes[mutex as usize].locks.push(at);
                self.mutexes[mutex as usize].unlocks.push(None);
            }
            Deed::Unlocked { mutex, rank } => self.mutexes[mutex as usize].unlocks[rank as usize] = Some(at),
            _ => {}
        }
        if let Op::Create { body } = op {
            self.begin(*body, Some(at));
        }
        self.processes[process as usize].steps.push(at);
    }

    fn leave(&mut self, record: &Record) {
        match record.deed {
            Deed::Sent { mailbox, .. } => drop(self.mailboxes[mailbox as usize].sends.pop()),
            Deed::Received { mailbox, .. } => drop(self.mailboxes[mailbox as usize].receives.pop()),
            Deed::Locked { mutex, .. } => {
                self.mutexes[mutex as usize].locks.pop();
                self.mutexes[mutex as usize].unlocks.pop();
            }
            Deed::Unlocked { mutex, rank } => self.mutexes[mutex as usize].unlocks[rank as usize] = None,
            _ => {}
        }
        if let Op::Create { .. } = &**self.histories.op(record.node) {
            self.processes.pop();
        }
        let process = &mut self.processes[record.process as usize];
        process.steps.pop();
        process.node = record.node;
        self.problems -= usize::from(record.fails);
    }
}

impl Machine for NetMachine {
    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        for process in 0..self.processes.len() as u32 {
            self.ways(process, out);
        }
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        let process = choice.what.0;
        let node = self.processes[process as usize].node;
        let op = self.histories.op(node).clone();
        let deed = self.deed(process, &op, choice.branch);
        let (answer, brought) = self.answer(process, &op, deed);
        let next = self.histories.advance(node, answer, brought)?;
        let causes = self.causes(process, &op, deed);
        let mut touched = std::mem::take(&mut self.touches);
        touches(self, process, &op, deed, &mut touched);
        self.touches = touched;
        let index = self.processes[process as usize].steps.len() as u32;
        let fails = self.fails(next) || matches!(&*op, Op::Create { body } if self.fails(self.histories.root(*body)));
        self.enter(process, &op, deed);
        self.processes[process as usize].node = next;
        self.problems += usize::from(fails);
        let touches_to = self.touches.len() as u32;
        self.steps.push(Record { process, index, node, branch: choice.branch, deed, causes, touches_to, fails });
        Ok(())
    }

    fn rewind(&mut self, depth: usize) {
        while self.steps.len() > depth {
            let record = self.steps.pop().expect("the loop checked");
            self.leave(&record);
        }
        self.touches.truncate(self.steps.last().map_or(0, |s| s.touches_to as usize));
    }

    fn thread(&self, what: Pending) -> Name {
        self.processes[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(what.0)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let no = self.processes.iter().position(|p| p.name == thread)? as u32;
        (!self.op(no).is_end()).then_some(Pending(no))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend((0..self.processes.len() as u32).filter(|&p| !self.op(p).is_end()).map(Pending));
    }

    fn relation(&self) -> Relation {
        Relation::Footprints
    }

    fn step(&self, at: usize) -> Step {
        let record = &self.steps[at];
        Step {
            choice: Choice { what: Pending(record.process), branch: record.branch },
            thread: self.processes[record.process as usize].name,
            event: self.event(record.process, record.index, record.branch),
            actor: ActorNo(record.process),
        }
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        out.extend(self.steps[at].causes.iter().map(|&step| step as usize));
    }

    fn sent(&self, at: usize) -> std::ops::Range<u32> {
        let created = self.processes.iter().position(|p| p.creator == Some(at as u32));
        created.map_or(0..0, |no| no as u32..no as u32 + 1)
    }

    fn touches(&self, at: usize) -> &[Touch] {
        let from = if at == 0 { 0 } else { self.steps[at - 1].touches_to };
        &self.touches[from as usize..self.steps[at].touches_to as usize]
    }

    fn missed(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        self.missed_ways(at, out);
    }

    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<(), MachineError> {
        self.extend(clocks, out)
    }

    fn actors(&self) -> usize {
        self.processes.len()
    }

    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        let record = &self.steps[at];
        if !record.fails {
            return None;
        }
        // The node after the step; a created process may have failed at once.
        let failed = [self.processes[record.process as usize].node]
            .into_iter()
            .chain(self.processes.iter().filter(|p| p.creator == Some(at as u32)).map(|p| p.node))
            .find_map(|node| self.failure(node))?;
        let key = Name::ROOT.mixed(0xfa11).mixed(self.event(record.process, record.index, Branch::FIRST).0);
        Some(Problem { kind: Kind::Panic, message: failed.0, place: failed.1, key, steps: vec![at], warning: false })
    }

    fn ending(&mut self, out: &mut Vec<Problem>) {
        self.deadlock(out);
    }

    fn describe(&mut self, at: usize) -> StepText {
        self.text(at)
    }

    fn fingerprint(&mut self, _: Comparison) -> Result<u128, MachineError> {
        // What each process knows, and who stands where in the queues. Sums do not depend on any order.
        let mut sum = [0u64; 2];
        let mut add = |name: Name| {
            sum[0] = sum[0].wrapping_add(name.mixed(11).0);
            sum[1] = sum[1].wrapping_add(name.mixed(13).0);
        };
        for process in &self.processes {
            let index = u64::from(self.histories.index(process.node));
            add(process.name.mixed(index).mixed(self.histories.hash(process.node).0));
        }
        for (step, record) in self.steps.iter().enumerate() {
            let (place, rank) = match record.deed {
                Deed::Sent { mailbox, rank } => (u64::from(mailbox) << 2, rank),
                Deed::Received { mailbox, rank } => (u64::from(mailbox) << 2 | 1, rank),
                Deed::Locked { mutex, rank } => (u64::from(mutex) << 2 | 2, rank),
                _ => continue,
            };
            let released = matches!(record.deed, Deed::Locked { mutex, rank }
                if self.mutexes[mutex as usize].unlocks[rank as usize].is_some());
            let name = self.step(step).event.mixed(place).mixed(u64::from(rank) << 1 | u64::from(released));
            add(name);
        }
        Ok(u128::from(sum[0]) << 64 | u128::from(sum[1]))
    }

    fn handler_runs(&self) -> u64 {
        self.histories.runs
    }
}
