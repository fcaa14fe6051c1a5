//! What a program may expect of the world around it.

/// What a program must have done when nothing happens any more.
///
/// ```
/// use whippet::prelude::*;
/// fn waits(sys: &mut System) {
///     sys.spawn_fn(async |inbox: &mut Inbox<()>| inbox.receive().await);
/// }
/// let [open, closed] = [Environment::Open, Environment::Closed]
///     .map(|environment| Whippet::new("waits").environment(environment).try_check(waits));
/// assert!(open.is_ok() && closed.is_err());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Environment {
    /// Actors may wait for messages that others, outside of the program, could send; but no actor may wait
    /// for the reply to a call.
    #[default]
    Open,
    /// Nobody else will ever send: every actor must have stopped.
    Closed,
}
