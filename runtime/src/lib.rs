//! A machine for async tasks.
//!
//! Shims for async libraries are written on top of this crate: they report each [`event`] with its footprint, and the
//! objects that a future waits for ([`Waiter`], [`Readiness`]). Tasks are then explored like any other program, by
//! [`TaskProgram::explore`].
//!
//! A step of a task is one event and all the code up to the next one. The events and their footprints:
//!
//! * A send suspends the task before it and writes the tail of its queue. A receive waits for an item and happens
//!   after the send of this item. Sends to one queue are thus dependent, a send and a receive are not.
//! * A request for a lock or for permits writes the queue of waiters, no matter if the lock is free. Getting it
//!   happens after the release that made it free.
//! * An operation that does not wait (`try_recv`, `is_closed`) reads the object.
//! * A future that is polled and not ready has no footprint, unless the same poll continues to an event: that step
//!   then reads the polled objects. So a `biased` select that took an item from its second branch depends on sends to
//!   its first.
//! * With [`Settings::deep`], every operation is preceded by a scheduling point, also a check that finds no item.
//! * Drops of senders commute: each drop adds to the end of the channel, and only a task that checks if all senders
//!   are gone depends on them.
//! * Operations that no other task can interleave with are *merged events*, parts of the step in which they happen: a
//!   receive or a join, a oneshot's send, the drop of a sender, the end of a task, a read that does not wait,
//!   closing, the beginning of a select. A task that a merged event resumes continues at once, in the step that made
//!   this possible, and its next operation happens after that step and its own last one. If other tasks have
//!   conflicting touches and no cause orders them, which is learnt, the operation is an event of its own; with
//!   [`Settings::every_event`] it always is. `merging.rs` shows why this is sufficient.
//! * A receive happens after the step that made its item ready. If the task waits for several objects and another one
//!   may be ready first, the receive is an event in a race with that step: without it, another object might have
//!   resumed the task. The objects that are awaited in this way are learnt while the program runs.
//! * The earliest timer may fire: this depends on every timer that begins or ceases to wait.
//! * A task that reads a clock of the operating system depends on the steps in which the clock advances: `system/mod.rs`.
//! * A task that spins goes on only if something has changed, or nothing else is possible: `spinning.rs`.
//! * A select or join with branches that act, or complete, as soon as they are polled, which is also learnt, begins
//!   with a step of its own. That step reads the objects that are polled before these branches.

mod channel;
mod clock;
mod current;
mod drive;
mod ending;
mod events;
mod execution;
mod foreign_threads;
mod foresight;
mod grant;
mod hand_polls;
mod leaving;
mod life;
mod local;
mod machine;
mod merging;
mod names;
mod object;
mod one_thread;
mod order;
mod outside;
mod panics;
mod passing;
mod per_execution;
mod permits;
mod points;
mod polls;
mod program;
mod readiness;
mod record;
mod refinements;
mod selects;
mod semaphore;
mod spinning;
mod stack;
mod stalls;
mod stepping;
mod system;
mod task;
mod task_local;
mod tasks;
mod time;
mod timers;
mod waiting;
mod waker;

pub use channel::{Asking, Handles, Placed, Queue, Refused};
pub use drive::{block_on_here, wait_here};
pub use events::{
    appends, before_this, choose, contributes, declares_threads, enables, enables_merged, event, execution_id,
    has_asked, is_learnt, is_live, is_over, learn, mergeable_event, needs_own_event, new_item, read, recalls, sent,
    taken, tell, this_step, write,
};
pub use execution::{Steps, misuse};
pub use foreign_threads::on_refusal;
pub use hand_polls::wake_polled;
pub use life::{End, Ends, Exit, Leaves, spawn};
pub use local::Local;
pub use machine::TaskMachine;
pub use merging::newest;
pub use object::{Action, Object, Part, Place, is_foreign};
pub use per_execution::{Once, PerExecution};
pub use permits::{Asked, Permits};
pub use points::{Merge, Point, Row, table};
pub use program::{Settings, TaskProgram};
pub use selects::{Around, Composite, InBranch, Inside, Round, begins, is_in_branch, is_repeated, new_select};
pub use semaphore::{Acquiring, Closed, SemaphoreCore};
pub use system::{
    Destructor, SystemClock, is_variable, random_bytes, sleeps, starts_thread, system_time, take_destructor,
};
pub use task::{BLOCKING, THREAD, budget, holds, is_thread, set_budget, task_name};
pub use task_local::{pop_local, push_local, with_local};
pub use time::{advance, now, pause, resume};
pub use waiting::{Readiness, Ready, UnobservedWait, WaitTarget, Waiter};
