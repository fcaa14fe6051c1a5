//! The names of orders, rules and step sizes, and the macro behind them and the table of reductions: names are declared once for command line, reports and schedules.

use crate::options::{Order, Rule, StepSize};

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

impl UnknownName {
    pub(crate) fn new(what: &'static str, name: &str, known: &[&str]) -> UnknownName {
        UnknownName { what, name: name.into(), known: known.join(", ") }
    }
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

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<$type, $crate::UnknownName> {
                $type::ALL.iter().copied().find(|known| known.name() == text).ok_or_else(|| {
                    $crate::UnknownName::new($what, text, &[$($name),+])
                })
            }
        }
    };
}

pub(crate) use names;

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
    use crate::Reduction;

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
