//! The machine of mailbox-and-mutex programs.
//!
//! Matching is by rank: the k-th send on a mailbox is matched with its k-th receive, and a mutex is owned by the lowest
//! request that has not been released. So a mailbox is represented by two lists of steps, a mutex by two lists of
//! steps, and a step is undone by removing it from its list. The state of a process is a node of its [`Histories`].
//!
//! The effects of a step on these lists are in `state.rs`, and the ports of MPI programs in `port.rs`. The dependence
//! relation is defined in `relation.rs`, the extensions for the unfolding search are computed in `unfold.rs`, and steps
//! are described in `describe.rs`.

use crate::collective::Arrivals;
use crate::history::{Histories, ProcessBody};
use crate::net::MailboxRelation;
use crate::op::Op;
use crate::port::{Message, Port};
use crate::relation::touches;
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::{
    ActorNo, ActorState, Branch, Branches, Choice, Clocks, Dependence, Executed, Explain, Extension, FindingKind,
    Fingerprint, Foresight, KnownExtensions, Machine, MachineError, Name, Pending, Problem, Profile, Reversal,
    StateComparison, States, Step, StepDescription, Touch, capabilities,
};

/// The effect of a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A local computation, or the creation of a process.
    Local,
    /// The `k`-th alternative of a choice was taken.
    Chosen {
        k: u32,
    },
    SendStarted {
        mailbox: u32,
        rank: u32,
    },
    ReceiveStarted {
        mailbox: u32,
        rank: u32,
    },
    /// A wait or test found its `k`-th communication complete.
    Completed {
        k: u32,
    },
    /// A test found no communication complete.
    Incomplete,
    LockRequested {
        mutex: u32,
        rank: u32,
    },
    Unlocked {
        mutex: u32,
        rank: u32,
    },
    /// A wait or test found that the process owns its `k`-th mutex.
    Owned {
        k: u32,
    },
    /// A test found that the process owns none of the mutexes.
    NotOwned,
    /// A process learnt that another one chose the `k`-th alternative.
    Learnt {
        k: u32,
    },
    /// A message was sent to a port.
    PortSendStarted {
        port: u32,
        message: Message,
    },
    /// The `index`-th receive at a port was started.
    PortReceiveStarted {
        port: u32,
        index: u32,
    },
    /// A member of a communicator joined its `place`-th collective operation.
    Arrived {
        place: u32,
    },
    /// That receive was matched with that message.
    Matched {
        port: u32,
        index: u32,
        message: Message,
    },
}

/// The record of a step.
pub(crate) struct StepRecord {
    pub(crate) process: u32,
    /// The index of the step among those of its process.
    pub(crate) index: u32,
    /// The node of the process before the step.
    pub(crate) node: u32,
    pub(crate) branch: Branch,
    pub(crate) effect: Effect,
    /// Earlier steps without which this step would be impossible.
    pub(crate) causes: SmallVec<[u32; 4]>,
    pub(crate) touches_to: u32,
    pub(crate) fails: bool,
}

/// A process of the current execution.
pub(crate) struct ProcessState {
    pub(crate) name: Name,
    pub(crate) body: u32,
    pub(crate) node: u32,
    pub(crate) steps: Vec<u32>,
    /// The step that created the process.
    pub(crate) creator: Option<u32>,
}

/// The sends and receives of a mailbox, as steps indexed by rank.
#[derive(Clone, Default)]
pub(crate) struct MailboxState {
    pub(crate) sends: Vec<u32>,
    pub(crate) receives: Vec<u32>,
}

/// The requests for a mutex, as steps indexed by rank, and the step that released each.
#[derive(Clone, Default)]
pub(crate) struct MutexState {
    pub(crate) locks: Vec<u32>,
    pub(crate) unlocks: Vec<Option<u32>>,
}

/// The machine of one mailbox-and-mutex program.
///
/// ```
/// use whippet_model::{Explain, Machine, Program};
/// use whippet_net::{Net, NetMachine};
/// let mut machine: NetMachine = Net::parse("pair", "a: S0\nb: R0").unwrap().machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// assert_eq!(machine.describe(0).actor, "a");
/// ```
pub struct NetMachine {
    profile: Profile,
    pub(crate) histories: Histories,
    pub(crate) relation: MailboxRelation,
    pub(crate) processes: Vec<ProcessState>,
    pub(crate) mailboxes: Vec<MailboxState>,
    pub(crate) mutexes: Vec<MutexState>,
    pub(crate) ports: Vec<Port>,
    pub(crate) arrivals: Arrivals,
    /// The body of the auxiliary processes that match receives at ports.
    pub(crate) matcher_body: u32,
    pub(crate) mailbox_names: Vec<String>,
    pub(crate) mutex_names: Vec<String>,
    pub(crate) steps: Vec<StepRecord>,
    touches: Vec<Touch>,
    pub(crate) problems: usize,
}

whippet_model::opaque_debug!(NetMachine);

impl NetMachine {
    pub(crate) fn new(
        mut histories: Histories,
        bodies: &[u32],
        mailbox_names: Vec<String>,
        mutex_names: Vec<String>,
        ports: usize,
        relation: MailboxRelation,
    ) -> Result<NetMachine, MachineError> {
        let matcher = ProcessBody::Script([Rc::new(Op::Match)].into());
        let matcher_body = histories.add(Name::ROOT.mixed(0x3ee7), "the network".into(), None, matcher)?;
        let mut machine = NetMachine {
            profile: Profile::new(Dependence::Footprints, Branches::Listed),
            histories,
            relation,
            processes: Vec::new(),
            mailboxes: vec![MailboxState::default(); mailbox_names.len()],
            mutexes: vec![MutexState::default(); mutex_names.len()],
            ports: vec![Port::default(); ports],
            arrivals: Arrivals::default(),
            matcher_body,
            mailbox_names,
            mutex_names,
            steps: Vec::new(),
            touches: Vec::new(),
            problems: 0,
        };
        for &body in bodies {
            machine.start_process(body, None);
        }
        Ok(machine)
    }

    pub(crate) fn start_process(&mut self, body: u32, creator: Option<u32>) {
        self.start_process_as(self.histories.name(body), body, creator);
    }

    pub(crate) fn start_process_as(&mut self, name: Name, body: u32, creator: Option<u32>) {
        let node = self.histories.root(body);
        self.processes.push(ProcessState { name, body, node, steps: Vec::new(), creator });
    }
}

impl Machine for NetMachine {
    capabilities!(KnownExtensions, Foresight, Fingerprint, States);

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        for process in 0..self.processes.len() as u32 {
            self.branches(process, out);
        }
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        let process = choice.what.0;
        let node = self.processes[process as usize].node;
        let op = self.histories.op(node).clone();
        let effect = self.effect(process, &op, choice.branch);
        let reply = self.answer(process, &op, effect);
        let next = self.histories.advance(node, reply)?;
        let causes = self.causes_of(process, &op, effect);
        let mut touched = std::mem::take(&mut self.touches);
        touches(self, process, &op, effect, &mut touched);
        self.touches = touched;
        let index = self.processes[process as usize].steps.len() as u32;
        let fails =
            self.has_failed(next) || matches!(&*op, Op::Create { body } if self.has_failed(self.histories.root(*body)));
        self.apply(process, &op, effect);
        self.processes[process as usize].node = next;
        self.problems += usize::from(fails);
        let touches_to = self.touches.len() as u32;
        self.steps.push(StepRecord { process, index, node, branch: choice.branch, effect, causes, touches_to, fails });
        if self.histories.is_full() {
            let nodes = self.steps.iter().map(|step| step.node).chain(self.processes.iter().map(|p| p.node));
            self.histories.discard_except(nodes, [self.matcher_body].into_iter());
        }
        Ok(Executed::ONLY_BRANCH)
    }

    fn rewind(&mut self, depth: usize) {
        while self.steps.len() > depth {
            let record = self.steps.pop().expect("the loop checked");
            self.undo(&record);
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

    fn actors(&self) -> usize {
        self.processes.len()
    }
}

impl States for NetMachine {
    fn of_actors(&mut self, out: &mut Vec<ActorState>) {
        out.extend(self.process_states());
    }

    fn of_pending(&mut self, _: Pending) -> Option<(String, String)> {
        None
    }
}

impl Explain for NetMachine {
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        let record = &self.steps[at];
        if !record.fails {
            return None;
        }
        // The process failed after the step, or a process that the step created failed at once, or both.
        let process = &self.processes[record.process as usize];
        let next = process.steps.get(record.index as usize + 1).map(|&step| self.steps[step as usize].node);
        let created = self.processes.iter().filter(|p| p.creator == Some(at as u32));
        let nodes = [next.unwrap_or(process.node)].into_iter().chain(created.map(|p| self.histories.root(p.body)));
        let (messages, places): (Vec<_>, Vec<_>) = nodes.filter_map(|node| self.failure(node)).unzip();
        let (message, place) = (messages.join("; "), places.into_iter().flatten().next());
        let key = Name::ROOT.mixed(0xfa11).mixed(self.event(record.process, record.index, Branch::FIRST).0);
        Some(Problem::new(FindingKind::Panic, message, key).with_place(place).with_steps(vec![at]))
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.deadlock(out);
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.step_text(at)
    }

    fn handler_runs(&self) -> u64 {
        self.histories.runs
    }
}

impl KnownExtensions for NetMachine {
    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<(), MachineError> {
        self.extend(clocks, out)
    }
}

impl Foresight for NetMachine {
    fn without(&self, _: &Clocks, _: usize, _: usize) -> Reversal {
        Reversal::Unknown
    }

    fn early_alternatives(&self, _: usize, _: &mut Vec<usize>) {}

    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        self.later_branches(at, out);
    }
}

impl Fingerprint for NetMachine {
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        if !comparison.merges_final() {
            let why = "comparisons like Basset's are for native actors: choose `canonical`";
            return Err(MachineError::Unsupported(why.into()));
        }
        // The hash covers the history of each process, and the ranks of its sends, receives and requests. It is a sum,
        // so it does not depend on the order of steps.
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
            let (place, rank) = match record.effect {
                Effect::SendStarted { mailbox, rank } => (u64::from(mailbox) << 2, rank),
                Effect::ReceiveStarted { mailbox, rank } => (u64::from(mailbox) << 2 | 1, rank),
                Effect::LockRequested { mutex, rank } => (u64::from(mutex) << 2 | 2, rank),
                // The event includes which receive was matched with which message.
                Effect::Matched { port, index, .. } => (u64::from(port) << 2 | 3, index),
                _ => continue,
            };
            let released = matches!(record.effect, Effect::LockRequested { mutex, rank }
                if self.mutexes[mutex as usize].unlocks[rank as usize].is_some());
            let name = self.step(step).event.mixed(place).mixed(u64::from(rank) << 1 | u64::from(released));
            add(name);
        }
        Ok(u128::from(sum[0]) << 64 | u128::from(sum[1]))
    }
}
