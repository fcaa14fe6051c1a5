//! A reference interpreter of the toy language, written in the most obvious way.
//!
//! It copies whole configurations instead of undoing steps, and tries every enabled message and every value of every
//! choice. It shares no code with the machine of the language and with the searches, so a comparison reveals errors
//! that all of them have in common.

use crate::Trace;
use std::collections::{BTreeMap, BTreeSet};
use whippet_model::{Branch, Name};
use whippet_search::toy::{Action, Delivery, Granularity, Program, STORES, Target};

/// The end of one execution, as text: two ends are equal iff their texts are equal.
///
/// ```
/// use whippet_generate::reference;
/// use whippet_search::toy::{Action, Program};
/// let ends = reference(&Program::new(1).main(0, 1).on(0, 1, [Action::Fail]), 10, 10).unwrap();
/// assert!(ends.values().all(|end| end.failed == 1 && end.left == 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// The states of the actors, and the messages left.
    pub state: String,
    /// Number of actors that are blocked at the end.
    pub waiting: usize,
    /// Number of messages that are never received.
    pub left: usize,
    /// Number of handlers that failed.
    pub failed: usize,
}

/// Returns the complete behaviour of a program: its traces, each with its end. Returns `None` if there are more than
/// `most` executions or if one of them has more than `steps` steps.
///
/// ```
/// use whippet_generate::reference;
/// use whippet_search::toy::Program;
/// let crowd = Program::new(1).main(0, 1).main(0, 2).main(0, 3);
/// assert_eq!(reference(&crowd, 10, 10).unwrap().len(), 6);
/// assert!(reference(&crowd, 5, 10).is_none(), "more than five executions");
/// ```
#[must_use]
pub fn reference(program: &Program, most: usize, steps: usize) -> Option<BTreeMap<Trace, End>> {
    let mut all = All { program, most, steps, traces: BTreeMap::new(), executions: 0 };
    all.run(&Configuration::start(program), &[]).then_some(all.traces)
}

type Id = Name;

#[derive(Clone, Debug)]
struct Actor {
    like: u32,
    state: i32,
    stores: [i32; STORES],
    stopped: bool,
    creator: Option<Id>,
    newest: Option<Id>,
    waits: Option<Waits>,
    /// The messages whose sending happens before the actor's current state.
    knows: BTreeSet<Id>,
}

/// The remaining actions of a handler that waits for a reply.
#[derive(Clone, Debug)]
struct Waits {
    rest: Vec<Action>,
    message: Message,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Content {
    Tag(u32),
    Call(u32),
    Reply,
}

#[derive(Clone, Debug)]
struct Message {
    name: Id,
    from: Option<Id>,
    to: Id,
    content: Content,
    /// The messages whose sending happens before the sending of this one.
    knows: BTreeSet<Id>,
}

#[derive(Clone, Debug)]
struct Configuration {
    actors: BTreeMap<Id, Actor>,
    /// The pending messages, in the order of sending.
    pending: Vec<Message>,
    failed: usize,
}

/// One step: its event, its actor, and its footprint.
#[derive(Clone, Debug, Default)]
struct Happened {
    event: Option<Name>,
    actor: Option<Id>,
    /// The parts of the actor that the step read and wrote.
    read: BTreeSet<String>,
    written: BTreeSet<String>,
}

impl Happened {
    fn depends_on(&self, other: &Happened, granularity: Granularity) -> bool {
        let touched = |one: &Happened, other: &Happened| {
            one.written.iter().any(|part| other.written.contains(part) || other.read.contains(part))
        };
        self.actor == other.actor
            && (granularity != Granularity::Fields || touched(self, other) || touched(other, self))
    }
}

struct All<'a> {
    program: &'a Program,
    most: usize,
    steps: usize,
    traces: BTreeMap<Trace, End>,
    executions: usize,
}

impl All<'_> {
    /// Explores everything from this configuration on. Returns `false` if a limit was exceeded.
    fn run(&mut self, now: &Configuration, happened: &[Happened]) -> bool {
        let ready: Vec<usize> = (0..now.pending.len()).filter(|&k| now.can_deliver(self.program, k)).collect();
        if ready.is_empty() {
            self.executions += 1;
            let events: Vec<Name> = happened.iter().filter_map(|h| h.event).collect();
            let ordered = self.program.delivery != Delivery::Unordered;
            let level = if ordered { Granularity::Actor } else { self.program.granularity };
            let trace = Trace::new(&events, |a, b| happened[a].depends_on(&happened[b], level));
            let end = now.end();
            let before = self.traces.insert(trace, end.clone());
            assert!(before.is_none_or(|before| before == end), "equivalent executions end alike");
            return self.executions <= self.most;
        }
        if happened.len() == self.steps {
            return false;
        }
        ready.into_iter().all(|k| self.ways(now, happened, k, &mut Vec::new()))
    }

    /// Delivers a message with the choices made so far, and with all values of any further choices.
    fn ways(&mut self, now: &Configuration, happened: &[Happened], k: usize, chosen: &mut Vec<u32>) -> bool {
        let mut next = now.clone();
        match next.deliver(self.program, k, chosen) {
            Ok(newest) => {
                let mut happened = happened.to_vec();
                happened.push(newest);
                self.run(&next, &happened)
            }
            Err(ways) => (0..ways).all(|value| {
                chosen.push(value);
                let done = self.ways(now, happened, k, chosen);
                chosen.pop();
                done
            }),
        }
    }
}

impl Configuration {
    fn start(program: &Program) -> Configuration {
        let mut start = Configuration { actors: BTreeMap::new(), pending: Vec::new(), failed: 0 };
        for like in 0..program.actors {
            start.actors.insert(first(like), Actor::new(like, None));
        }
        for (k, &(to, tag)) in program.main.iter().enumerate() {
            let knows = start.pending.iter().map(|message| message.name).collect();
            let (name, to, content) = (Name::ROOT.child(1 + program.actors + k as u32), first(to), Content::Tag(tag));
            start.pending.push(Message { name, from: None, to, content, knows });
        }
        start
    }

    fn can_deliver(&self, program: &Program, k: usize) -> bool {
        let message = &self.pending[k];
        let overtakes = |(j, other): (usize, &Message)| {
            other.to == message.to
                && message.content != Content::Reply
                && other.content != Content::Reply
                && match program.delivery {
                    Delivery::Unordered => false,
                    Delivery::Fifo => j < k && other.from == message.from,
                    Delivery::Causal => message.knows.contains(&other.name),
                }
        };
        let mut others = self.pending.iter().enumerate();
        self.takes(program, message) && !others.any(|other| overtakes(other) && self.takes(program, other.1))
    }

    /// Returns `true` if the receiver accepts the message, regardless of the order of delivery.
    fn takes(&self, program: &Program, message: &Message) -> bool {
        let actor = &self.actors[&message.to];
        match message.content {
            Content::Reply => actor.waits.is_some(),
            Content::Tag(tag) | Content::Call(tag) => {
                let refused =
                    program.refusals.iter().any(|r| r.actor == actor.like && r.tag == tag && r.state == actor.state);
                !actor.stopped && actor.waits.is_none() && !refused
            }
        }
    }

    /// Delivers a message. If the handler makes more choices than were given, returns the number of values of the
    /// next choice as an error.
    fn deliver(&mut self, program: &Program, k: usize, chosen: &[u32]) -> Result<Happened, u32> {
        let message = self.pending.remove(k);
        let mut branch = Branch::FIRST;
        for (digit, &value) in chosen.iter().enumerate() {
            branch = branch.with(digit, value).expect("few choices of few ways");
        }
        let event = if chosen.is_empty() { message.name } else { message.name.going(branch) };
        let what = Happened { event: Some(event), actor: Some(message.to), ..Happened::default() };
        let mut handling = Handling { handled: message.name, me: message.to, effects: 0, chosen, asked: 0, what };
        handling.read("life");
        let actor = self.actors.get_mut(&message.to).expect("it exists");
        actor.knows.extend(message.knows.iter().copied());
        actor.knows.insert(message.name);
        let (rest, message) = match (message.content, actor.waits.take()) {
            (_, Some(waits)) => {
                handling.write("life");
                (waits.rest, waits.message)
            }
            (Content::Tag(tag) | Content::Call(tag), None) => {
                let rules: Vec<_> = program.rules.iter().filter(|r| r.actor == actor.like && r.tag == tag).collect();
                let refused = program.refusals.iter().any(|r| r.actor == actor.like && r.tag == tag);
                if refused || rules.iter().any(|r| r.state.is_some()) {
                    handling.read("state");
                }
                let rule = rules.into_iter().find(|r| r.state.is_none() || r.state == Some(actor.state));
                (rule.map_or(Vec::new(), |rule| rule.actions.clone()), message)
            }
            (Content::Reply, None) => unreachable!("a reply is only taken by who waits"),
        };
        self.handle(program, &mut handling, rest, message)?;
        Ok(handling.what)
    }

    fn handle(&mut self, program: &Program, h: &mut Handling, rest: Vec<Action>, message: Message) -> Result<(), u32> {
        for (k, &action) in rest.iter().enumerate() {
            let me = self.actors.get_mut(&h.me).expect("it exists");
            match action {
                Action::Send(target, tag) => {
                    if let Some(to) = self.target(program, h, &message, target) {
                        self.send(h, to, Content::Tag(tag));
                    }
                }
                Action::Call(target, tag) => match self.target(program, h, &message, target) {
                    Some(to) if to != h.me => {
                        h.write("life");
                        self.send(h, to, Content::Call(tag));
                        let waits = Waits { rest: rest[k + 1..].to_vec(), message };
                        self.actors.get_mut(&h.me).expect("it exists").waits = Some(waits);
                        return Ok(());
                    }
                    _ => {}
                },
                Action::Set(state) => {
                    h.write("state");
                    me.state = state;
                }
                Action::Add(n) => {
                    h.write("state");
                    me.state += n;
                }
                Action::Store(store, value) => {
                    h.write(&format!("store {store}"));
                    me.stores[store as usize] = value;
                }
                Action::Only(store, value) => {
                    h.read(&format!("store {store}"));
                    if me.stores[store as usize] != value {
                        break;
                    }
                }
                Action::Create(like) => {
                    // Any name would do, provided that it is the same in equivalent executions.
                    let name = h.handled.mixed(u64::MAX).child(h.effects);
                    h.effects += 1;
                    h.write("newest");
                    me.newest = Some(name);
                    self.actors.insert(name, Actor::new(like, Some(h.me)));
                }
                Action::Choose(n) => {
                    let value = h.chosen.get(h.asked).copied().ok_or(n)?;
                    h.asked += 1;
                    h.write("state");
                    me.state = value as i32;
                }
                Action::Stop => {
                    h.write("life");
                    me.stopped = true;
                }
                Action::Fail => {
                    h.write("life");
                    me.stopped = true;
                    self.failed += 1;
                    return Ok(());
                }
            }
        }
        if let (true, Some(caller)) = (message.is_call(), message.from) {
            self.send(h, caller, Content::Reply);
        }
        Ok(())
    }

    fn target(&self, program: &Program, h: &mut Handling, message: &Message, target: Target) -> Option<Id> {
        match target {
            Target::Actor(k) => (k < program.actors).then(|| first(k)),
            Target::Me => Some(h.me),
            Target::Sender => message.from,
            Target::Creator => self.actors[&h.me].creator,
            Target::Newest => {
                h.read("newest");
                self.actors[&h.me].newest
            }
        }
    }

    fn send(&mut self, h: &mut Handling, to: Id, content: Content) {
        let name = h.handled.child(h.effects);
        h.effects += 1;
        let me = self.actors.get_mut(&h.me).expect("it exists");
        self.pending.push(Message { name, from: Some(h.me), to, content, knows: me.knows.clone() });
        me.knows.insert(name);
    }

    fn end(&self) -> End {
        let actors: Vec<String> = self
            .actors
            .iter()
            .map(|(name, a)| {
                let waits = a.waits.as_ref().map(|w| (&w.rest, w.message.from, w.message.is_call()));
                format!("{name}: {} {} {:?} {} {:?} {waits:?}", a.like, a.state, a.stores, a.stopped, a.newest)
            })
            .collect();
        let mut left: Vec<String> =
            self.pending.iter().map(|m| format!("{:?} from {:?} to {}", m.content, m.from, m.to)).collect();
        left.sort_unstable();
        End {
            state: format!("{actors:?} {left:?}"),
            waiting: self.actors.values().filter(|actor| actor.waits.is_some()).count(),
            left: left.len(),
            failed: self.failed,
        }
    }
}

/// The execution of one handler.
struct Handling<'a> {
    /// The name of the message being handled.
    handled: Name,
    me: Id,
    /// Number of sends and creations so far.
    effects: u32,
    chosen: &'a [u32],
    asked: usize,
    what: Happened,
}

impl Handling<'_> {
    fn read(&mut self, part: &str) {
        self.what.read.insert(part.into());
    }

    fn write(&mut self, part: &str) {
        self.what.written.insert(part.into());
    }
}

impl Message {
    fn is_call(&self) -> bool {
        matches!(self.content, Content::Call(_))
    }
}

impl Actor {
    fn new(like: u32, creator: Option<Id>) -> Actor {
        let (newest, waits, knows) = (None, None, BTreeSet::new());
        Actor { like, state: 0, stores: [0; STORES], stopped: false, creator, newest, waits, knows }
    }
}

/// Returns the name of one of the initial actors.
fn first(k: u32) -> Id {
    Name::ROOT.mixed(u64::MAX).child(k)
}
