//! Samples: comparison of a range of seeds, with shrinking and reporting of failures.

use crate::{Failure, Judged, Random, shrink};
use std::collections::BTreeMap;
use std::fmt::Write;
use whippet_search::toy::Program;

/// A range of seeds. Each seed determines a program.
///
/// ```
/// use whippet_generate::{Sample, Setting, Size, draw, judge};
/// use whippet_search::Reduction;
/// let settings = [Setting::of(Reduction::Optimal)];
/// let judge = |_seed, program: &_| judge(program, &settings, Size::default());
/// let tally = Sample { seed: 1, programs: 2 }.run("the_name_of_this_test", draw, judge).unwrap();
/// assert_eq!(tally.judged + tally.too_large, 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The first seed.
    pub seed: u64,
    /// The number of programs.
    pub programs: u64,
}

/// Summary of a sample.
///
/// ```
/// let tally = whippet_generate::Tally::default();
/// assert_eq!((tally.judged, tally.too_large), (0, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs that were compared.
    pub judged: u64,
    /// Programs that were skipped because they were too large.
    pub too_large: u64,
    /// Traces of all programs.
    pub traces: u64,
    /// Executions of the exhaustive searches of all programs.
    pub executions: u64,
    /// Searches that were compared.
    pub searches: u64,
    /// For each search that may miss executions as published: the number of times that it did, summed over all
    /// orders.
    pub misses: BTreeMap<String, u64>,
}

impl Sample {
    /// Creates a sample from the environment variables `WHIPPET_SEED` and `WHIPPET_PROGRAMS`, with the arguments as
    /// defaults.
    ///
    /// # Panics
    /// Panics if a variable is not a number.
    ///
    /// ```
    /// # use whippet_generate::Sample;
    /// # if std::env::var_os("WHIPPET_SEED").is_none() && std::env::var_os("WHIPPET_PROGRAMS").is_none() {
    /// assert_eq!(Sample::from_environment(1, 90), Sample { seed: 1, programs: 90 });
    /// # }
    /// ```
    #[must_use]
    pub fn from_environment(seed: u64, programs: u64) -> Sample {
        let number = |name: &str, otherwise: u64| match std::env::var(name) {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not «{text}»")),
            Err(_) => otherwise,
        };
        Sample { seed: number("WHIPPET_SEED", seed), programs: number("WHIPPET_PROGRAMS", programs) }
    }

    /// Returns a new seed, derived from the current time.
    ///
    /// ```
    /// # use whippet_generate::Sample;
    /// let seed = Sample::fresh_seed();
    /// println!("seeds from {seed}"); // needed to reproduce a failure
    /// ```
    #[must_use]
    pub fn fresh_seed() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Random::new(now.map_or(0, |time| time.as_nanos() as u64)).number() >> 16
    }

    /// Compares every program of the sample. Returns the first failure, on a program as small as possible, with its
    /// seed and the command that reproduces it.
    pub fn run(
        self,
        test: &str,
        draw: impl Fn(u64) -> Program,
        judge: impl Fn(u64, &Program) -> Result<Option<Judged>, Failure>,
    ) -> Result<Tally, String> {
        let mut tally = Tally::default();
        for seed in self.seed..self.seed.wrapping_add(self.programs) {
            let program = draw(seed);
            match judge(seed, &program) {
                Ok(None) => tally.too_large += 1,
                Ok(Some(judged)) => tally.add(&judged),
                Err(failure) => return Err(story(test, seed, program, &failure, |p| judge(seed, p))),
            }
        }
        Ok(tally)
    }
}

impl Tally {
    fn add(&mut self, judged: &Judged) {
        self.judged += 1;
        self.traces += judged.traces as u64;
        self.executions += judged.executions;
        self.searches += judged.searches as u64;
        for setting in &judged.misses {
            let order = format!(" --order {}", setting.order);
            *self.misses.entry(setting.to_string().replace(&order, "")).or_default() += 1;
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { judged, too_large, traces, executions, searches, misses } = self;
        write!(
            f,
            "{judged} programs ({too_large} were too large), {traces} traces, {executions} executions, {searches} searches"
        )?;
        for (setting, times) in misses {
            write!(f, "\n  {setting} misses something {times} times")?;
        }
        Ok(())
    }
}

/// Shrinks a failing program and describes the failure.
fn story(
    test: &str,
    seed: u64,
    program: Program,
    failure: &Failure,
    judge: impl Fn(&Program) -> Result<Option<Judged>, Failure>,
) -> String {
    let again = |p: &Program| judge(p).err().filter(|other| other.setting == failure.setting);
    let small = shrink(program, |p| again(p).is_some());
    let what = again(&small).unwrap_or_else(|| failure.clone());
    let small = what.program.as_ref().unwrap_or(&small);
    let mut text = String::new();
    let _ = writeln!(text, "{what}\n\nThe smallest program that shows it, from seed {seed}:\n{small}");
    let _ = write!(text, "See it again: WHIPPET_SEED={seed} WHIPPET_PROGRAMS=1 cargo test -p whippet-generate {test}");
    text
}
