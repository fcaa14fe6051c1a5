//! A little actor language, to try searches on programs made up for the purpose.
//!
//! An actor has a whole number as its state; a message has a tag. A [`Rule`] says what an actor does with a tag,
//! perhaps only in one state; a tag without a rule is taken and ignored. An actor can refuse a tag
//! in a state. Actors are named A0, A1, …: the first [`Program::actors`] of them exist from the beginning, actors
//! created later follow the rules of the one that they are created like.
//!
//! ```
//! use whippet_search::toy::{Action, Program, Target};
//! let program = Program::new(2)
//!     .main(0, 1)
//!     .main(1, 0)
//!     .on(1, 0, [Action::Send(Target::Actor(0), 2), Action::Stop])
//!     .when(0, 2, 7, [Action::Choose(3)])
//!     .refuse(0, 5, 1);
//! assert_eq!(program.to_string(), "\
//! 2 actors, unordered delivery
//! main: A0!t1 A1!t0
//! A1 on t0: A0!t2 stop
//! A0 on t2 in state 7: state:=choose(3)
//! A0 in state 5 refuses t1
//! ");
//! ```

mod fingerprint;
mod handler;
mod machine;

pub use machine::Toy;

use std::fmt;

/// How many stores an actor has besides its state.
///
/// ```
/// use whippet_search::toy::{Action, Program, STORES};
/// let stores = (0..STORES as u32).map(|store| Action::Store(store, 1));
/// assert!(Program::new(1).on(0, 1, stores).to_string().ends_with("store0:=1 store1:=1\n"));
/// ```
pub const STORES: usize = 2;

/// The order in which messages may be delivered. A message that its receiver does not take holds nothing back,
/// and replies are not held back.
///
/// ```
/// use whippet_search::toy::{Delivery, Program};
/// assert!(Program::new(1).delivery(Delivery::Fifo).to_string().starts_with("1 actors, fifo delivery"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Delivery {
    /// Any pending message may be next.
    #[default]
    Unordered,
    /// Messages of one actor to another arrive in the order of sending.
    Fifo,
    /// A message arrives after all messages to the same actor that were sent before it, by whomever its sender
    /// could know of.
    Causal,
}

/// Which steps are dependent, besides those of which one caused the other.
///
/// ```
/// use whippet_model::{Machine, Program as _, Relation};
/// use whippet_search::toy::{Level, Program};
/// assert_eq!(Program::new(1).machine().unwrap().relation(), Relation::SameActor);
/// assert_eq!(Program::new(1).level(Level::Fields).machine().unwrap().relation(), Relation::Footprints);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Level {
    /// Those of the same actor: [`whippet_model::Relation::SameActor`].
    #[default]
    Actor,
    /// The same, told by footprints.
    Footprint,
    /// Those that touch the same part of the same actor: its state or a store. Only if delivery is unordered.
    Fields,
}

/// Whom a message goes to.
///
/// ```
/// use whippet_search::toy::Target;
/// assert_eq!((Target::Actor(2).to_string(), Target::Sender.to_string()), ("A2".into(), "sender".into()));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// One of the actors that exist from the beginning.
    Actor(u32),
    /// The actor itself.
    Me,
    /// Who sent the message being handled. Nobody, if it was `main`.
    Sender,
    /// Who created this actor. Nobody, if it was `main`.
    Creator,
    /// The actor that this one created last. Nobody, if there is none.
    Newest,
}

/// One thing that an actor does.
///
/// ```
/// use whippet_search::toy::{Action, Target};
/// assert_eq!(Action::Send(Target::Actor(0), 2).to_string(), "A0!t2");
/// assert_eq!(Action::Call(Target::Creator, 1).to_string(), "creator?t1");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends a tag.
    Send(Target, u32),
    /// Sets the state.
    Set(i32),
    /// Adds to the state.
    Add(i32),
    /// Creates an actor that follows the rules of this one.
    Create(u32),
    /// Sends a tag and waits until the receiver has handled it. The rest follows when the reply arrives; until
    /// then the actor takes nothing else. Calls to oneself or to nobody are left out.
    Call(Target, u32),
    /// Puts a value into a store.
    Store(u32, i32),
    /// Does the rest only if a store has this value. A reply is due all the same.
    Only(u32, i32),
    /// Sets the state to a value below this one, each in its own execution.
    Choose(u32),
    /// Stops the actor after this handler: what is still sent to it stays pending.
    Stop,
    /// Fails: an assertion does not hold.
    Fail,
}

/// What an actor does with a tag.
///
/// ```
/// use whippet_search::toy::{Action, Program, Rule};
/// let rule = Rule { actor: 0, tag: 1, state: Some(7), actions: vec![Action::Stop] };
/// assert_eq!(Program::new(1).when(0, 1, 7, [Action::Stop]).rules, [rule]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Whose rule it is.
    pub actor: u32,
    /// The tag it is about.
    pub tag: u32,
    /// The state in which it holds; any, if `None`. The first rule that holds is taken.
    pub state: Option<i32>,
    /// What is done, in order.
    pub actions: Vec<Action>,
}

/// A tag that an actor does not take in a state.
///
/// ```
/// use whippet_search::toy::{Program, Refusal};
/// assert_eq!(Program::new(1).refuse(0, 5, 1).refusals, [Refusal { actor: 0, state: 5, tag: 1 }]);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// Who refuses.
    pub actor: u32,
    /// In which state.
    pub state: i32,
    /// Which tag.
    pub tag: u32,
}

/// A program of the little language.
///
/// ```
/// use std::sync::Arc;
/// use whippet_search::{Options, explore, toy::{Action, Delivery, Level, Program}};
/// let program = Program::new(1)
///     .delivery(Delivery::Unordered)
///     .level(Level::Actor)
///     .main(0, 1)
///     .main(0, 2)
///     .on(0, 1, [Action::Set(1)])
///     .when(0, 2, 1, [Action::Fail]) // the second message after the first
///     .refuse(0, 9, 2);
/// let verdict = explore(Arc::new(program), &Options::default(), &()).unwrap();
/// assert_eq!((verdict.counters.executions, verdict.findings.len()), (2, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Program {
    /// How many actors exist from the beginning. Their state is 0.
    pub actors: u32,
    /// The order of delivery.
    pub delivery: Delivery,
    /// Which steps are dependent.
    pub level: Level,
    /// What `main` sends: to whom, which tag.
    pub main: Vec<(u32, u32)>,
    /// What actors do.
    pub rules: Vec<Rule>,
    /// What actors refuse.
    pub refusals: Vec<Refusal>,
}

impl Program {
    /// So many actors that do nothing.
    #[must_use]
    pub fn new(actors: u32) -> Program {
        Program { actors, ..Program::default() }
    }

    /// With another order of delivery.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Program {
        self.delivery = delivery;
        self
    }

    /// With another relation of dependence.
    #[must_use]
    pub fn level(mut self, level: Level) -> Program {
        self.level = level;
        self
    }

    /// `main` also sends `tag` to `actor`.
    #[must_use]
    pub fn main(mut self, actor: u32, tag: u32) -> Program {
        self.main.push((actor, tag));
        self
    }

    /// What `actor` does with `tag` in any state.
    #[must_use]
    pub fn on(mut self, actor: u32, tag: u32, actions: impl IntoIterator<Item = Action>) -> Program {
        self.rules.push(Rule { actor, tag, state: None, actions: actions.into_iter().collect() });
        self
    }

    /// What `actor` does with `tag` in this state.
    #[must_use]
    pub fn when(mut self, actor: u32, tag: u32, state: i32, actions: impl IntoIterator<Item = Action>) -> Program {
        self.rules.push(Rule { actor, tag, state: Some(state), actions: actions.into_iter().collect() });
        self
    }

    /// In this state `actor` refuses `tag`.
    #[must_use]
    pub fn refuse(mut self, actor: u32, state: i32, tag: u32) -> Program {
        self.refusals.push(Refusal { actor, state, tag });
        self
    }

    /// The number of the rule for what an actor of this kind does with a tag.
    fn rule(&self, actor: u32, tag: u32, state: i32) -> Option<usize> {
        self.rules.iter().position(|r| r.actor == actor && r.tag == tag && r.state.is_none_or(|s| s == state))
    }

    /// Whether it depends on the state what an actor of this kind does with a tag, or whether it takes it.
    fn looks_at_state(&self, actor: u32, tag: u32) -> bool {
        self.rules.iter().any(|r| r.actor == actor && r.tag == tag && r.state.is_some())
            || self.refusals.iter().any(|r| r.actor == actor && r.tag == tag)
    }

    fn refuses(&self, actor: u32, tag: u32, state: i32) -> bool {
        self.refusals.contains(&Refusal { actor, state, tag })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Actor(k) => write!(f, "A{k}"),
            Target::Me => f.write_str("me"),
            Target::Sender => f.write_str("sender"),
            Target::Creator => f.write_str("creator"),
            Target::Newest => f.write_str("newest"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Send(to, tag) => write!(f, "{to}!t{tag}"),
            Action::Set(state) => write!(f, "state:={state}"),
            Action::Add(n) => write!(f, "state+={n}"),
            Action::Create(like) => write!(f, "new:A{like}"),
            Action::Call(to, tag) => write!(f, "{to}?t{tag}"),
            Action::Store(store, value) => write!(f, "store{store}:={value}"),
            Action::Only(store, value) => write!(f, "only:store{store}={value}"),
            Action::Choose(n) => write!(f, "state:=choose({n})"),
            Action::Stop => f.write_str("stop"),
            Action::Fail => f.write_str("fail"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivery = format!("{:?}", self.delivery).to_lowercase();
        write!(f, "{} actors, {delivery} delivery", self.actors)?;
        match self.level {
            Level::Actor => writeln!(f)?,
            Level::Footprint => writeln!(f, ", dependence told by footprints")?,
            Level::Fields => writeln!(f, ", dependence by fields")?,
        }
        f.write_str("main:")?;
        for (actor, tag) in &self.main {
            write!(f, " A{actor}!t{tag}")?;
        }
        writeln!(f)?;
        for rule in &self.rules {
            write!(f, "A{} on t{}", rule.actor, rule.tag)?;
            if let Some(state) = rule.state {
                write!(f, " in state {state}")?;
            }
            f.write_str(":")?;
            for action in &rule.actions {
                write!(f, " {action}")?;
            }
            writeln!(f)?;
        }
        for Refusal { actor, state, tag } in &self.refusals {
            writeln!(f, "A{actor} in state {state} refuses t{tag}")?;
        }
        Ok(())
    }
}
