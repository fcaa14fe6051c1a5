//! Programs of the toy language as native actors: one actor type that interprets the rules.
//!
//! Events have the same names as on the machine of the toy language, so traces can be compared directly.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use whippet_actors::{
    Actor, ActorProgram, Addr, Answer, Cx, Delivery, Hashes, History, Inbox, Recipient, Register, RegisterOp, Reply,
    System,
};
use whippet_search::toy::{self, Action, Program, STORES, Target};

/// The programming style of the actors.
///
/// ```
/// use whippet_generate::Style;
/// assert!(Style::ALL.contains(&Style::Bodies));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// Every actor has a handler.
    Handlers,
    /// Every actor has a body that receives explicitly.
    Bodies,
    /// Every other actor has a body.
    Both,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 3] = [Style::Handlers, Style::Bodies, Style::Both];

    fn has_body(self, like: u32) -> bool {
        match self {
            Style::Handlers => false,
            Style::Bodies => true,
            Style::Both => like % 2 == 1,
        }
    }
}

/// Returns the program as native actors.
///
/// ```
/// use whippet_generate::{Style, native};
/// use whippet_search::{explore, toy::Program};
/// let crowd = Program::new(1).main(0, 1).main(0, 2).main(0, 3);
/// let verdict = explore(native(&crowd, Style::Handlers).into(), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, 6);
/// ```
#[must_use]
pub fn native(program: &Program, style: Style) -> ActorProgram {
    native_with(program, style, |_, _| {})
}

/// Returns the program as native actors; `more` adds to the setup, given the system and the first actors.
pub(crate) fn native_with(
    program: &Program,
    style: Style,
    more: impl Fn(&mut System, &[Recipient<Msg>]) + Send + Sync + 'static,
) -> ActorProgram {
    native_doing_more(program, style, |_| Extras::default(), move |system, actors, _| more(system, actors))
}

/// What the actors of a program do beyond its rules.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Extras {
    /// The history in which they record operations.
    pub(crate) history: Option<History<Register<i32>>>,
    /// The number of timers that each actor sets.
    pub(crate) timers: u32,
}

/// Like [`native_with`], with actors that do more, and with the addresses of those that have handlers.
pub(crate) fn native_doing_more(
    program: &Program,
    style: Style,
    extras: impl Fn(&mut System) -> Extras + Send + Sync + 'static,
    more: impl Fn(&mut System, &[Recipient<Msg>], &[Addr<Mind>]) + Send + Sync + 'static,
) -> ActorProgram {
    let delivery = match program.delivery {
        toy::Delivery::Unordered => Delivery::Unordered,
        toy::Delivery::Fifo => Delivery::Fifo,
        toy::Delivery::Causal => Delivery::Causal,
    };
    let program = Arc::new(program.clone());
    let body = move |system: &mut System| {
        let extras = extras(system);
        let stage = Arc::new(Stage { program: program.clone(), style, first: OnceLock::new(), extras });
        let mut handlers = Vec::new();
        let first = (0..program.actors).map(|like| {
            let mind = Mind::new(stage.clone(), like, None);
            if style.has_body(like) {
                return system.spawn_fn(mind.body());
            }
            handlers.push(system.spawn(mind));
            handlers[handlers.len() - 1].into()
        });
        let first: Vec<_> = first.collect();
        for &(to, tag) in &program.main {
            system.send(first[to as usize], Msg { tag, from: None, reply: None });
        }
        more(system, &first, &handlers);
        stage.first.set(first).expect("it is set once");
    };
    ActorProgram::new("toy", body).delivery(delivery)
}

/// A message: a tag, its sender, and the reply handle of a call.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Msg {
    tag: u32,
    from: Option<Recipient<Msg>>,
    reply: Option<Reply<i32>>,
}

/// The data that all actors share.
struct Stage {
    program: Arc<Program>,
    style: Style,
    first: OnceLock<Vec<Recipient<Msg>>>,
    extras: Extras,
}

/// The state of an actor.
#[derive(Clone)]
pub(crate) struct Mind {
    stage: Arc<Stage>,
    like: u32,
    state: i32,
    stores: [i32; STORES],
    stopped: bool,
    /// For an operation that has not returned: `true` if it is a write.
    open: Option<bool>,
    /// The number of timers that it still sets.
    timers: u32,
    creator: Option<Recipient<Msg>>,
    newest: Option<Recipient<Msg>>,
}

impl fmt::Debug for Mind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mind { state, stores, newest, .. } = self;
        f.debug_struct("Mind").field("state", state).field("stores", stores).field("newest", newest).finish()
    }
}

impl Hash for Mind {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.like, self.state, self.stores, self.stopped, self.open, self.timers, self.creator, self.newest)
            .hash(hasher);
    }
}

impl Actor for Mind {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        self.work(msg, cx).await;
        if self.stopped {
            cx.stop();
        }
    }

    fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Mind> {
        match self.state % 3 {
            0 => Some(Mind { state: cx.choose(2) as i32, ..self.clone() }),
            1 => Some(Mind { stores: [0; STORES], ..self.clone() }),
            _ => None,
        }
    }

    fn accepts(&self, msg: &Msg) -> bool {
        takes(&self.stage.program, self.like, self.state, msg.tag)
    }
}

fn takes(program: &Program, actor: u32, state: i32, tag: u32) -> bool {
    !program.refusals.contains(&toy::Refusal { actor, state, tag })
}

/// The operations that both handlers and bodies provide.
trait Hands {
    fn this(&self) -> Recipient<Msg>;
    fn send(&mut self, to: Recipient<Msg>, msg: Msg);
    async fn call(&mut self, to: Recipient<Msg>, tag: u32) -> i32;
    fn reply(&mut self, to: Reply<i32>, value: i32);
    fn create(&mut self, mind: Mind) -> Recipient<Msg>;
    fn choose(&mut self, n: u32) -> u32;
    fn set_timer(&mut self, millis: u64, msg: Msg);
    fn cancel_timers(&mut self, tag: u32);
    fn invoked(&mut self, history: History<Register<i32>>, op: RegisterOp<i32>);
    fn returned(&mut self, history: History<Register<i32>>, ret: Answer<i32>);
}

macro_rules! hands {
    ($type:ty) => {
        impl Hands for $type {
            fn this(&self) -> Recipient<Msg> {
                <$type>::this(self).into()
            }
            fn send(&mut self, to: Recipient<Msg>, msg: Msg) {
                <$type>::send(self, to, msg);
            }
            async fn call(&mut self, to: Recipient<Msg>, tag: u32) -> i32 {
                let from = Some(Hands::this(self));
                <$type>::call(self, to, |reply| Msg { tag, from, reply: Some(reply) }).await
            }
            fn reply(&mut self, to: Reply<i32>, value: i32) {
                <$type>::reply(self, to, value);
            }
            fn create(&mut self, mind: Mind) -> Recipient<Msg> {
                if mind.stage.style.has_body(mind.like) { self.spawn_fn(mind.body()) } else { self.spawn(mind).into() }
            }
            fn choose(&mut self, n: u32) -> u32 {
                <$type>::choose(self, n)
            }
            fn set_timer(&mut self, millis: u64, msg: Msg) {
                <$type>::set_timer(self, Duration::from_millis(millis), msg);
            }
            fn cancel_timers(&mut self, tag: u32) {
                <$type>::cancel_timers(self, |msg| msg.tag == tag);
            }
            fn invoked(&mut self, history: History<Register<i32>>, op: RegisterOp<i32>) {
                <$type>::invoked(self, history, op);
            }
            fn returned(&mut self, history: History<Register<i32>>, ret: Answer<i32>) {
                <$type>::returned(self, history, ret);
            }
        }
    };
}

hands!(Cx<Mind>);
hands!(Inbox<Msg>);

impl Mind {
    /// Returns the numeric part of the state.
    pub(crate) fn state(&self) -> i32 {
        self.state
    }

    fn new(stage: Arc<Stage>, like: u32, creator: Option<Recipient<Msg>>) -> Mind {
        let timers = stage.extras.timers;
        Mind { stage, like, timers, state: 0, stores: [0; STORES], stopped: false, open: None, creator, newest: None }
    }

    /// Returns the actor as a body that receives explicitly.
    fn body(self) -> impl AsyncFn(&mut Inbox<Msg>) + 'static {
        async move |inbox: &mut Inbox<Msg>| {
            let mut me = self.clone();
            while !me.stopped {
                let (program, like, state) = (me.stage.program.clone(), me.like, me.state);
                let msg = inbox.receive_if(move |msg| takes(&program, like, state, msg.tag)).await;
                me.work(msg, inbox).await;
            }
        }
    }

    fn target(&self, target: Target, msg: &Msg, hands: &impl Hands) -> Option<Recipient<Msg>> {
        match target {
            Target::Actor(k) => self.stage.first.get().and_then(|first| first.get(k as usize)).copied(),
            Target::Me => Some(hands.this()),
            Target::Sender => msg.from,
            Target::Creator => self.creator,
            Target::Newest => self.newest,
        }
    }

    /// Cancels timers and sets new ones, depending on the state and the message.
    fn use_timers(&mut self, msg: &Msg, hands: &mut impl Hands) {
        let (tag, state) = (msg.tag, self.state.unsigned_abs());
        if self.stage.extras.timers > 0 && state % 2 == 1 {
            hands.cancel_timers(tag);
        }
        if self.timers > 0 {
            self.timers -= 1;
            hands.set_timer(u64::from((tag * 7 + state) % 3), Msg { tag: (tag + 1) % 3, from: None, reply: None });
        }
    }

    /// Records an operation: one message begins it and the next one ends it, with an answer that may be wrong.
    fn record(&mut self, msg: &Msg, hands: &mut impl Hands) {
        let Some(history) = self.stage.extras.history else { return };
        match self.open.take() {
            None => {
                let writes = msg.tag % 2 == 1;
                hands.invoked(history, if writes { RegisterOp::Write(msg.tag as i32) } else { RegisterOp::Read });
                self.open = Some(writes);
            }
            Some(true) => hands.returned(history, Answer::Done),
            Some(false) => hands.returned(history, Answer::Value(self.state)),
        }
    }

    async fn work(&mut self, msg: Msg, hands: &mut impl Hands) {
        let stage = self.stage.clone();
        self.record(&msg, hands);
        self.use_timers(&msg, hands);
        let fits = |r: &&toy::Rule| r.actor == self.like && r.tag == msg.tag && r.state.is_none_or(|s| s == self.state);
        let rule = stage.program.rules.iter().find(fits);
        for &action in rule.map_or(&[][..], |rule| &rule.actions) {
            match action {
                Action::Send(to, tag) => {
                    if let Some(to) = self.target(to, &msg, hands) {
                        let from = Some(hands.this());
                        hands.send(to, Msg { tag, from, reply: None });
                    }
                }
                Action::Call(to, tag) => {
                    if let Some(to) = self.target(to, &msg, hands).filter(|&to| to != hands.this()) {
                        hands.call(to, tag).await;
                    }
                }
                Action::Create(like) => {
                    let child = Mind::new(stage.clone(), like, Some(hands.this()));
                    self.newest = Some(hands.create(child));
                }
                Action::Set(state) => self.state = state,
                Action::Add(n) => self.state += n,
                Action::Store(store, value) => self.stores[store as usize] = value,
                Action::Only(store, value) => {
                    if self.stores[store as usize] != value {
                        break;
                    }
                }
                Action::Choose(n) => self.state = hands.choose(n) as i32,
                Action::Stop => self.stopped = true,
                Action::Fail => panic!("this actor fails"),
            }
        }
        if let Some(reply) = msg.reply {
            hands.reply(reply, self.state);
        }
    }
}
