//! `Barrier`: from a lock and a notification.

use super::{Mutex, Notify};
use std::sync::Arc;

/// Stand-in for `tokio::sync::Barrier`.
#[derive(Debug)]
pub struct Barrier {
    size: usize,
    state: Mutex<(usize, Arc<Notify>)>,
}

#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    pub fn new(size: usize) -> Barrier {
        Barrier { size: size.max(1), state: Mutex::new((0, Arc::new(Notify::new()))) }
    }

    pub async fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().await;
        state.0 += 1;
        if state.0 == self.size {
            state.0 = 0;
            let round = std::mem::replace(&mut state.1, Arc::new(Notify::new()));
            drop(state);
            round.notify_waiters();
            return BarrierWaitResult(true);
        }
        let released = state.1.clone().notified_owned();
        drop(state);
        released.await;
        BarrierWaitResult(false)
    }
}
