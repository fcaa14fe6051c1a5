//! The driver of a test, as in the published programs: it introduces actors to each other by calls, one after the
//! other, before the explored part begins.
//!
//! The driver's calls and the replies matter because some orders of search depend on the sender and the receiver of
//! each message.

use super::prelude::*;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A function that creates the `k`-th request, given its reply handle.
type Request<A> = Arc<dyn Fn(usize, Reply<()>) -> <A as Actor>::Msg + Send + Sync>;

/// An actor that calls each of `others` in turn.
pub(crate) struct Driver<A: Actor> {
    others: Arc<[Addr<A>]>,
    request: Request<A>,
}

/// Creates the driver and runs it to completion as part of the set-up.
pub(crate) fn introduce<A: Actor>(
    sys: &mut System,
    others: impl IntoIterator<Item = Addr<A>>,
    request: impl Fn(usize, Reply<()>) -> A::Msg + Send + Sync + 'static,
) {
    let driver = sys.spawn_named("driver", Driver { others: others.into_iter().collect(), request: Arc::new(request) });
    sys.send(driver, Introduce);
    sys.finish_setup();
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Introduce;

impl<A: Actor> Actor for Driver<A> {
    type Msg = Introduce;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Introduce, cx: &mut Cx<Self>) {
        for (k, &other) in self.others.iter().enumerate() {
            let request = self.request.clone();
            cx.call(other, |reply| request(k, reply)).await;
        }
    }
}

impl<A: Actor> Clone for Driver<A> {
    fn clone(&self) -> Self {
        Driver { others: self.others.clone(), request: self.request.clone() }
    }
}

impl<A: Actor> fmt::Debug for Driver<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driver")
    }
}

/// Hashes nothing: a driver never changes state.
impl<A: Actor> Hash for Driver<A> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
