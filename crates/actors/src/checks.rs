//! User-defined checks of the states of actors.

use crate::Actor;
use crate::address::Addr;
use crate::cell::ActorCell;
use crate::panics::{CaughtPanic, catch};
use std::panic::Location;

/// A view of the states of all actors.
///
/// ```
/// # use whippet::prelude::*;
/// # #[derive(Clone, Debug)]
/// # struct Till(i64);
/// # impl Actor for Till {
/// #     type Msg = i64;
/// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.0 += sum; }
/// # }
/// // A check receives the states of the actors it names: see `CheckTarget`.
/// whippet::check(|sys| {
///     let till = sys.spawn(Till(5));
///     sys.send(till, 1);
///     sys.at_end(till, |state| assert_eq!(state.0, 6));
/// });
/// ```
pub struct States<'a> {
    cells: &'a [Box<dyn ActorCell>],
}

whippet_model::opaque_debug!(States, [] States<'_>);

impl<'a> States<'a> {
    /// Returns the state of one actor, as left by the last handler that completed.
    fn get<A: Actor>(&self, addr: &Addr<A>) -> &'a A {
        let cell = &self.cells[addr.raw.slot as usize];
        let state = cell.view(cell.position()).expect("actors with a type have a state");
        state.downcast_ref().expect("addresses are typed")
    }
}

/// The actors that a check inspects: an address, or a tuple or `Vec` of addresses.
///
/// A check sees only the actors it names, so that every search knows which steps can change its result. The steps of
/// actors that are named by the same check count as dependent on each other.
///
/// ```
/// use whippet_actors::{Actor, Cx, System};
/// #[derive(Clone, Debug)]
/// struct Till(i64);
/// impl Actor for Till {
///     type Msg = i64;
///     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) {
///         self.0 += sum;
///     }
/// }
/// let mut system = System::scratch();
/// let (a, b) = (system.spawn(Till(5)), system.spawn(Till(5)));
/// system.always(a, |till| assert!(till.0 >= 0));
/// system.always((a, b), |(a, b)| assert!(a.0 + b.0 <= 10));
/// system.at_end(vec![a, b], |tills| assert_eq!(tills.iter().map(|t| t.0).sum::<i64>(), 10));
/// ```
pub trait CheckTarget: 'static {
    /// The states that are passed to the check.
    ///
    /// ```
    /// use whippet::{CheckTarget, prelude::*};
    /// # #[derive(Clone, Debug)]
    /// # struct Till(i64);
    /// # impl Actor for Till {
    /// #     type Msg = i64;
    /// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.0 += sum; }
    /// # }
    /// fn richer(view: <(Addr<Till>, Addr<Till>) as CheckTarget>::View<'_>) -> bool {
    ///     let (one, other): (&Till, &Till) = view;
    ///     one.0 > other.0
    /// }
    /// whippet::check(|sys| {
    ///     let (one, other) = (sys.spawn(Till(5)), sys.spawn(Till(3)));
    ///     sys.at_end((one, other), |view| assert!(richer(view)));
    /// });
    /// ```
    type View<'a>;

    /// Returns the numbers of the actors.
    #[doc(hidden)]
    fn slots(&self) -> Vec<u32>;

    /// Returns the states of the actors.
    #[doc(hidden)]
    fn view<'a>(&self, states: &States<'a>) -> Self::View<'a>;
}

impl<A: Actor> CheckTarget for Addr<A> {
    type View<'a> = &'a A;

    fn slots(&self) -> Vec<u32> {
        vec![self.raw.slot]
    }

    fn view<'a>(&self, states: &States<'a>) -> &'a A {
        states.get(self)
    }
}

impl<A: Actor> CheckTarget for Vec<Addr<A>> {
    type View<'a> = Vec<&'a A>;

    fn slots(&self) -> Vec<u32> {
        self.iter().map(|addr| addr.raw.slot).collect()
    }

    fn view<'a>(&self, states: &States<'a>) -> Vec<&'a A> {
        self.iter().map(|addr| states.get(addr)).collect()
    }
}

macro_rules! tuple {
    ($($part:ident),+) => {
        impl<$($part: CheckTarget),+> CheckTarget for ($($part,)+) {
            type View<'a> = ($($part::View<'a>,)+);

            #[allow(non_snake_case)]
            fn slots(&self) -> Vec<u32> {
                let ($($part,)+) = self;
                let mut slots = Vec::new();
                $(slots.extend($part.slots());)+
                slots
            }

            #[allow(non_snake_case)]
            fn view<'a>(&self, states: &States<'a>) -> Self::View<'a> {
                let ($($part,)+) = self;
                ($($part.view(states),)+)
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);

/// A check: the actors it inspects, and the function that tests their states.
pub(crate) struct Check {
    pub(crate) slots: Vec<u32>,
    /// The source location of its declaration.
    pub(crate) site: &'static Location<'static>,
    test: Box<dyn Fn(&States<'_>)>,
}

impl Check {
    #[track_caller]
    pub(crate) fn new<W: CheckTarget>(who: W, test: impl Fn(W::View<'_>) + 'static) -> Check {
        Check { slots: who.slots(), site: Location::caller(), test: Box::new(move |states| test(who.view(states))) }
    }

    pub(crate) fn run(&self, cells: &[Box<dyn ActorCell>]) -> Result<(), CaughtPanic> {
        catch(|| (self.test)(&States { cells }))
    }
}
