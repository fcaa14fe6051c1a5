//! Comparison of searches on random programs with faults.
//!
//! The programs are those of the toy language, as native actors on a network that loses, duplicates or reorders
//! messages. The toy language itself knows no faults, so the exhaustive search is the only standard.

use crate::judge::same_states;
use crate::native::native_with;
use crate::{Failure, Guarantee, Judged, Setting, Size, Style, answer, compare, compare_stories, native, steady};
use whippet_actors::{ActorProgram, Network};
use whippet_search::Reduction;
use whippet_search::toy::{Action, Delivery, Granularity, Program};

/// The faults that a program is executed with.
///
/// ```
/// use whippet_generate::FaultKind;
/// assert_eq!(FaultKind::of(3), FaultKind::of(3));
/// assert!(FaultKind::ALL.contains(&FaultKind::Losses(1)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// At most this many losses.
    Losses(u32),
    /// At most this many duplicates.
    Duplicates(u32),
    /// One loss and one duplicate.
    Both,
    /// One message overtakes others, with ordered delivery.
    Overtakes,
    /// One loss, with ordered delivery.
    OrderedLosses,
    /// A loss between the first two actors alone.
    Pair,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 8] = [
        FaultKind::Losses(1),
        FaultKind::Losses(2),
        FaultKind::Losses(Network::UNLIMITED),
        FaultKind::Duplicates(1),
        FaultKind::Both,
        FaultKind::Overtakes,
        FaultKind::OrderedLosses,
        FaultKind::Pair,
    ];

    /// Returns the kind of a seed.
    #[must_use]
    pub fn of(seed: u64) -> FaultKind {
        // Consecutive seeds have different families of programs, so that each kind meets each family.
        FaultKind::ALL[((seed + seed / 10) % FaultKind::ALL.len() as u64) as usize]
    }

    fn delivery(self, seed: u64) -> Delivery {
        match self {
            FaultKind::Overtakes | FaultKind::OrderedLosses if seed.is_multiple_of(2) => Delivery::Fifo,
            FaultKind::Overtakes | FaultKind::OrderedLosses => Delivery::Causal,
            _ => Delivery::Unordered,
        }
    }

    fn network(self) -> Network {
        match self {
            FaultKind::Losses(most) => Network::lossy(most),
            FaultKind::Duplicates(most) => Network::duplicating(most),
            FaultKind::Both => Network::lossy(1).and(Network::duplicating(1)),
            FaultKind::Overtakes => Network::reordering(1),
            FaultKind::OrderedLosses | FaultKind::Pair => Network::lossy(1),
        }
    }
}

/// Returns a program as native actors with the faults of a seed.
///
/// ```
/// use whippet_generate::{draw, faulty};
/// use whippet_model::Program;
/// assert!(faulty(&draw(7), 7).machine(&Default::default()).is_ok());
/// ```
#[must_use]
pub fn faulty(program: &Program, seed: u64) -> ActorProgram {
    let kind = FaultKind::of(seed);
    let program = program.clone().delivery(kind.delivery(seed)).granularity(Granularity::Actor);
    let style = Style::ALL[(seed / 3 % 3) as usize];
    match kind {
        FaultKind::Pair => native_with(&program, style, move |system, actors| {
            if let [one, other, ..] = *actors {
                system.network_between(one, other, kind.network());
            }
        }),
        _ => native(&program, style).network(kind.network()),
    }
}

/// Returns the searches to compare: all that guarantee something for programs with footprints.
///
/// ```
/// let settings = whippet_generate::fault_settings();
/// assert!(settings.iter().any(|setting| setting.reduction == whippet_search::Reduction::Stateful));
/// ```
#[must_use]
pub fn fault_settings() -> Vec<Setting> {
    // `persistent` uses no sleep sets for such programs.
    let persistent = |s: &Setting| s.reduction == Reduction::Persistent && !s.sleep;
    let general = |s: &Setting| persistent(s) || s.suits(Granularity::Fields) && s.guarantee() != Guarantee::Some;
    Setting::all().into_iter().filter(general).collect()
}

/// Compares searches of a program with faults with the exhaustive search. Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Size, draw, fault_settings, judge_faulty};
/// let judged = judge_faulty(&draw(5), 5, &fault_settings(), Size { executions: 500, steps: 40 });
/// assert!(judged.is_ok(), "no search misses anything");
/// ```
pub fn judge_faulty(program: &Program, seed: u64, settings: &[Setting], size: Size) -> Result<Option<Judged>, Failure> {
    judge(program, seed, settings, size).map_err(|failure| Failure {
        program: Some(program.clone()),
        what: format!("with the faults {:?}: {}", FaultKind::of(seed), failure.what),
        ..failure
    })
}

fn judge(program: &Program, seed: u64, settings: &[Setting], size: Size) -> Result<Option<Judged>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let test = faulty(program, seed);
    let Some(all) = answer(&test, &exhaustive, Some(size))? else { return Ok(None) };
    let fail = |setting: Setting| move |what: String| Failure { program: None, setting, what };
    compare(&all, &all, &exhaustive).map_err(fail(exhaustive))?;
    let executions = all.verdict.counters.executions;
    let mut judged = Judged { traces: all.log.traces.len(), executions, ..Judged::default() };
    let calls = program.rules.iter().flat_map(|rule| &rule.actions).any(|action| matches!(action, Action::Call(..)));
    for setting in settings {
        let answer = answer(&test, setting, None)?.expect("there was no limit");
        judged.searches += 1;
        let more = || match setting.guarantee() {
            Guarantee::Ends if calls => Ok(()),
            Guarantee::Ends => same_states(program, &all, &answer),
            _ => compare_stories(&all, &answer),
        };
        compare(&all, &answer, setting).and_then(|()| more()).map_err(fail(*setting))?;
    }
    steady(&test, Size { executions: 100, ..size }).map_err(fail(exhaustive))?;
    Ok(Some(judged))
}
