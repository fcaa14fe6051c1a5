//! The states of `select!` and `join!`, to which the macros expand.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use whippet_runtime::{Around, Composite, InBranch, Inside, Place, Round};

/// The state of a `select!` that polls its branches.
pub struct Selecting {
    place: Place,
    /// The number of the `select!`, if it is unbiased.
    select: Option<u32>,
    /// `true` if a branch has effects as soon as it is polled. Then a ready branch prevents the polls of later ones.
    acts: bool,
    /// The branch that is polled first.
    start: usize,
    branches: usize,
    polls: usize,
    round: Round,
}

impl Selecting {
    #[track_caller]
    pub fn new(biased: bool, branches: usize) -> Selecting {
        let place = Location::caller();
        // If a branch has effects as soon as it is polled, the branches polled before it make a difference.
        let acts = whippet_runtime::begins(place, !biased, false);
        let start = if biased || !acts { 0 } else { whippet_runtime::choose(branches as u32) as usize };
        let select = (!biased).then(whippet_runtime::new_select);
        Selecting { place, select, acts, start, branches, polls: 0, round: Round::default() }
    }

    /// Returns the branch to poll in position `turn`.
    #[inline]
    pub fn branch(&mut self, turn: usize) -> usize {
        if turn == 0 {
            self.polls += 1;
            self.round.begin();
            if self.polls > 1 && self.acts && self.select.is_some() && !whippet_runtime::is_repeated() {
                self.start = whippet_runtime::choose(self.branches as u32) as usize;
            }
        }
        self.whose(turn)
    }

    #[inline]
    fn whose(&self, turn: usize) -> usize {
        let at = self.start + turn;
        if at < self.branches { at } else { at - self.branches }
    }

    pub fn poll<F: Future>(&mut self, turn: usize, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let begins = self.polls == 1;
        let around = begins.then(|| Around::enter(self.place, self.select.is_some()));
        let _strict = self.acts.then(Composite::enter);
        let _branch = self.select.map(|select| InBranch::enter(select, self.whose(turn) as u32));
        let _inside = Inside::enter();
        let answer = future.poll(cx);
        self.round.branch();
        if answer.is_ready() {
            self.round.end(false);
            if let Some(around) = around {
                around.done();
            }
        }
        answer
    }

    /// Records that all branches were polled and are pending.
    pub fn waits(&mut self) {
        self.round.end(true);
    }
}

/// The state of a `join!` that polls its futures.
pub struct Joining {
    place: Place,
    /// `true` if a future may have effects as soon as it is polled.
    acts: bool,
    biased: bool,
    futures: usize,
    /// The number of polls so far, and the future that is polled first in the current one.
    polls: usize,
    start: usize,
}

impl Joining {
    #[track_caller]
    pub fn new(futures: usize, biased: bool, acts: bool) -> Joining {
        let place = Location::caller();
        let acts = whippet_runtime::begins(place, false, acts);
        Joining { place, acts, biased, futures, polls: 0, start: 0 }
    }

    /// Returns the future to poll in position `turn`: unless the join is biased, each poll begins with the next future.
    #[inline]
    pub fn future(&mut self, turn: usize) -> usize {
        if turn == 0 && !whippet_runtime::is_repeated() {
            self.start = if self.acts && !self.biased { self.polls % self.futures } else { 0 };
            self.polls += 1;
        }
        let at = self.start + turn;
        if at < self.futures { at } else { at - self.futures }
    }

    pub fn poll<F: Future>(&mut self, future: Pin<&mut Joined<F>>, cx: &mut Context<'_>) -> Poll<()> {
        if !matches!(&*future, Joined::Waiting(_)) {
            return Poll::Ready(());
        }
        let around = (self.polls == 1).then(|| Around::enter(self.place, false));
        let _strict = self.acts.then(Composite::enter);
        let _inside = Inside::enter();
        let answer = poll_joined(future, cx);
        if answer.is_ready()
            && let Some(around) = around
        {
            around.done();
        }
        answer
    }
}

/// A future of a `join!` and its result.
pub enum Joined<F: Future> {
    Waiting(F),
    Done(F::Output),
    Taken,
}

impl<F: Future> Joined<F> {
    pub fn new(future: impl std::future::IntoFuture<IntoFuture = F, Output = F::Output>) -> Joined<F> {
        Joined::Waiting(future.into_future())
    }

    /// Returns `true` if the future runs code of the user. It may then share memory with the other futures of its
    /// `join!` that the shim does not see, so it matters which of them are done when it is first polled.
    pub fn runs_user_code(&self) -> bool {
        !std::any::type_name::<F>().starts_with("tokio::")
    }

    pub fn take(self: Pin<&mut Self>) -> Option<F::Output> {
        // SAFETY: results are not pinned. The macros call this only when the future is done.
        match std::mem::replace(unsafe { self.get_unchecked_mut() }, Joined::Taken) {
            Joined::Done(output) => Some(output),
            _ => None,
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> Joined<F> {
    pub fn take_error(self: Pin<&mut Self>) -> Option<E> {
        if !matches!(&*self, Joined::Done(Err(_))) {
            return None;
        }
        self.take().and_then(Result::err)
    }
}

fn poll_joined<F: Future>(future: Pin<&mut Joined<F>>, cx: &mut Context<'_>) -> Poll<()> {
    // SAFETY: the future is not moved, and it is dropped in place.
    let this = unsafe { future.get_unchecked_mut() };
    let Joined::Waiting(waiting) = this else { return Poll::Ready(()) };
    // SAFETY: as above.
    unsafe { Pin::new_unchecked(waiting) }.poll(cx).map(|output| *this = Joined::Done(output))
}
