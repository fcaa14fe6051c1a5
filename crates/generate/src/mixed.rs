//! Random programs that mix actors, futures, locks and shared variables, and searches compared on them.
//!
//! A program has scripts. Each actor carries out one when it is started; a script may run another one beside it, as a
//! future. What a script reads, is answered and gets from its futures it adds to what it has *seen*, which decides
//! whether conditional acts are left out, what it writes and, at the end, what its actor has come to: the *result*.
//!
//! Where exhaustive search finds no data race, every search must find the same results and problems, and the same
//! traces, `optimal` each exactly once. Where it finds one, no reduction is justified any more. What is owed then: a race
//! is found; of the traces without a race none is missing, none is made up, and `optimal` still explores each once; so is
//! what is wrong at their ends; and no problem is told that exhaustive search does not know.
//!
//! The full number, of which three in ten are too large to be judged:
//!
//! ```text
//! WHIPPET_SEED=1 WHIPPET_PROGRAMS=15000 cargo test --release -p whippet-generate a_fixed_sample_of_mixed -- --nocapture
//! ```

use crate::{Answer, Failure, Judged, Promise, Random, Setting, Size, Trace, answer, compare};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use whippet_actors::{
    Actor, Addr, Condvar, Cx, Future, Guard, Permit, ReadGuard, Recipient, Reply, RwLock, Semaphore, Shared, System,
    Task, Test, WriteGuard,
};
use whippet_model::Kind;
use whippet_search::{Reduction, explore};

/// What a script does at one point.
///
/// ```
/// use whippet_generate::{Act, Mixed};
/// let kinds = (0..20).flat_map(|seed| Mixed::draw(seed).scripts).flatten();
/// assert!(kinds.into_iter().any(|act| matches!(act, Act::Mutex)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Takes the re-entrant lock.
    Lock,
    /// Takes the mutex.
    Mutex,
    /// Takes the read–write lock for reading.
    ReadLock,
    /// Takes it for writing.
    WriteLock,
    /// Takes a permit of the semaphore, which has two.
    Acquire,
    /// Lets go of what was taken last.
    Free,
    /// Reads a variable.
    Read(usize),
    /// Writes what was seen to a variable.
    Write(usize),
    /// Makes a new variable in place of one, for itself and the futures that it runs from here on.
    Make(usize),
    /// Runs a script as a future.
    Fork(usize),
    /// Waits for the oldest future that it has not waited for.
    Wait,
    /// The same, or a time that is over.
    WaitOrTimeout,
    /// Waits on the condition variable, if the mutex is what was taken last.
    WaitOn,
    /// Notifies one who waits on it.
    Notify,
    /// Sends a number to an actor, which adds it to what it has seen.
    Send(usize),
    /// Asks an actor for what it has seen.
    Call(usize),
    /// Leaves out the next act if what was seen is odd.
    UnlessOdd,
}

/// A program: its scripts, of which the first ones are those of the actors.
///
/// ```
/// use whippet_generate::{Mixed, Results};
/// let (program, results) = (Mixed::draw(3), Results::default());
/// assert_eq!(program, Mixed::draw(3));
/// assert!(program.actors <= program.scripts.len());
/// let _test = program.test(&results);
/// let small = program.shrink(|smaller| smaller.actors > 0);
/// assert!(small.actors > 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// How many actors there are.
    pub actors: usize,
    /// What they and their futures do.
    pub scripts: Vec<Vec<Act>>,
}

impl fmt::Display for Mixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, script) in self.scripts.iter().enumerate() {
            let who = if k < self.actors { "actor" } else { "future" };
            writeln!(f, "  {who} {k}: {script:?}")?;
        }
        Ok(())
    }
}

impl Mixed {
    /// The program of a seed.
    #[must_use]
    pub fn draw(seed: u64) -> Mixed {
        let mut random = Random::new(seed);
        let weights = &WEIGHTS[random.below(WEIGHTS.len())];
        let actors = 2 + random.below(2);
        let all = actors + 1 + random.below(2);
        let scripts = (0..all).map(|k| draw_script(&mut random, weights, k, actors, all)).collect();
        Mixed { actors, scripts }
    }

    /// The program as native actors; what they come to at the end of an execution is added to `results`.
    #[must_use]
    pub fn test(&self, results: &Results) -> Test {
        let (program, results) = (self.clone(), results.clone());
        Test::new("mixed", move |system: &mut System| {
            let things = Things {
                locks: (system.new_lock(), system.new_mutex(), system.new_rwlock()),
                semaphore: system.new_semaphore(2),
                condvar: system.new_condvar(),
                variables: [system.new_shared(0), system.new_shared(1)],
            };
            let stage = Rc::new(Stage { scripts: program.scripts.clone(), things, actors: OnceCell::new() });
            let minds = (0..program.actors).map(|script| Mind { stage: stage.clone(), script, seen: 0 });
            let actors: Vec<Addr<Mind>> = minds.map(|mind| system.spawn(mind)).collect();
            for &actor in &actors {
                system.send(actor, Msg::Start);
            }
            stage.actors.set(actors.iter().map(|&actor| actor.into()).collect()).expect("it is set once");
            let results = results.clone();
            system.at_end(actors, move |minds| results.add(minds.iter().map(|mind| mind.seen).collect()));
        })
    }

    /// A program as small as possible that `fails` too.
    #[must_use]
    pub fn shrink(mut self, fails: impl Fn(&Mixed) -> bool) -> Mixed {
        let mut places: Vec<(usize, usize)> = Vec::new();
        loop {
            places.clear();
            places.extend(self.scripts.iter().enumerate().flat_map(|(s, acts)| (0..acts.len()).map(move |a| (s, a))));
            let smaller = places.iter().find_map(|&(script, act)| {
                let mut smaller = self.clone();
                smaller.scripts[script].remove(act);
                fails(&smaller).then_some(smaller)
            });
            match smaller {
                Some(smaller) => self = smaller,
                None => return self,
            }
        }
    }
}

/// How likely each act is. Programs differ in what they lock with: two must want the same thing to get in each other's
/// way. In order: lock, mutex, read, write, permit, free, read, write, fork, wait, timeout, wait on, notify, send, call,
/// condition, make.
const WEIGHTS: [[usize; 17]; 8] = [
    [9, 0, 0, 0, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 5, 5, 5, 4, 4, 1, 0, 0, 1, 1, 1, 0],
    [0, 0, 4, 5, 0, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 2, 0, 0, 9, 5, 5, 5, 4, 4, 0, 0, 0, 1, 1, 1, 0],
    [0, 9, 0, 0, 0, 4, 3, 3, 3, 2, 0, 5, 5, 1, 0, 1, 0],
    [3, 3, 2, 2, 2, 4, 5, 5, 5, 4, 1, 2, 2, 2, 2, 2, 1],
    // What is done depends on what was read.
    [3, 0, 0, 0, 0, 2, 6, 6, 3, 2, 0, 0, 0, 2, 1, 6, 0],
    // Variables of one's own.
    [0, 5, 0, 0, 0, 3, 6, 6, 6, 3, 0, 0, 0, 1, 0, 2, 4],
];

fn draw_script(random: &mut Random, weights: &[usize], me: usize, actors: usize, all: usize) -> Vec<Act> {
    let mut acts = Vec::new();
    for _ in 0..2 + random.below(4) {
        acts.push(match random.weighted(weights) {
            0 => Act::Lock,
            1 => Act::Mutex,
            2 => Act::ReadLock,
            3 => Act::WriteLock,
            4 => Act::Acquire,
            5 => Act::Free,
            6 => Act::Read(random.below(2)),
            7 => Act::Write(random.below(2)),
            8 => {
                // Later scripts only, so that programs end.
                let first = (me + 1).max(actors);
                if first == all {
                    continue;
                }
                Act::Fork(first + random.below(all - first))
            }
            9 => Act::Wait,
            10 => Act::WaitOrTimeout,
            11 => Act::WaitOn,
            12 => Act::Notify,
            13 => Act::Send(random.below(actors)),
            14 => Act::Call(random.below(actors)),
            15 => Act::UnlessOdd,
            _ => Act::Make(random.below(2)),
        });
    }
    acts
}

/// What the actors came to, for every execution that was seen.
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

    /// All of them.
    #[must_use]
    pub fn all(&self) -> BTreeSet<Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What all scripts use.
#[derive(Copy, Clone)]
struct Things {
    locks: (whippet_actors::Lock, whippet_actors::Mutex, RwLock),
    semaphore: Semaphore,
    condvar: Condvar,
    variables: [Shared<u64>; 2],
}

struct Stage {
    scripts: Vec<Vec<Act>>,
    things: Things,
    actors: OnceCell<Vec<Recipient<Msg>>>,
}

#[derive(Clone, Debug)]
enum Msg {
    Start,
    Number(u64),
    Ask(Reply<u64>),
}

#[derive(Clone)]
struct Mind {
    stage: Rc<Stage>,
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

/// Something that was taken.
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

/// What actors and futures both can do.
trait Hands: Sized {
    async fn take(&mut self, act: Act, things: Things) -> Held;
    async fn wait_on(&mut self, condvar: Condvar, guard: Guard) -> Guard;
    async fn notify(&mut self, condvar: Condvar);
    fn read(&mut self, variable: Shared<u64>) -> u64;
    fn write(&mut self, variable: Shared<u64>, value: u64);
    fn make(&mut self, value: u64) -> Shared<u64>;
    fn fork(&mut self, stage: Rc<Stage>, things: Things, script: usize) -> Future<u64>;
    async fn wait(&mut self, future: Future<u64>) -> u64;
    async fn wait_or_timeout(&mut self, future: Future<u64>) -> Option<u64>;
    fn send(&mut self, to: Recipient<Msg>, n: u64);
    async fn ask(&mut self, to: Recipient<Msg>) -> u64;
}

macro_rules! hands {
    ($type:ty) => {
        impl Hands for $type {
            async fn take(&mut self, act: Act, things: Things) -> Held {
                match act {
                    Act::Mutex => Held::Mutex(self.lock(things.locks.1).await),
                    Act::ReadLock => Held::Read(self.read_lock(things.locks.2).await),
                    Act::WriteLock => Held::Write(self.write_lock(things.locks.2).await),
                    Act::Acquire => Held::Permit(self.acquire(things.semaphore).await),
                    _ => Held::Lock(self.lock(things.locks.0).await),
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
            fn fork(&mut self, stage: Rc<Stage>, things: Things, script: usize) -> Future<u64> {
                self.spawn_future(async move |task: &mut Task| {
                    Box::pin(carry_out(task, stage.clone(), things, script, None, 0)).await
                })
            }
            async fn wait(&mut self, future: Future<u64>) -> u64 {
                <$type>::wait(self, future).await
            }
            async fn wait_or_timeout(&mut self, future: Future<u64>) -> Option<u64> {
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

/// Carries out a script; the answer is what it has seen.
async fn carry_out(
    hands: &mut impl Hands,
    stage: Rc<Stage>,
    mut things: Things,
    script: usize,
    me: Option<Recipient<Msg>>,
    mut seen: u64,
) -> u64 {
    let actors = stage.actors.get().expect("scripts run after the set-up");
    let (mut held, mut futures, mut skip) = (Vec::new(), std::collections::VecDeque::new(), false);
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
            // Who asks itself waits for ever, which is too easy to find.
            Act::Call(to) if Some(actors[to]) == me => {}
            Act::Call(to) => seen = mix(seen, hands.ask(actors[to]).await),
            Act::UnlessOdd => skip = seen % 2 == 1,
        }
    }
    held.into_iter().rev().for_each(Held::free);
    seen
}

/// The searches that are compared: all that promise something of such programs.
///
/// ```
/// use whippet_search::Reduction;
/// let settings = whippet_generate::mixed_settings();
/// assert!(settings.iter().any(|setting| setting.reduction == Reduction::Optimal));
/// ```
#[must_use]
pub fn mixed_settings() -> Vec<Setting> {
    // Futures do not hash, so states do not compare.
    let owes = |s: &Setting| s.reduction != Reduction::Stateful && s.promise() != Promise::Some;
    Setting::all().into_iter().filter(owes).collect()
}

/// Compares searches of a mixed program with the exhaustive one; the answer is also what kinds of problems it has.
/// `None`: the program is too large.
///
/// ```
/// use whippet_generate::{Mixed, Size, judge_mixed, mixed_settings};
/// let judged = judge_mixed(&Mixed::draw(3), &mixed_settings(), Size { executions: 200, steps: 40 });
/// assert!(judged.is_ok(), "no search misses anything");
/// ```
pub fn judge_mixed(
    program: &Mixed,
    settings: &[Setting],
    size: Size,
) -> Result<Option<(Judged, BTreeSet<Kind>)>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let wanted = Results::default();
    if !fits(program, size) {
        return Ok(None);
    }
    let Some(all) = answer(&program.test(&wanted), &exhaustive, Some(size))? else { return Ok(None) };
    let races = has_race(&all);
    if let Some(what) = all.log.contradiction.as_ref().filter(|_| !races) {
        return Err(Failure { program: None, setting: exhaustive, what: what.clone() });
    }
    let executions = all.verdict.counters.executions;
    let mut judged = Judged { traces: all.log.traces.len(), executions, ..Judged::default() };
    for setting in settings {
        let found = Results::default();
        let answer = answer(&program.test(&found), setting, None)?.expect("there was no limit");
        judged.searches += 1;
        let same = if races {
            compare_without_races(&all, &answer, setting)
        } else {
            compare(&all, &answer, setting).and_then(|()| same_results(&wanted, &found))
        };
        same.map_err(|what| Failure { program: None, setting: *setting, what })?;
    }
    Ok(Some((judged, all.verdict.findings.iter().map(|finding| finding.kind).collect())))
}

/// Whether a program is no larger than this, found out without writing its executions down, which takes longer.
fn fits(program: &Mixed, size: Size) -> bool {
    let mut options = Setting::of(Reduction::Exhaustive).options();
    options.limits.steps = size.steps;
    options.limits.executions = Some(size.executions);
    let verdict = explore(Arc::new(program.test(&Results::default())), &options, &());
    // What is an error here is one there, and told.
    verdict.map_or(true, |verdict| verdict.complete)
}

/// Compares what does not depend on a data race, which both must have found.
fn compare_without_races(all: &Answer, answer: &Answer, setting: &Setting) -> Result<(), String> {
    if !has_race(answer) {
        return Err("a data race is missing".into());
    }
    let free = |answer: &Answer| -> BTreeMap<Trace, u64> {
        let traces = answer.log.traces.iter().filter(|(_, seen)| !seen.races);
        traces.map(|(trace, seen)| (trace.clone(), seen.times)).collect()
    };
    let (wanted, found) = (free(all), free(answer));
    if let Some(trace) = wanted.keys().find(|trace| !found.contains_key(trace)) {
        return Err(format!("a trace without a race is missing: {trace:?}"));
    }
    if let Some(trace) = found.keys().find(|trace| !wanted.contains_key(trace)) {
        return Err(format!("a trace without a race that cannot be: {trace:?}"));
    }
    if setting.promise() == Promise::Once && found.values().any(|&times| times > 1) {
        return Err("a trace is explored several times".into());
    }
    let told = |answer: &Answer| -> BTreeSet<_> {
        answer.verdict.findings.iter().chain(&answer.verdict.warnings).map(|f| (f.kind, f.key)).collect()
    };
    let (wanted, found) = (told(all), told(answer));
    if let Some((kind, _)) = all.log.problems.difference(&found).next() {
        return Err(format!("a problem of kind {kind} of an execution without a race is missing"));
    }
    match found.difference(&wanted).next() {
        Some((kind, _)) => Err(format!("a problem of kind {kind} is made up")),
        None => Ok(()),
    }
}

fn has_race(answer: &Answer) -> bool {
    answer.verdict.findings.iter().any(|finding| finding.kind == Kind::Race)
}

fn same_results(wanted: &Results, found: &Results) -> Result<(), String> {
    let (wanted, found) = (wanted.all(), found.all());
    if wanted == found { Ok(()) } else { Err(format!("the results {found:?}, not {wanted:?}")) }
}
