//! Bounded memory for the histories.
//!
//! The nodes that are needed to rebuild the processes of the current execution are kept: the path of each process from
//! its root, and for each answer on it the send whose payload it delivered. All others are discarded when the memory
//! limit is exceeded, and their numbers are reused.

use crate::history::{Histories, HistoryNode, LabelledBody, ProcessBody};
use crate::op::{Answer, NO_NODE, Op};
use std::rc::Rc;

/// The memory limit of the histories, and their current use.
pub(crate) struct Budget {
    /// The limit in bytes.
    pub(crate) limit: usize,
    /// An estimate of the memory that the nodes use, and its value after nodes were last discarded.
    bytes: usize,
    kept_bytes: usize,
    free_nodes: Vec<u32>,
    free_bodies: Vec<u32>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { limit: usize::MAX, bytes: 0, kept_bytes: 0, free_nodes: Vec::new(), free_bodies: Vec::new() }
    }
}

/// The estimated size of a node, its operation, and its entry among its parent's children.
const NODE_BYTES: usize = size_of::<HistoryNode>() + size_of::<Op>() + 56;

fn bytes(node: &HistoryNode) -> usize {
    let payload = match &*node.op {
        Op::Send { value: Some(value), .. } | Op::PortSend { value, .. } | Op::Arrive { value: Some(value), .. } => {
            value.bytes()
        }
        _ => 0,
    };
    NODE_BYTES + payload
}

impl Histories {
    pub(crate) fn new_node(&mut self, node: HistoryNode) -> u32 {
        self.budget.bytes += bytes(&node);
        match self.budget.free_nodes.pop() {
            Some(no) => {
                self.nodes[no as usize] = node;
                no
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    pub(crate) fn new_body(&mut self, body: LabelledBody) -> u32 {
        match self.budget.free_bodies.pop() {
            Some(no) => {
                self.bodies[no as usize] = body;
                self.roots[no as usize] = NO_NODE;
                no
            }
            None => {
                self.bodies.push(body);
                self.roots.push(NO_NODE);
                self.bodies.len() as u32 - 1
            }
        }
    }

    /// Returns `true` if nodes should be discarded. The nodes kept last time may exceed the limit on their own; memory
    /// use must then double before nodes are discarded again.
    pub(crate) fn is_full(&self) -> bool {
        self.budget.bytes > self.budget.limit.max(self.budget.kept_bytes.saturating_mul(2))
    }

    /// Discards all nodes and bodies except these and those that they need.
    pub(crate) fn discard_except(&mut self, nodes: impl Iterator<Item = u32>, bodies: impl Iterator<Item = u32>) {
        let mut open: Vec<u32> = nodes.chain(bodies.map(|body| self.roots[body as usize])).collect();
        let mut kept = vec![false; self.nodes.len()];
        while let Some(at) = open.pop() {
            if at == NO_NODE || std::mem::replace(&mut kept[at as usize], true) {
                continue;
            }
            let node = &self.nodes[at as usize];
            open.push(node.parent);
            if let Answer::Ready { from, .. } = node.answer {
                open.push(from);
            }
            open.extend(node.gathered.iter().flat_map(|nodes| nodes.iter()));
            if let Op::Create { body } = &*node.op {
                open.push(self.roots[*body as usize]);
            }
        }
        self.children.retain(|_, child| kept[*child as usize]);
        let gone = Rc::new(Op::Done);
        for (no, node) in self.nodes.iter_mut().enumerate() {
            if !kept[no] && node.body != NO_NODE {
                self.budget.bytes -= bytes(node);
                (node.body, node.op) = (NO_NODE, gone.clone());
                self.budget.free_nodes.push(no as u32);
            }
        }
        self.discard_bodies(&kept);
        self.budget.kept_bytes = self.budget.bytes;
    }

    fn discard_bodies(&mut self, kept: &[bool]) {
        for (no, described) in self.bodies.iter_mut().enumerate() {
            let root = &mut self.roots[no];
            if *root != NO_NODE && !kept[*root as usize] {
                described.body = ProcessBody::Script(Rc::from([]));
                *root = NO_NODE;
                self.budget.free_bodies.push(no as u32);
            }
            if let ProcessBody::Async { suspended, .. } = &mut described.body {
                // The number of the discarded node may be reused for another node.
                suspended.take_if(|(at, _)| !kept[*at as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Net;
    use whippet_model::{Machine, MachineConfig, Program};

    /// Runs all executions, and returns their number and the number of nodes allocated.
    fn run(limit: usize) -> (u64, usize) {
        fn every(machine: &mut crate::NetMachine, count: &mut u64) {
            let (depth, mut choices) = (machine.depth(), Vec::new());
            machine.enabled(&mut choices).unwrap();
            *count += u64::from(choices.is_empty());
            for choice in choices {
                machine.execute(choice).unwrap();
                every(machine, count);
                machine.rewind(depth);
            }
        }
        let net = Net::new("talk", |net| {
            let (a, b) = (net.mailbox::<Vec<u32>>("a"), net.mailbox::<Vec<u32>>("b"));
            net.process("polls", async move || {
                let receiving = a.receive_async().await;
                let mut seen = Vec::new();
                for k in 0..3 {
                    if receiving.test().await.is_some() {
                        seen.push(k);
                    }
                }
                b.send_async(seen.clone()).await;
                crate::create("child", async move || {
                    b.send_async(seen.clone()).await;
                })
                .await;
            });
            net.process("sends", async move || {
                a.send_async(vec![7]).await;
            });
            net.process("receives", async move || {
                let first = b.receive().await;
                assert!(first.len() <= 3);
            });
        });
        let mut machine = net.machine(&MachineConfig::default().with_memory(limit)).unwrap();
        let mut count = 0;
        every(&mut machine, &mut count);
        (count, machine.histories.nodes.len())
    }

    #[test]
    fn discarded_nodes_are_recomputed() {
        let (all, nodes) = run(usize::MAX);
        let (again, fewer) = run(0);
        assert_eq!(all, again);
        assert!(fewer < nodes, "{fewer} nodes at a time, {nodes} in all");
    }
}
