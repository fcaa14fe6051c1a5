//! Programs of the toy language as native actors: one actor type that interprets the rules.
//!
//! Events have the same names as on the machine of the toy language, so traces can be compared directly.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use whippet_actors::{Actor, ActorProgram, Cx, Delivery, Hashes, Inbox, Recipient, Reply, System};
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
    let delivery = match program.delivery {
        toy::Delivery::Unordered => Delivery::Unordered,
        toy::Delivery::Fifo => Delivery::Fifo,
        toy::Delivery::Causal => Delivery::Causal,
    };
    let program = Arc::new(program.clone());
    let body = move |system: &mut System| {
        let stage = Arc::new(Stage { program: program.clone(), style, first: OnceLock::new() });
        let first = (0..program.actors).map(|like| {
            let mind = Mind::new(stage.clone(), like, None);
            if style.has_body(like) { system.spawn_fn(mind.body()) } else { system.spawn(mind).into() }
        });
        let first: Vec<_> = first.collect();
        for &(to, tag) in &program.main {
            system.send(first[to as usize], Msg { tag, from: None, reply: None });
        }
        more(system, &first);
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
}

/// The state of an actor.
#[derive(Clone)]
struct Mind {
    stage: Arc<Stage>,
    like: u32,
    state: i32,
    stores: [i32; STORES],
    stopped: bool,
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
        (self.like, self.state, self.stores, self.stopped, self.creator, self.newest).hash(hasher);
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
        }
    };
}

hands!(Cx<Mind>);
hands!(Inbox<Msg>);

impl Mind {
    fn new(stage: Arc<Stage>, like: u32, creator: Option<Recipient<Msg>>) -> Mind {
        Mind { stage, like, state: 0, stores: [0; STORES], stopped: false, creator, newest: None }
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

    async fn work(&mut self, msg: Msg, hands: &mut impl Hands) {
        let stage = self.stage.clone();
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
