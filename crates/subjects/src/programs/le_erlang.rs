//! A leader election that is meant to survive failures (the TransDPOR paper's `le-erlang`).
//!
//! A port of the election in the first versions of the Erlang library `gen_leader`, in which Arts, Claessen and Svensson
//! found faults. T. Arts published it in 2002 as a module of its own, `leader3`. No fault is built in: what is found is what
//! the algorithm does.
//!
//! A candidate monitors the other nodes and asks each of them to follow it (`Capture`), once. A candidate follows whoever has
//! been accepted by more nodes than itself or, on a tie, has a larger number; then it passes everything on to the one that
//! captured it. A candidate that is stronger does not answer. A node that more than half of the nodes have accepted, including
//! itself, or all nodes that are not down, is elected and tells the others. If the leader is down, its followers start again.
//!
//! With messages between two nodes in the order of sending (`--delivery fifo`), as in Erlang:
//!
//! | nodes | failure | found |
//! |---|---|---|
//! | 3 | none | nothing |
//! | 4 | none | no leader: two candidates that have captured one node each wait for each other for ever |
//! | 3 | node 0 stops | nothing |
//! | 3 | node 1 or 2 stops | no leader: a node that was captured does not notice that its captor is down |
//! | 3 | node 0 stops and starts again | two leaders at the same time |
//! | 3 | node 1 stops and starts again | no leader |
//! | 3 | node 2 stops and starts again | no leader; two leaders at the same time |
//!
//! The paper's own program for ActorFoundry is not public. With four nodes that handle messages even before they have
//! started (`early=true`), this one has its counts: persistent sets with sleep sets find the missing leader in the 2,209th path. Its
//! scenarios of failures are not known.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "le-erlang",
    about: "a leader election that is meant to survive failures, and does not",
    parameters: &[
        Parameter::new("n", "3", Values::Number(2, 6), "number of nodes"),
        Parameter::new(
            "failure",
            "none",
            Values::OneOf(&["none", "stop", "restart"]),
            "a node stops at some time; with `restart` it starts again",
        ),
        Parameter::new(
            "failing",
            "0",
            Values::Number(0, 5),
            "the node that fails; the last ones are preferred as leaders",
        ),
        Parameter::new(
            "early",
            "false",
            Values::Flag,
            "a node handles messages even before it has started, unlike in Erlang",
        ),
        Parameter::new("unique", "true", Values::Flag, "check that there are never two leaders at the same time"),
    ],
    reconstructed: Some("from a public version of the algorithm"),
    body: |settings| {
        let (n, failing) = (settings.number("n"), settings.number("failing"));
        let failure = match settings.text("failure") {
            "none" => Failure::None,
            "stop" => Failure::Stop,
            _ => Failure::Restart,
        };
        let (early, unique) = (settings.flag("early"), settings.flag("unique"));
        body(move |sys| elect(sys, Scenario { n, failure, failing: failing % n, early, unique }))
    },
};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Failure {
    None,
    Stop,
    Restart,
}

#[derive(Copy, Clone, Debug)]
struct Scenario {
    n: usize,
    failure: Failure,
    failing: usize,
    early: bool,
    unique: bool,
}

/// A process: a node, and how often the node had started again when the process was created.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Pid {
    node: usize,
    life: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Candidate,
    /// Follows another candidate.
    Captured,
    /// Follows a leader.
    Surrendered,
    Elected,
}

/// The state of a process.
#[derive(Clone, Debug, Hash)]
struct Process {
    role: Role,
    /// The nodes that have accepted this process as their leader.
    accepted: Vec<usize>,
    /// The process that this one follows.
    leader: Option<Pid>,
    leader_node: Option<usize>,
    down: Vec<usize>,
    /// The monitored nodes, each with the number of the monitor.
    monitored: Vec<(u32, usize)>,
    monitors: u32,
}

#[derive(Clone, Debug, Hash)]
struct Node {
    id: usize,
    early: bool,
    restarts: bool,
    nodes: Vec<Addr<Node>>,
    life: u32,
    /// The process, from its start to its end.
    process: Option<Process>,
    /// `true` until the process has ended for the first time.
    up: bool,
    /// The processes that monitor this one, each with the number of its monitor.
    watchers: Vec<(Pid, u32)>,
}

#[derive(Clone, Debug, Hash)]
enum NodeMsg {
    Nodes(Vec<Addr<Node>>),
    /// The process begins to run.
    Start,
    /// The process ends.
    Stop,
    Restart,
    /// A request to follow the sender, with the number of nodes that have accepted it.
    Capture(usize, Pid),
    /// The sender follows the receiver, as do the nodes that have accepted the sender. For one process of the node only.
    Accept(Vec<usize>, Pid, u32),
    /// The sender is the leader. For one process of the node, or for any.
    Elect(Pid, Option<u32>),
    /// The sender wants to be told when the process of this node ends.
    Monitor(Pid, u32),
    /// The monitor with this number has ended. For one process of the node only.
    Down(u32, u32),
}

/// A process and its surroundings, while it handles a message.
struct Running<'a> {
    me: Pid,
    nodes: &'a [Addr<Node>],
    cx: &'a mut Cx<Node>,
    process: &'a mut Process,
}

impl Running<'_> {
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me.node;
        (0..self.nodes.len()).filter(move |&node| node != me)
    }

    fn is_monitored(&self, node: usize) -> bool {
        self.process.monitored.iter().any(|&(_, known)| known == node)
    }

    fn monitor(&mut self, node: usize) {
        let number = self.process.monitors;
        self.process.monitors += 1;
        self.process.monitored.insert(0, (number, node));
        self.cx.send(self.nodes[node], NodeMsg::Monitor(self.me, number));
    }

    /// Notes that a node is up.
    fn node_up(&mut self, node: usize) {
        if !self.is_monitored(node) {
            self.process.down.retain(|&down| down != node);
            self.monitor(node);
        }
    }

    /// Notes that a monitored node is down.
    fn node_down(&mut self, number: u32) {
        let monitored = &mut self.process.monitored;
        let at = monitored.iter().position(|&(known, _)| known == number).expect("a monitor ends once");
        let (_, node) = monitored.remove(at);
        if self.process.leader_node == Some(node) {
            self.process.leader = None;
            self.process.leader_node = None;
        }
        self.process.accepted.retain(|&accepted| accepted != node);
        self.process.down.insert(0, node);
    }

    fn capture_all(&mut self) {
        let down = self.process.down.clone();
        for node in self.others() {
            if !self.is_monitored(node) {
                self.monitor(node);
                // As in the original: of several nodes, only the last one is no longer down.
                self.process.down = down.iter().copied().filter(|&other| other != node).collect();
            }
        }
        for node in self.others() {
            self.cx.send(self.nodes[node], NodeMsg::Capture(self.process.accepted.len(), self.me));
        }
    }

    fn check_majority(&mut self) {
        let (followers, all) = (self.process.accepted.len() + 1, self.nodes.len());
        self.process.role = Role::Candidate;
        if followers * 2 > all || followers + self.process.down.len() == all {
            self.process.role = Role::Elected;
            self.process.leader = Some(self.me);
            self.process.leader_node = Some(self.me.node);
            for node in self.others() {
                self.cx.send(self.nodes[node], NodeMsg::Elect(self.me, None));
            }
        }
    }

    fn handle(&mut self, msg: NodeMsg) {
        let by = match &msg {
            NodeMsg::Capture(_, by) | NodeMsg::Accept(_, by, _) | NodeMsg::Elect(by, _) => *by,
            NodeMsg::Down(number, _) => return self.handle_down(*number),
            _ => unreachable!("other messages are for the node"),
        };
        self.node_up(by.node);
        match (msg, self.process.role) {
            (NodeMsg::Elect(..), _) => {
                self.process.leader = Some(by);
                self.process.leader_node = Some(by.node);
                self.process.accepted.clear();
                self.process.role = Role::Surrendered;
            }
            (NodeMsg::Capture(theirs, _), Role::Candidate) => {
                let ours = (self.process.accepted.len(), self.me.node);
                if ours < (theirs, by.node) {
                    self.process.role = Role::Captured;
                    self.process.leader = Some(by);
                    let accept = NodeMsg::Accept(self.process.accepted.clone(), self.me, by.life);
                    self.cx.send(self.nodes[by.node], accept);
                }
            }
            (NodeMsg::Accept(more, ..), Role::Candidate) => {
                for node in std::iter::once(by.node).chain(more) {
                    self.process.accepted.retain(|&known| known != node);
                    self.process.accepted.insert(0, node);
                }
                self.check_majority();
            }
            (accept @ NodeMsg::Accept(..), Role::Captured) => self.pass_on(accept),
            (_, Role::Elected) => self.cx.send(self.nodes[by.node], NodeMsg::Elect(self.me, Some(by.life))),
            _ => {}
        }
    }

    /// Passes an acceptance on to the process that this one follows.
    fn pass_on(&mut self, accept: NodeMsg) {
        if let (NodeMsg::Accept(more, by, _), Some(leader)) = (accept, self.process.leader) {
            self.cx.send(self.nodes[leader.node], NodeMsg::Accept(more, by, leader.life));
        }
    }

    fn handle_down(&mut self, number: u32) {
        self.node_down(number);
        match (self.process.role, self.process.leader) {
            (Role::Candidate, _) => self.check_majority(),
            (Role::Captured | Role::Surrendered, None) => {
                self.capture_all();
                self.check_majority();
            }
            _ => {}
        }
    }
}

impl Node {
    fn new(id: usize, scenario: Scenario) -> Node {
        // All nodes are up, and their processes monitor each other, as each does first of all.
        let watchers = (0..scenario.n).filter(|&node| node != id).map(|node| {
            let number = if id < node { id } else { id - 1 };
            (Pid { node, life: 0 }, number as u32)
        });
        Node {
            id,
            early: scenario.early,
            restarts: scenario.failure == Failure::Restart,
            nodes: Vec::new(),
            life: 0,
            process: None,
            up: true,
            watchers: watchers.collect(),
        }
    }

    fn is_elected(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.role == Role::Elected)
    }

    fn run(&mut self, cx: &mut Cx<Self>, step: impl FnOnce(&mut Running<'_>)) {
        let me = Pid { node: self.id, life: self.life };
        if let Some(process) = &mut self.process {
            step(&mut Running { me, nodes: &self.nodes, cx, process });
        }
    }

    /// Creates a process, which does not run yet.
    fn create(&mut self) {
        let others = (0..self.nodes.len()).filter(|&node| node != self.id);
        let monitored: Vec<_> = (0..).zip(others).filter(|_| self.life == 0).collect();
        self.process = Some(Process {
            role: Role::Candidate,
            accepted: Vec::new(),
            leader: None,
            leader_node: None,
            down: Vec::new(),
            monitors: monitored.len() as u32,
            monitored,
        });
    }

    /// Lets the process ask the others to follow it.
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.process.is_none() {
            self.create();
        }
        self.run(cx, |running| running.capture_all());
    }

    fn stop(&mut self, cx: &mut Cx<Self>) {
        self.process = None;
        self.up = false;
        for (watcher, number) in std::mem::take(&mut self.watchers) {
            cx.send(self.nodes[watcher.node], NodeMsg::Down(number, watcher.life));
        }
        if self.restarts {
            cx.send(cx.this(), NodeMsg::Restart);
        }
    }
}

impl Actor for Node {
    type Msg = NodeMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: NodeMsg, cx: &mut Cx<Self>) {
        match msg {
            NodeMsg::Nodes(nodes) => {
                self.nodes = nodes;
                if self.early {
                    self.create();
                }
            }
            NodeMsg::Start if self.up => self.start(cx),
            NodeMsg::Start => {}
            NodeMsg::Stop => self.stop(cx),
            NodeMsg::Restart => {
                self.life += 1;
                self.start(cx);
            }
            NodeMsg::Monitor(by, number) if self.process.is_some() || self.up => self.watchers.push((by, number)),
            NodeMsg::Monitor(by, number) => cx.send(self.nodes[by.node], NodeMsg::Down(number, by.life)),
            // For a process that has ended.
            NodeMsg::Accept(_, _, life) | NodeMsg::Elect(_, Some(life)) | NodeMsg::Down(_, life)
                if life != self.life => {}
            msg => self.run(cx, |running| running.handle(msg)),
        }
    }

    fn accepts(&self, msg: &NodeMsg) -> bool {
        // A process looks at its mailbox after it has started.
        let waits = self.up && self.process.is_none();
        !(waits && matches!(msg, NodeMsg::Capture(..) | NodeMsg::Accept(..) | NodeMsg::Elect(..) | NodeMsg::Down(..)))
    }
}

fn elect(sys: &mut System, scenario: Scenario) {
    let nodes: Vec<_> = (0..scenario.n).map(|id| sys.spawn(Node::new(id, scenario))).collect();
    for &node in &nodes {
        sys.send(node, NodeMsg::Nodes(nodes.clone()));
    }
    sys.finish_setup();
    for &node in &nodes {
        sys.send(node, NodeMsg::Start);
    }
    if scenario.failure != Failure::None {
        sys.send(nodes[scenario.failing], NodeMsg::Stop);
    }
    if scenario.unique {
        let elected: Vec<_> = nodes.iter().map(|node| node.only(Node::is_elected)).collect();
        sys.always(elected, |elected| {
            let leaders: Vec<_> = (0..elected.len()).filter(|&k| elected[k]).collect();
            assert!(leaders.len() < 2, "two leaders: {leaders:?}");
        });
    }
    sys.at_end(nodes, |nodes| assert!(nodes.iter().any(|node| node.is_elected()), "no leader"));
}
