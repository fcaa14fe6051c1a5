//! The names of reductions, orders, rules and step sizes, declared once for command line, reports and schedules.

use crate::options::{Order, Reduction, Rule, StepSize};
use std::fmt;
use std::str::FromStr;

/// An error: the name is unknown.
///
/// ```
/// use whippet_search::Reduction;
/// let error = "optimum".parse::<Reduction>().unwrap_err();
/// assert!(error.to_string().starts_with("there is no reduction `optimum`; known are: exhaustive, stateful"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{name}`; known are: {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

macro_rules! names {
    ($type:ident, $what:literal: $($variant:ident = $name:literal, $help:literal;)+) => {
        impl $type {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// Returns the name used in command lines, reports and schedules.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }

            /// Returns a description in one line.
            #[must_use]
            pub fn help(self) -> &'static str {
                match self {
                    $($type::$variant => $help),+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<$type, UnknownName> {
                $type::ALL.iter().copied().find(|known| known.name() == text).ok_or_else(|| UnknownName {
                    what: $what,
                    name: text.into(),
                    known: [$($name),+].join(", "),
                })
            }
        }
    };
}

names! { Reduction, "reduction":
    Exhaustive = "exhaustive", "every order of every message: the baseline";
    Stateful = "stateful", "do not go on from a configuration seen before; counts states";
    Dcute = "dcute", "dCUTE's rule: delay an actor only when somebody else may still send to it";
    Persistent = "persistent", "dynamic persistent sets";
    Transdpor = "transdpor", "persistent sets that use the transitivity of races between actors";
    Source = "source", "source sets with sleep sets";
    Optimal = "optimal", "exactly one execution per meaningfully different order";
    Udpor = "udpor", "the same number of executions, found through the unfolding's conflicts";
    Random = "random", "random walks: a sample, never complete";
    Pct = "pct", "random priorities with a few changes: a sample that favours shallow bugs";
    Pos = "pos", "partial-order sampling: a sample that is fairer to rare orders";
}

names! { Order, "order":
    Default = "own", "the search's own choice";
    Fifo = "fifo", "the actor with the earliest pending message";
    Lifo = "lifo", "the actor with the latest pending message";
    Eca = "eca", "the actor created earliest: good for pipelines";
    Lca = "lca", "the actor created latest: good for divide-and-conquer trees";
    Ldm = "ldm", "the actor with the fewest deliverable messages";
    Hdm = "hdm", "the actor with the most deliverable messages";
    Hms = "hms", "the actor that sends most per message it receives";
    Sgr = "sgr", "the actor that reaches others in the graph of sends";
    SgrPublished = "sgr-published", "like sgr, by the published sort of messages, which is not transitive";
    Stable = "stable", "an actor that nobody can send to any more, or else of the lowest level (.abs and native actors)";
}

names! { Rule, "rule":
    Sound = "sound", "complete: nothing is missed";
    Table1 = "table1", "the numbers of the paper's Table 1; may miss orders where actors refuse messages or stop";
    Table2 = "table2", "the numbers of the paper's Table 2; may miss orders where actors refuse messages or stop";
    Figure2 = "figure2", "the algorithm as printed; may miss orders when used with sleep sets";
}

names! { StepSize, "step size":
    Little = "little", "every delivery ends in a state of its own";
    Big = "big", "a delivery without an alternative is one step with the next";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for &reduction in Reduction::ALL {
            assert_eq!(reduction.name().parse(), Ok(reduction));
        }
        for &order in Order::ALL {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "soundest".parse::<Rule>().unwrap_err().to_string();
        assert_eq!(error, "there is no rule `soundest`; known are: sound, table1, table2, figure2");
    }
}
