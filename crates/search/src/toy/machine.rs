//! The machine of the little language: plain and slow. Each step keeps a copy of the whole configuration.

use super::{Action, Delivery, Program, Target};
use std::ops::Range;
use std::sync::Arc;
use whippet_model::{
    ActorNo, Branch, Choice, Comparison, Kind, Machine, MachineError, Name, Pending, Problem, Relation, Step, StepText,
};

/// What a message asks of its receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Tag(u32),
    /// A tag that somebody waits for.
    Call(u32),
    Reply,
}

/// A message that was sent.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) name: Name,
    /// `None`: sent by `main`.
    pub(super) from: Option<u32>,
    /// The step that sent it.
    pub(super) sent: Option<usize>,
    pub(super) to: u32,
    pub(super) content: Content,
    /// The step that took it.
    pub(super) taken: Option<usize>,
}

/// An actor that was created.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) name: Name,
    pub(super) like: u32,
    pub(super) state: i32,
    pub(super) stopped: bool,
    pub(super) creator: Option<u32>,
    pub(super) newest: Option<u32>,
    /// What is left to do when the reply arrives, while it waits for one.
    pub(super) waits: Option<Job>,
}

/// A handler that is not over.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) sender: Option<u32>,
    /// Whether the sender waits for the end.
    pub(super) called: bool,
    pub(super) rest: Vec<Action>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Configuration {
    pub(super) actors: Vec<Actor>,
    pub(super) messages: Vec<Message>,
}

/// What is kept of a step besides the configuration after it.
#[derive(Clone, Debug)]
struct Taken {
    step: Step,
    message: u32,
    sent: Range<u32>,
    /// The ways of its choices, and how the branch would go on.
    next: Option<Branch>,
    failed: bool,
    effects: Vec<String>,
    /// The steps before it, causes and the receiver's own.
    past: Vec<bool>,
}

/// Runs a [`Program`].
#[derive(Clone, Debug)]
pub struct Toy {
    program: Arc<Program>,
    /// One more than steps.
    configurations: Vec<Configuration>,
    steps: Vec<Taken>,
    runs: u64,
}

impl whippet_model::Program for Program {
    type Machine = Toy;

    fn machine(&self) -> Result<Toy, MachineError> {
        let mut start = Configuration::default();
        for k in 0..self.actors {
            let name = Name::ROOT.mixed(0xAC70).child(k);
            let (creator, newest, waits) = (None, None, None);
            start.actors.push(Actor { name, like: k, state: 0, stopped: false, creator, newest, waits });
        }
        for (k, &(to, tag)) in self.main.iter().enumerate() {
            if to >= self.actors {
                return Err(MachineError::Misuse(format!("main sends to A{to}, but there are {} actors", self.actors)));
            }
            let name = Name::ROOT.child(k as u32);
            let content = Content::Tag(tag);
            start.messages.push(Message { name, from: None, sent: None, to, content, taken: None });
        }
        Ok(Toy { program: Arc::new(self.clone()), configurations: vec![start], steps: Vec::new(), runs: 0 })
    }

    fn name(&self) -> String {
        "toy".into()
    }
}

/// What one step works on.
struct Handler<'a> {
    at: usize,
    event: Name,
    me: u32,
    now: Configuration,
    branch: Branch,
    arities: Vec<u32>,
    created: u32,
    first: usize,
    failed: bool,
    effects: Vec<String>,
    program: &'a Program,
}

impl Handler<'_> {
    fn me(&mut self) -> &mut Actor {
        &mut self.now.actors[self.me as usize]
    }

    fn send(&mut self, to: u32, content: Content) {
        let k = self.now.messages.len() - self.first;
        let name = self.event.child(k as u32);
        self.effects.push(format!("sends {content:?} to {}", self.now.label(to)));
        self.now.messages.push(Message { name, from: Some(self.me), sent: Some(self.at), to, content, taken: None });
    }

    fn target(&mut self, target: Target, sender: Option<u32>) -> Option<u32> {
        match target {
            Target::Actor(k) => (k < self.program.actors).then_some(k),
            Target::Me => Some(self.me),
            Target::Sender => sender,
            Target::Creator => self.me().creator,
            Target::Newest => self.me().newest,
        }
    }

    /// Works until the end of the handler or until the next reply is needed.
    fn work(&mut self, job: Job) {
        for (k, &action) in job.rest.iter().enumerate() {
            match action {
                Action::Send(to, tag) => {
                    if let Some(to) = self.target(to, job.sender) {
                        self.send(to, Content::Tag(tag));
                    }
                }
                Action::Call(to, tag) => {
                    let to = self.target(to, job.sender).filter(|&to| to != self.me);
                    if let Some(to) = to {
                        self.send(to, Content::Call(tag));
                        self.me().waits = Some(Job { rest: job.rest[k + 1..].to_vec(), ..job });
                        return;
                    }
                }
                Action::Set(state) => self.me().state = state,
                Action::Add(n) => self.me().state += n,
                Action::Create(like) => self.create(like),
                Action::Choose(n) => {
                    let digit = self.arities.len();
                    self.arities.push(n.max(1));
                    self.me().state = self.branch.digit(digit) as i32;
                }
                Action::Stop => self.me().stopped = true,
                Action::Fail => {
                    self.failed = true;
                    self.me().stopped = true;
                    return;
                }
            }
        }
        if let (true, Some(caller)) = (job.called, job.sender) {
            self.send(caller, Content::Reply);
        }
    }

    fn create(&mut self, like: u32) {
        let name = self.event.mixed(0xAC70).child(self.created);
        self.created += 1;
        let new = self.now.actors.len() as u32;
        let creator = Some(self.me);
        self.now.actors.push(Actor { name, like, state: 0, stopped: false, creator, newest: None, waits: None });
        self.me().newest = Some(new);
        self.effects.push(format!("creates {}", self.now.label(new)));
    }
}

impl Configuration {
    fn label(&self, actor: u32) -> String {
        let like = self.actors[actor as usize].like;
        if like == actor { format!("A{actor}") } else { format!("A{like} number {actor}") }
    }
}

impl Toy {
    pub(super) fn now(&self) -> &Configuration {
        self.configurations.last().expect("there is always one")
    }

    /// Whether the receiver takes a message in this configuration, whatever the order of delivery says.
    fn takes(&self, configuration: &Configuration, message: &Message) -> bool {
        let actor = &configuration.actors[message.to as usize];
        match message.content {
            // A stopped actor that waits is still in its last handler.
            Content::Reply => actor.waits.is_some(),
            Content::Tag(tag) | Content::Call(tag) => {
                !actor.stopped && actor.waits.is_none() && !self.program.refuses(actor.like, tag, actor.state)
            }
        }
    }

    /// The messages that must be taken before message `m`.
    fn ahead(&self, m: usize) -> impl Iterator<Item = &Message> {
        let messages = &self.now().messages;
        let message = &messages[m];
        messages[..m].iter().filter(move |other| {
            other.to == message.to
                && match self.program.delivery {
                    Delivery::Unordered => false,
                    Delivery::Fifo => other.from == message.from,
                    Delivery::Causal => self.knew(message.sent, other.sent),
                }
        })
    }

    /// Whether what was sent by step `a` was sent before or in step `b`, as far as `b` could know.
    fn knew(&self, b: Option<usize>, a: Option<usize>) -> bool {
        match (a, b) {
            (None, _) => true,
            (Some(a), Some(b)) => a == b || (a < b && self.steps[b].past[a]),
            (Some(_), None) => false,
        }
    }

    pub(super) fn delivery(&self) -> Delivery {
        self.program.delivery
    }

    /// Whether message `a` was sent before message `b`, as far as the sender of `b` could know.
    pub(super) fn sent_before(&self, a: usize, b: usize) -> bool {
        let (a_sent, b_sent) = (self.now().messages[a].sent, self.now().messages[b].sent);
        self.knew(b_sent, a_sent) && (a_sent != b_sent || a < b)
    }

    /// Whether an actor could know that message `m` was sent.
    pub(super) fn knows(&self, actor: u32, m: usize) -> bool {
        let sent = self.now().messages[m].sent;
        self.last_step_of(actor).is_some_and(|last| self.knew(Some(last), sent))
    }

    fn is_enabled(&self, m: usize) -> bool {
        let message = &self.now().messages[m];
        message.taken.is_none() && self.takes(self.now(), message) && self.ahead(m).all(|o| o.taken.is_some())
    }

    fn last_step_of(&self, actor: u32) -> Option<usize> {
        (0..self.steps.len()).rev().find(|&at| self.steps[at].step.actor == ActorNo(actor))
    }

    /// The pasts of steps, as the causal delivery needs them.
    fn past(&self, message: &Message) -> Vec<bool> {
        let mut past = vec![false; self.steps.len()];
        for before in [message.sent, self.last_step_of(message.to)].into_iter().flatten() {
            past[before] = true;
            for (at, &earlier) in self.steps[before].past.iter().enumerate() {
                past[at] |= earlier;
            }
        }
        past
    }
}

impl Machine for Toy {
    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        let count = self.now().messages.len();
        out.extend((0..count).filter(|&m| self.is_enabled(m)).map(|m| Choice::first(Pending(m as u32))));
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        let m = choice.what.0 as usize;
        assert!(self.is_enabled(m), "a search chose what is not enabled");
        let at = self.steps.len();
        let mut now = self.now().clone();
        now.messages[m].taken = Some(at);
        let message = now.messages[m].clone();
        let past = self.past(&message);
        let event = if choice.branch == Branch::FIRST { message.name } else { message.name.mixed(choice.branch.0) };
        let first = now.messages.len();
        let mut handler = Handler {
            at,
            event,
            me: message.to,
            now,
            branch: choice.branch,
            arities: Vec::new(),
            created: 0,
            first,
            failed: false,
            effects: Vec::new(),
            program: &self.program,
        };
        let job = match message.content {
            Content::Reply => handler.me().waits.take().expect("it is enabled"),
            Content::Tag(tag) | Content::Call(tag) => {
                let (like, state) = (handler.me().like, handler.me().state);
                let rest = self.program.rule(like, tag, state).map_or(Vec::new(), |rule| rule.actions.clone());
                let called = matches!(message.content, Content::Call(_));
                Job { sender: message.from, called, rest }
            }
        };
        handler.work(job);
        if (0..Branch::DIGITS).any(|k| choice.branch.digit(k) >= handler.arities.get(k).copied().unwrap_or(1)) {
            return Err(MachineError::Misuse(format!("step {} has no such way", at + 1)));
        }
        let next = choice.branch.next(&handler.arities);
        let (sent, failed, effects) =
            (first as u32..handler.now.messages.len() as u32, handler.failed, handler.effects);
        self.configurations.push(handler.now);
        let step = Step { choice, thread: message.name, event, actor: ActorNo(message.to) };
        self.steps.push(Taken { step, message: choice.what.0, sent, next, failed, effects, past });
        self.runs += 1;
        Ok(())
    }

    fn rewind(&mut self, depth: usize) {
        self.steps.truncate(depth);
        self.configurations.truncate(depth + 1);
    }

    fn next_branch(&self) -> Option<Branch> {
        self.steps.last().and_then(|taken| taken.next)
    }

    fn thread(&self, what: Pending) -> Name {
        self.now().messages[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.now().messages[what.0 as usize].to)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let found = self.now().messages.iter().position(|m| m.name == thread && m.taken.is_none());
        found.map(|m| Pending(m as u32))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        let messages = self.now().messages.iter().enumerate();
        out.extend(messages.filter(|(_, m)| m.taken.is_none()).map(|(k, _)| Pending(k as u32)));
    }

    fn relation(&self) -> Relation {
        Relation::SameActor
    }

    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let m = what.0 as usize;
        let before = |taken: Option<usize>| taken.is_some_and(|step| step < at);
        self.takes(&self.configurations[at], &self.now().messages[m]) && self.ahead(m).all(|o| before(o.taken))
    }

    fn step(&self, at: usize) -> Step {
        self.steps[at].step
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        out.extend(self.now().messages[self.steps[at].message as usize].sent);
    }

    fn sent(&self, at: usize) -> Range<u32> {
        self.steps[at].sent.clone()
    }

    fn actors(&self) -> usize {
        self.now().actors.len()
    }

    fn problems(&self) -> usize {
        self.steps.iter().filter(|taken| taken.failed).count()
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].failed.then(|| {
            let actor = self.steps[at].step.actor.0;
            let message = format!("{} fails", self.now().label(actor));
            let key = self.now().actors[actor as usize].name;
            Problem { kind: Kind::Assertion, message, place: None, key, steps: vec![at], warning: false }
        })
    }

    fn ending(&mut self, out: &mut Vec<Problem>) {
        let now = self.now();
        let waiting: Vec<u32> =
            (0..now.actors.len() as u32).filter(|&a| now.actors[a as usize].waits.is_some()).collect();
        if !waiting.is_empty() {
            let mut names: Vec<Name> = waiting.iter().map(|&a| now.actors[a as usize].name).collect();
            names.sort_unstable();
            let key = names.iter().fold(Name::ROOT, |key, name| key.mixed(name.0));
            let who: Vec<String> = waiting.iter().map(|&a| now.label(a)).collect();
            let message = format!("{} wait for ever", who.join(", "));
            let steps = waiting.iter().filter_map(|&a| self.last_step_of(a)).collect();
            out.push(Problem { kind: Kind::Deadlock, message, place: None, key, steps, warning: false });
        }
        for m in (0..now.messages.len()).filter(|&m| now.messages[m].taken.is_none() && !self.is_enabled(m)) {
            let message = &now.messages[m];
            let text = format!("{:?} to {} is never taken", message.content, now.label(message.to));
            let steps = [message.sent, self.last_step_of(message.to)].into_iter().flatten().collect();
            let key = message.name;
            out.push(Problem { kind: Kind::Undeliverable, message: text, place: None, key, steps, warning: true });
        }
    }

    fn describe(&mut self, at: usize) -> StepText {
        let taken = &self.steps[at];
        let message = &self.now().messages[taken.message as usize];
        let state = |k: usize| self.configurations[k].actors[message.to as usize].state;
        let changed = (state(at) != state(at + 1)).then(|| format!("state: {} → {}", state(at), state(at + 1)));
        StepText {
            actor: self.now().label(message.to),
            action: format!("receives {:?}", message.content),
            origin: Some(message.from.map_or("from main".into(), |from| format!("from {}", self.now().label(from)))),
            effects: taken.effects.clone(),
            changes: changed.into_iter().collect(),
        }
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        Ok(super::fingerprint::fingerprint(self, comparison))
    }

    fn handler_runs(&self) -> u64 {
        self.runs
    }
}
