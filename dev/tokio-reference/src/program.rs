//! The language of generated programs: objects, tasks, and what tasks do with the objects.
//!
//! A [`Program`] is a plain value. Three interpreters run it: the reference model of this crate, the real tokio and
//! Whippet's shim. Each task keeps a log of what it observes; the [outcome](crate::Outcome) of an execution is the log
//! and the end of every task.
//!
//! # Objects and handles
//!
//! `Program::objects` lists the shared objects; an operation names one by its index in that list. Handles are given out
//! before the first task runs:
//!
//! * Every task that has an operation on the sending side of a channel, `oneshot` excepted, holds a sender of its own;
//!   the original sender is dropped before the first task runs. A task whose only operation on a sender is
//!   [`Op::WeakSend`] holds a weak sender instead. Tasks hold watch and broadcast senders in the same way.
//! * The receiver of an `mpsc` channel, and each half of a `oneshot`, belongs to the first task (in the order of
//!   `Program::tasks`) that has an operation on it. An operation of any other task on it logs `-` and does nothing else,
//!   as does an operation on a handle that the task has dropped or used up. A half that no task uses is dropped before
//!   the first task runs.
//! * Each task that receives from a `broadcast` or `watch` channel has a receiver of its own, subscribed before the
//!   first task runs.
//! * Locks, semaphores, cells, barriers and notifies are shared by reference and never dropped.
//!
//! # Tasks
//!
//! Tasks that no operation spawns are spawned in order when the program begins, and detached. A task that is named by
//! [`Op::Spawn`] or [`Op::SpawnIn`] is spawned by the first of these operations that is executed, later ones log `-`.
//! `Op::Spawn` leaves the `JoinHandle` with the spawning task, `Op::SpawnIn` adds the task to the spawning task's
//! `JoinSet`. The execution ends when every task that was spawned has ended, or when no task can go on.
//!
//! A task executes its operations in order. When it ends, also by an abort or a panic, it drops what it holds, each
//! drop an operation of its own, in this order: the future it is polling (innermost leaves first, in branch order); armed
//! `Notified` futures; guards and permits, the oldest first; then, object by object in the order of `Program::objects`,
//! the receiver before the sender; then its `JoinSet`, then its join handles. Only then does the task count as ended for
//! those that join it.
//!
//! # Sides, borrowed handles and logs
//!
//! * Sending side of `mpsc`: `Send`, `ReserveSend`, `Reserve`, `SendTimeout`, `Closed`, `SendNow`, `TrySend`,
//!   `SendPermit`, `DropSender`, `Capacity`, `IsClosed`. A task with a `WeakSend` holds a weak sender besides, which
//!   `DropSender` leaves alone. Receiving side: `Recv`, `RecvMany`, `TryRecv`, `Close`, `DropReceiver`, `Len`.
//! * `oneshot`: `Reply`, `Closed`, `DropSender`, `IsClosed`; `Answer`, `TryRecv`, `Close`, `DropReceiver`. `Reply` uses
//!   up the sender; `Answer`, and a `TryRecv` that does not log `empty`, use up the receiver.
//! * `broadcast`: `Broadcast`, `DropSender`; `Heard`, `TryHear`, `Len`, `DropReceiver`.
//! * `watch`: `Publish`, `Closed`, `DropSender`, `IsClosed`; `Changed`, `HasChanged`, `Borrow`, `DropReceiver`.
//! * The handles of a task that is never spawned live until the execution has ended.
//! * A task has a `JoinSet` from its beginning to `DropSet`, after which each operation on it logs `-` (`SpawnIn` then
//!   spawns nothing). `Abort`, `IsFinished` and `Join` work on handles of `Spawn` only, and log `-` without one; `Join`
//!   uses the handle up. A task holds at most one armed `Notified` for each object: `Arm` drops an earlier one first;
//!   at the task's end they are dropped in the order of objects;
//!   `Armed` borrows it, and uses it up once notified.
//! * A leaf that needs an exclusive handle (a receiver, a oneshot's half, a join handle, the `JoinSet`, an armed
//!   `Notified`, the interval) borrows it when it is created and gives it back when it is done or dropped. An operation
//!   or leaf whose handle is borrowed by another branch logs `-`, a leaf does so as soon as it is polled; so does a
//!   `DropSender` while another branch uses that sender. All leaves of a select or join are created when it begins, in
//!   branch order; the leaf of `Within` is created with it, the leaf of `Then` after its operation was executed.
//! * Each operation adds one entry to the log, or none where its documentation does not say what it logs and it does
//!   not log `-`. Values are decimal, lists of values are joined by `+`, and a list without values is `empty`. `Select`
//!   logs `N:TEXT`, branches counted from 0; `JoinAll` logs the texts joined by `&`; `Then` logs both texts joined by
//!   `,`, or the leaf's alone if its operation logs nothing. An operation in `Now` that logs nothing gives an empty text,
//!   and `Await` logs the text of its leaf even if that is empty. Logical values are `true` and `false`.
//! * An operation on an object of another kind (such as a waiting `Send` on an unbounded channel) logs `-`; generated
//!   and shrunk programs have none.
//! * The task keeps a guard or permit from the moment its leaf is ready, also inside a `join!` that goes on.
//!
//! # Time
//!
//! The clock counts ticks from 0. It moves only to fire timers: to the earliest deadline of all timers that a task has
//! polled and still awaits, and only if none of these is due already. An interval whose `tick()` was dropped does not
//! count until it is awaited again. Ticks are at least 1.

/// A shared object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// An `mpsc` channel, unbounded without a capacity.
    Mpsc {
        capacity: Option<usize>,
    },
    Oneshot,
    Broadcast {
        capacity: usize,
    },
    /// A `watch` channel that holds 0 at first.
    Watch,
    Notify,
    Semaphore {
        permits: usize,
    },
    /// A `Mutex<Vec<Value>>`, empty at first.
    Mutex,
    /// A `RwLock<Vec<Value>>`, empty at first.
    RwLock,
    OnceCell,
    SetOnce,
    Barrier {
        size: usize,
    },
}

/// An index into [`Program::objects`].
pub type ObjectId = usize;

/// An index into [`Program::tasks`].
pub type TaskId = usize;

/// A value that is sent or written: unique for each operation of a program: task × 100 + the number of the node in its
/// task, where every [`Op`] and every [`Leaf`], wrappers included, is a node, counted from 1 in preorder
/// ([`Op::nodes`]). So `Await(Send(0))` as the first operation of task 1 sends 102.
pub type Value = u32;

/// Something that a task can await, in one of the forms of [`Op`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// `rx.recv()`; logs the value or `none`.
    Recv(ObjectId),
    /// `rx.recv_many(&mut buffer, limit)`; logs the values joined by `+`, or `none`.
    RecvMany(ObjectId, usize),
    /// `tx.send(value)` on a bounded channel; logs `sent` or `closed`.
    Send(ObjectId),
    /// `tx.reserve()`, then `permit.send(value)` at once; logs `sent` or `closed`.
    ReserveSend(ObjectId),
    /// `tx.reserve_owned()` on a clone of the sender; the permit is kept as a guard. Logs `reserved` or `closed`.
    Reserve(ObjectId),
    /// `tx.send_timeout(value, ticks)`; logs `sent`, `closed` or `timeout`. The time runs from the first poll.
    SendTimeout(ObjectId, u64),
    /// `tx.closed()` of mpsc, oneshot or watch; logs `closed`.
    Closed(ObjectId),
    /// Awaits the oneshot's receiver; logs the value or `gone`. Ready once; afterwards the half is used up.
    Answer(ObjectId),
    /// `rx.recv()` of a broadcast channel; logs the value, `lagged N` or `closed`.
    Heard(ObjectId),
    /// `rx.changed()` of a watch channel, then `borrow_and_update`; logs the value or `closed`.
    Changed(ObjectId),
    /// `notify.notified()`, created when the leaf is; logs `notified`.
    Notified(ObjectId),
    /// Awaits the `Notified` of this object that the task armed earlier; logs `notified`, or `-` without one.
    Armed(ObjectId),
    /// `semaphore.acquire_many(n)`; the permits are kept as a guard. Logs `acquired` or `closed`.
    Acquire(ObjectId, u32),
    /// `mutex.lock()`: pushes the value of this operation, logs the content, and keeps the guard.
    Lock(ObjectId),
    /// `rwlock.read()`: logs the content and keeps the guard.
    Read(ObjectId),
    /// `rwlock.write()`: pushes the value of this operation, logs the content, and keeps the guard.
    Write(ObjectId),
    /// `cell.get_or_init(init)`, where init yields once and gives the value of this operation; logs the cell's value.
    GetOrInit(ObjectId),
    /// `set_once.wait()`; logs the value.
    WaitSet(ObjectId),
    /// `barrier.wait()`; logs `leader` or `follower`.
    BarrierWait(ObjectId),
    /// Awaits the join handle of a task that this task spawned; logs `ok`, `cancelled` or `panicked`.
    Join(TaskId),
    /// `join_set.join_next()`; logs `ok N` with the number of the task, `cancelled`, `panicked` or `none`.
    JoinNext,
    /// `sleep(ticks)`; logs `slept`.
    Sleep(u64),
    /// `interval(ticks)`, made when the first such leaf of the task is created (later ones use the same interval and
    /// ignore their ticks); `tick()`; logs `tick`.
    Tick(u64),
    /// `yield_now()`; logs `yielded`.
    Yield,
    /// A future that executes an operation that does not wait as soon as it is polled, and logs what that logs.
    Now(Box<Op>),
    /// An async block that executes an operation that does not wait, and then awaits a leaf.
    Then(Box<Op>, Box<Leaf>),
    /// `async { timeout(ticks, leaf).await }`, where the `timeout` is created with the leaf and dropped, together with
    /// what it contains, as soon as it is ready; logs what the leaf logs, or `elapsed`.
    Within(u64, Box<Leaf>),
}

/// An operation of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Awaits a leaf.
    Await(Leaf),
    /// `select!` over up to four leaves, logs the number of the branch and what it logs; the other leaves are dropped.
    Select {
        biased: bool,
        branches: Vec<Leaf>,
    },
    /// `join!` over two or three leaves, not biased; logs what each logs.
    JoinAll(Vec<Leaf>),

    // The operations below do not wait.
    /// `tx.send(value)` on an unbounded channel; logs `sent` or `closed`.
    SendNow(ObjectId),
    /// `tx.try_send(value)` on a bounded channel; logs `sent`, `full` or `closed`.
    TrySend(ObjectId),
    /// Upgrades a weak sender, sends without waiting (`try_send` on a bounded channel) and drops the upgraded sender;
    /// logs `dead`, `sent`, `full` or `closed`.
    WeakSend(ObjectId),
    /// Sends the value of this operation through the oldest permit of this channel that the task holds; logs `sent`.
    SendPermit(ObjectId),
    /// `rx.try_recv()` of mpsc or oneshot; logs the value, `empty` or `disconnected`.
    TryRecv(ObjectId),
    /// `rx.close()` of mpsc or oneshot.
    Close(ObjectId),
    /// Drops the receiver.
    DropReceiver(ObjectId),
    /// Drops the sender.
    DropSender(ObjectId),
    /// `tx.capacity()`; logs the number.
    Capacity(ObjectId),
    /// `tx.is_closed()`; logs it.
    IsClosed(ObjectId),
    /// `rx.len()`; logs it.
    Len(ObjectId),
    /// Sends through a oneshot; logs `sent` or `gone`.
    Reply(ObjectId),
    /// `tx.send(value)` of a broadcast channel; logs the number of receivers or `nobody`.
    Broadcast(ObjectId),
    /// `rx.try_recv()` of a broadcast channel; logs the value, `empty`, `lagged N` or `closed`.
    TryHear(ObjectId),
    /// `tx.send_replace(value)` of a watch channel; logs the old value.
    Publish(ObjectId),
    /// `rx.has_changed()`; logs it, or `closed`.
    HasChanged(ObjectId),
    /// `*rx.borrow()`; logs it.
    Borrow(ObjectId),
    NotifyOne(ObjectId),
    NotifyWaiters(ObjectId),
    /// Creates a `Notified` and keeps it; `enable` calls `enable` on it, and logs what that returns.
    Arm {
        object: ObjectId,
        enable: bool,
    },
    /// `try_acquire_many(n)`; the permits are kept as a guard. Logs `acquired`, `none` or `closed`.
    TryAcquire(ObjectId, u32),
    AddPermits(ObjectId, usize),
    /// `forget_permits(n)`; logs how many were forgotten.
    ForgetPermits(ObjectId, usize),
    /// `available_permits()`; logs it.
    Available(ObjectId),
    /// `semaphore.close()`.
    CloseSemaphore(ObjectId),
    /// `try_lock`, `try_read`, `try_write`: like the waiting forms, or logs `busy`.
    TryLock(ObjectId),
    TryRead(ObjectId),
    TryWrite(ObjectId),
    /// Drops the oldest guard or permit of this object that the task holds, or logs `-`.
    Release(ObjectId),
    /// Forgets the oldest semaphore permit of this object that the task holds, or logs `-`.
    ForgetGuard(ObjectId),
    /// `get()` of a `OnceCell` or `SetOnce`; logs the value or `unset`.
    Get(ObjectId),
    /// `set(value)` of a `OnceCell` or `SetOnce`; logs `set` or `already`, for a cell also `initializing`.
    Set(ObjectId),
    Spawn(TaskId),
    /// Spawns into the task's `JoinSet`.
    SpawnIn(TaskId),
    /// `abort()` on the handle of a task that this task spawned.
    Abort(TaskId),
    /// `is_finished()`; logs it.
    IsFinished(TaskId),
    /// `join_set.try_join_next()`; like [`Leaf::JoinNext`], or `none`.
    TryJoinNext,
    /// `join_set.abort_all()`.
    AbortAll,
    /// Drops the `JoinSet`, which aborts its tasks.
    DropSet,
    /// Logs the ticks since the program began.
    Now,
    /// Panics.
    Panic,
}

impl Leaf {
    /// Counts its nodes: it and everything below it.
    pub fn nodes(&self) -> u32 {
        match self {
            Leaf::Now(op) => 1 + op.nodes(),
            Leaf::Then(op, leaf) => 1 + op.nodes() + leaf.nodes(),
            Leaf::Within(_, leaf) => 1 + leaf.nodes(),
            _ => 1,
        }
    }
}

impl Op {
    /// Counts its nodes: it and everything below it.
    pub fn nodes(&self) -> u32 {
        match self {
            Op::Await(leaf) => 1 + leaf.nodes(),
            Op::Select { branches, .. } | Op::JoinAll(branches) => 1 + branches.iter().map(Leaf::nodes).sum::<u32>(),
            _ => 1,
        }
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    pub objects: Vec<Object>,
    pub tasks: Vec<Vec<Op>>,
}
