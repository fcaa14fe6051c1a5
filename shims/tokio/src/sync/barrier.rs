//! `Barrier`: tasks wait for each other; the last one to arrive leads.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Poll, ready};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Part, PerExecution, Readiness, Ready, WaitTarget, Waiter, enables, event, has_asked, is_over, this_step,
    wake_polled, write,
};

#[derive(Default)]
struct State {
    /// The tasks that have arrived in the current generation.
    arrived: usize,
    /// The steps that completed the generations so far.
    completed: Vec<u32>,
}

struct Core {
    size: usize,
    state: PerExecution<State>,
}

impl Readiness for Core {
    fn ready(&self, generation: u64) -> Option<Ready> {
        let item = self.state.object().part(Part::Item);
        self.state.with(|s| s.completed.get(generation as usize).map(|&since| Ready { since, item }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.state.object().part(Part::Tail));
    }
}

/// Shim of `tokio::sync::Barrier`.
pub struct Barrier {
    core: Arc<Core>,
}

impl std::fmt::Debug for Barrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    #[track_caller]
    pub fn new(size: usize) -> Barrier {
        let core = Core { size: size.max(1), state: PerExecution::new("barrier", Some(Location::caller())) };
        core.state.object();
        Barrier { core: Arc::new(core) }
    }

    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> + use<'_> {
        let place = Location::caller();
        let (mut generation, mut waiter) = (None, Waiter::new());
        poll_fn(move |cx| {
            let core = &self.core;
            let awaited = match generation {
                Some(awaited) => awaited,
                None => {
                    let object = core.state.used(&[Part::Tail], place);
                    event(Action::new(Point::Arrives, object, place));
                    if is_over() {
                        return Poll::Pending;
                    }
                    write(object.part(Part::Tail));
                    let Some(awaited) = core.arrive() else {
                        enables(object.part(Part::Tail), object.part(Part::Item));
                        wake_polled();
                        return Poll::Ready(BarrierWaitResult(true));
                    };
                    has_asked(false);
                    *generation.insert(awaited)
                }
            };
            let action = Action::new(Point::Passes, core.state.object(), place);
            ready!(waiter.poll(cx, || (WaitTarget::Object(core.clone(), awaited), action)));
            Poll::Ready(BarrierWaitResult(false))
        })
    }
}

impl Core {
    /// Counts an arrival in the running step. Returns the generation to wait for, or `None` for the leader.
    fn arrive(&self) -> Option<u64> {
        self.state.with(|s| {
            s.arrived += 1;
            if s.arrived < self.size {
                return Some(s.completed.len() as u64);
            }
            s.arrived = 0;
            s.completed.push(this_step());
            None
        })
    }
}
