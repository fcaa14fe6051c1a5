//! Assumptions about the environment of a program.

/// The state that a program must have reached when no step is enabled.
///
/// ```
/// use whippet::prelude::*;
/// fn waits(sys: &mut System) {
///     sys.spawn_fn(async |inbox: &mut Inbox<()>| inbox.receive().await);
/// }
/// let [open, closed] = [Environment::Open, Environment::Closed]
///     .map(|environment| Checker::new("waits").environment(environment).try_check(waits));
/// assert!(open.is_ok() && closed.is_err());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Environment {
    /// Actors may wait for messages, which could still come from outside the program; but no actor may wait for the
    /// reply to a call.
    #[default]
    Open,
    /// No messages come from outside the program: every actor must have stopped.
    Closed,
}
