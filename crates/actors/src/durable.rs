//! State that survives a crash.

use crate::{Actor, Cx};
use std::ops::{Deref, DerefMut};

/// A part of an actor's state that survives a [crash](crate::System::crashes) once it is [synced](Durable::sync), like a file.
///
/// What was written after the last `sync` may be lost or not: [`recover`](Durable::recover) explores both.
///
/// ```
/// use whippet::{Durable, prelude::*};
/// #[derive(Clone, Debug)]
/// struct Voter { term: Durable<u32>, syncs: bool }
/// impl Actor for Voter {
///     type Msg = u32;
///     async fn handle(&mut self, term: u32, _cx: &mut Cx<Self>) {
///         *self.term = term;
///         if self.syncs {
///             self.term.sync();
///         }
///     }
///     fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Voter> {
///         Some(Voter { term: self.term.recover(cx), syncs: self.syncs })
///     }
/// }
/// let terms = |syncs: bool| -> Vec<String> {
///     let verdict = Checker::new("voter").explore(move |sys| {
///         let voter = sys.spawn(Voter { term: Durable::new(1), syncs });
///         sys.send(voter, 2);
///         sys.crashes(voter, 1);
///         sys.outcome(voter, |voter| *voter.term);
///     });
///     verdict.unwrap().outcomes.into_iter().map(|outcome| outcome.message).collect()
/// };
/// assert_eq!(terms(true), ["2"]);
/// assert_eq!(terms(false), ["2", "1"], "the write may be lost");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Durable<T> {
    value: T,
    synced: T,
}

impl<T: Clone + PartialEq> Durable<T> {
    /// Creates a value that is synced.
    ///
    /// ```
    /// assert_eq!(*whippet::Durable::new(5), 5);
    /// ```
    pub fn new(value: T) -> Durable<T> {
        Durable { synced: value.clone(), value }
    }

    /// Makes what was written survive a crash.
    ///
    /// ```
    /// let mut log = whippet::Durable::new(vec![1]);
    /// log.push(2);
    /// assert!(!log.is_synced());
    /// log.sync();
    /// assert!(log.is_synced());
    /// ```
    pub fn sync(&mut self) {
        self.synced.clone_from(&self.value);
    }

    /// Returns `true` if nothing was changed since the last `sync`.
    ///
    /// ```
    /// assert!(whippet::Durable::new(5).is_synced());
    /// ```
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.value == self.synced
    }

    /// Returns the value after a crash: with what was written since the last `sync`, or without it. Both are explored.
    #[must_use]
    pub fn recover<A: Actor>(&self, cx: &mut Cx<A>) -> Durable<T> {
        let kept = self.is_synced() || cx.choose(2) == 0;
        Durable::new(if kept { self.value.clone() } else { self.synced.clone() })
    }
}

impl<T> Deref for Durable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Durable<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
