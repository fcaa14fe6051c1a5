//! Variables that several actors and futures use, with every access clocked.
//!
//! Two accesses of different actors, one of them a write, race unless one happens before the other: through messages,
//! locks and futures, all of which are deliveries. Each actor has a vector clock: a message carries its sender's clock
//! and delivery joins it, a new actor begins with its creator's, and an actor's own entry counts what it sends, creates
//! and receives. A variable knows the last write and the reads since, each with its actor's own entry at that moment:
//! the access is in the past of another actor iff that one's clock has reached the entry.
//!
//! (The past of whole steps is too coarse here: what a step does after a send is not in the past of what the message
//! leads to.)
//!
//! Suspended code that is run again must read what it read before: values read are kept, in order, per actor.

use crate::Message;
use crate::cx::Hands;
use crate::engine::{Engine, SET_UP};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{Kind, Name, Problem};

/// A variable that several actors and futures read and write.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let total = system.new_shared(0);
/// system.spawn_fn(async move |inbox: &mut Inbox<i32>| {
///     let n = inbox.receive().await;
///     let sum = inbox.read(total) + n;
///     inbox.write(total, sum);
/// });
/// ```
pub struct Shared<T> {
    number: u32,
    of: PhantomData<fn(T) -> T>,
}

impl<T> Copy for Shared<T> {}
impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variable {}", self.number + 1)
    }
}

/// One access.
#[derive(Clone, Copy, Debug)]
struct Access {
    variable: u32,
    write: bool,
    step: u32,
    actor: u32,
    /// The actor's own entry of its clock then.
    entry: u32,
    site: &'static Location<'static>,
}

struct Variable {
    value: Rc<dyn Any>,
    last_write: Option<Access>,
    reads: Vec<Access>,
}

/// How to take an access back.
enum Undo {
    Value(u32, Rc<dyn Any>),
    Write(u32, Option<Access>, Vec<Access>),
    Read(u32),
    Log(u32),
    Clock(u32, Vec<u32>),
}

/// All variables of a system.
#[derive(Default)]
pub(crate) struct Variables {
    variables: Vec<Variable>,
    /// The clock of each actor, and of each message; missing entries are 0.
    clocks: Vec<Vec<u32>>,
    carried: Vec<Rc<[u32]>>,
    /// The first race of the running step.
    race: Option<Problem>,
    /// What each actor has read, in order, with the step.
    logs: Vec<Vec<(u32, Rc<dyn Any>)>>,
    /// Where in its log an actor that is run again reads next.
    cursor: usize,
    undo: Vec<(u32, Undo)>,
}

impl Variables {
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// An actor is run again from what it did in this step on; `None`: from its beginning.
    pub(crate) fn run_again(&mut self, actor: u32, from: Option<u32>) {
        let log = self.logs.get(actor as usize).map_or(&[][..], Vec::as_slice);
        // Steps of the set-up come first, whatever their number.
        self.cursor = from
            .map_or(0, |from| log.iter().position(|&(step, _)| step != SET_UP && step >= from).unwrap_or(log.len()));
    }

    /// Takes back all accesses of steps from `depth` on.
    pub(crate) fn rewind(&mut self, depth: u32) {
        while self.undo.last().is_some_and(|&(step, _)| step != SET_UP && step >= depth) {
            match self.undo.pop().expect("the loop checked").1 {
                Undo::Value(v, value) => self.variables[v as usize].value = value,
                Undo::Write(v, last_write, reads) => {
                    self.variables[v as usize].last_write = last_write;
                    self.variables[v as usize].reads = reads;
                }
                Undo::Read(v) => {
                    self.variables[v as usize].reads.pop();
                }
                Undo::Log(actor) => {
                    self.logs[actor as usize].pop();
                }
                Undo::Clock(actor, clock) => self.clocks[actor as usize] = clock,
            }
        }
    }

    /// What has happened so far is not taken back any more.
    pub(crate) fn settle(&mut self) {
        self.undo.clear();
        for variable in &mut self.variables {
            for access in variable.last_write.iter_mut().chain(&mut variable.reads) {
                access.step = SET_UP;
            }
        }
        for (step, _) in self.logs.iter_mut().flatten() {
            *step = SET_UP;
        }
    }

    /// The first race that was found since this was last asked.
    pub(crate) fn take_race(&mut self) -> Option<Problem> {
        self.race.take()
    }

    // ---- clocks ------------------------------------------------------------------------------------

    /// The clock of an actor, to be changed in this step.
    fn change_clock(&mut self, actor: u32, step: u32) -> &mut Vec<u32> {
        let place = actor as usize;
        if self.clocks.len() <= place {
            self.clocks.resize_with(place + 1, Vec::new);
        }
        self.undo.push((step, Undo::Clock(actor, self.clocks[place].clone())));
        let clock = &mut self.clocks[place];
        if clock.len() <= place {
            clock.resize(place + 1, 0);
        }
        clock
    }

    /// An actor has sent its next message.
    pub(crate) fn sent(&mut self, actor: u32, what: usize, step: u32) {
        let clock = self.change_clock(actor, step);
        let carried = Rc::from(clock.as_slice());
        clock[actor as usize] += 1;
        self.carried.truncate(what);
        self.carried.resize_with(what, || Rc::from([]));
        self.carried.push(carried);
    }

    /// An actor has received a message.
    pub(crate) fn delivered(&mut self, actor: u32, what: usize, step: u32) {
        let carried = self.carried.get(what).cloned();
        let clock = self.change_clock(actor, step);
        for (k, &entry) in carried.iter().flat_map(|carried| carried.iter().enumerate()) {
            if clock.len() <= k {
                clock.resize(k + 1, 0);
            }
            clock[k] = clock[k].max(entry);
        }
        clock[actor as usize] += 1;
    }

    /// An actor has created another one.
    pub(crate) fn created(&mut self, creator: u32, actor: u32, step: u32) {
        let clock = self.change_clock(creator, step);
        let begins = clock.clone();
        clock[creator as usize] += 1;
        let clock = self.change_clock(actor, step);
        *clock = begins;
        clock.resize(clock.len().max(actor as usize + 1), 0);
        clock[actor as usize] += 1;
    }

    /// Notes an access; the answer is an earlier one that it races with.
    fn access(
        &mut self,
        variable: u32,
        write: bool,
        step: u32,
        actor: u32,
        site: &'static Location<'static>,
    ) -> Option<(Access, Access)> {
        let entry_of = |other: u32| {
            let clock = self.clocks.get(actor as usize).map_or(&[][..], Vec::as_slice);
            clock.get(other as usize).copied().unwrap_or(0)
        };
        let access = Access { variable, write, step, actor, entry: entry_of(actor), site };
        let unordered = |earlier: &&Access| earlier.actor != actor && earlier.entry > entry_of(earlier.actor);
        let known = &self.variables[variable as usize];
        let reads = known.reads.iter().filter(|_| write);
        let other = known.last_write.iter().chain(reads).find(unordered).copied();
        let known = &mut self.variables[variable as usize];
        if write {
            let undo = Undo::Write(variable, known.last_write.replace(access), std::mem::take(&mut known.reads));
            self.undo.push((step, undo));
        } else {
            known.reads.push(access);
            self.undo.push((step, Undo::Read(variable)));
        }
        other.map(|other| (other, access))
    }
}

fn race(first: Access, second: Access, labels: &[String]) -> Problem {
    let tell = |access: &Access| {
        let verb = if access.write { "writes" } else { "reads" };
        let site = access.site;
        format!("{} {verb} it at {}:{}", labels[access.actor as usize], site.file(), site.line())
    };
    let mut sites = [first.site, second.site].map(|site| (site.file(), site.line(), site.column()));
    sites.sort_unstable();
    let text = format!("{sites:?}");
    Problem {
        kind: Kind::Race,
        message: format!(
            "data race on variable {}: {} and {}, and nothing orders the two\n  With a race, other orders may behave in \
             ways that a reduction does not show: explore with `exhaustive` to see them.",
            first.variable + 1,
            tell(&first),
            tell(&second)
        ),
        place: Some(format!("{}:{}", second.site.file(), second.site.line())),
        key: text.bytes().fold(Name::ROOT.mixed(Kind::Race as u64), |key, byte| key.mixed(u64::from(byte))),
        steps: [first.step, second.step].into_iter().filter(|&step| step != SET_UP).map(|step| step as usize).collect(),
        warning: false,
    }
}

impl Engine {
    fn access(&mut self, variable: u32, write: bool, site: &'static Location<'static>) {
        // What the step does depends on more than the actor's history.
        self.now.record = None;
        let (step, actor) = (self.now.step, self.now.actor);
        if let Some((first, second)) = self.shared.access(variable, write, step, actor, site)
            && self.shared.race.is_none()
        {
            self.shared.race = Some(race(first, second, &crate::words::labels(self)));
        }
    }
}

impl Hands {
    pub(crate) fn new_shared<T: Message>(&self, value: T) -> Shared<T> {
        let engine = &mut *self.engine.borrow_mut();
        let variables = &mut engine.shared.variables;
        let number = variables.len() as u32;
        variables.push(Variable { value: Rc::new(value), last_write: None, reads: Vec::new() });
        Shared { number, of: PhantomData }
    }

    pub(crate) fn read<T: Message>(&self, variable: Shared<T>, site: &'static Location<'static>) -> T {
        let engine = &mut *self.engine.borrow_mut();
        let actor = self.me.slot;
        let value = if engine.now.muted {
            let cursor = engine.shared.cursor;
            engine.shared.cursor += 1;
            engine.shared.logs[actor as usize][cursor].1.clone()
        } else {
            engine.access(variable.number, false, site);
            let value = engine.shared.variables[variable.number as usize].value.clone();
            if engine.shared.logs.len() <= actor as usize {
                engine.shared.logs.resize_with(actor as usize + 1, Vec::new);
            }
            engine.shared.logs[actor as usize].push((engine.now.step, value.clone()));
            engine.shared.undo.push((engine.now.step, Undo::Log(actor)));
            value
        };
        value.downcast_ref::<T>().expect("variables are typed").clone()
    }

    pub(crate) fn write<T: Message>(&self, variable: Shared<T>, value: T, site: &'static Location<'static>) {
        let engine = &mut *self.engine.borrow_mut();
        if engine.now.muted {
            return;
        }
        engine.access(variable.number, true, site);
        let place = &mut engine.shared.variables[variable.number as usize].value;
        let before = std::mem::replace(place, Rc::new(value));
        engine.shared.undo.push((engine.now.step, Undo::Value(variable.number, before)));
    }
}
