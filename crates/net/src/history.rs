//! Histories of processes: the operation that each process requests after each sequence of answers.
//!
//! A process is deterministic: its next operation depends only on the answers it has received. So the machine keeps a
//! tree for each process, in which each node holds an operation and each edge is an answer to it. The state of a
//! process is a node of its tree. Undoing a step moves the process to an earlier node, and an answer that was given
//! before at the same node leads to an existing node, without running any code. Only a new answer runs the process. Its
//! suspended future is kept with the node at which it stopped; if it stopped at a different node, a new future is
//! created and fed the answers on the path from the root. Operations on that path are not executed again, only compared
//! with those in the tree.
//!
//! The memory of the trees is limited. When the limit is exceeded, all nodes are discarded except those that belong to
//! the current execution (`memory.rs`); they are computed again when needed.

use crate::memory::Budget;
use crate::op::{Answer, NO_NODE, Op};
use crate::panics;
use crate::process::{BodyFactory, CallReply, Place, ProcessCall, ProcessLink};
use rustc_hash::FxHashMap;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use whippet_model::{MachineError, Name};

/// The code of one process.
pub(crate) enum ProcessBody {
    /// A list of operations.
    Script(Rc<[Rc<Op>]>),
    /// An async function, and its suspended future with the node at which it stopped.
    Async { factory: BodyFactory, suspended: Option<(u32, Suspended)> },
}

/// A suspended process.
pub(crate) struct Suspended {
    future: Pin<Box<dyn Future<Output = ()>>>,
    link: Rc<ProcessLink>,
}

pub(crate) struct HistoryNode {
    pub(crate) op: Rc<Op>,
    /// The source position of the operation, if the process is an async function.
    place: Place,
    /// The process, or [`NO_NODE`] if the node was discarded.
    pub(crate) body: u32,
    pub(crate) parent: u32,
    /// The number of operations that the process has executed.
    index: u32,
    /// The answer that led here from the parent.
    pub(crate) answer: Answer,
    /// The nodes whose payloads the answer brought, if it completed a collective operation.
    pub(crate) gathered: Option<Rc<[u32]>>,
    /// A hash of all answers up to here.
    hash: Name,
}

/// The answer to an operation, with what identifies the values that it brings.
pub(crate) struct IdentifiedAnswer {
    pub(crate) answer: Answer,
    pub(crate) payload_id: Name,
    /// The nodes whose payloads a complete collective operation brings.
    pub(crate) gathered: Option<Rc<[u32]>>,
}

/// A process: its stable name, its label in reports, and its code.
pub(crate) struct LabelledBody {
    name: Name,
    label: String,
    /// The source position of its creation as `file:line`, if it is known.
    place: Option<String>,
    pub(crate) body: ProcessBody,
}

/// An operation and its source position.
type PlacedOp = (Rc<Op>, Place);

/// The trees of all processes.
#[derive(Default)]
pub(crate) struct Histories {
    pub(crate) nodes: Vec<HistoryNode>,
    pub(crate) children: FxHashMap<(u32, u64), u32>,
    pub(crate) bodies: Vec<LabelledBody>,
    pub(crate) roots: Vec<u32>,
    /// The number of times that user code was run.
    pub(crate) runs: u64,
    pub(crate) budget: Budget,
}

impl Histories {
    /// Adds a process and creates its root node, which holds its first operation.
    pub(crate) fn add(
        &mut self,
        name: Name,
        label: String,
        place: Option<String>,
        body: ProcessBody,
    ) -> Result<u32, MachineError> {
        let no = self.new_body(LabelledBody { name, label, place, body });
        let (op, place) = self.first_op(no)?;
        let hash = Name::ROOT.mixed(77);
        self.roots[no as usize] = self.new_node(HistoryNode {
            op,
            place,
            body: no,
            parent: NO_NODE,
            index: 0,
            answer: Answer::Done,
            gathered: None,
            hash,
        });
        if let ProcessBody::Async { suspended: Some((at, _)), .. } = &mut self.bodies[no as usize].body {
            *at = self.roots[no as usize];
        }
        Ok(no)
    }

    pub(crate) fn root(&self, body: u32) -> u32 {
        self.roots[body as usize]
    }

    pub(crate) fn name(&self, body: u32) -> Name {
        self.bodies[body as usize].name
    }

    pub(crate) fn label(&self, body: u32) -> &str {
        &self.bodies[body as usize].label
    }

    /// Returns the source position of a process's creation.
    pub(crate) fn creation_place(&self, body: u32) -> Option<String> {
        self.bodies[body as usize].place.clone()
    }

    /// Returns the source position of the operation at a node. The operations of a list are on the line of their
    /// process.
    pub(crate) fn place(&self, node: u32) -> Option<String> {
        let node = &self.nodes[node as usize];
        let body = &self.bodies[node.body as usize];
        match body.body {
            ProcessBody::Script(_) => body.place.clone(),
            ProcessBody::Async { .. } => node.place.map(place_text),
        }
    }

    pub(crate) fn op(&self, node: u32) -> &Rc<Op> {
        &self.nodes[node as usize].op
    }

    pub(crate) fn index(&self, node: u32) -> u32 {
        self.nodes[node as usize].index
    }

    /// Returns a hash of all answers that the process has received. For lists of operations, these are the results of
    /// their tests and waits; for async functions, the hash also includes the histories of the senders.
    pub(crate) fn hash(&self, node: u32) -> Name {
        self.nodes[node as usize].hash
    }

    /// Returns the remaining operations of a process given as a list, the current one first.
    pub(crate) fn remaining_ops(&self, node: u32) -> Option<&[Rc<Op>]> {
        let node = &self.nodes[node as usize];
        match &self.bodies[node.body as usize].body {
            ProcessBody::Script(ops) => Some(&ops[(node.index as usize).min(ops.len())..]),
            ProcessBody::Async { .. } => None,
        }
    }

    /// Returns the node of a process after its operation at `node` was answered.
    pub(crate) fn advance(&mut self, node: u32, reply: IdentifiedAnswer) -> Result<u32, MachineError> {
        let IdentifiedAnswer { answer, payload_id, gathered } = reply;
        if let Some(&next) = self.children.get(&(node, answer.key())) {
            return Ok(next);
        }
        let (body, index) = (self.nodes[node as usize].body, self.nodes[node as usize].index);
        let (op, place) = self.next_op(node, answer, gathered.as_deref())?;
        let k = match answer {
            Answer::Done => 0,
            Answer::NotYet => 1,
            Answer::Ready { k, .. } | Answer::Gathered { k, .. } => 2 + u64::from(k),
        };
        let hash = self.nodes[node as usize].hash.mixed(k).mixed(payload_id.0);
        let next =
            self.new_node(HistoryNode { op, place, body, parent: node, index: index + 1, answer, gathered, hash });
        self.children.insert((node, answer.key()), next);
        if let ProcessBody::Async { suspended: Some((at, _)), .. } = &mut self.bodies[body as usize].body {
            *at = next;
        }
        Ok(next)
    }

    fn first_op(&mut self, body: u32) -> Result<PlacedOp, MachineError> {
        match &self.bodies[body as usize].body {
            ProcessBody::Script(ops) => Ok((ops.first().cloned().unwrap_or_else(|| Rc::new(Op::Done)), None)),
            ProcessBody::Async { .. } => {
                let (call, suspended) = self.start_future(body)?;
                let place = suspended.as_ref().and_then(|suspended| suspended.link.place());
                self.set_suspended(body, suspended.map(|suspended| (NO_NODE, suspended)));
                self.register(call, place)
            }
        }
    }

    /// Runs a process from `node` to its next operation.
    fn next_op(&mut self, node: u32, answer: Answer, gathered: Option<&[u32]>) -> Result<PlacedOp, MachineError> {
        let body = self.nodes[node as usize].body;
        let suspended = match &mut self.bodies[body as usize].body {
            ProcessBody::Script(ops) => {
                let next = self.nodes[node as usize].index as usize + 1;
                return Ok((ops.get(next).cloned().unwrap_or_else(|| Rc::new(Op::Done)), None));
            }
            ProcessBody::Async { suspended, .. } => suspended.take(),
        };
        let suspended = match suspended {
            Some((at, suspended)) if at == node => suspended,
            _ => self.rebuild(body, node)?,
        };
        let (call, suspended) = self.resume(suspended, node, answer, gathered)?;
        let place = suspended.as_ref().and_then(|suspended| suspended.link.place());
        self.set_suspended(body, suspended.map(|suspended| (node, suspended)));
        self.register(call, place)
    }

    /// Recreates the future of a process at `node`.
    fn rebuild(&mut self, body: u32, node: u32) -> Result<Suspended, MachineError> {
        let mut path = Vec::new();
        let mut at = node;
        while at != NO_NODE {
            path.push(at);
            at = self.nodes[at as usize].parent;
        }
        path.reverse();
        let (call, mut suspended) = self.start_future(body)?;
        self.check_same(body, path[0], &call)?;
        for pair in path.windows(2) {
            let HistoryNode { answer, gathered, .. } = &self.nodes[pair[1] as usize];
            let (answer, gathered) = (*answer, gathered.clone());
            let current = suspended.take().expect("a process that went on has not ended");
            let (call, next) = self.resume(current, pair[0], answer, gathered.as_deref())?;
            self.check_same(body, pair[1], &call)?;
            suspended = next;
        }
        Ok(suspended.expect("a process that receives an answer has not ended"))
    }

    fn check_same(&self, body: u32, node: u32, call: &ProcessCall) -> Result<(), MachineError> {
        let same = match (&*self.nodes[node as usize].op, call) {
            (Op::Create { .. }, ProcessCall::Create(..)) => true,
            (before, ProcessCall::Op(now)) => before.is_like(now),
            _ => false,
        };
        if same {
            return Ok(());
        }
        Err(MachineError::Nondeterministic(format!(
            "{} executed a different operation as its action {} than before, although all earlier results were the same",
            self.bodies[body as usize].label, self.nodes[node as usize].index
        )))
    }

    fn start_future(&mut self, body: u32) -> Result<(ProcessCall, Option<Suspended>), MachineError> {
        let LabelledBody { name, body: ProcessBody::Async { factory, .. }, .. } = &self.bodies[body as usize] else {
            unreachable!("only async functions begin");
        };
        let (link, factory) = (Rc::new(ProcessLink::new(*name)), factory.clone());
        self.runs += 1;
        match panics::caught(|| link.during(|| factory())) {
            Ok(future) => poll(Suspended { future, link }),
            Err(failed) => Ok((ProcessCall::Op(failed), None)),
        }
    }

    fn resume(
        &mut self,
        suspended: Suspended,
        node: u32,
        answer: Answer,
        gathered: Option<&[u32]>,
    ) -> Result<(ProcessCall, Option<Suspended>), MachineError> {
        let value = match answer {
            Answer::Ready { from, .. } if from != NO_NODE => self.nodes[from as usize].op.value().cloned(),
            _ => None,
        };
        let values = gathered.unwrap_or_default().iter().map(|&from| self.nodes[from as usize].op.value().cloned());
        let values = values.collect();
        suspended.link.set_reply(CallReply { index: self.nodes[node as usize].index, answer, value, values });
        self.runs += 1;
        poll(suspended)
    }

    /// Converts a request of a process into an operation. If it creates a process, that process is added here.
    fn register(&mut self, call: ProcessCall, place: Place) -> Result<PlacedOp, MachineError> {
        let op = match call {
            ProcessCall::Op(op) => op,
            ProcessCall::Create(label, name, factory) => {
                let body = ProcessBody::Async { factory, suspended: None };
                Op::Create { body: self.add(name, label, place.map(place_text), body)? }
            }
        };
        Ok((Rc::new(op), place))
    }

    fn set_suspended(&mut self, body: u32, new: Option<(u32, Suspended)>) {
        if let ProcessBody::Async { suspended, .. } = &mut self.bodies[body as usize].body {
            *suspended = new;
        }
    }
}

/// Returns a source position as `file:line`.
pub(crate) fn place_text(place: &Location<'_>) -> String {
    format!("{}:{}", place.file(), place.line())
}

/// Runs a process to its next operation.
fn poll(mut suspended: Suspended) -> Result<(ProcessCall, Option<Suspended>), MachineError> {
    let mut context = Context::from_waker(Waker::noop());
    let polled = panics::caught(|| suspended.link.during(|| suspended.future.as_mut().poll(&mut context)));
    if let Some(why) = suspended.link.take_misuse() {
        return Err(MachineError::Misuse(why));
    }
    match polled {
        Err(failed) => Ok((ProcessCall::Op(failed), None)),
        Ok(Poll::Ready(())) => Ok((ProcessCall::Op(Op::Done), None)),
        Ok(Poll::Pending) => match suspended.link.take_call() {
            Some(call) => Ok((call, Some(suspended))),
            None => Err(MachineError::Misuse(
                "a process awaits a future that is not an operation of Whippet: only mailboxes, mutexes, communications and steps can be awaited".into(),
            )),
        },
    }
}
