//! Generation of random programs in the toy language from seeds.
//!
//! A handler for a tag sends only later tags, with rare exceptions, so that most programs terminate. A program's
//! family determines the actions that it may use: if a search mishandles one feature, a program that contains little
//! else shows it.

use crate::Random;
use std::fmt;
use whippet_search::toy::{Action, Granularity, Program, Refusal, Rule, STORES, Target};

/// The features that a generated program may use besides sending.
///
/// ```
/// use whippet_generate::{Family, Random, draw_from};
/// let program = draw_from(Family::Calls, &mut Random::new(1));
/// assert!(!Family::ALL.is_empty() && Family::of(3) == Family::of(3));
/// assert!(program.actors > 0);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// No further feature.
    Plain,
    /// States, and sends that depend on them.
    State,
    /// Creation of actors.
    Creation,
    /// Tags that are refused in some states.
    Constraints,
    /// Actors that stop.
    Stop,
    /// Calls.
    Calls,
    /// Explicit choices.
    Choose,
    /// Handlers that fail.
    Fail,
    /// Stores, with dependence per field.
    Fields,
    /// All features.
    Mixed,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 10] = [
        Family::Plain,
        Family::State,
        Family::Creation,
        Family::Constraints,
        Family::Stop,
        Family::Calls,
        Family::Choose,
        Family::Fail,
        Family::Fields,
        Family::Mixed,
    ];

    /// Returns the family of a seed. Consecutive seeds have different families.
    #[must_use]
    pub fn of(seed: u64) -> Family {
        Family::ALL[(seed % Family::ALL.len() as u64) as usize]
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Plain => "plain",
            Family::State => "state",
            Family::Creation => "creation",
            Family::Constraints => "constraints",
            Family::Stop => "stop",
            Family::Calls => "calls",
            Family::Choose => "choose",
            Family::Fail => "fail",
            Family::Fields => "fields",
            Family::Mixed => "mixed",
        })
    }
}

/// Generates the program of a seed; its family is [`Family::of`] the seed.
///
/// ```
/// use whippet_generate::draw;
/// assert_eq!(draw(42), draw(42));
/// assert_ne!(draw(42), draw(43));
/// ```
#[must_use]
pub fn draw(seed: u64) -> Program {
    draw_from(Family::of(seed), &mut Random::new(seed))
}

/// Generates a program of a family.
///
/// ```
/// use whippet_generate::{Family, Random, draw_from};
/// let [one, other] = [(); 2].map(|()| draw_from(Family::Stop, &mut Random::new(7)));
/// assert_eq!(one, other, "the same seed, the same program");
/// ```
pub fn draw_from(family: Family, random: &mut Random) -> Program {
    let actors = 2 + random.below(3) as u32;
    let spare = if family == Family::Creation || family == Family::Mixed { 1 + random.below(2) as u32 } else { 0 };
    let tags = 2 + random.below(3) as u32;
    let starts = 1 + random.below(4);
    let mut pen = Pen { weights: Weights::of(family), tags, actors, kinds: actors + spare, random };
    let mut program = Program::new(actors);
    if family == Family::Fields {
        program.granularity = Granularity::Fields;
    }
    program.main = (0..starts).map(|_| (pen.any(actors), pen.any(2))).collect();
    for actor in 0..pen.kinds {
        pen.behaviour(actor, &mut program);
    }
    program
}

/// The relative frequency of each action, and the percentages of tags that have a rule for a particular state and
/// that are refused in some state.
struct Weights {
    actions: [usize; 10],
    in_state: usize,
    refused: usize,
}

impl Weights {
    fn of(family: Family) -> Weights {
        // In order: send, call, create, set, add, choose, stop, fail, store, only.
        let (actions, in_state, refused) = match family {
            Family::Plain => ([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0, 0),
            Family::State => ([5, 0, 0, 2, 2, 0, 0, 0, 0, 0], 60, 0),
            Family::Creation => ([6, 0, 3, 1, 1, 0, 0, 0, 0, 0], 20, 0),
            Family::Constraints => ([6, 0, 0, 3, 2, 0, 0, 0, 0, 0], 10, 35),
            Family::Stop => ([6, 0, 0, 1, 1, 0, 3, 0, 0, 0], 20, 0),
            Family::Calls => ([4, 4, 0, 1, 1, 0, 0, 0, 0, 0], 15, 5),
            Family::Choose => ([6, 0, 0, 1, 1, 3, 0, 0, 0, 0], 50, 0),
            Family::Fail => ([6, 1, 0, 1, 2, 0, 0, 3, 0, 0], 50, 0),
            Family::Fields => ([10, 1, 1, 1, 1, 1, 0, 0, 5, 3], 10, 5),
            Family::Mixed => ([9, 3, 2, 2, 2, 1, 1, 1, 1, 1], 30, 15),
        };
        Weights { actions, in_state, refused }
    }
}

struct Pen<'a> {
    weights: Weights,
    tags: u32,
    actors: u32,
    kinds: u32,
    random: &'a mut Random,
}

impl Pen<'_> {
    fn any(&mut self, below: u32) -> u32 {
        self.random.below(below as usize) as u32
    }

    /// Generates the rules and refusals of actors of kind `actor` for each tag.
    fn behaviour(&mut self, actor: u32, program: &mut Program) {
        for tag in 0..self.tags {
            if self.random.chance(self.weights.in_state) {
                let state = Some(self.state());
                program.rules.push(Rule { actor, tag, state, actions: self.actions(tag) });
            }
            if self.random.chance(75) {
                program.rules.push(Rule { actor, tag, state: None, actions: self.actions(tag) });
            }
            if self.random.chance(self.weights.refused) {
                program.refusals.push(Refusal { actor, state: self.state(), tag });
            }
        }
    }

    fn actions(&mut self, tag: u32) -> Vec<Action> {
        (0..1 + self.random.below(3)).filter_map(|_| self.action(tag)).collect()
    }

    fn action(&mut self, tag: u32) -> Option<Action> {
        Some(match self.random.weighted(&self.weights.actions) {
            0 => Action::Send(self.target(), self.later(tag)?),
            1 => Action::Call(self.target(), self.later(tag)?),
            2 => Action::Create(self.any(self.kinds)),
            3 => Action::Set(self.state()),
            4 => Action::Add(1),
            5 => Action::Choose(2 + self.any(2)),
            6 => Action::Stop,
            7 => Action::Fail,
            8 => Action::Store(self.any(STORES as u32), 1 + self.state()),
            _ => Action::Only(self.any(STORES as u32), self.state()),
        })
    }

    /// Returns a random tag that a handler for `tag` may send.
    fn later(&mut self, tag: u32) -> Option<u32> {
        if self.random.chance(4) {
            return Some(self.any(self.tags));
        }
        let left = self.tags - 1 - tag;
        (left > 0).then(|| tag + 1 + self.any(left))
    }

    fn target(&mut self) -> Target {
        let created = if self.kinds > self.actors { 3 } else { 0 };
        match self.random.weighted(&[8, 2, 1, created, created / 3]) {
            0 => Target::Actor(self.any(self.actors)),
            1 => Target::Me,
            2 => Target::Sender,
            3 => Target::Newest,
            _ => Target::Creator,
        }
    }

    /// Returns a random state. Small ones are more likely, as states start at 0 and are incremented.
    fn state(&mut self) -> i32 {
        self.random.weighted(&[5, 5, 2]) as i32
    }
}
