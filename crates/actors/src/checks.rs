//! User-defined checks of the states of actors.

use crate::Actor;
use crate::address::Addr;
use crate::cell::ActorCell;
use crate::panics::{CaughtPanic, catch};
use std::any::Any;
use std::panic::Location;
use std::rc::Rc;

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

/// The actors that a check inspects: an address, [a part](Addr::only) of an actor's state, or a tuple or `Vec` of these.
///
/// A check sees only the actors it names, so that every search knows which steps can change its result. The steps of
/// actors that are named by the same check count as dependent on each other; with [`Addr::only`], only those that change
/// what the check sees.
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

    /// Returns `true` if a step of an actor that changes its state in this way may change the view.
    #[doc(hidden)]
    fn is_changed(&self, change: &ActorChange<'_>) -> bool {
        self.slots().contains(&change.slot)
    }
}

/// The state of an actor before and after a step.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct ActorChange<'a> {
    pub(crate) slot: u32,
    pub(crate) before: &'a dyn Any,
    pub(crate) after: &'a dyn Any,
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

impl<T: CheckTarget> CheckTarget for Vec<T> {
    type View<'a> = Vec<T::View<'a>>;

    fn slots(&self) -> Vec<u32> {
        self.iter().flat_map(T::slots).collect()
    }

    fn view<'a>(&self, states: &States<'a>) -> Vec<T::View<'a>> {
        self.iter().map(|part| part.view(states)).collect()
    }

    fn is_changed(&self, change: &ActorChange<'_>) -> bool {
        self.iter().any(|part| part.is_changed(change))
    }
}

/// A part of an actor's state, as the target of a check: see [`Addr::only`].
///
/// ```
/// use whippet::{Only, prelude::*};
/// # #[derive(Clone, Debug)]
/// # struct Till { sum: i64, visits: u32 }
/// # impl Actor for Till {
/// #     type Msg = i64;
/// #     async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) { self.sum += sum; self.visits += 1; }
/// # }
/// fn sum(till: Addr<Till>) -> Only<Till, fn(&Till) -> i64> {
///     till.only(|till| till.sum)
/// }
/// whippet::check(|sys| {
///     let till = sys.spawn(Till { sum: 0, visits: 0 });
///     sys.send(till, 5);
///     sys.always(sum(till), |sum| assert!(sum >= 0));
/// });
/// ```
pub struct Only<A, F> {
    addr: Addr<A>,
    part: F,
}

whippet_model::opaque_debug!(Only, [A, F] Only<A, F>);

impl<A: Actor> Addr<A> {
    /// Returns a target for a check that sees only a part of the actor's state.
    ///
    /// A step that does not change this part does not concern the check. If the check inspects several actors, such a step
    /// is independent of theirs, so there are far fewer orders to explore than for a check of the whole states.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Voter { votes: u32, decided: Option<bool> }
    /// impl Actor for Voter {
    ///     type Msg = bool;
    ///     async fn handle(&mut self, vote: bool, _cx: &mut Cx<Self>) {
    ///         self.votes += 1;
    ///         if self.votes == 3 {
    ///             self.decided = Some(vote);
    ///         }
    ///     }
    /// }
    /// let executions = |narrow: bool| Checker::new("votes").explore(move |sys| {
    ///     let voters = [(); 2].map(|()| sys.spawn(Voter { votes: 0, decided: None }));
    ///     for voter in voters {
    ///         (0..3).for_each(|_| sys.send(voter, true));
    ///     }
    ///     let [a, b] = voters;
    ///     if narrow {
    ///         sys.always((a.only(|a| a.decided), b.only(|b| b.decided)), |(a, b)| assert!(a.is_none() || b.is_none() || a == b));
    ///     } else {
    ///         sys.always((a, b), |(a, b)| assert!(a.decided.is_none() || b.decided.is_none() || a.decided == b.decided));
    ///     }
    /// }).unwrap().counters.executions;
    /// // Six messages, three for each: all interleavings, or only both orders of the two decisions.
    /// assert_eq!((executions(false), executions(true)), (720, 72));
    /// ```
    #[must_use]
    pub fn only<T: PartialEq + 'static, F: Fn(&A) -> T + 'static>(self, part: F) -> Only<A, F> {
        Only { addr: self, part }
    }
}

impl<A: Actor, T: PartialEq + 'static, F: Fn(&A) -> T + 'static> CheckTarget for Only<A, F> {
    type View<'a> = T;

    fn slots(&self) -> Vec<u32> {
        self.addr.slots()
    }

    fn view<'a>(&self, states: &States<'a>) -> T {
        (self.part)(states.get(&self.addr))
    }

    fn is_changed(&self, change: &ActorChange<'_>) -> bool {
        let part = |state: &dyn Any| (self.part)(state.downcast_ref().expect("addresses are typed"));
        change.slot == self.addr.raw.slot && part(change.before) != part(change.after)
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

            #[allow(non_snake_case)]
            fn is_changed(&self, change: &ActorChange<'_>) -> bool {
                let ($($part,)+) = self;
                $($part.is_changed(change))||+
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);

/// A function of the states of some actors.
pub(crate) struct Check<T = ()> {
    pub(crate) slots: Vec<u32>,
    /// The source location of its declaration.
    pub(crate) site: &'static Location<'static>,
    function: Box<dyn Fn(&States<'_>) -> T>,
    is_changed: Box<dyn Fn(&ActorChange<'_>) -> bool>,
}

impl<T> Check<T> {
    #[track_caller]
    pub(crate) fn new<W: CheckTarget>(who: W, function: impl Fn(W::View<'_>) -> T + 'static) -> Check<T> {
        let who = Rc::new(who);
        let target = who.clone();
        Check {
            slots: who.slots(),
            site: Location::caller(),
            function: Box::new(move |states| function(who.view(states))),
            is_changed: Box::new(move |change| target.is_changed(change)),
        }
    }

    pub(crate) fn run(&self, cells: &[Box<dyn ActorCell>]) -> Result<T, CaughtPanic> {
        catch(|| (self.function)(&States { cells }))
    }

    /// Returns `true` if the newest step, which `actor` took, may have changed the result.
    pub(crate) fn is_changed(&self, cells: &[Box<dyn ActorCell>], slot: u32) -> bool {
        let cell = &cells[slot as usize];
        let position = cell.position();
        let before = position.checked_sub(1).and_then(|before| cell.view(before));
        let (Some(before), Some(after)) = (before, cell.view(position)) else { return true };
        // A projection that panics does so again in the check, which reports it.
        catch(|| (self.is_changed)(&ActorChange { slot, before, after })).unwrap_or(true)
    }

    /// Returns the source location of its declaration, as `file:line`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.site.file(), self.site.line())
    }
}
