//! The determinism check, in a thread of its own: user code may not return.

use crate::CheckError;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;
use whippet_actors::ActorProgram;
use whippet_search::SearchError;

/// The stack of the thread, which user code may need.
const STACK: usize = 64 << 20;

/// Runs [`ActorProgram::test_determinism`]. The check is abandoned if it takes longer than `limit`.
pub(crate) fn test(program: Arc<ActorProgram>, limit: Duration) -> Result<(), CheckError> {
    let (sender, receiver) = channel();
    // The receiver is gone if the check took too long.
    let work = move || drop(sender.send(program.test_determinism()));
    if Builder::new().name("whippet determinism check".into()).stack_size(STACK).spawn(work).is_err() {
        return Ok(());
    }
    match receiver.recv_timeout(limit) {
        Ok(Err(error)) => Err(SearchError::Program(error).into()),
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}
