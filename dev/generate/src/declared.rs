//! Comparison of searches on random programs that record histories, set timers, crash, and declare results and what they must reach.
//!
//! The programs are those of the toy language, as native actors. Which operations and answers they record depends on the
//! messages that they receive, and the answers are often wrong. The final states that are compared include the histories, so
//! a search that misses an order of ends is noticed even if all histories are allowed.

use crate::judge::same_states;
use crate::native::{Extras, native_doing_more};
use crate::{Answer, Failure, Guarantee, Judged, Setting, Size, Style, answer, compare, steady};
use std::collections::BTreeSet;
use whippet_actors::{ActorProgram, Network, Register};
use whippet_model::Name;
use whippet_search::Reduction;
use whippet_search::toy::{Action, Delivery, Granularity, Program};

/// What a program declares.
///
/// ```
/// use whippet_generate::DeclaredKind;
/// assert_eq!(DeclaredKind::of(0), DeclaredKind::of(DeclaredKind::ALL.len() as u64 * 10));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DeclaredKind {
    /// A history that must be linearizable.
    Linearizable,
    /// A history that must be sequentially consistent.
    SequentiallyConsistent,
    /// The same as the first, with a network that loses a message.
    LossyHistory,
    /// A check of several actors that sees a part of their states.
    Narrow,
    /// A state of several actors that must be reachable, and results.
    Reachable,
    /// Everything.
    All,
    /// Actors that set and cancel timers.
    Timers,
    /// The same, with delivery in the order of sending and a network that loses a message.
    OrderedTimers,
    /// Actors that crash, one of them at most.
    Crashes,
    /// Actors that crash twice, with timers, and a network that loses a message.
    LossyCrashes,
}

impl DeclaredKind {
    /// All kinds.
    pub const ALL: [DeclaredKind; 10] = [
        DeclaredKind::Linearizable,
        DeclaredKind::SequentiallyConsistent,
        DeclaredKind::LossyHistory,
        DeclaredKind::Narrow,
        DeclaredKind::Reachable,
        DeclaredKind::All,
        DeclaredKind::Timers,
        DeclaredKind::OrderedTimers,
        DeclaredKind::Crashes,
        DeclaredKind::LossyCrashes,
    ];

    /// Returns the kind for a seed.
    #[must_use]
    pub fn of(seed: u64) -> DeclaredKind {
        // Consecutive seeds have different families of programs, so that each kind meets each family.
        DeclaredKind::ALL[((seed + seed / 10) % DeclaredKind::ALL.len() as u64) as usize]
    }
}

/// Converts a program to native actors with declarations.
///
/// ```
/// use whippet_generate::{declared, draw};
/// use whippet_model::{Machine, Program};
/// assert_eq!(declared(&draw(7), 7).machine(&Default::default()).unwrap().depth(), 0);
/// ```
#[must_use]
pub fn declared(program: &Program, seed: u64) -> ActorProgram {
    let kind = DeclaredKind::of(seed);
    let delivery = if kind == DeclaredKind::OrderedTimers { Delivery::Fifo } else { Delivery::Unordered };
    let program = program.clone().delivery(delivery).granularity(Granularity::Actor);
    let style = Style::ALL[(seed / 3 % 3) as usize];
    let extras = move |system: &mut whippet_actors::System| match kind {
        DeclaredKind::SequentiallyConsistent => {
            Extras { history: Some(system.sequentially_consistent(Register::new(0))), timers: 0 }
        }
        DeclaredKind::Narrow | DeclaredKind::Reachable | DeclaredKind::Crashes => Extras::default(),
        DeclaredKind::Timers | DeclaredKind::OrderedTimers => Extras { history: None, timers: 2 },
        DeclaredKind::LossyCrashes => Extras { history: None, timers: 1 },
        _ => Extras { history: Some(system.linearizable(Register::new(0))), timers: 0 },
    };
    let actors = native_doing_more(&program, style, extras, move |system, _, handlers| {
        let states = || handlers.iter().map(|actor| actor.only(|mind| mind.state() % 3)).collect::<Vec<_>>();
        if matches!(kind, DeclaredKind::Crashes | DeclaredKind::LossyCrashes) {
            system.crashes(handlers.to_vec(), if kind == DeclaredKind::Crashes { 1 } else { 2 });
        }
        if matches!(kind, DeclaredKind::Narrow | DeclaredKind::All) {
            system.always(states(), |states| assert_ne!(states.iter().sum::<i32>() % 5, 3));
        }
        if matches!(kind, DeclaredKind::Reachable | DeclaredKind::All) {
            system.sometimes(states(), |states| states.iter().sum::<i32>() % 5 == 4);
            system.outcome(handlers.to_vec(), |minds| minds.iter().map(|mind| mind.state()).collect::<Vec<_>>());
        }
    });
    match kind {
        DeclaredKind::LossyHistory | DeclaredKind::OrderedTimers | DeclaredKind::LossyCrashes => {
            actors.network(Network::lossy(1))
        }
        _ => actors,
    }
}

/// Compares these searches on a program with declarations. Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Size, draw, fault_settings, judge_declared};
/// assert!(judge_declared(&draw(42), 42, &fault_settings(), Size { executions: 200, steps: 40 }).is_ok());
/// ```
pub fn judge_declared(
    program: &Program,
    seed: u64,
    settings: &[Setting],
    size: Size,
) -> Result<Option<Judged>, Failure> {
    judge(program, seed, settings, size).map_err(|failure| Failure {
        program: Some(program.clone()),
        what: format!("with the declarations {:?}: {}", DeclaredKind::of(seed), failure.what),
        ..failure
    })
}

fn judge(program: &Program, seed: u64, settings: &[Setting], size: Size) -> Result<Option<Judged>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let test = declared(program, seed);
    let Some(all) = answer(&test, &exhaustive, Some(size))? else { return Ok(None) };
    let fail = |setting: Setting| move |what: String| Failure { program: None, setting, what };
    compare(&all, &all, &exhaustive).map_err(fail(exhaustive))?;
    let executions = all.verdict.counters.executions;
    let mut judged = Judged { traces: all.log.traces.len(), executions, ..Judged::default() };
    let actions = || program.rules.iter().flat_map(|rule| &rule.actions);
    let calls = actions().any(|action| matches!(action, Action::Call(..)));
    let chooses = actions().any(|action| matches!(action, Action::Choose(_)));
    for setting in settings {
        let mut answer = answer(&test, setting, None)?.expect("there was no limit");
        judged.searches += 1;
        if chooses {
            // Branches of one step have different footprints here, so executions may be blocked.
            answer.verdict.counters.blocked = 0;
        }
        // An execution with a finding has no result, so what a search of states sees depends on the path to a state.
        let merges = setting.guarantee() == Guarantee::Ends && !all.verdict.findings.is_empty();
        let more = || match setting.guarantee() {
            Guarantee::Ends if calls => Ok(()),
            Guarantee::Ends => same_states(program, &all, &answer),
            _ => Ok(()),
        };
        compare(&all, &answer, setting)
            .and_then(|()| if merges { Ok(()) } else { same_outcomes(&all, &answer) })
            .and_then(|()| more())
            .map_err(fail(*setting))?;
    }
    steady(&test, Size { executions: 100, ..size }).map_err(fail(exhaustive))?;
    Ok(Some(judged))
}

/// Compares the results of executions.
fn same_outcomes(all: &Answer, answer: &Answer) -> Result<(), String> {
    let keys = |answer: &Answer| answer.verdict.outcomes.iter().map(|outcome| outcome.key).collect::<BTreeSet<Name>>();
    let (wanted, found) = (keys(all), keys(answer));
    if wanted == found { Ok(()) } else { Err(format!("{} outcomes, not {}", found.len(), wanted.len())) }
}
