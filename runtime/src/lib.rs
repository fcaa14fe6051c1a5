//! A machine for async tasks.
//!
//! Shims for async libraries are written on top of this crate: they report each [`event`] with its footprint, and the
//! objects that a future waits for ([`Leaf`], [`Source`]). Tasks are then explored like any other program, by
//! [`Tasks::explore`].
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
//!   [`Settings::every_event`] it always is. `asides.rs` shows why this is sufficient.
//! * A receive happens after the step that made its item ready. If the task waits for several objects and another one
//!   may be ready first, the receive is an event in a race with that step: without it, another object might have
//!   resumed the task. The objects that are awaited in this way are learnt while the program runs.
//! * The earliest timer may fire: this depends on every timer that begins or ceases to wait.
//! * A select or join with branches that act, or complete, as soon as they are polled, which is also learnt, begins
//!   with a step of its own. That step reads the objects that are polled before these branches.

mod asides;
mod channel;
mod clock;
mod ending;
mod events;
mod execution;
mod foresight;
mod gate;
mod grant;
mod groups;
mod life;
mod local;
mod machine;
mod object;
mod order;
mod panics;
mod permits;
mod program;
mod record;
mod renewed;
mod selects;
mod stack;
mod strays;
mod task;
mod time;
mod waiting;
mod waker;

pub use asides::newest;
pub use channel::{Asking, Handles, Placed, Queue, Refused};
pub use events::{
    appends, before_this, choose, contributes, enables, enables_aside, event, execution_id, has_asked, is_learnt,
    is_live, is_over, learn, new_item, quiet_event, read, recalls, sent, stands_out, taken, tell, this_step, write,
};
pub use execution::{Steps, misuse};
pub use gate::{Acquiring, Gate, Shut};
pub use life::{End, Ends, Exit, Leaves, spawn};
pub use local::Local;
pub use machine::TaskMachine;
pub use object::{Action, Object, Part, Place, is_foreign};
pub use permits::{Asked, Permits};
pub use program::{Settings, Tasks};
pub use renewed::{Once, Renewed};
pub use selects::{Around, Composite, InBranch, Inside, Round, begins, is_in_branch, is_repeated, new_select};
pub use task::{THREAD, block_on_here, holds, pop_local, push_local, task_name, wait_here, with_local};
pub use time::{advance, now, pause, resume};
pub use waiting::{Leaf, On, Ready, Source, Unseen};
