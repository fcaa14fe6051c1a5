//! Hash functions for states, used by searches that compare states.

use crate::Actor;
use rustc_hash::FxHasher;
use std::hash::Hash;

/// The hash functions for the state and the messages of an actor.
///
/// Searches that compare states (`--reduction stateful`) need them for every actor; other searches do not.
///
/// ```
/// use whippet_actors::{Actor, Cx, Hashes};
/// #[derive(Clone, Debug, Hash)]
/// struct Light { on: bool }
/// impl Actor for Light {
///     type Msg = bool;
///     const HASHES: Hashes<Self> = Hashes::of();
///     async fn handle(&mut self, on: bool, _cx: &mut Cx<Self>) {
///         self.on = on;
///     }
/// }
/// ```
pub struct Hashes<A: Actor> {
    pub(crate) functions: Option<Functions<A>>,
}

whippet_model::opaque_debug!(Hashes, [A: Actor] Hashes<A>);

/// The two hash functions of an actor.
pub(crate) struct Functions<A: Actor> {
    pub(crate) state: fn(&A, &mut FxHasher),
    pub(crate) message: fn(&A::Msg, &mut FxHasher),
}

impl<A: Actor> Hashes<A> {
    /// Declares that the actor cannot be hashed.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Secret;
    /// impl Actor for Secret {
    ///     type Msg = ();
    ///     const HASHES: Hashes<Self> = Hashes::NONE; // the default
    ///     async fn handle(&mut self, _msg: (), _cx: &mut Cx<Self>) {}
    /// }
    /// let error = Checker::new("secret").reduction(Reduction::Stateful).explore(|sys| { sys.spawn(Secret); }).unwrap_err();
    /// assert!(error.to_string().contains("HASHES"), "{error}");
    /// ```
    pub const NONE: Hashes<A> = Hashes { functions: None };

    /// Uses the `Hash` implementations of the actor and its messages.
    #[must_use]
    pub const fn of() -> Hashes<A>
    where
        A: Hash,
        A::Msg: Hash,
    {
        Hashes {
            functions: Some(Functions {
                state: <A as Hash>::hash::<FxHasher>,
                message: <A::Msg as Hash>::hash::<FxHasher>,
            }),
        }
    }
}
