//! One step of the toy language: the reaction of an actor to a message, up to the end of its handler or to the next
//! call.

use super::machine::{ACTOR, Actor, Content, Message, Toy};
use super::{Action, Delivery, Granularity, Program, Target};
use whippet_model::{Branch, Name, Touch};

/// A handler that has not ended.
#[derive(Copy, Clone, Debug)]
pub(super) struct Job {
    pub(super) sender: Option<u32>,
    /// Set if the sender waits for the end of the handler.
    pub(super) called: bool,
    /// The rule and the index of its next action; `None` if there is no rule.
    pub(super) rest: Option<(usize, usize)>,
}

/// The parts of an actor that footprints distinguish.
#[derive(Copy, Clone)]
pub(super) enum Part {
    /// The flags that decide whether it receives messages at all.
    Control,
    State,
    Newest,
    Store(u32),
}

impl Part {
    pub(super) fn number(self) -> u32 {
        match self {
            Part::Control => 0,
            Part::State => 1,
            Part::Newest => 2,
            Part::Store(k) => 3 + k,
        }
    }
}

/// A step that is being executed.
pub(super) struct Handler<'a> {
    toy: &'a mut Toy,
    program: &'a Program,
    at: usize,
    /// The name of the message being handled.
    handled: Name,
    me: u32,
    branch: Branch,
    arities: Vec<u32>,
    /// The number of sends and creations so far.
    effects: u32,
    failed: bool,
    touches: Vec<Touch>,
}

impl<'a> Handler<'a> {
    pub(super) fn new(
        toy: &'a mut Toy,
        program: &'a Program,
        at: usize,
        message: &Message,
        branch: Branch,
    ) -> Handler<'a> {
        let (arities, touches) = (Vec::new(), Vec::new());
        let (handled, me) = (message.name, message.to);
        Handler { toy, program, at, handled, me, branch, arities, effects: 0, failed: false, touches }
    }

    /// Returns the number of branches of each choice, `true` if the handler failed, and the footprint.
    pub(super) fn done(self) -> (Vec<u32>, bool, Vec<Touch>) {
        (self.arities, self.failed, self.touches)
    }

    pub(super) fn take(&mut self, message: &Message) {
        self.touch(Part::Control, false);
        let job = match message.content {
            Content::Reply => {
                self.touch(Part::Control, true);
                self.me().waits.take().expect("it is enabled")
            }
            Content::Tag(tag) | Content::Call(tag) => {
                let (like, state) = (self.me().like, self.me().state);
                if self.program.looks_at_state(like, tag) {
                    self.touch(Part::State, false);
                }
                let called = matches!(message.content, Content::Call(_));
                Job { sender: message.from, called, rest: self.program.rule(like, tag, state).map(|rule| (rule, 0)) }
            }
        };
        self.work(job);
    }

    fn work(&mut self, job: Job) {
        let (rule, first) = job.rest.unwrap_or_default();
        let actions = if job.rest.is_some() { &self.program.rules[rule].actions[..] } else { &[] };
        for (k, &action) in actions.iter().enumerate().skip(first) {
            match action {
                Action::Send(to, tag) => {
                    if let Some(to) = self.target(to, job.sender) {
                        self.send(to, Content::Tag(tag));
                    }
                }
                Action::Call(to, tag) => {
                    if let Some(to) = self.target(to, job.sender).filter(|&to| to != self.me) {
                        self.send(to, Content::Call(tag));
                        self.touch(Part::Control, true);
                        self.me().waits = Some(Job { rest: Some((rule, k + 1)), ..job });
                        return;
                    }
                }
                Action::Create(like) => self.create(like),
                Action::Set(state) => self.set(state),
                Action::Add(n) => self.set(self.toy.actors[self.me as usize].state + n),
                Action::Choose(n) => {
                    let digit = self.arities.len();
                    self.arities.push(n.max(1));
                    self.set(self.branch.digit(digit) as i32);
                }
                Action::Store(store, value) => {
                    self.touch(Part::Store(store), true);
                    self.me().stores[store as usize] = value;
                }
                Action::Only(store, value) => {
                    self.touch(Part::Store(store), false);
                    if self.me().stores[store as usize] != value {
                        break;
                    }
                }
                Action::Stop => self.stop(),
                Action::Fail => {
                    self.failed = true;
                    self.stop();
                    return;
                }
            }
        }
        if let (true, Some(caller)) = (job.called, job.sender) {
            self.send(caller, Content::Reply);
        }
    }

    fn me(&mut self) -> &mut Actor {
        &mut self.toy.actors[self.me as usize]
    }

    fn set(&mut self, state: i32) {
        self.touch(Part::State, true);
        self.me().state = state;
    }

    fn stop(&mut self) {
        self.touch(Part::Control, true);
        self.me().stopped = true;
    }

    fn next_name(&mut self) -> Name {
        self.effects += 1;
        self.handled.child(self.effects - 1)
    }

    fn send(&mut self, to: u32, content: Content) {
        let name = self.next_name();
        self.toy.messages.push(Message { name, from: Some(self.me), sent: Some(self.at), to, content, taken: None });
    }

    fn create(&mut self, like: u32) {
        let name = self.next_name().mixed(ACTOR);
        let new = self.toy.actors.len() as u32;
        self.toy.actors.push(Actor::new(name, like, Some(self.me)));
        self.touch(Part::Newest, true);
        self.me().newest = Some(new);
    }

    fn target(&mut self, target: Target, sender: Option<u32>) -> Option<u32> {
        match target {
            Target::Actor(k) => (k < self.program.actors).then_some(k),
            Target::Me => Some(self.me),
            Target::Sender => sender,
            Target::Creator => self.me().creator,
            Target::Newest => {
                self.touch(Part::Newest, false);
                self.me().newest
            }
        }
    }

    /// Adds an access to the footprint. An order of delivery concerns whole actors.
    fn touch(&mut self, part: Part, write: bool) {
        let actor = self.me().name;
        let touch = match (self.program.granularity, self.program.delivery) {
            (Granularity::Actor, _) => return,
            (Granularity::Fields, Delivery::Unordered) => {
                let object = actor.child(part.number());
                if write { Touch::write(object) } else { Touch::read(object) }
            }
            (Granularity::Footprint | Granularity::Fields, _) => Touch::write(actor),
        };
        if self.touches.contains(&touch) || self.touches.contains(&Touch::write(touch.object)) {
            return;
        }
        self.touches.retain(|known| known.object != touch.object);
        self.touches.push(touch);
    }
}
