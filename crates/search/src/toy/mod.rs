//! A small actor language for testing searches.
//!
//! The state of an actor is an integer, and a message is a tag. A [`Rule`] defines the reaction of an actor to a tag,
//! optionally in a single state; a tag without a rule is received and ignored. An actor can refuse a tag in a state.
//! Actors are named A0, A1, …: the first [`Program::actors`] of them exist from the beginning. An actor that is
//! created later follows the rules of one of these.
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

/// Number of stores of an actor, in addition to its state.
///
/// ```
/// use whippet_search::toy::{Action, Program, STORES};
/// let stores = (0..STORES as u32).map(|store| Action::Store(store, 1));
/// assert!(Program::new(1).on(0, 1, stores).to_string().ends_with("store0:=1 store1:=1\n"));
/// ```
pub const STORES: usize = 2;

/// The order in which messages may be delivered. A message that its receiver refuses does not hold back others, and
/// replies are never held back.
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
    /// Messages from one actor to another arrive in the order of sending.
    Fifo,
    /// A message arrives after all messages to the same actor whose sending happens before its own.
    Causal,
}

/// The dependence relation of steps, in addition to causality.
///
/// ```
/// use whippet_model::{Machine, Program as _, Dependence};
/// use whippet_search::toy::{Granularity, Program};
/// assert_eq!(Program::new(1).machine(&Default::default()).unwrap().profile().dependence, Dependence::PerActor);
/// assert_eq!(Program::new(1).granularity(Granularity::Fields).machine(&Default::default()).unwrap().profile().dependence, Dependence::Footprints);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Granularity {
    /// Steps of the same actor are dependent: [`whippet_model::Dependence::PerActor`].
    #[default]
    Actor,
    /// The same relation, expressed by footprints.
    Footprint,
    /// Steps that access the same part of the same actor are dependent: its state or a store. Only with unordered
    /// delivery.
    Fields,
}

/// The receiver of a message.
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
    /// The sender of the message being handled. Nothing is sent if that is `main`.
    Sender,
    /// The creator of this actor. Nothing is sent if that is `main`.
    Creator,
    /// The actor that this one created last. Nothing is sent if it has not created any.
    Newest,
}

/// One action of a handler.
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
    /// Creates an actor that follows the rules of the actor with this number.
    Create(u32),
    /// Sends a tag and waits until the receiver has handled it. The remaining actions follow when the reply arrives;
    /// until then the actor receives nothing else. A call to the actor itself, or without a receiver, does nothing.
    Call(Target, u32),
    /// Assigns a value to a store.
    Store(u32, i32),
    /// Skips the remaining actions unless a store has this value. A caller still gets its reply.
    Only(u32, i32),
    /// Sets the state to a value below this one; each value is a branch.
    Choose(u32),
    /// Stops the actor after this handler: messages to it stay pending.
    Stop,
    /// Fails, like an assertion that does not hold.
    Fail,
}

/// The reaction of an actor to a tag.
///
/// ```
/// use whippet_search::toy::{Action, Program, Rule};
/// let rule = Rule { actor: 0, tag: 1, state: Some(7), actions: vec![Action::Stop] };
/// assert_eq!(Program::new(1).when(0, 1, 7, [Action::Stop]).rules, [rule]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The actor that the rule belongs to.
    pub actor: u32,
    /// The tag that it applies to.
    pub tag: u32,
    /// The state in which it applies; `None` means any. The first rule that applies is used.
    pub state: Option<i32>,
    /// The actions, in order.
    pub actions: Vec<Action>,
}

/// A tag that an actor refuses in a state.
///
/// ```
/// use whippet_search::toy::{Program, Refusal};
/// assert_eq!(Program::new(1).refuse(0, 5, 1).refusals, [Refusal { actor: 0, state: 5, tag: 1 }]);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// The actor that refuses.
    pub actor: u32,
    /// The state in which it refuses.
    pub state: i32,
    /// The tag that is refused.
    pub tag: u32,
}

/// A program of the toy language.
///
/// ```
/// use std::sync::Arc;
/// use whippet_search::{Options, explore, toy::{Action, Delivery, Granularity, Program}};
/// let program = Program::new(1)
///     .delivery(Delivery::Unordered)
///     .granularity(Granularity::Actor)
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
    /// The number of actors that exist from the beginning. Their state is 0.
    pub actors: u32,
    /// The order of delivery.
    pub delivery: Delivery,
    /// The dependence relation.
    pub granularity: Granularity,
    /// The receivers and tags of the messages that `main` sends.
    pub main: Vec<(u32, u32)>,
    /// The reactions of actors.
    pub rules: Vec<Rule>,
    /// The refusals of actors.
    pub refusals: Vec<Refusal>,
}

impl Program {
    /// Creates a program with this many actors, which do nothing.
    #[must_use]
    pub fn new(actors: u32) -> Program {
        Program { actors, ..Program::default() }
    }

    /// Sets the order of delivery.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Program {
        self.delivery = delivery;
        self
    }

    /// Sets the dependence relation.
    #[must_use]
    pub fn granularity(mut self, granularity: Granularity) -> Program {
        self.granularity = granularity;
        self
    }

    /// Adds a message that `main` sends.
    #[must_use]
    pub fn main(mut self, actor: u32, tag: u32) -> Program {
        self.main.push((actor, tag));
        self
    }

    /// Adds a reaction of `actor` to `tag` in any state.
    #[must_use]
    pub fn on(mut self, actor: u32, tag: u32, actions: impl IntoIterator<Item = Action>) -> Program {
        self.rules.push(Rule { actor, tag, state: None, actions: actions.into_iter().collect() });
        self
    }

    /// Adds a reaction of `actor` to `tag` in this state.
    #[must_use]
    pub fn when(mut self, actor: u32, tag: u32, state: i32, actions: impl IntoIterator<Item = Action>) -> Program {
        self.rules.push(Rule { actor, tag, state: Some(state), actions: actions.into_iter().collect() });
        self
    }

    /// Makes `actor` refuse `tag` in this state.
    #[must_use]
    pub fn refuse(mut self, actor: u32, state: i32, tag: u32) -> Program {
        self.refusals.push(Refusal { actor, state, tag });
        self
    }

    /// Returns the index of the rule that an actor of this kind applies to a tag.
    fn rule(&self, actor: u32, tag: u32, state: i32) -> Option<usize> {
        self.rules.iter().position(|r| r.actor == actor && r.tag == tag && r.state.is_none_or(|s| s == state))
    }

    /// Returns `true` if the state of an actor of this kind influences its reaction to a tag, or whether it refuses
    /// the tag.
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
        match self.granularity {
            Granularity::Actor => writeln!(f)?,
            Granularity::Footprint => writeln!(f, ", dependence told by footprints")?,
            Granularity::Fields => writeln!(f, ", dependence by fields")?,
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
