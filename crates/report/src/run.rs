//! The part of a report that is not in the verdict.

use crate::Usage;
use whippet_search::{Options, Order, Reduction, Rule};

/// The program that was searched, the options of the search, and its cost.
///
/// ```
/// use whippet_report::RunInfo;
/// let run = RunInfo::new("pi", &whippet_search::Options::default()).with_parameter("workers", "4");
/// assert_eq!(run.title(), "pi(workers=4)");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a run is one half of a report: pass it to json(), text() or failure()"]
pub struct RunInfo {
    /// The program's name, or the file that contains it.
    pub subject: String,
    /// The program's parameters with their values, in declaration order.
    pub parameters: Vec<(String, String)>,
    /// The reduction: the rule by which the search skips executions.
    pub reduction: Reduction,
    /// The order: the rule by which the search selects the next actor.
    pub order: Order,
    /// `true` if sleep sets were used.
    pub sleep: bool,
    /// The variant of TransDPOR.
    pub rule: Rule,
    /// The delivery of messages; `None` for programs without a choice of delivery.
    pub delivery: Option<String>,
    /// The seed of a sampling search.
    pub seed: u64,
    /// The cost of the run.
    pub usage: Usage,
}

impl RunInfo {
    /// Creates a run of `subject` with these options, without parameters, delivery and cost.
    pub fn new(subject: impl Into<String>, options: &Options) -> RunInfo {
        RunInfo {
            subject: subject.into(),
            parameters: Vec::new(),
            reduction: options.reduction,
            order: options.order,
            sleep: options.sleep,
            rule: options.rule,
            delivery: None,
            seed: options.seed,
            usage: Usage::default(),
        }
    }

    /// Adds a parameter.
    pub fn with_parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> RunInfo {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Returns the subject with its parameters: `pi(workers=4)`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.parameters.is_empty() {
            return self.subject.clone();
        }
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}({})", self.subject, values.join(", "))
    }

    /// Returns `true` if the search was a random sample.
    ///
    /// ```
    /// use whippet_report::RunInfo;
    /// use whippet_search::{Options, Reduction};
    /// let random = Options::new(Reduction::Random);
    /// assert!(RunInfo::new("pi", &random).is_sample());
    /// assert!(!RunInfo::new("pi", &Options::default()).is_sample());
    /// ```
    #[must_use]
    pub fn is_sample(&self) -> bool {
        matches!(self.reduction, Reduction::Random | Reduction::Pct | Reduction::Pos)
    }
}
