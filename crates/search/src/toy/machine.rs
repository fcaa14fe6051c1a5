//! The machine of the toy language: each step stores the previous state of its actor, so that it can be undone.

use super::handler::{Handler, Job, Part};
use super::{Delivery, Granularity, Program, STORES};
use std::ops::Range;
use std::sync::Arc;
use whippet_model::{
    ActorNo, Blockers, Branch, Branches, Change, Choice, Delivered, Deliveries, Dependence, EventKind, Executed,
    Explain, FindingKind, Fingerprint, Machine, MachineConfig, MachineError, Name, Pending, Problem, Profile,
    StateComparison, Step, StepDescription, Touch, capabilities, enabled_after, enabled_of_lowest,
};

/// The content of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Tag(u32),
    /// A tag whose sender waits for a reply.
    Call(u32),
    Reply,
}

/// A message that was sent.
#[derive(Copy, Clone, Debug)]
pub(super) struct Message {
    pub(super) name: Name,
    /// The sender; `None` is `main`.
    pub(super) from: Option<u32>,
    /// The step that sent it.
    pub(super) sent: Option<usize>,
    pub(super) to: u32,
    pub(super) content: Content,
    /// The step that received it.
    pub(super) taken: Option<usize>,
}

/// An actor that was created.
#[derive(Copy, Clone, Debug)]
pub(super) struct Actor {
    pub(super) name: Name,
    pub(super) like: u32,
    pub(super) state: i32,
    pub(super) stores: [i32; STORES],
    pub(super) stopped: bool,
    pub(super) creator: Option<u32>,
    pub(super) newest: Option<u32>,
    /// While it waits for a reply: the rest of its handler.
    pub(super) waits: Option<Job>,
    /// Its newest step.
    pub(super) last: Option<usize>,
}

/// The stored data of a step.
#[derive(Clone, Debug)]
struct ToyStep {
    step: Step,
    message: u32,
    /// The actor before the step.
    before: Actor,
    /// The numbers of messages and actors before the step.
    messages: usize,
    actors: usize,
    failed: bool,
    /// With causal delivery: the steps that this one could know of, through the sender of its message and through
    /// earlier steps of its own actor.
    past: Vec<bool>,
    touches: Vec<Touch>,
}

/// Machine of a [`Program`].
///
/// ```
/// use whippet_model::{Explain, Machine, Program as _};
/// use whippet_search::toy::{Program, Toy};
/// let mut toy: Toy = Program::new(1).main(0, 1).machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// toy.enabled(&mut enabled).unwrap();
/// toy.execute(enabled[0]).unwrap();
/// assert_eq!(toy.describe(0).actor, "A0");
/// ```
#[derive(Clone, Debug)]
pub struct Toy {
    program: Arc<Program>,
    profile: Profile,
    pub(super) actors: Vec<Actor>,
    pub(super) messages: Vec<Message>,
    steps: Vec<ToyStep>,
    failures: usize,
    runs: u64,
}

impl whippet_model::Program for Program {
    type Machine = Toy;

    fn machine(&self, _: &MachineConfig) -> Result<Toy, MachineError> {
        let program = Arc::new(self.clone());
        let dependence = match self.granularity {
            Granularity::Actor => Dependence::PerActor,
            Granularity::Footprint | Granularity::Fields => Dependence::Footprints,
        };
        let branches = Branches::Discovered { same_footprint: true };
        let profile = Profile::new(dependence, branches).with_one_choice_per_thread(true);
        let (actors, messages, steps) = (Vec::new(), Vec::new(), Vec::new());
        let mut toy = Toy { program, profile, actors, messages, steps, failures: 0, runs: 0 };
        // The names are the same as for native actors, where number 0 is the test itself.
        for k in 0..self.actors {
            toy.actors.push(Actor::new(Name::ROOT.child(1 + k).mixed(ACTOR), k, None));
        }
        for (k, &(to, tag)) in self.main.iter().enumerate() {
            if to >= self.actors {
                return Err(MachineError::Misuse(format!("main sends to A{to}, but there are {} actors", self.actors)));
            }
            let name = Name::ROOT.child(1 + self.actors + k as u32);
            let content = Content::Tag(tag);
            toy.messages.push(Message { name, from: None, sent: None, to, content, taken: None });
        }
        Ok(toy)
    }

    fn name(&self) -> String {
        "toy".into()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        0
    }
}

/// Distinguishes the names of actors from those of messages with the same number.
pub(super) const ACTOR: u64 = 0xAC70;

impl Actor {
    pub(super) fn new(name: Name, like: u32, creator: Option<u32>) -> Actor {
        let (newest, waits, last) = (None, None, None);
        Actor { name, like, state: 0, stores: [0; STORES], stopped: false, creator, newest, waits, last }
    }

    /// Returns `true` if the actor accepts a message, regardless of the order of delivery.
    fn takes(&self, program: &Program, message: &Message) -> bool {
        match message.content {
            // A stopped actor that waits is still in its last handler.
            Content::Reply => self.waits.is_some(),
            Content::Tag(tag) | Content::Call(tag) => {
                !self.stopped && self.waits.is_none() && !program.refuses(self.like, tag, self.state)
            }
        }
    }
}

impl Toy {
    fn label(&self, actor: u32) -> String {
        let like = self.actors[actor as usize].like;
        if like == actor { format!("A{actor}") } else { format!("A{like} number {actor}") }
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// Iterates over the messages that must be received before message `m` if they are accepted. Replies overtake
    /// everything.
    fn ahead(&self, m: usize) -> impl Iterator<Item = &Message> {
        let message = self.messages[m];
        let ordered = self.program.delivery != Delivery::Unordered && message.content != Content::Reply;
        let before = if ordered { m } else { 0 };
        (0..before).filter(move |&o| self.precedes(o, m)).map(|o| &self.messages[o])
    }

    /// Returns `true` if message `o` comes before message `m` in the order of delivery; both are to the same actor.
    pub(super) fn precedes(&self, o: usize, m: usize) -> bool {
        let (older, newer) = (&self.messages[o], &self.messages[m]);
        o < m
            && older.to == newer.to
            && older.content != Content::Reply
            && match self.program.delivery {
                Delivery::Unordered => false,
                Delivery::Fifo => older.from == newer.from,
                Delivery::Causal => self.tells_of(m, o),
            }
    }

    /// Returns `true` if the sender of message `m` could know that message `o` had been sent.
    pub(super) fn tells_of(&self, m: usize, o: usize) -> bool {
        let (older, newer) = (self.messages[o].sent, self.messages[m].sent);
        if older == newer { o < m } else { newer.is_some_and(|step| self.knew(step, o)) }
    }

    /// Returns `true` if step `at` could know that an earlier step had sent message `m`: from a later step of the
    /// same actor, or from a message that the same step sent, either `m` itself or one after it.
    fn knew(&self, at: usize, m: usize) -> bool {
        let message = &self.messages[m];
        let reached = |step: usize| step == at || self.steps[at].past.get(step).is_some_and(|&past| past);
        let later = |step: &ToyStep| Some(step.step.actor.0) == message.from;
        let next = message.sent.and_then(|sent| (sent + 1..=at).find(|&k| later(&self.steps[k])));
        let siblings = self.messages[m..].iter().take_while(|other| other.sent == message.sent);
        next.is_some_and(reached) || siblings.filter_map(|other| other.taken).any(reached)
    }

    /// Returns `true` if an actor could know that message `m` was sent.
    pub(super) fn knows(&self, actor: u32, m: usize) -> bool {
        let last = self.actors[actor as usize].last;
        last.is_some_and(|last| self.messages[m].sent == Some(last) || self.knew(last, m))
    }

    fn is_enabled(&self, m: usize) -> bool {
        let message = &self.messages[m];
        let actor = &self.actors[message.to as usize];
        let takes = |message: &Message| message.taken.is_none() && actor.takes(&self.program, message);
        takes(message) && !self.ahead(m).any(takes)
    }

    /// Returns the steps that a step could know of if it received this message now.
    fn past(&self, message: &Message) -> Vec<bool> {
        if self.program.delivery != Delivery::Causal {
            return Vec::new();
        }
        let mut past = vec![false; self.steps.len()];
        for before in [message.sent, self.actors[message.to as usize].last].into_iter().flatten() {
            past[before] = true;
            for (at, &earlier) in self.steps[before].past.iter().enumerate() {
                past[at] |= earlier;
            }
        }
        past
    }

    /// Returns `true` if an actor waits for a reply that has not been sent.
    fn is_stuck(&self, actor: u32) -> bool {
        let reply = |m: &Message| m.to == actor && m.content == Content::Reply && m.taken.is_none();
        self.actors[actor as usize].waits.is_some() && !self.messages.iter().any(reply)
    }

    /// Iterates over the steps that led to an actor's state. With [`Granularity::Fields`] steps of an actor may commute, so
    /// its last step need not follow all others.
    fn why(&self, actor: &Actor) -> impl Iterator<Item = usize> {
        let all = self.program.granularity == Granularity::Fields;
        let from = if all { 0 } else { actor.last.unwrap_or(self.steps.len()) };
        let name = actor.name;
        (from..self.steps.len()).filter(move |&at| self.steps[at].before.name == name)
    }

    /// Returns the actor of step `at` after that step.
    fn after(&self, at: usize) -> &Actor {
        let actor = self.steps[at].step.actor;
        let later = self.steps[at + 1..].iter().find(|taken| taken.step.actor == actor);
        later.map_or(&self.actors[actor.0 as usize], |taken| &taken.before)
    }
}

impl Machine for Toy {
    capabilities!(Deliveries, Blockers, Fingerprint);

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        let count = self.messages.len();
        out.extend((0..count).filter(|&m| self.is_enabled(m)).map(|m| Choice::first(Pending(m as u32))));
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        let m = choice.what.0 as usize;
        assert!(self.is_enabled(m), "a search chose what is not enabled");
        let at = self.steps.len();
        let message = self.messages[m];
        let before = self.actors[message.to as usize];
        let past = self.past(&message);
        let (messages, actors) = (self.messages.len(), self.actors.len());
        self.messages[m].taken = Some(at);
        self.actors[message.to as usize].last = Some(at);
        let program = self.program.clone();
        let mut handler = Handler::new(self, &program, at, &message, choice.branch);
        handler.take(&message);
        let (arities, failed, touches) = handler.done();
        // The decisions of `choose` are part of the event's name.
        let event = if arities.is_empty() { message.name } else { message.name.going(choice.branch) };
        let step = Step { choice, thread: message.name, event, actor: ActorNo(message.to) };
        let next = choice.branch.next(&arities);
        self.steps.push(ToyStep { step, message: choice.what.0, before, messages, actors, failed, past, touches });
        self.failures += usize::from(failed);
        self.runs += 1;
        if (0..Branch::DIGITS).any(|k| choice.branch.digit(k) >= arities.get(k).copied().unwrap_or(1)) {
            self.rewind(at);
            return Err(MachineError::Misuse(format!("step {} has no such branch", at + 1)));
        }
        Ok(Executed { next_branch: next })
    }

    fn rewind(&mut self, depth: usize) {
        while self.steps.len() > depth {
            let taken = self.steps.pop().expect("the loop checked");
            self.messages.truncate(taken.messages);
            self.actors.truncate(taken.actors);
            self.messages[taken.message as usize].taken = None;
            self.actors[taken.step.actor.0 as usize] = taken.before;
            self.failures -= usize::from(taken.failed);
        }
    }

    fn thread(&self, what: Pending) -> Name {
        self.messages[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.messages[what.0 as usize].to)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let found = self.messages.iter().position(|m| m.name == thread && m.taken.is_none());
        found.map(|m| Pending(m as u32))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        let messages = self.messages.iter().enumerate();
        out.extend(messages.filter(|(_, m)| m.taken.is_none()).map(|(k, _)| Pending(k as u32)));
    }

    fn step(&self, at: usize) -> Step {
        self.steps[at].step
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        out.extend(self.messages[self.steps[at].message as usize].sent);
    }

    fn sent(&self, at: usize) -> Range<u32> {
        let end = self.steps.get(at + 1).map_or(self.messages.len(), |next| next.messages);
        self.steps[at].messages as u32..end as u32
    }

    fn touches(&self, at: usize) -> &[Touch] {
        &self.steps[at].touches
    }

    fn actors(&self) -> usize {
        self.actors.len()
    }
}

impl Explain for Toy {
    fn problems(&self) -> usize {
        self.failures
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].failed.then(|| {
            let actor = self.steps[at].step.actor.0;
            let message = format!("{} fails", self.label(actor));
            let key = self.actors[actor as usize].name;
            Problem::new(FindingKind::Assertion, message, key).with_steps(vec![at])
        })
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        let waiting: Vec<u32> = (0..self.actors.len() as u32).filter(|&a| self.is_stuck(a)).collect();
        if !waiting.is_empty() {
            let mut names: Vec<Name> = waiting.iter().map(|&a| self.actors[a as usize].name).collect();
            names.sort_unstable();
            let key = names.iter().fold(Name::ROOT, |key, name| key.mixed(name.0));
            let who: Vec<String> = waiting.iter().map(|&a| self.label(a)).collect();
            let message = format!("{} wait for ever", who.join(", "));
            let steps = waiting.iter().flat_map(|&a| self.why(&self.actors[a as usize])).collect();
            out.push(Problem::new(FindingKind::Deadlock, message, key).with_steps(steps));
        }
        for m in (0..self.messages.len()).filter(|&m| self.messages[m].taken.is_none() && !self.is_enabled(m)) {
            let message = &self.messages[m];
            let text = format!("{:?} to {} is never taken", message.content, self.label(message.to));
            let steps = message.sent.into_iter().chain(self.why(&self.actors[message.to as usize])).collect();
            // The key does not contain the name of the message: a search that compares states knows only one path to
            // each state.
            let content = match message.content {
                Content::Tag(tag) => 2 * u64::from(tag) + 1,
                Content::Call(tag) => 2 * u64::from(tag) + 2,
                Content::Reply => 0,
            };
            let key = self.actors[message.to as usize].name.mixed(content);
            out.push(Problem::new(FindingKind::Undeliverable, text, key).with_steps(steps).with_warning(true));
        }
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        let taken = &self.steps[at];
        let message = &self.messages[taken.message as usize];
        let (before, after) = (taken.before.state, self.after(at).state);
        let range = self.sent(at);
        let sent = self.messages[range.start as usize..range.end as usize].iter();
        let sends = sent.map(|m| format!("sends {:?} to {}", m.content, self.label(m.to)));
        let end = self.steps.get(at + 1).map_or(self.actors.len(), |next| next.actors);
        let creates = (taken.actors..end).map(|a| format!("creates {}", self.label(a as u32)));
        StepDescription::new(self.label(message.to), format!("receives {:?}", message.content))
            .with_origin(Some(message.from.map_or("from main".into(), |from| format!("from {}", self.label(from)))))
            .with_effects(creates.chain(sends).collect())
            .with_kind(EventKind::Receive)
            .with_from(message.from.map(|from| self.label(from)))
            .with_changes(
                (before != after)
                    .then(|| Change::new("state", before.to_string(), after.to_string()))
                    .into_iter()
                    .collect(),
            )
    }

    fn handler_runs(&self) -> u64 {
        self.runs
    }
}

impl Deliveries for Toy {
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let m = what.0 as usize;
        let actor = &self.steps[at].before;
        let waits = |o: &Message| o.taken.is_none_or(|step| step >= at) && actor.takes(&self.program, o);
        actor.takes(&self.program, &self.messages[m]) && !self.ahead(m).any(waits)
    }

    fn enabled_of_lowest(&mut self, ranks: &[u32], most: usize, out: &mut Vec<Choice>) -> Result<usize, MachineError> {
        enabled_of_lowest(self, ranks, most, out)
    }

    fn enabled_after(&mut self, last: Pending, most: usize, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        enabled_after(self, last, most, out)
    }

    fn delivered(&self, at: usize) -> Delivered {
        Delivered::of(self, at)
    }
}

impl Blockers for Toy {
    /// Appends the parts of the receiver that decide whether it accepts the message: its control and its state.
    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        let actor = self.actors[self.messages[what.0 as usize].to as usize].name;
        match (self.program.granularity, self.program.delivery) {
            (Granularity::Fields, Delivery::Unordered) => {
                out.extend([Part::Control, Part::State].map(|part| Touch::read(actor.child(part.number()))));
            }
            _ => out.push(Touch::read(actor)),
        }
    }
}

impl Fingerprint for Toy {
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        Ok(super::fingerprint::fingerprint(self, comparison))
    }
}
