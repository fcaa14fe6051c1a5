//! The searches that are compared.

use std::fmt;
use whippet_search::toy::Granularity;
use whippet_search::{Options, Order, Reduction, Rule};

/// The parameters of one search.
///
/// ```
/// use whippet_generate::{Guarantee, Setting};
/// use whippet_search::{Reduction, toy::Granularity};
/// let optimal = Setting::of(Reduction::Optimal);
/// assert_eq!(optimal.guarantee(), Guarantee::Once);
/// assert!(optimal.suits(Granularity::Fields));
/// assert_eq!(optimal.options().reduction, Reduction::Optimal);
/// assert!(Setting::all().contains(&optimal));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// The reduction.
    pub reduction: Reduction,
    /// The order of search.
    pub order: Order,
    /// `true` if sleep sets are used.
    pub sleep: bool,
    /// The variant of TransDPOR.
    pub rule: Rule,
    /// The number of workers.
    pub jobs: usize,
}

/// The guarantee of a search about the traces of a program.
///
/// ```
/// use whippet_generate::{Guarantee, Setting};
/// use whippet_search::Reduction;
/// assert_eq!(Setting::of(Reduction::Optimal).guarantee(), Guarantee::Once);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarantee {
    /// Every trace is explored exactly once, and no execution is abandoned.
    Once,
    /// Every trace is explored exactly once, but some executions may be abandoned.
    EachOnce,
    /// Every trace is explored at least once.
    All,
    /// Every final state and problem is found, but not every trace is explored.
    Ends,
    /// Traces may be missed, as with the published algorithm.
    Some,
}

impl Setting {
    /// Returns a reduction with all other parameters at their defaults.
    #[must_use]
    pub fn of(reduction: Reduction) -> Setting {
        Setting { reduction, order: Order::default(), sleep: false, rule: Rule::default(), jobs: 1 }
    }

    /// Returns every search of complete programs except the plain exhaustive one.
    #[must_use]
    pub fn all() -> Vec<Setting> {
        let mut all = Vec::new();
        // The order `stable` needs to know which actors may still send to which; this is known for ABS programs only.
        for &order in Order::ALL.iter().filter(|order| **order != Order::Stable) {
            for sleep in [false, true] {
                for reduction in [Reduction::Dcute, Reduction::Persistent] {
                    all.push(Setting { order, sleep, ..Setting::of(reduction) });
                }
                for &rule in Rule::ALL {
                    all.push(Setting { order, sleep, rule, ..Setting::of(Reduction::Transdpor) });
                }
            }
            for reduction in [Reduction::Source, Reduction::Optimal] {
                all.push(Setting { order, ..Setting::of(reduction) });
            }
        }
        for reduction in [Reduction::Udpor, Reduction::Parsimonious, Reduction::Stateful] {
            all.push(Setting::of(reduction));
        }
        for jobs in [2, 3] {
            all.push(Setting { jobs, ..Setting::of(Reduction::Exhaustive) });
            all.push(Setting { jobs, ..Setting::of(Reduction::Optimal) });
            all.push(Setting { jobs, ..Setting::of(Reduction::Source) });
            all.push(Setting { jobs, ..Setting::of(Reduction::Parsimonious) });
        }
        all
    }

    /// Returns `true` if this search supports the given dependence relation.
    #[must_use]
    pub fn suits(&self, granularity: Granularity) -> bool {
        let any = matches!(
            self.reduction,
            Reduction::Exhaustive
                | Reduction::Source
                | Reduction::Optimal
                | Reduction::Udpor
                | Reduction::Parsimonious
                | Reduction::Stateful
        );
        granularity == Granularity::Actor || any
    }

    /// Returns the guarantee of this search.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        match self.reduction {
            Reduction::Optimal | Reduction::Udpor => Guarantee::Once,
            Reduction::Parsimonious => Guarantee::EachOnce,
            Reduction::Stateful => Guarantee::Ends,
            Reduction::Transdpor if self.rule == Rule::Figure2 && !self.sleep => Guarantee::All,
            Reduction::Transdpor if self.rule != Rule::Sound => Guarantee::Some,
            Reduction::Dcute if self.order == Order::SgrPublished => Guarantee::Some,
            _ => Guarantee::All,
        }
    }

    /// Converts the setting to options of a search.
    #[must_use]
    pub fn options(&self) -> Options {
        let Setting { reduction, order, sleep, rule, jobs } = *self;
        Options::new(reduction).with_order(order).with_sleep(sleep).with_rule(rule).with_jobs(jobs)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--reduction {} --order {}", self.reduction, self.order)?;
        if self.reduction == Reduction::Transdpor {
            write!(f, " --rule {}", self.rule)?;
        }
        if self.sleep {
            f.write_str(" --sleep")?;
        }
        if self.jobs != 1 {
            write!(f, " --jobs {}", self.jobs)?;
        }
        Ok(())
    }
}
