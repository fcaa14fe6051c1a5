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
//! the current execution (`forget.rs`); they are computed again when needed.

use crate::forget::Budget;
use crate::op::{Answer, NOWHERE, Op};
use crate::panics;
use crate::process::{Asked, Link, Reply, Start};
use rustc_hash::FxHashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use whippet_model::{MachineError, Name};

/// The code of one process.
pub(crate) enum Body {
    /// A list of operations.
    Script(Rc<[Rc<Op>]>),
    /// An async function, and its suspended future with the node at which it stopped.
    Async { start: Start, live: Option<(u32, Live)> },
}

/// A suspended process.
pub(crate) struct Live {
    future: Pin<Box<dyn Future<Output = ()>>>,
    link: Rc<Link>,
}

pub(crate) struct Node {
    pub(crate) op: Rc<Op>,
    /// The process, or [`NOWHERE`] if the node was discarded.
    pub(crate) body: u32,
    pub(crate) parent: u32,
    /// The number of operations that the process has executed.
    index: u32,
    /// The answer that led here from the parent.
    pub(crate) answer: Answer,
    /// A hash of all answers up to here.
    hash: Name,
}

/// A process: its stable name, its label in reports, and its code.
pub(crate) struct Described {
    name: Name,
    label: String,
    pub(crate) body: Body,
}

/// The trees of all processes.
#[derive(Default)]
pub(crate) struct Histories {
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: FxHashMap<(u32, u64), u32>,
    pub(crate) bodies: Vec<Described>,
    pub(crate) roots: Vec<u32>,
    /// The number of times that user code was run.
    pub(crate) runs: u64,
    pub(crate) budget: Budget,
}

impl Histories {
    /// Adds a process and creates its root node, which holds its first operation.
    pub(crate) fn add(&mut self, name: Name, label: String, body: Body) -> Result<u32, MachineError> {
        let no = self.new_body(Described { name, label, body });
        let op = self.first(no)?;
        let hash = Name::ROOT.mixed(77);
        self.roots[no as usize] =
            self.new_node(Node { op, body: no, parent: NOWHERE, index: 0, answer: Answer::Done, hash });
        if let Body::Async { live: Some((at, _)), .. } = &mut self.bodies[no as usize].body {
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
    pub(crate) fn ahead(&self, node: u32) -> Option<&[Rc<Op>]> {
        let node = &self.nodes[node as usize];
        match &self.bodies[node.body as usize].body {
            Body::Script(ops) => Some(&ops[(node.index as usize).min(ops.len())..]),
            Body::Async { .. } => None,
        }
    }

    /// Returns the node of a process after its operation at `node` was answered. `brought` identifies the value that
    /// the answer brings.
    pub(crate) fn advance(&mut self, node: u32, answer: Answer, brought: Name) -> Result<u32, MachineError> {
        if let Some(&next) = self.children.get(&(node, answer.key())) {
            return Ok(next);
        }
        let (body, index) = (self.nodes[node as usize].body, self.nodes[node as usize].index);
        let op = self.after(node, answer)?;
        let k = match answer {
            Answer::Done => 0,
            Answer::NotYet => 1,
            Answer::Ready { k, .. } => 2 + u64::from(k),
        };
        let hash = self.nodes[node as usize].hash.mixed(k).mixed(brought.0);
        let next = self.new_node(Node { op, body, parent: node, index: index + 1, answer, hash });
        self.children.insert((node, answer.key()), next);
        if let Body::Async { live: Some((at, _)), .. } = &mut self.bodies[body as usize].body {
            *at = next;
        }
        Ok(next)
    }

    fn first(&mut self, body: u32) -> Result<Rc<Op>, MachineError> {
        match &self.bodies[body as usize].body {
            Body::Script(ops) => Ok(ops.first().cloned().unwrap_or_else(|| Rc::new(Op::Done))),
            Body::Async { .. } => {
                let (asked, live) = self.begin(body)?;
                self.park(body, live.map(|live| (NOWHERE, live)));
                self.settle(asked)
            }
        }
    }

    /// Runs a process from `node` to its next operation.
    fn after(&mut self, node: u32, answer: Answer) -> Result<Rc<Op>, MachineError> {
        let body = self.nodes[node as usize].body;
        let live = match &mut self.bodies[body as usize].body {
            Body::Script(ops) => {
                let next = self.nodes[node as usize].index as usize + 1;
                return Ok(ops.get(next).cloned().unwrap_or_else(|| Rc::new(Op::Done)));
            }
            Body::Async { live, .. } => live.take(),
        };
        let live = match live {
            Some((at, live)) if at == node => live,
            _ => self.rebuild(body, node)?,
        };
        let (asked, live) = self.feed(live, node, answer)?;
        self.park(body, live.map(|live| (node, live)));
        self.settle(asked)
    }

    /// Recreates the future of a process at `node`.
    fn rebuild(&mut self, body: u32, node: u32) -> Result<Live, MachineError> {
        let mut way = Vec::new();
        let mut at = node;
        while at != NOWHERE {
            way.push(at);
            at = self.nodes[at as usize].parent;
        }
        way.reverse();
        let (asked, mut live) = self.begin(body)?;
        self.compare(body, way[0], &asked)?;
        for pair in way.windows(2) {
            let answer = self.nodes[pair[1] as usize].answer;
            let current = live.take().expect("a process that went on has not ended");
            let (asked, next) = self.feed(current, pair[0], answer)?;
            self.compare(body, pair[1], &asked)?;
            live = next;
        }
        Ok(live.expect("a process that is asked to go on has not ended"))
    }

    fn compare(&self, body: u32, node: u32, asked: &Asked) -> Result<(), MachineError> {
        let same = match (&*self.nodes[node as usize].op, asked) {
            (Op::Create { .. }, Asked::Create(..)) => true,
            (before, Asked::Op(now)) => before.is_like(now),
            _ => false,
        };
        if same {
            return Ok(());
        }
        Err(MachineError::Nondeterministic(format!(
            "{} did something else at its action {} than before, after the same answers",
            self.bodies[body as usize].label, self.nodes[node as usize].index
        )))
    }

    fn begin(&mut self, body: u32) -> Result<(Asked, Option<Live>), MachineError> {
        let Described { name, body: Body::Async { start, .. }, .. } = &self.bodies[body as usize] else {
            unreachable!("only async functions begin");
        };
        let (link, start) = (Rc::new(Link::new(*name)), start.clone());
        self.runs += 1;
        match panics::caught(|| link.during(|| start())) {
            Ok(future) => poll(Live { future, link }),
            Err(failed) => Ok((Asked::Op(failed), None)),
        }
    }

    fn feed(&mut self, live: Live, node: u32, answer: Answer) -> Result<(Asked, Option<Live>), MachineError> {
        let value = match answer {
            Answer::Ready { from, .. } if from != NOWHERE => self.nodes[from as usize].op.value().cloned(),
            _ => None,
        };
        live.link.answer(Reply { index: self.nodes[node as usize].index, answer, value });
        self.runs += 1;
        poll(live)
    }

    /// Converts a request of a process into an operation. If it creates a process, that process is added here.
    fn settle(&mut self, asked: Asked) -> Result<Rc<Op>, MachineError> {
        Ok(Rc::new(match asked {
            Asked::Op(op) => op,
            Asked::Create(label, name, start) => {
                Op::Create { body: self.add(name, label, Body::Async { start, live: None })? }
            }
        }))
    }

    fn park(&mut self, body: u32, suspended: Option<(u32, Live)>) {
        if let Body::Async { live, .. } = &mut self.bodies[body as usize].body {
            *live = suspended;
        }
    }
}

/// Runs a process to its next operation.
fn poll(mut live: Live) -> Result<(Asked, Option<Live>), MachineError> {
    let mut context = Context::from_waker(Waker::noop());
    let polled = panics::caught(|| live.link.during(|| live.future.as_mut().poll(&mut context)));
    if let Some(why) = live.link.misuse() {
        return Err(MachineError::Misuse(why));
    }
    match polled {
        Err(failed) => Ok((Asked::Op(failed), None)),
        Ok(Poll::Ready(())) => Ok((Asked::Op(Op::Done), None)),
        Ok(Poll::Pending) => match live.link.asked() {
            Some(asked) => Ok((asked, Some(live))),
            None => Err(MachineError::Misuse(
                "a process awaits something that is none of its operations: only mailboxes, mutexes, communications and steps can be awaited".into(),
            )),
        },
    }
}
