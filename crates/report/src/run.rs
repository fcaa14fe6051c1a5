//! The half of a report that a verdict does not know.

use crate::Usage;
use whippet_search::{Options, Order, Reduction, Rule};

/// What was searched, how, and at what cost.
///
/// ```
/// use whippet_report::Run;
/// let run = Run::new("pi", &whippet_search::Options::default()).with_parameter("workers", "4");
/// assert_eq!(run.title(), "pi(workers=4)");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a run is one half of a report: pass it to json(), text() or failure()"]
pub struct Run {
    /// The program's name, or the file that holds it.
    pub subject: String,
    /// Its parameters with their values, in the order of their declaration.
    pub parameters: Vec<(String, String)>,
    /// What the search could skip.
    pub reduction: Reduction,
    /// Which actor went first.
    pub order: Order,
    /// Whether sleep sets were used.
    pub sleep: bool,
    /// Which variant of TransDPOR it was.
    pub rule: Rule,
    /// How messages were delivered; `None` for programs that do not let one choose.
    pub delivery: Option<String>,
    /// Where a sample started from.
    pub seed: u64,
    /// What the run cost.
    pub usage: Usage,
}

impl Run {
    /// A run of `subject` with these options. Parameters, delivery and cost are added to it.
    pub fn new(subject: impl Into<String>, options: &Options) -> Run {
        Run {
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

    /// The same run with one more parameter.
    pub fn with_parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Run {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// The subject with its parameters: `pi(workers=4)`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.parameters.is_empty() {
            return self.subject.clone();
        }
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}({})", self.subject, values.join(", "))
    }

    /// Whether the search was a sample, so that chance had a part in what it saw.
    ///
    /// ```
    /// use whippet_report::Run;
    /// use whippet_search::{Options, Reduction};
    /// let random = Options { reduction: Reduction::Random, ..Options::default() };
    /// assert!(Run::new("pi", &random).is_sample());
    /// assert!(!Run::new("pi", &Options::default()).is_sample());
    /// ```
    #[must_use]
    pub fn is_sample(&self) -> bool {
        matches!(self.reduction, Reduction::Random | Reduction::Pct | Reduction::Pos)
    }
}
