//! Structured traces: one execution as data, for every view of it.
//!
//! A trace is what the terminal text, the HTML report, the explorer page and all exports are made from. Nothing has to
//! parse English to find out who sent what to whom.

use crate::{Access, DebugValue};
use serde::{Deserialize, Serialize};

/// One execution, or the part of it that matters for a finding: actors, events and their order.
///
/// ```
/// use whippet_model::{Trace, TraceActor, TraceEvent};
/// let mut trace = Trace::default();
/// trace.actors.push(TraceActor::named("client"));
/// trace.events.push(TraceEvent { text: "receives Go".into(), ..TraceEvent::default() });
/// trace.events.push(TraceEvent { text: "receives Stop".into(), causes: vec![0], ..TraceEvent::default() });
/// assert_eq!(trace.past(1), [0, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trace {
    /// The actors, tasks or processes. Events refer to them by index.
    pub actors: Vec<TraceActor>,
    /// The events, in the order in which they happened.
    pub events: Vec<TraceEvent>,
    /// Long repetitions, in ascending order; they do not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// The state of each actor after the last event, with the messages that it has not received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end: Vec<ActorState>,
}

/// Something that acts: an actor, a task, a process.
///
/// ```
/// let actor = whippet_model::TraceActor::named("till 1");
/// assert_eq!(actor.name, "till 1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceActor {
    /// The name that people read: "till 1".
    pub name: String,
    /// The source position of its creation, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl TraceActor {
    /// Creates an actor without a source position.
    #[must_use]
    pub fn named(name: impl Into<String>) -> TraceActor {
        TraceActor { name: name.into(), place: None }
    }
}

/// The kind of an event. It decides the mark in diagrams.
///
/// ```
/// use whippet_model::EventKind;
/// assert_eq!(serde_json::to_string(&EventKind::Receive).unwrap(), "\"receive\"");
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EventKind {
    /// A message, reply or item is received.
    Receive,
    /// A message is sent, in programs where sending is an event of its own.
    Send,
    /// A lock, permit or mutex is requested or acquired.
    Lock,
    /// A lock, permit or mutex is released.
    Unlock,
    /// A timer fires, or the clock is read.
    Timer,
    /// An actor or task is created, begins, ends or is aborted.
    Life,
    /// Any other step.
    #[default]
    Step,
}

impl EventKind {
    /// Returns `true` for [`EventKind::Step`].
    ///
    /// ```
    /// assert!(whippet_model::EventKind::default().is_step());
    /// ```
    #[must_use]
    pub fn is_step(&self) -> bool {
        *self == EventKind::Step
    }
}

/// One event of a trace.
///
/// ```
/// use whippet_model::{Change, EventKind, TraceEvent};
/// let event = TraceEvent {
///     kind: EventKind::Receive,
///     text: "receives Take(4)".into(),
///     changes: vec![Change::new("apples", "5", "1")],
///     ..TraceEvent::default()
/// };
/// assert_eq!(event.changes[0].to_string(), "apples: 5 → 1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// The identity of the event: equal in all executions in which it has the same past.
    pub name: String,
    /// The actor, as an index into [`Trace::actors`].
    pub actor: u32,
    /// The kind of event.
    pub kind: EventKind,
    /// The action in words, without the actor: "receives Take(4)".
    pub text: String,
    /// The message or item, if one is received or sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageText>,
    /// The sender, as an index into [`Trace::actors`]. `None` for messages of the test itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The event that sent the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<u32>,
    /// The source position of the send, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
    /// The source position of the event itself, as `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The immediate predecessors in happens-before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<u32>,
    /// The objects that the event touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<TraceTouch>,
    /// The effects of the event within its step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The changes of the actor's state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The actor's state before and after the event, if the event changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateChange>,
    /// Lines that user code logged in this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
}

/// A message: its type, and its value as `Debug` writes it.
///
/// ```
/// let message = whippet_model::MessageText { kind: Some("Take".into()), text: "Take(4)".into() };
/// assert_eq!(serde_json::to_value(&message).unwrap()["type"], "Take");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageText {
    /// The name of its type or variant, if it is known.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its value.
    pub text: String,
}

/// An access to an object, for the reader.
///
/// ```
/// use whippet_model::{Access, TraceTouch};
/// let touch = TraceTouch { object: "mutex 1".into(), access: Access::Write, place: None };
/// assert_eq!(serde_json::to_value(&touch).unwrap()["access"], "write");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTouch {
    /// The object.
    pub object: String,
    /// The kind of access.
    pub access: Access,
    /// The source position of the access, as `file:line`, if it is not that of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Something that an event leads to within its step.
///
/// ```
/// let effect = whippet_model::Effect { text: "sends Get to server".into() };
/// assert_eq!(serde_json::to_string(&effect).unwrap(), r#"{"text":"sends Get to server"}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The effect in words: "sends Get to server".
    pub text: String,
}

/// A field of an actor's state that a step changed.
///
/// ```
/// let change = whippet_model::Change::new("balance", "0", "-5");
/// assert_eq!(change.to_string(), "balance: 0 → -5");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path of the field; empty if the state is one value.
    pub field: String,
    /// The value before the step.
    pub before: String,
    /// The value after the step.
    pub after: String,
}

impl Change {
    /// Creates a change.
    #[must_use]
    pub fn new(field: impl Into<String>, before: impl Into<String>, after: impl Into<String>) -> Change {
        Change { field: field.into(), before: before.into(), after: after.into() }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{} → {}", self.before, self.after)
    }
}

/// The state of an actor before and after a step.
///
/// ```
/// use whippet_model::StateChange;
/// let change = StateChange::of_texts("Till { cash: 5 }", "Till { cash: 3 }").unwrap();
/// assert_eq!(change.before.changes(&change.after)[0].to_string(), "cash: 5 → 3");
/// assert_eq!(StateChange::of_texts("Open", "Open"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// The state before.
    pub before: DebugValue,
    /// The state after.
    pub after: DebugValue,
}

impl StateChange {
    /// Parses two states as `{:?}` writes them. Returns `None` if they are equal.
    #[must_use]
    pub fn of_texts(before: &str, after: &str) -> Option<StateChange> {
        (before != after).then(|| StateChange { before: DebugValue::parse(before), after: DebugValue::parse(after) })
    }
}

/// The state of one actor between two steps.
///
/// ```
/// use whippet_model::{ActorState, DebugValue};
/// let state = ActorState {
///     actor: "account".into(),
///     state: Some(DebugValue::parse("Account { balance: 5 }")),
///     ..Default::default()
/// };
/// assert_eq!(serde_json::to_value(&state).unwrap()["state"]["fields"][0][1], "5");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActorState {
    /// The actor, by its label.
    pub actor: String,
    /// Its state, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<DebugValue>,
    /// Its current activity, if it is not ready for the next message: "waits for the reply of server", "stopped".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The messages that were sent to it and not yet received, in the order of sending: "Take(4) from till 2".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
}

/// A block of events that repeats: events `first..=last` are rounds of `period` events that read the same.
///
/// ```
/// let repeat = whippet_model::Repeat { first: 2, last: 9_997, period: 2 };
/// assert_eq!(repeat.rounds(), 4_998);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The first event of the first round.
    pub first: u32,
    /// The last event of the last round.
    pub last: u32,
    /// The number of events of one round.
    pub period: u32,
}

impl Repeat {
    /// Returns the number of rounds.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        (self.last + 1 - self.first) / self.period
    }

    /// The longest round that [`find`](Repeat::find) looks for.
    const LONGEST: usize = 2_000;

    /// The number of possible rounds that are compared at each position.
    const CANDIDATES: usize = 64;

    /// The least number of events that is worth folding.
    const LEAST: usize = 12;

    /// Finds the repetitions in a sequence: at each position the one that covers most, with the shortest round. At
    /// least three rounds and a dozen items are needed.
    ///
    /// A round ends where its first item occurs again, so only the next occurrences of an item are compared. The time
    /// is linear in the length of the sequence, apart from sorting it.
    ///
    /// ```
    /// use whippet_model::Repeat;
    /// let steps: Vec<u32> = [7, 8].into_iter().chain((0..20).map(|k| k % 2)).chain([9]).collect();
    /// assert_eq!(Repeat::find(&steps), [Repeat { first: 2, last: 21, period: 2 }]);
    /// assert!(Repeat::find(&[1, 2, 3, 4]).is_empty());
    /// let long: Vec<u32> = (0..5_000).map(|k| k % 1_000).collect();
    /// assert_eq!(Repeat::find(&long), [Repeat { first: 0, last: 4_999, period: 1_000 }]);
    /// ```
    #[must_use]
    pub fn find<T: Ord>(items: &[T]) -> Vec<Repeat> {
        let mut sorted: Vec<usize> = (0..items.len()).collect();
        sorted.sort_by(|&a, &b| items[a].cmp(&items[b]).then(a.cmp(&b)));
        let mut again = vec![None; items.len()];
        for pair in sorted.windows(2) {
            if items[pair[0]] == items[pair[1]] {
                again[pair[0]] = Some(pair[1]);
            }
        }
        let mut found = Vec::new();
        let mut first = 0;
        while first < items.len() {
            let best = std::iter::successors(again[first], |&at| again[at])
                .take(Repeat::CANDIDATES)
                .map(|at| at - first)
                .take_while(|&period| period <= Repeat::LONGEST && first + 3 * period <= items.len())
                .map(|period| {
                    let rest = first + period..items.len();
                    let equal = rest.take_while(|&at| items[at] == items[at - period]).count();
                    (period, (equal + period) / period * period)
                })
                .filter(|&(period, length)| length >= Repeat::LEAST && length >= 3 * period)
                .max_by_key(|&(period, length)| (length, std::cmp::Reverse(period)));
            match best {
                Some((period, length)) => {
                    let last = first + length - 1;
                    found.push(Repeat { first: first as u32, last: last as u32, period: period as u32 });
                    first = last + 1;
                }
                None => first += 1,
            }
        }
        found
    }
}

impl Trace {
    /// Returns the causal past of an event, itself included, in ascending order.
    #[must_use]
    pub fn past(&self, event: u32) -> Vec<u32> {
        let mut seen = vec![false; self.events.len()];
        let mut stack = vec![event];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at as usize], true) {
                stack.extend(&self.events[at as usize].causes);
            }
        }
        (0..self.events.len() as u32).filter(|&at| seen[at as usize]).collect()
    }

    /// Finds the long repetitions: events of the same actor with the same text.
    ///
    /// ```
    /// use whippet_model::{Trace, TraceEvent};
    /// let mut trace = Trace::default();
    /// trace.events = vec![TraceEvent { text: "receives Tick".into(), ..TraceEvent::default() }; 30];
    /// trace.fold();
    /// assert_eq!((trace.repeats[0].period, trace.repeats[0].rounds()), (1, 30));
    /// ```
    pub fn fold(&mut self) {
        let items: Vec<_> = self.events.iter().map(|event| (event.actor, &*event.text)).collect();
        self.repeats = Repeat::find(&items);
    }
}
