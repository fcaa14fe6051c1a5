//! Comparison of searches on random programs in which two kinds of faults or declarations meet.
//!
//! A fault is another branch of a step, and may hide a race of the branch that was taken. Whether a search finds such races
//! again depends on the kind of the other fault too, so every kind meets every other one, and itself on another budget.

use crate::judge::same_states;
use crate::native::{Extras, native_doing_more};
use crate::{Failure, Guarantee, Judged, Setting, Size, Style, answer, compare, steady};
use whippet_actors::{ActorProgram, Network, Register, System};
use whippet_search::Reduction;
use whippet_search::toy::{Action, Delivery, Granularity, Program};

/// One kind of fault, or a declaration by which steps depend on each other.
///
/// ```
/// use whippet_generate::Ingredient;
/// assert_eq!(Ingredient::of(0), Ingredient::of(Ingredient::pairs().len() as u64 * 10));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ingredient {
    /// A message may be lost.
    Loss,
    /// Any number of messages may be lost.
    Losses,
    /// A message may be delivered twice.
    Duplicate,
    /// A message may overtake others, with ordered delivery.
    Overtake,
    /// A loss and a duplicate between the first two actors, with budgets of their own.
    Line,
    /// An actor may crash.
    Crash,
    /// The first actor may crash twice, with a budget of its own.
    OwnCrashes,
    /// Actors set and cancel timers.
    Timers,
    /// Actors record a history that must be linearizable.
    History,
    /// A check sees a part of the states of all actors.
    Narrow,
    /// A state of the actors must be reached, and another one must last.
    Temporal,
}

impl Ingredient {
    /// All kinds.
    ///
    /// ```
    /// use whippet_generate::Ingredient;
    /// assert!(Ingredient::ALL.contains(&Ingredient::Crash));
    /// ```
    pub const ALL: [Ingredient; 11] = [
        Ingredient::Loss,
        Ingredient::Losses,
        Ingredient::Duplicate,
        Ingredient::Overtake,
        Ingredient::Line,
        Ingredient::Crash,
        Ingredient::OwnCrashes,
        Ingredient::Timers,
        Ingredient::History,
        Ingredient::Narrow,
        Ingredient::Temporal,
    ];

    /// Returns all pairs of different kinds.
    ///
    /// ```
    /// use whippet_generate::Ingredient;
    /// assert_eq!(Ingredient::pairs().len(), Ingredient::ALL.len() * (Ingredient::ALL.len() - 1) / 2);
    /// ```
    #[must_use]
    pub fn pairs() -> Vec<[Ingredient; 2]> {
        let later = |k: usize| Ingredient::ALL[k + 1..].iter().map(move |&other| [Ingredient::ALL[k], other]);
        (0..Ingredient::ALL.len()).flat_map(later).collect()
    }

    /// Returns the pair of a seed.
    ///
    /// ```
    /// use whippet_generate::Ingredient;
    /// assert!(Ingredient::pairs().contains(&Ingredient::of(7)));
    /// ```
    #[must_use]
    pub fn of(seed: u64) -> [Ingredient; 2] {
        // Consecutive seeds have different families of programs, so that each pair meets each family.
        let pairs = Ingredient::pairs();
        pairs[((seed + seed / 10) % pairs.len() as u64) as usize]
    }

    fn network(self) -> Network {
        match self {
            Ingredient::Loss => Network::lossy(1),
            Ingredient::Losses => Network::lossy(Network::UNLIMITED),
            Ingredient::Duplicate => Network::duplicating(1),
            Ingredient::Overtake => Network::reordering(1),
            _ => Network::reliable(),
        }
    }
}

/// Converts a program to native actors with two ingredients; the seed decides the order of delivery and the style.
///
/// ```
/// use whippet_generate::{Ingredient, draw, paired};
/// use whippet_model::{Machine, Program};
/// assert_eq!(paired(&draw(7), Ingredient::of(7), 7).machine(&Default::default()).unwrap().depth(), 0);
/// ```
#[must_use]
pub fn paired(program: &Program, pair: [Ingredient; 2], seed: u64) -> ActorProgram {
    let has = move |one: Ingredient| pair.contains(&one);
    let delivery = match seed % 4 {
        0 => Delivery::Fifo,
        1 => Delivery::Causal,
        2 if has(Ingredient::Overtake) => Delivery::Fifo,
        3 if has(Ingredient::Overtake) => Delivery::Causal,
        _ => Delivery::Unordered,
    };
    let program = program.clone().delivery(delivery).granularity(Granularity::Actor);
    let style = Style::ALL[(seed / 3 % 3) as usize];
    let extras = move |system: &mut System| Extras {
        history: has(Ingredient::History).then(|| system.linearizable(Register::new(0))),
        timers: u32::from(has(Ingredient::Timers)),
    };
    let actors = native_doing_more(&program, style, extras, move |system, actors, handlers| {
        if has(Ingredient::Crash) {
            // Apart from the first actor, if it has a budget of its own.
            let from = usize::from(has(Ingredient::OwnCrashes) && handlers.len() > 1);
            system.crashes(handlers[from..].to_vec(), 1);
        }
        if has(Ingredient::OwnCrashes) {
            system.crashes(handlers.iter().take(1).copied().collect::<Vec<_>>(), 2);
        }
        if has(Ingredient::Line)
            && let [one, other, ..] = *actors
        {
            system.network_between(one, other, Network::lossy(1).and(Network::duplicating(1)));
        }
        let states = || handlers.iter().map(|actor| actor.only(|mind| mind.state() % 3)).collect::<Vec<_>>();
        if has(Ingredient::Temporal) {
            system.eventually(states(), |states| states.iter().sum::<i32>() % 5 == 1);
            system.stable(states(), |states| states.iter().sum::<i32>() % 5 == 2);
        }
        if has(Ingredient::Narrow) {
            system.always(states(), |states| assert_ne!(states.iter().sum::<i32>() % 5, 3));
        }
    });
    actors.network(pair[0].network().and(pair[1].network()))
}

/// Compares these searches on a program with two ingredients. Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Ingredient, Size, draw, fault_settings, judge_paired};
/// let size = Size { executions: 200, steps: 40 };
/// assert!(judge_paired(&draw(41), Ingredient::of(41), 41, &fault_settings(), size).is_ok());
/// ```
pub fn judge_paired(
    program: &Program,
    pair: [Ingredient; 2],
    seed: u64,
    settings: &[Setting],
    size: Size,
) -> Result<Option<Judged>, Failure> {
    judge(program, pair, seed, settings, size).map_err(|failure| Failure {
        program: Some(program.clone()),
        what: format!("with {pair:?}: {}", failure.what),
        ..failure
    })
}

fn judge(
    program: &Program,
    pair: [Ingredient; 2],
    seed: u64,
    settings: &[Setting],
    size: Size,
) -> Result<Option<Judged>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let test = paired(program, pair, seed);
    let Some(all) = answer(&test, &exhaustive, Some(size))? else { return Ok(None) };
    let fail = |setting: Setting| move |what: String| Failure { program: None, setting, what };
    compare(&all, &all, &exhaustive).map_err(fail(exhaustive))?;
    let executions = all.verdict.counters.executions;
    let mut judged = Judged { traces: all.log.traces.len(), executions, ..Judged::default() };
    let actions = || program.rules.iter().flat_map(|rule| &rule.actions);
    let calls = actions().any(|action| matches!(action, Action::Call(..)));
    let crashes = pair.iter().any(|one| matches!(one, Ingredient::Crash | Ingredient::OwnCrashes));
    // An actor that crashes chooses, too.
    let chooses = crashes || actions().any(|action| matches!(action, Action::Choose(_)));
    let differ = pair.iter().any(|one| matches!(one, Ingredient::History | Ingredient::Narrow | Ingredient::Temporal));
    for setting in settings {
        let mut answer = answer(&test, setting, None)?.expect("there was no limit");
        judged.searches += 1;
        if chooses && differ {
            // Branches of one step have different footprints here, so executions may be blocked.
            answer.verdict.counters.blocked = 0;
        }
        let more = || match setting.guarantee() {
            Guarantee::Ends if !calls => same_states(program, &all, &answer),
            _ => Ok(()),
        };
        compare(&all, &answer, setting).and_then(|()| more()).map_err(fail(*setting))?;
    }
    steady(&test, Size { executions: 100, ..size }).map_err(fail(exhaustive))?;
    Ok(Some(judged))
}
