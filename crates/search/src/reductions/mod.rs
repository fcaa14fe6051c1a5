//! The table of all reductions.
//!
//! A reduction is a function from a [`Run`] to `Result<(), Stop>`, in a file of its own, and a row of the table below:
//! its variant of [`Reduction`], its name and description on the command line, whether it relies on independence, and
//! the function. Nothing else has to be changed to add one; `exhaustive` is the shortest example.

use crate::driver::run::{Run, Stop};
use crate::names::names;
use crate::sampling;
use whippet_model::Machine;

pub(crate) mod backtrack;
pub(crate) mod dcute;
pub(crate) mod exhaustive;
pub(crate) mod optimal;
pub(crate) mod parsimonious;
pub(crate) mod persistent;
pub(crate) mod revisit;
pub(crate) mod sleep;
pub(crate) mod source;
pub(crate) mod stateful;
pub(crate) mod transdpor;
pub(crate) mod udpor;

/// Declares the reductions. The column after the description says whether the reduction skips executions because it
/// considers steps independent.
macro_rules! reductions {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $help:literal, $independence:ident, $search:path;)+) => {
        /// The executions that a search may skip.
        ///
        /// ```
        /// use whippet_search::Reduction;
        /// assert_eq!(Reduction::default(), Reduction::Optimal);
        /// assert_eq!("udpor".parse(), Ok(Reduction::Udpor));
        /// for reduction in Reduction::ALL {
        ///     assert_eq!(reduction.name().parse(), Ok(*reduction), "{}", reduction.help());
        /// }
        /// ```
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[non_exhaustive]
        pub enum Reduction {
            $($(#[$doc])+ $variant),+
        }

        impl Reduction {
            /// Returns `true` if this reduction skips executions because it considers steps independent. A data race
            /// invalidates this, because it lets such steps observe each other.
            ///
            /// ```
            /// use whippet_search::Reduction;
            /// assert!(Reduction::Optimal.needs_independence());
            /// assert!(!Reduction::Exhaustive.needs_independence(), "it skips nothing");
            /// ```
            #[must_use]
            pub fn needs_independence(self) -> bool {
                match self {
                    $(Reduction::$variant => $independence!()),+
                }
            }
        }

        names! { Reduction, "reduction": $($variant = $name, $help;)+ }

        /// Calls the search that the options select.
        pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
            match run.options.reduction {
                $(Reduction::$variant => $search(run)),+
            }
        }
    };
}

macro_rules! independence {
    () => {
        true
    };
}

macro_rules! nothing {
    () => {
        false
    };
}

reductions! {
    /// None: every order of every message.
    Exhaustive = "exhaustive", "every order of every message: the baseline",
        nothing, exhaustive::search;
    /// Continuations of a configuration that was visited before.
    Stateful = "stateful", "do not go on from a configuration seen before; counts states",
        nothing, stateful::search;
    /// dCUTE's rule (figure 2.5 of the Basset dissertation).
    Dcute = "dcute", "dCUTE's rule: delay an actor only when another actor may still send to it",
        independence, dcute::search;
    /// Dynamic persistent sets (figure 2.4).
    Persistent = "persistent", "dynamic persistent sets",
        independence, persistent::search;
    /// Persistent sets that use the transitivity of races between actors.
    Transdpor = "transdpor", "persistent sets that use the transitivity of races between actors",
        independence, transdpor::search;
    /// Source sets and sleep sets.
    Source = "source", "source sets with sleep sets",
        independence, source::search;
    /// Exactly one execution per trace.
    #[default]
    Optimal = "optimal", "exactly one execution per meaningfully different order",
        independence, optimal::search;
    /// The unfolding: exactly one execution per trace, found through conflicts between events.
    Udpor = "udpor", "the same number of executions, found through the unfolding's conflicts",
        independence, udpor::search;
    /// Reverse search over detours: exactly one execution per trace, in parts that are independent of each other.
    Parsimonious = "parsimonious", "the same executions again, in independent parts and with little memory",
        independence, parsimonious::search;
    /// Random walks.
    Random = "random", "random walks: a sample, never complete",
        nothing, sampling::random;
    /// Random priorities with a few changes (probabilistic concurrency testing).
    Pct = "pct", "random priorities with a few changes: a sample that favours shallow bugs",
        nothing, sampling::pct;
    /// Partial-order sampling.
    Pos = "pos", "partial-order sampling: a sample that is fairer to rare orders",
        nothing, sampling::pos;
}
