//! Async tasks as a machine.
//!
//! Stand-ins for async libraries are written on top of this crate: they say what is an [`event`], what it
//! touches, and what a future waits for ([`Leaf`], [`Source`]); tasks are then explored like any
//! other program, by [`Tasks::explore`].
//!
//! A step of a task is one event and all the code up to the next one. What is an event and what it touches:
//!
//! * A send stops the task before it and writes the end of its queue; a receive waits for something to
//!   take and happens after the send it takes from. Sends to one queue are thus dependent, a send and a
//!   receive are not.
//! * Asking for a lock or for permits writes the line of those who ask, whoever holds it; getting it happens
//!   after the release that made it free.
//! * A look that does not wait (`try_recv`, `is_closed`) reads what it looks at.
//! * A future that is polled in vain leaves no trace, unless the same poll goes on to an event: then that
//!   step reads what was looked at. So a `biased` select that took from its second branch depends on
//!   sends to its first.
//! * With [`Settings::deep`] there is a point before every operation, also before looks in vain.
//! * Senders are dropped in any order: each drop adds to the end of the channel, and only who looks whether all are
//!   gone depends on them.
//! * What nobody can come between is an *aside*, a part of the step in which it happens: a receive or a join, a oneshot's
//!   send, the drop of a sender, the end of a task, a look that does not wait, closing, the beginning of a select. Who goes on by
//!   an aside does so at once, in the step that made that possible, and what it does next comes after that step and its own
//!   last one. Where others touch what an aside touches, and no cause says who comes first, which is learnt, it is an event
//!   after all; with [`Settings::every_event`] always. `asides.rs` says why this is enough.
//! * What a task takes comes after what made it ready. Where it waits for several things and another one may be there first,
//!   the taking is an event, in a race with what made its thing ready: without it, the task might have been let through by
//!   something else. Which things are waited for so is learnt while the program runs.
//! * The timer that is due first may fire: firing depends on every timer that begins or ceases to wait.
//! * Branches of a select or join that act, or are done, as soon as they are polled: where there are such ones, which is
//!   learnt too, the select begins with a step of its own, which looks at what is polled before them.

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
pub use selects::{Around, Composite, InBranch, Inside, Round, begins, is_in_branch, new_select};
pub use task::{THREAD, block_on_here, holds, pop_local, push_local, task_name, wait_here, with_local};
pub use time::{advance, now, pause, resume};
pub use waiting::{Leaf, On, Ready, Source, Unseen};
