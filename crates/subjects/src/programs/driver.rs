//! The driver of a test, as the published programs have it: introduces actors to each other by calls, one after the
//! other, before the part that is explored.
//!
//! That it calls, and is answered, shows in the orders that look at who sends to whom.

use super::prelude::*;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Makes the `k`-th request around its reply handle.
type Request<A> = Rc<dyn Fn(usize, Reply<()>) -> <A as Actor>::Msg>;

/// Calls each of `others` in turn.
pub(crate) struct Driver<A: Actor> {
    others: Rc<[Addr<A>]>,
    request: Request<A>,
}

/// Creates the driver, and lets it do its work as the set-up.
pub(crate) fn introduce<A: Actor>(
    sys: &mut System,
    others: impl IntoIterator<Item = Addr<A>>,
    request: impl Fn(usize, Reply<()>) -> A::Msg + 'static,
) {
    let driver = sys.spawn_named("driver", Driver { others: others.into_iter().collect(), request: Rc::new(request) });
    sys.send(driver, Introduce);
    sys.settle();
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

/// A driver never changes, so there is nothing to tell two of its states apart by.
impl<A: Actor> Hash for Driver<A> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
