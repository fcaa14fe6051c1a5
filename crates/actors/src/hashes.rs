//! Hashing states, for searches that compare them.

use crate::Actor;
use rustc_hash::FxHasher;
use std::hash::Hash;

/// How the state and the messages of an actor are hashed.
///
/// A search that compares states (`--reduction stateful`) needs it of every actor; all others do not.
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

/// The two functions of an actor that hashes.
pub(crate) struct Functions<A: Actor> {
    pub(crate) state: fn(&A, &mut FxHasher),
    pub(crate) message: fn(&A::Msg, &mut FxHasher),
}

impl<A: Actor> Hashes<A> {
    /// The actor cannot be hashed.
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
    /// let error = Whippet::new("secret").reduction(Reduction::Stateful).explore(|sys| { sys.spawn(Secret); }).unwrap_err();
    /// assert!(error.to_string().contains("HASHES"), "{error}");
    /// ```
    pub const NONE: Hashes<A> = Hashes { functions: None };

    /// By the actor's and its messages' own `Hash`.
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
