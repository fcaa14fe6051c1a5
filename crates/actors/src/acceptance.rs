//! The types of actors that accept every message, because they do not implement [`Actor::accepts`].
//!
//! Rust has no way to ask whether a type overrides a default method. So the default method leaves a note with the type that it was
//! called for. A method that overrides it, and perhaps calls the default method of a field of another type, leaves no note with
//! its own type.

use crate::Actor;
use std::any::TypeId;
use std::cell::Cell;

thread_local! {
    /// The type for which the default method was called last.
    static NOTE: Cell<Option<TypeId>> = const { Cell::new(None) };
}

/// The body of the default method: accepts the message.
pub(crate) fn accept_by_default<A: Actor>() -> bool {
    NOTE.set(Some(TypeId::of::<A>()));
    true
}

/// Asks an actor, and returns its answer and `true` if it accepts every message in every state.
pub(crate) fn ask<A: Actor>(state: &A, message: &A::Msg) -> (bool, bool) {
    NOTE.set(None);
    let accepts = state.accepts(message);
    (accepts, NOTE.get() == Some(TypeId::of::<A>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cx;

    #[derive(Clone, Debug)]
    struct Plain;

    impl Actor for Plain {
        type Msg = u8;
        async fn handle(&mut self, _: u8, _: &mut Cx<Self>) {}
    }

    /// Accepts what another actor accepts, as long as it is awake.
    #[derive(Clone, Debug)]
    struct Sleeper {
        awake: bool,
        inner: Plain,
    }

    impl Actor for Sleeper {
        type Msg = u8;
        async fn handle(&mut self, _: u8, _: &mut Cx<Self>) {}
        fn accepts(&self, msg: &u8) -> bool {
            self.awake && self.inner.accepts(msg)
        }
    }

    #[test]
    fn only_the_default_method_of_the_type_itself_counts() {
        assert_eq!(ask(&Plain, &1), (true, true));
        assert_eq!(ask(&Sleeper { awake: true, inner: Plain }, &1), (true, false));
        assert_eq!(ask(&Sleeper { awake: false, inner: Plain }, &1), (false, false));
    }
}
