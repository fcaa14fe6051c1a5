//! Execution of the scripts of a mixed program by native actors.

use super::{Act, Mixed};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use whippet_actors::{
    Actor, Addr, Condvar, Cx, Guard, Lock, Permit, Promise, ReadGuard, Recipient, Reply, RwLock, Semaphore, Shared,
    System, Task, WriteGuard,
};

/// The set of final results: one vector, with the result of each actor, for every distinct outcome of the executions
/// so far.
///
/// ```
/// use whippet_generate::Results;
/// assert!(Results::default().all().is_empty(), "nothing has run yet");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Results(Arc<Mutex<BTreeSet<Vec<u64>>>>);

impl Results {
    fn add(&self, result: Vec<u64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(result);
    }

    /// Returns all outcomes.
    #[must_use]
    pub fn all(&self) -> BTreeSet<Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Spawns and starts the actors of a program. Their results at the end of each execution are added to `results`.
pub(super) fn set_up(system: &mut System, program: &Mixed, results: &Results) {
    let things = Things {
        lock: system.new_lock(),
        mutex: system.new_mutex(),
        rwlock: system.new_rwlock(),
        semaphore: system.new_semaphore(2),
        condvar: system.new_condvar(),
        variables: [system.new_shared(0), system.new_shared(1)],
    };
    let stage = Arc::new(Stage { scripts: program.scripts.clone(), things, actors: OnceLock::new() });
    let minds = (0..program.actors).map(|script| Mind { stage: stage.clone(), script, seen: 0 });
    let actors: Vec<Addr<Mind>> = minds.map(|mind| system.spawn(mind)).collect();
    for &actor in &actors {
        system.send(actor, Msg::Start);
    }
    stage.actors.set(actors.iter().map(|&actor| actor.into()).collect()).expect("it is set once");
    let results = results.clone();
    system.at_end(actors, move |minds| results.add(minds.iter().map(|mind| mind.seen).collect()));
}

/// The locks and variables that scripts use.
#[derive(Copy, Clone)]
struct Things {
    lock: Lock,
    mutex: whippet_actors::Mutex,
    rwlock: RwLock,
    semaphore: Semaphore,
    condvar: Condvar,
    variables: [Shared<u64>; 2],
}

/// The data that the actors of a program share: its scripts, locks and variables, and the actors' addresses.
struct Stage {
    scripts: Vec<Vec<Act>>,
    things: Things,
    actors: OnceLock<Vec<Recipient<Msg>>>,
}

#[derive(Clone, Debug)]
enum Msg {
    Start,
    Number(u64),
    Ask(Reply<u64>),
}

/// An actor that executes a script.
#[derive(Clone)]
struct Mind {
    stage: Arc<Stage>,
    script: usize,
    seen: u64,
}

impl fmt::Debug for Mind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mind").field("seen", &self.seen).finish()
    }
}

impl Actor for Mind {
    type Msg = Msg;

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Start => {
                let me = Some(cx.this().into());
                let stage = self.stage.clone();
                self.seen = carry_out(cx, stage, self.stage.things, self.script, me, self.seen).await;
            }
            Msg::Number(n) => self.seen = mix(self.seen, n),
            Msg::Ask(reply) => cx.reply(reply, self.seen),
        }
    }
}

/// A lock or permit that a script holds.
enum Held {
    Lock(Guard),
    Mutex(Guard),
    Read(ReadGuard),
    Write(WriteGuard),
    Permit(Permit),
}

impl Held {
    fn free(self) {
        match self {
            Held::Lock(guard) | Held::Mutex(guard) => drop(guard),
            Held::Read(guard) => drop(guard),
            Held::Write(guard) => drop(guard),
            Held::Permit(permit) => drop(permit),
        }
    }
}

fn mix(seen: u64, value: u64) -> u64 {
    seen.wrapping_mul(5).wrapping_add(value).wrapping_add(1) % 1009
}

/// The operations that both actors and futures provide.
trait Hands: Sized {
    async fn take(&mut self, act: Act, things: Things) -> Held;
    async fn wait_on(&mut self, condvar: Condvar, guard: Guard) -> Guard;
    async fn notify(&mut self, condvar: Condvar);
    fn read(&mut self, variable: Shared<u64>) -> u64;
    fn write(&mut self, variable: Shared<u64>, value: u64);
    fn make(&mut self, value: u64) -> Shared<u64>;
    fn fork(&mut self, stage: Arc<Stage>, things: Things, script: usize) -> Promise<u64>;
    async fn wait(&mut self, future: Promise<u64>) -> u64;
    async fn wait_or_timeout(&mut self, future: Promise<u64>) -> Option<u64>;
    fn send(&mut self, to: Recipient<Msg>, n: u64);
    async fn ask(&mut self, to: Recipient<Msg>) -> u64;
}

macro_rules! hands {
    ($type:ty) => {
        impl Hands for $type {
            async fn take(&mut self, act: Act, things: Things) -> Held {
                match act {
                    Act::Mutex => Held::Mutex(self.lock(things.mutex).await),
                    Act::ReadLock => Held::Read(self.read_lock(things.rwlock).await),
                    Act::WriteLock => Held::Write(self.write_lock(things.rwlock).await),
                    Act::Acquire => Held::Permit(self.acquire(things.semaphore).await),
                    _ => Held::Lock(self.lock(things.lock).await),
                }
            }
            async fn wait_on(&mut self, condvar: Condvar, guard: Guard) -> Guard {
                <$type>::wait_on(self, condvar, guard).await
            }
            async fn notify(&mut self, condvar: Condvar) {
                self.notify_one(condvar).await;
            }
            fn read(&mut self, variable: Shared<u64>) -> u64 {
                <$type>::read(self, variable)
            }
            fn write(&mut self, variable: Shared<u64>, value: u64) {
                <$type>::write(self, variable, value);
            }
            fn make(&mut self, value: u64) -> Shared<u64> {
                self.new_shared(value)
            }
            fn fork(&mut self, stage: Arc<Stage>, things: Things, script: usize) -> Promise<u64> {
                self.spawn_task(async move |task: &mut Task| {
                    Box::pin(carry_out(task, stage.clone(), things, script, None, 0)).await
                })
            }
            async fn wait(&mut self, future: Promise<u64>) -> u64 {
                <$type>::wait(self, future).await
            }
            async fn wait_or_timeout(&mut self, future: Promise<u64>) -> Option<u64> {
                <$type>::wait_or_timeout(self, future).await
            }
            fn send(&mut self, to: Recipient<Msg>, n: u64) {
                <$type>::send(self, to, Msg::Number(n));
            }
            async fn ask(&mut self, to: Recipient<Msg>) -> u64 {
                self.call(to, Msg::Ask).await
            }
        }
    };
}

hands!(Cx<Mind>);
hands!(Task);

/// Executes a script and returns the values it has seen.
async fn carry_out(
    hands: &mut impl Hands,
    stage: Arc<Stage>,
    mut things: Things,
    script: usize,
    me: Option<Recipient<Msg>>,
    mut seen: u64,
) -> u64 {
    let actors = stage.actors.get().expect("scripts run after the set-up");
    let (mut held, mut futures, mut skip) = (Vec::new(), VecDeque::new(), false);
    for &act in &stage.scripts[script] {
        if std::mem::take(&mut skip) {
            continue;
        }
        match act {
            Act::Lock | Act::Mutex | Act::ReadLock | Act::WriteLock | Act::Acquire => {
                held.push(hands.take(act, things).await);
            }
            Act::Free => held.pop().into_iter().for_each(Held::free),
            Act::Read(variable) => seen = mix(seen, hands.read(things.variables[variable])),
            Act::Write(variable) => hands.write(things.variables[variable], seen + script as u64),
            Act::Make(variable) => things.variables[variable] = hands.make(seen),
            Act::Fork(script) => futures.push_back(hands.fork(stage.clone(), things, script)),
            Act::Wait => {
                if let Some(future) = futures.pop_front() {
                    seen = mix(seen, hands.wait(future).await);
                }
            }
            Act::WaitOrTimeout => {
                if let Some(future) = futures.pop_front() {
                    seen = mix(seen, hands.wait_or_timeout(future).await.unwrap_or(7));
                }
            }
            Act::WaitOn => match held.pop() {
                Some(Held::Mutex(guard)) => held.push(Held::Mutex(hands.wait_on(things.condvar, guard).await)),
                other => held.extend(other),
            },
            Act::Notify => hands.notify(things.condvar).await,
            Act::Send(to) => hands.send(actors[to], seen),
            // An actor that calls itself would block for good, a deadlock that is too easy to find.
            Act::Call(to) if Some(actors[to]) == me => {}
            Act::Call(to) => seen = mix(seen, hands.ask(actors[to]).await),
            Act::UnlessOdd => skip = seen % 2 == 1,
        }
    }
    held.into_iter().rev().for_each(Held::free);
    seen
}
