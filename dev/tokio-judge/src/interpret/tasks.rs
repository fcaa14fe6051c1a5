//! Tasks: their spawning, the operations that wait, and their ends.

use super::hands::Hands;
use super::leaves::{Waits, leaf};
use super::now::now;
use super::objects::{Made, make};
use super::tokio;
use crate::hooks::Hooks;
use crate::logs::{Logs, RunLog};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_reference::{End, Leaf, Op, Program, TaskId, Value};

/// A program that runs: all that its tasks share.
pub struct Shared {
    pub(super) program: Arc<Program>,
    pub(super) objects: Vec<Made>,
    /// The hands of tasks that are not spawned yet.
    waiting: Mutex<Vec<Option<Hands>>>,
    log: RunLog,
    pub(super) hooks: Arc<dyn Hooks>,
    /// The beginning, where a task asks for the time.
    pub(super) began: Option<tokio::time::Instant>,
}

/// Begins a program: makes its objects and spawns the tasks that no operation spawns. The result has to live until the
/// outcome is read, since it holds the handles of tasks that are never spawned.
#[must_use]
pub fn begin(program: &Arc<Program>, logs: &Logs, hooks: Arc<dyn Hooks>) -> Arc<Shared> {
    let log = logs.begin(program.tasks.len());
    let (objects, hands) = make(program);
    let began = program.tasks.iter().flatten().any(asks_for_time).then(tokio::time::Instant::now);
    let waiting = Mutex::new(hands.into_iter().map(Some).collect());
    let shared = Arc::new(Shared { program: program.clone(), objects, waiting, log, hooks, began });
    let mut is_spawned = vec![false; program.tasks.len()];
    program.tasks.iter().flatten().for_each(|op| note_spawns(op, &mut is_spawned));
    for (task, by_another) in is_spawned.into_iter().enumerate() {
        if !by_another && let Some(life) = shared.life(task) {
            tokio::spawn(run(life));
        }
    }
    shared
}

/// Marks the tasks that an operation spawns.
fn note_spawns(op: &Op, is_spawned: &mut [bool]) {
    match op {
        Op::Spawn(task) | Op::SpawnIn(task) => is_spawned[*task] = true,
        _ => nested(op, &mut |op| note_spawns(op, is_spawned)),
    }
}

fn asks_for_time(op: &Op) -> bool {
    let mut asks = *op == Op::Now;
    nested(op, &mut |op| asks |= asks_for_time(op));
    asks
}

/// Visits the operations directly inside an operation.
fn nested(op: &Op, visit: &mut dyn FnMut(&Op)) {
    match op {
        Op::Await(leaf) => nested_in_leaf(leaf, visit),
        Op::Select { branches, .. } | Op::JoinAll(branches) => {
            branches.iter().for_each(|leaf| nested_in_leaf(leaf, visit));
        }
        _ => {}
    }
}

fn nested_in_leaf(leaf: &Leaf, visit: &mut dyn FnMut(&Op)) {
    match leaf {
        Leaf::Now(op) => visit(op),
        Leaf::Then(op, leaf) => {
            visit(op);
            nested_in_leaf(leaf, visit);
        }
        Leaf::Within(_, leaf) => nested_in_leaf(leaf, visit),
        _ => {}
    }
}

impl Shared {
    /// Takes a task's life, once: it is spawned now.
    pub(super) fn life(self: &Arc<Shared>, task: TaskId) -> Option<Life> {
        let hands = self.waiting.lock().unwrap_or_else(PoisonError::into_inner)[task].take()?;
        self.log.spawned(task);
        self.hooks.spawned();
        let ending = Ending { task, finished: false, log: self.log.clone(), hooks: self.hooks.clone() };
        Some(Life { hands, shared: self.clone(), ending })
    }
}

/// The life of a task. The fields are in the order of their drops, also where the task was never polled.
pub(super) struct Life {
    hands: Hands,
    shared: Arc<Shared>,
    ending: Ending,
}

/// Notes how a task ended when it is dropped.
struct Ending {
    task: TaskId,
    finished: bool,
    log: RunLog,
    hooks: Arc<dyn Hooks>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.hooks.is_over() {
            return;
        }
        let end = match self.finished {
            true => End::Finished,
            false if std::thread::panicking() => End::Panicked,
            false => End::Cancelled,
        };
        self.log.ended(self.task, end);
        self.hooks.ended();
    }
}

/// A task, as its operations see it.
#[derive(Copy, Clone)]
pub(super) struct Me<'a> {
    pub(super) task: TaskId,
    pub(super) shared: &'a Arc<Shared>,
    pub(super) hands: &'a Hands,
}

impl Me<'_> {
    /// Gives the value of the operation or leaf that is this node of the task.
    pub(super) fn value(&self, node: u32) -> Value {
        self.task as Value * 100 + node
    }
}

/// Executes the operations of a task, and drops what it holds.
pub(super) async fn run(mut life: Life) -> TaskId {
    let task = life.ending.task;
    let program = life.shared.program.clone();
    let mut node = 1;
    for (number, op) in program.tasks[task].iter().enumerate() {
        let me = Me { task, shared: &life.shared, hands: &life.hands };
        life.shared.hooks.pause();
        let site = program.tasks[..task].iter().map(Vec::len).sum::<usize>() + number;
        if let Some(text) = perform(me, op, node, site).await {
            life.shared.log.add(task, text);
        }
        node += op.nodes();
    }
    life.ending.finished = true;
    task
}

/// Executes one operation and gives the text that it logs.
async fn perform(me: Me<'_>, op: &Op, node: u32, site: usize) -> Option<String> {
    match op {
        Op::Await(one) => Some(leaf(me, one, node + 1).await),
        Op::Select { biased, branches } => {
            let (branch, text) = select(*biased, leaves(me, branches, node), site).await;
            Some(format!("{branch}:{text}"))
        }
        Op::JoinAll(branches) => Some(join(leaves(me, branches, node), site).await.join("&")),
        _ => now(me, op, node),
    }
}

/// Creates the leaves of a select or join.
fn leaves<'a>(me: Me<'a>, branches: &'a [Leaf], node: u32) -> Vec<Waits<'a>> {
    let mut node = node + 1;
    let create = |branch: &'a Leaf| {
        let created = leaf(me, branch, node);
        node += branch.nodes();
        created
    };
    branches.iter().map(create).collect()
}

/// Takes the leaves of a select or join out of their list.
fn array<const N: usize>(leaves: Vec<Waits<'_>>) -> [Waits<'_>; N] {
    leaves.try_into().unwrap_or_else(|_| unreachable!("the number was looked at"))
}

/// One `select!` for each number of branches, all at one place of the source.
macro_rules! select_here {
    ($biased:expr, $leaves:expr) => {
        match ($biased, $leaves.len()) {
            (true, 1) => {
                let [a] = array($leaves);
                tokio::select! { biased; text = a => (0, text) }
            }
            (true, 2) => {
                let [a, b] = array($leaves);
                tokio::select! { biased; text = a => (0, text), text = b => (1, text) }
            }
            (true, 3) => {
                let [a, b, c] = array($leaves);
                tokio::select! { biased; text = a => (0, text), text = b => (1, text), text = c => (2, text) }
            }
            (true, 4) => {
                let [a, b, c, d] = array($leaves);
                tokio::select! {
                    biased;
                    text = a => (0, text), text = b => (1, text), text = c => (2, text), text = d => (3, text)
                }
            }
            (false, 1) => {
                let [a] = array($leaves);
                tokio::select! { text = a => (0, text) }
            }
            (false, 2) => {
                let [a, b] = array($leaves);
                tokio::select! { text = a => (0, text), text = b => (1, text) }
            }
            (false, 3) => {
                let [a, b, c] = array($leaves);
                tokio::select! { text = a => (0, text), text = b => (1, text), text = c => (2, text) }
            }
            (false, 4) => {
                let [a, b, c, d] = array($leaves);
                tokio::select! {
                    text = a => (0, text), text = b => (1, text), text = c => (2, text), text = d => (3, text)
                }
            }
            _ => unreachable!("a select has one to four branches"),
        }
    };
}

/// Waits for the first of several leaves.
///
/// The shim tells selects apart by their place in the source. So each operation of a program has a place of its own here,
/// as it would have in a program that is written by hand.
async fn select(biased: bool, leaves: Vec<Waits<'_>>, site: usize) -> (usize, String) {
    match site % 8 {
        0 => select_here!(biased, leaves),
        1 => select_here!(biased, leaves),
        2 => select_here!(biased, leaves),
        3 => select_here!(biased, leaves),
        4 => select_here!(biased, leaves),
        5 => select_here!(biased, leaves),
        6 => select_here!(biased, leaves),
        _ => select_here!(biased, leaves),
    }
}

/// One `join!` for each number of branches, all at one place of the source.
macro_rules! join_here {
    ($leaves:expr) => {
        match $leaves.len() {
            1 => {
                let [a] = array($leaves);
                vec![tokio::join!(a).0]
            }
            2 => {
                let [a, b] = array($leaves);
                <[String; 2]>::from(tokio::join!(a, b)).into()
            }
            3 => {
                let [a, b, c] = array($leaves);
                <[String; 3]>::from(tokio::join!(a, b, c)).into()
            }
            _ => unreachable!("a join has one to three branches"),
        }
    };
}

/// Waits for all of several leaves; the place is chosen as in [`select`].
async fn join(leaves: Vec<Waits<'_>>, site: usize) -> Vec<String> {
    match site % 8 {
        0 => join_here!(leaves),
        1 => join_here!(leaves),
        2 => join_here!(leaves),
        3 => join_here!(leaves),
        4 => join_here!(leaves),
        5 => join_here!(leaves),
        6 => join_here!(leaves),
        _ => join_here!(leaves),
    }
}
