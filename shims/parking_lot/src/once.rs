//! `Once`: a call that is made once. In a static it is made once in each execution.

use whippet_std::sync::OnceLock;

/// The state of a [`Once`].
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum OnceState {
    /// The call was not made.
    New,
    /// The call has panicked.
    Poisoned,
    /// The call is running.
    InProgress,
    /// The call was made.
    Done,
}

impl OnceState {
    /// Returns `true` if the call has panicked.
    #[must_use]
    pub fn poisoned(self) -> bool {
        self == OnceState::Poisoned
    }

    /// Returns `true` if the call was made.
    #[must_use]
    pub fn done(self) -> bool {
        self == OnceState::Done
    }
}

/// A call that is made once.
#[derive(Debug, Default)]
pub struct Once {
    done: OnceLock<()>,
}

impl Once {
    /// Creates the call.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Once {
        Once { done: OnceLock::new() }
    }

    /// Returns its state. A call that runs or has panicked is `New`.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> OnceState {
        if self.done.get().is_some() { OnceState::Done } else { OnceState::New }
    }

    /// Calls `work`, unless that was done before; waits for a call that is running.
    #[track_caller]
    pub fn call_once(&self, work: impl FnOnce()) {
        self.done.get_or_init(work);
    }

    /// Calls `work` like [`call_once`](Once::call_once), also after a call that has panicked.
    #[track_caller]
    pub fn call_once_force(&self, work: impl FnOnce(OnceState)) {
        self.done.get_or_init(|| work(OnceState::New));
    }
}
