//! Runs tasks: polls, operations, and the choice of what goes on.

use super::context::{Context, EMPTY_LOG, Text};
use super::leaf::{creation_is_private, is_ready};
use super::objects::Shared;
use super::state::{Hands, JoinSet, LeafState, OpStage, Phase, State, Status, Task};
use super::step::{Executed, Pause, Poll, Step};
use crate::handles::Side;
use crate::outcome::End;
use crate::program::{Leaf, Op, Program, TaskId};
use std::rc::Rc;

/// The result of a step.
pub(super) enum Ran {
    Paused(Pause),
    /// The step depends on a choice among this number of possibilities; nothing has happened yet.
    Choose(u8),
}

/// Returns the state before the first step.
pub(super) fn initial(context: &Context<'_>) -> State {
    let program = context.program;
    State {
        clock: 0,
        stalled: 0,
        objects: (0..program.objects.len()).map(|object| Rc::new(Shared::new(program, object))).collect(),
        tasks: (0..program.tasks.len()).map(|task| Rc::new(initial_task(program, task))).collect(),
        deferred: 0,
    }
}

fn initial_task(program: &Program, task: TaskId) -> Task {
    let mask = |side: fn(usize) -> Side| {
        let held = (0..program.objects.len()).filter(|&object| program.holds(task, side(object)));
        held.fold(0, |mask, object| mask | 1 << object)
    };
    let is_spawned = !program.is_spawned_by_operation(task);
    Task {
        status: if is_spawned { Status::Scheduled } else { Status::NotSpawned },
        aborted: false,
        next: 0,
        phase: Phase::Between,
        leaves: Vec::new(),
        texts: Vec::new(),
        rotation: 0,
        log: EMPTY_LOG,
        hands: Hands {
            senders: mask(Side::Sender),
            weak_senders: mask(Side::WeakSender),
            receivers: mask(Side::Receiver),
            seen: vec![0; program.objects.len()],
            set: Some(JoinSet::default()),
            ..Hands::default()
        },
        in_set_of: None,
    }
}

/// Tells if a task can take a step.
///
/// A pending task is polled again when a leaf it waits for would be ready, or when it was aborted. With
/// [`Granularity::Poll`], a task that has only yielded comes after all tasks that can take a step: see [`State::deferred`].
pub(super) fn can_step(context: &Context<'_>, state: &State, task: TaskId) -> bool {
    let may_go_on = !is_deferred(state, task) || !is_any_queued(context, state);
    is_runnable(context, state, task, false) || may_go_on && is_runnable(context, state, task, true)
}

fn is_deferred(state: &State, task: TaskId) -> bool {
    state.deferred & (1 << task) != 0
}

/// Tells if a task is in the queue of the runtime: it can take a step, and it does not wait for the queue to be empty. A task that has
/// yielded and also waits for something else counts only if that is ready.
fn is_any_queued(context: &Context<'_>, state: &State) -> bool {
    (0..state.tasks.len()).any(|task| {
        let yields = !is_deferred(state, task) && has_only_yielded(state, task);
        is_runnable(context, state, task, yields)
    })
}

/// Begins the turn of a task. If it had yielded and nothing else has made it runnable, the queue is empty: then all tasks that have
/// yielded come into the queue.
pub(super) fn begin_turn(context: &Context<'_>, state: &mut State, task: TaskId) {
    if is_deferred(state, task) && !is_runnable(context, state, task, false) {
        state.deferred = 0;
    }
    state.deferred &= !(1 << task);
}

/// Tells if a task would go on when it is polled; `yields` if a leaf that has yielded is a reason.
fn is_runnable(context: &Context<'_>, state: &State, task: TaskId, yields: bool) -> bool {
    let task_state = &state.tasks[task];
    match task_state.status {
        Status::NotSpawned | Status::Ended(_) => false,
        Status::Scheduled | Status::Running | Status::Ending(_) | Status::Leaving(_) => true,
        Status::Idle => {
            let leaves = context.op(task, task_state.next).leaves();
            let mut branches = leaves.iter().zip(&task_state.leaves).enumerate();
            task_state.aborted
                || branches
                    .any(|(branch, (leaf, leaf_state))| is_ready(state, task, branch as u8, leaf, leaf_state, yields))
        }
    }
}

/// Tells if a leaf has yielded and waits for nothing else. A task that waits for more may go on at any time: what is known
/// of the order of a queue is not enough to say which of several wakes came first.
fn only_yields(leaf: &LeafState) -> bool {
    match leaf {
        LeafState::Yield { .. } | LeafState::Init { initializing: true, .. } => true,
        LeafState::ThenLeaf(_, Some(leaf)) => only_yields(leaf),
        _ => false,
    }
}

/// Tells if a task waits for nothing but that it has yielded.
fn has_only_yielded(state: &State, task: TaskId) -> bool {
    let mut leaves = state.tasks[task].leaves.iter().filter(|leaf| **leaf != LeafState::Done);
    leaves.next().is_some_and(only_yields) && leaves.next().is_none()
}

/// Records that the poll of a task is over, for the fairness of yields.
pub(super) fn end_turn(state: &mut State, task: TaskId) {
    if has_only_yielded(state, task) {
        state.deferred |= 1 << task;
    }
}

impl Step<'_> {
    /// Takes one step.
    pub(super) fn run(&mut self) -> Ran {
        let pause = match self.state.tasks[self.task].status {
            Status::NotSpawned | Status::Ended(_) => unreachable!("the task cannot take a step"),
            Status::Scheduled | Status::Idle => self.begin_poll(),
            Status::Ending(end) => self.end(end),
            Status::Leaving(end) => self.tell_set(end),
            Status::Running => return self.go_on(),
        };
        Ran::Paused(pause)
    }

    /// Begins a poll, or cancels an aborted task.
    ///
    /// `JoinHandle::abort` docs: the task is cancelled when it is scheduled next; a task that runs already goes on. So
    /// it matters if the poll of an abortable task has begun, even before it does anything.
    fn begin_poll(&mut self) -> Pause {
        let abortable = self.context.abortable[self.task];
        let task = self.state.task(self.task);
        if task.aborted {
            task.status = Status::Ending(End::Cancelled);
            return Pause::Never;
        }
        if task.status == Status::Idle {
            task.phase = Phase::Start;
        }
        task.status = Status::Running;
        if abortable { Pause::Always } else { Pause::Never }
    }

    fn go_on(&mut self) -> Ran {
        let task = &self.state.tasks[self.task];
        match task.phase.clone() {
            Phase::Between if task.next == self.context.program.tasks[self.task].len() => {
                self.state.task(self.task).status = Status::Ending(End::Finished);
                Ran::Paused(Pause::Never)
            }
            Phase::Between => Ran::Paused(self.begin_operation()),
            Phase::Operation(stage) => Ran::Paused(self.go_on_operation(stage)),
            Phase::Start => self.begin_leaves(),
            Phase::Polling { first, done } => self.poll_branch(first, done),
            Phase::Winner { branch, text, next } => Ran::Paused(self.drop_losers(branch, text, next)),
        }
    }

    fn begin_operation(&mut self) -> Pause {
        let op = self.context.op(self.task, self.state.tasks[self.task].next);
        if !op.waits() {
            return self.go_on_operation(OpStage::Start);
        }
        if self.create_some(op.leaves()) {
            // Time may pass between two readings of the clock.
            return Pause::Fine;
        }
        self.state.task(self.task).phase = Phase::Start;
        if op.leaves().iter().all(creation_is_private) { Pause::Never } else { Pause::Fine }
    }

    /// Creates the leaves of an operation that are not created yet, up to one that reads the clock. Returns `true` if something
    /// is left to be created.
    fn create_some(&mut self, leaves: &[Leaf]) -> bool {
        loop {
            let created = self.state.tasks[self.task].leaves.len();
            let begun = self.state.task(self.task).leaves.pop_if(|last| matches!(last, LeafState::Creating { .. }));
            let branch = created - usize::from(begun.is_some());
            let Some(leaf) = leaves.get(branch) else { return false };
            self.branch = branch as u8;
            let (leaf_state, reads_clock) = self.create_part(leaf, begun);
            let is_whole = !matches!(leaf_state, LeafState::Creating { .. });
            let task = self.state.task(self.task);
            task.leaves.push(leaf_state);
            if is_whole {
                task.texts.push(None);
            }
            if reads_clock && (!is_whole || branch + 1 < leaves.len()) {
                return true;
            }
        }
    }

    fn go_on_operation(&mut self, mut stage: OpStage) -> Pause {
        let next = self.state.tasks[self.task].next;
        let op = self.context.op(self.task, next);
        self.branch = 0;
        match self.execute(op, self.context.value(self.task, next, 0), &mut stage) {
            Executed::Done(text, pause) => {
                self.finish_operation(text);
                pause
            }
            Executed::More => {
                self.state.task(self.task).phase = Phase::Operation(stage);
                Pause::Fine
            }
            Executed::Panic => self.panic(),
        }
    }

    /// `JoinError` docs: a panic of a task is caught by the runtime. The task drops what it holds.
    fn panic(&mut self) -> Pause {
        let task = self.state.task(self.task);
        task.status = Status::Ending(End::Panicked);
        task.phase = Phase::Between;
        Pause::Never
    }

    /// Chooses the branch that is polled first.
    ///
    /// `select!` docs: by default, a random branch is checked first, and the others follow in order (the macro goes
    /// round); with `biased`, branches are polled from top to bottom. `join!` docs: a different future is polled first
    /// each time (the macro begins with the first one and goes round).
    fn begin_leaves(&mut self) -> Ran {
        let count = self.state.tasks[self.task].leaves.len() as u8;
        let op = self.context.op(self.task, self.state.tasks[self.task].next);
        let first = match (op, self.choice.take()) {
            (Op::Select { biased: false, .. }, None) if count > 1 => return Ran::Choose(count),
            (Op::Select { biased: false, .. }, choice) => choice.unwrap_or(0),
            (Op::JoinAll(_), _) => {
                let task = self.state.task(self.task);
                let first = task.rotation;
                task.rotation = (first + 1) % count;
                first
            }
            _ => 0,
        };
        self.state.task(self.task).phase = Phase::Polling { first, done: 0 };
        Ran::Paused(Pause::Never)
    }

    fn poll_branch(&mut self, first: u8, done: u8) -> Ran {
        let next = self.state.tasks[self.task].next;
        let op = self.context.op(self.task, next);
        let count = op.leaves().len() as u8;
        let branch = (first + done) % count;
        if self.state.tasks[self.task].texts[branch as usize].is_some() {
            return Ran::Paused(self.branch_polled(op, first, done, Pause::Never));
        }
        self.branch = branch;
        let place = branch as usize;
        let mut leaf = std::mem::replace(&mut self.state.task(self.task).leaves[place], LeafState::Done);
        let poll = self.poll(&op.leaves()[place], &mut leaf, self.context.value(self.task, next, place));
        self.state.task(self.task).leaves[place] = leaf;
        Ran::Paused(match poll {
            Poll::Choose(possibilities) => return Ran::Choose(possibilities),
            Poll::Panic => self.panic(),
            Poll::More(pause) => pause,
            Poll::Pending { effect } => {
                let pause = if effect { Pause::Always } else { Pause::Fine };
                self.branch_polled(op, first, done, pause)
            }
            Poll::Ready(text, pause) => {
                self.state.task(self.task).leaves[place] = LeafState::Done;
                self.give_back();
                self.branch_ready(op, text, pause, first, done)
            }
        })
    }

    fn branch_ready(&mut self, op: &Op, text: Text, pause: Pause, first: u8, done: u8) -> Pause {
        let branch = self.branch;
        match op {
            Op::Select { .. } => {
                self.drop_silently(branch, text, 0);
                pause
            }
            Op::JoinAll(_) => {
                self.state.task(self.task).texts[branch as usize] = Some(text);
                self.branch_polled(op, first, done, pause)
            }
            _ => {
                self.finish_operation(Some(text));
                pause
            }
        }
    }

    /// Goes on to the next branch, or ends the poll or the operation after the last one.
    fn branch_polled(&mut self, op: &Op, first: u8, done: u8, pause: Pause) -> Pause {
        let task = self.state.task(self.task);
        task.phase = Phase::Polling { first, done: done + 1 };
        if usize::from(done) + 1 < op.leaves().len() {
            return pause;
        }
        if task.texts.iter().all(Option::is_some) {
            let texts: Vec<String> = task.texts.iter().flatten().map(|text| self.context.string(*text)).collect();
            self.finish_operation(Some(self.context.text(texts.join("&"))));
            return pause;
        }
        task.phase = Phase::Between;
        task.status = Status::Idle;
        Pause::Always
    }

    /// Drops losing leaves as long as others cannot notice it, and ends the operation after the last.
    ///
    /// `select!` docs: when a branch completes, the remaining branches are dropped, before the handler is executed. The
    /// macro keeps them in a tuple, which is dropped in the order of the branches.
    fn drop_silently(&mut self, branch: u8, text: Text, next: u8) {
        let count = self.state.tasks[self.task].leaves.len() as u8;
        for loser in next..count {
            if self.drop_is_noticed(loser) {
                self.state.task(self.task).phase = Phase::Winner { branch, text, next: loser };
                return;
            }
            self.drop_branch(loser as usize);
        }
        let text = format!("{branch}:{}", self.context.string(text));
        self.finish_operation(Some(self.context.text(text)));
    }

    fn drop_losers(&mut self, branch: u8, text: Text, next: u8) -> Pause {
        self.drop_branch(next as usize);
        self.drop_silently(branch, text, next + 1);
        Pause::Always
    }

    /// Tells if others could notice the drop of a leaf, now or at any later time before it happens.
    fn drop_is_noticed(&self, branch: u8) -> bool {
        fn holds(leaf: &LeafState) -> bool {
            match leaf {
                LeafState::Request { queued, .. } | LeafState::LimitedSend { queued, .. } => *queued,
                LeafState::Init { queued, initializing } => *queued || *initializing,
                LeafState::Notified(future) => *future == super::notify::Notified::Waiting,
                LeafState::ThenLeaf(_, Some(leaf)) => holds(leaf),
                LeafState::Within { leaf, .. } => holds(leaf),
                _ => false,
            }
        }
        holds(&self.state.tasks[self.task].leaves[branch as usize])
    }

    /// Logs a text and goes on to the next operation.
    fn finish_operation(&mut self, text: Option<Text>) {
        let context = self.context;
        let task = self.state.task(self.task);
        if let Some(text) = text {
            task.log = context.logged(task.log, text);
        }
        task.next += 1;
        task.phase = Phase::Between;
        task.leaves.clear();
        task.texts.clear();
        task.rotation = 0;
        task.hands.borrowed.clear();
    }
}

/// Tells if the next step of a task touches only its private state, so that it can be taken at once.
pub(super) fn is_private_next(context: &Context<'_>, state: &State, task: TaskId) -> bool {
    let task_state = &state.tasks[task];
    match task_state.status {
        Status::Running => task_state.phase == Phase::Between && task_state.next == context.program.tasks[task].len(),
        Status::Ending(_) => {
            let hands = &task_state.hands;
            let holds_channels = hands.senders != 0 || hands.receivers != 0;
            let holds_more = !hands.armed.is_empty() || !hands.guards.is_empty();
            let holds_set = hands.set.as_ref().is_some_and(|set| !set.members.is_empty());
            let nothing = !holds_channels && !holds_more && !holds_set && task_state.leaves.is_empty();
            nothing && task_state.phase == Phase::Between && !context.observed[task]
        }
        _ => false,
    }
}
