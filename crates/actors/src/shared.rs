//! Variables shared by several actors and tasks, with a vector-clock timestamp for each access.
//!
//! Two accesses by different actors, at least one of them a write, race unless one happens before the other.
//! Happens-before arises from messages, locks and promises, which are all deliveries; [`VectorClocks`] computes it. All
//! racing pairs of an execution are reported, so that equivalent executions report the same races.
//!
//! **Semantics of reads.** Without a reduction, a read returns the newest value, since steps are executed one after
//! another. A reduction assumes that steps of different actors are independent, which holds only if they cannot observe
//! each other. With a reduction, a read therefore returns the newest write *in its past*, i.e. among the writes that
//! happen before it; if several are maximal, the one whose actor has the largest name. Without a data race this is the
//! newest write of all. With one, the effects of a step still depend only on its past: the reduction stays sound,
//! race-free executions are explored with their normal behaviour, and the races are found.
//!
//! Suspended code that is run again must read the same values as before, so the values read are logged in order, per
//! actor. An actor's history includes the writes it has read.

use crate::Message;
use crate::current_step::SETUP;
use crate::cx::ActorContext;
use crate::engine::Engine;
use crate::vector_clocks::{VectorClock, VectorClocks, entry};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::Name;

/// A variable that several actors and tasks read and write.
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
    name: Name,
    /// A hint that saves a look-up by name, as in an address.
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

/// One access to a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableAccess {
    pub(crate) write: bool,
    pub(crate) step: u32,
    pub(crate) actor: u32,
    /// The actor's own clock entry at the access.
    entry: u32,
    pub(crate) site: &'static Location<'static>,
}

/// Two accesses to a variable that are not ordered by happens-before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataRace {
    pub(crate) variable: u32,
    pub(crate) first: VariableAccess,
    pub(crate) second: VariableAccess,
}

/// A value that was written.
struct Written {
    value: Rc<dyn Any>,
    actor: u32,
    /// The name of the actor.
    by: Name,
    /// The actor's own clock entry at the write; 0 for the initial value, which is in every past.
    entry: u32,
    clock: VectorClock,
    /// A hash that identifies the value, derived from the writer's history.
    origin: u64,
    /// `true` if this write and all earlier ones are totally ordered by happens-before.
    chained: bool,
}

/// The accesses of one actor, the newest last.
#[derive(Default)]
struct Accesses {
    actor: u32,
    reads: Vec<VariableAccess>,
    writes: Vec<VariableAccess>,
}

struct SharedVariable {
    name: Name,
    /// All values written, the newest last.
    written: Vec<Written>,
    accesses: Vec<Accesses>,
}

/// The change to undo when a step is undone.
enum SharedUndo {
    Variable,
    Written(u32),
    Access(u32, u32, bool),
    Log(u32),
}

/// All variables of a system.
#[derive(Default)]
pub(crate) struct Variables {
    variables: Vec<SharedVariable>,
    by_name: FxHashMap<Name, u32>,
    pub(crate) clocks: VectorClocks,
    pub(crate) races: Vec<DataRace>,
    /// `true` if a read returns the newest write in its past instead of the newest write.
    pub(crate) reads_from_past: bool,
    /// The reason why no more variables can be created, if any.
    pub(crate) closed: Option<&'static str>,
    /// The values that each actor has read, in order, each with its step.
    logs: Vec<Vec<(u32, Rc<dyn Any>)>>,
    /// The index in its log at which an actor that is run again reads next.
    cursor: usize,
    undo: Vec<(u32, SharedUndo)>,
}

/// Salt that distinguishes names of variables from names of messages with the same number.
const VARIABLE: u64 = 0x5A12;
/// Salt that distinguishes writes from sends.
const WRITTEN: u64 = 0x3217;

/// The error for variables created too late: with tracked fields, steps of one actor may be unordered, which vector
/// clocks do not represent.
pub(crate) const TOO_LATE: &str =
    "in a program with tracked fields, create shared variables during setup, with `System::new_shared`";

impl Variables {
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Returns `true` if the clocks of actors and messages are maintained.
    #[inline]
    pub(crate) fn tracks_clocks(&self) -> bool {
        self.clocks.causal || !self.is_empty()
    }

    /// Prepares the log of an actor that is run again from step `from` on, or from its beginning if `None`.
    pub(crate) fn run_again(&mut self, actor: u32, from: Option<u32>) {
        let log = self.logs.get(actor as usize).map_or(&[][..], Vec::as_slice);
        // Steps of the setup come first, although their number is the largest.
        self.cursor =
            from.map_or(0, |from| log.iter().position(|&(step, _)| step != SETUP && step >= from).unwrap_or(log.len()));
    }

    /// Undoes all accesses of steps from `depth` on.
    pub(crate) fn rewind(&mut self, depth: u32) {
        let gone = |step: u32| step != SETUP && step >= depth;
        while self.undo.last().is_some_and(|&(step, _)| gone(step)) {
            match self.undo.pop().expect("the loop checked").1 {
                SharedUndo::Variable => self.unmake(),
                SharedUndo::Written(variable) => {
                    self.variables[variable as usize].written.pop();
                }
                SharedUndo::Access(variable, place, write) => {
                    let accesses = &mut self.variables[variable as usize].accesses[place as usize];
                    if write {
                        accesses.writes.pop()
                    } else {
                        accesses.reads.pop()
                    };
                }
                SharedUndo::Log(actor) => {
                    self.logs[actor as usize].pop();
                }
            }
        }
        while self.races.last().is_some_and(|race| gone(race.second.step)) {
            self.races.pop();
        }
        self.clocks.rewind(depth);
    }

    fn unmake(&mut self) {
        let variable = self.variables.pop().expect("there is a variable to remove");
        self.by_name.remove(&variable.name);
        if self.variables.is_empty() {
            self.clocks.forget();
        }
    }

    /// Returns the accesses of a step, each with the number of its variable.
    pub(crate) fn accesses_of(&self, step: u32) -> impl Iterator<Item = (u32, &VariableAccess)> {
        let all = self.variables.iter().enumerate().flat_map(|(number, variable)| {
            let accesses = variable.accesses.iter().flat_map(|of| of.reads.iter().chain(&of.writes));
            accesses.map(move |access| (number as u32, access))
        });
        all.filter(move |(_, access)| access.step == step)
    }

    /// Makes everything that has happened so far permanent.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
        self.clocks.commit();
        let all = self.variables.iter_mut().flat_map(|variable| &mut variable.accesses);
        let accesses = all.flat_map(|of| of.reads.iter_mut().chain(&mut of.writes));
        let raced = self.races.iter_mut().flat_map(|race| [&mut race.first, &mut race.second]);
        for access in accesses.chain(raced) {
            access.step = SETUP;
        }
        for (step, _) in self.logs.iter_mut().flatten() {
            *step = SETUP;
        }
    }

    fn number<T>(&self, variable: Shared<T>) -> u32 {
        match self.variables.get(variable.number as usize) {
            Some(known) if known.name == variable.name => variable.number,
            _ => *self.by_name.get(&variable.name).expect("a variable belongs to the system that made it"),
        }
    }

    /// Records an access and the races in which it takes part.
    fn access(&mut self, variable: u32, write: bool, step: u32, actor: u32, site: &'static Location<'static>) {
        let clock = self.clocks.of(actor);
        let second = VariableAccess { write, step, actor, entry: entry(clock, actor), site };
        let known = &mut self.variables[variable as usize];
        for of in known.accesses.iter().filter(|of| of.actor != actor) {
            let reached = entry(clock, of.actor);
            let unordered =
                |accesses: &'_ Vec<VariableAccess>| accesses.partition_point(|access| access.entry <= reached);
            let writes = &of.writes[unordered(&of.writes)..];
            let reads = if write { &of.reads[unordered(&of.reads)..] } else { &[] };
            self.races.extend(writes.iter().chain(reads).map(|&first| DataRace { variable, first, second }));
        }
        let place = known.accesses.iter().position(|of| of.actor == actor).unwrap_or_else(|| {
            known.accesses.push(Accesses { actor, ..Accesses::default() });
            known.accesses.len() - 1
        });
        let accesses = &mut known.accesses[place];
        if write { &mut accesses.writes } else { &mut accesses.reads }.push(second);
        self.undo.push((step, SharedUndo::Access(variable, place as u32, write)));
    }

    /// Returns the write that a read by an actor observes.
    fn seen(&self, variable: u32, actor: u32) -> &Written {
        let written = &self.variables[variable as usize].written;
        let newest = written.last().expect("a variable has a value from the beginning");
        if !self.reads_from_past {
            return newest;
        }
        let clock = self.clocks.of(actor);
        let past = || written.iter().filter(|one| one.before(actor, clock));
        let seen = if newest.chained {
            past().next_back()
        } else {
            let follows =
                |one: &Written, other: &Written| one.actor != other.actor && one.before(other.actor, &other.clock);
            let newest = past().filter(|one| !past().any(|other| follows(one, other)));
            // Among writes of one actor, `max_by_key` selects the last.
            newest.max_by_key(|one| one.by)
        };
        seen.expect("the first value is in every past")
    }

    fn write(&mut self, variable: u32, step: u32, actor: u32, by: Name, value: Rc<dyn Any>, origin: u64) {
        let clock: VectorClock = self.clocks.of(actor).into();
        let written = &mut self.variables[variable as usize].written;
        let chained = written.last().is_none_or(|last| last.chained && last.before(actor, &clock));
        written.push(Written { value, actor, by, entry: entry(&clock, actor), clock, origin, chained });
        self.undo.push((step, SharedUndo::Written(variable)));
    }
}

impl Written {
    /// Returns `true` if the write is in the past of an actor with this clock.
    fn before(&self, actor: u32, clock: &[u32]) -> bool {
        self.actor == actor || self.entry <= entry(clock, self.actor)
    }
}

impl Engine {
    /// Creates a variable in the current step and returns its name and number.
    fn make_variable(&mut self, value: Rc<dyn Any>) -> (Name, u32) {
        let name = self.current.next_name().mixed(VARIABLE);
        if self.current.is_muted() {
            let number = self.shared.by_name.get(&name).expect("code that is run again creates the same variables");
            return (name, *number);
        }
        if let Some(why) = self.shared.closed {
            self.current.misuse(|| why.to_owned());
        }
        // A creation cannot be replayed from a record, so the step is not memoized.
        self.current.record = None;
        let (step, actor) = (self.current.step, self.current.actor);
        let number = self.shared.variables.len() as u32;
        self.shared.undo.push((step, SharedUndo::Variable));
        let origin = Name(self.current.history).mixed(name.0).0;
        let first = Written { value, actor, by: Name::ROOT, entry: 0, clock: Rc::from([]), origin, chained: true };
        self.shared.variables.push(SharedVariable { name, written: vec![first], accesses: Vec::new() });
        self.shared.by_name.insert(name, number);
        self.shared.clocks.advance(actor, step);
        (name, number)
    }

    fn read_variable(&mut self, variable: u32, site: &'static Location<'static>) -> Rc<dyn Any> {
        // The step depends on more than the actor's history, so it is not memoized.
        self.current.record = None;
        let (step, actor) = (self.current.step, self.current.actor);
        self.shared.access(variable, false, step, actor, site);
        let seen = self.shared.seen(variable, actor);
        let (value, origin) = (seen.value.clone(), seen.origin);
        self.current.history = Name(self.current.history).mixed(origin).0;
        let info = &mut self.actors[actor as usize];
        info.history = Name(info.history).mixed(origin).0;
        if self.shared.logs.len() <= actor as usize {
            self.shared.logs.resize_with(actor as usize + 1, Vec::new);
        }
        self.shared.logs[actor as usize].push((step, value.clone()));
        self.shared.undo.push((step, SharedUndo::Log(actor)));
        value
    }

    fn write_variable(&mut self, variable: u32, value: Rc<dyn Any>, site: &'static Location<'static>) {
        self.current.record = None;
        let (step, actor) = (self.current.step, self.current.actor);
        self.shared.access(variable, true, step, actor, site);
        // Changes the history so that the next write of this step gets a different origin.
        self.current.history = Name(self.current.history).mixed(WRITTEN).0;
        let by = self.actors[actor as usize].name;
        self.shared.write(variable, step, actor, by, value, self.current.history);
    }

    /// Returns the next value in the log of an actor that is run again.
    fn read_again(&mut self, actor: u32) -> Rc<dyn Any> {
        let cursor = self.shared.cursor;
        self.shared.cursor += 1;
        self.shared.logs[actor as usize][cursor].1.clone()
    }
}

impl ActorContext {
    pub(crate) fn new_shared<T: Message>(&self, value: T) -> Shared<T> {
        let (name, number) = self.engine.borrow_mut().make_variable(Rc::new(value));
        Shared { name, number, of: PhantomData }
    }

    pub(crate) fn read<T: Message>(&self, variable: Shared<T>, site: &'static Location<'static>) -> T {
        let engine = &mut *self.engine.borrow_mut();
        let value = if engine.current.is_muted() {
            engine.read_again(self.me.slot)
        } else {
            engine.read_variable(engine.shared.number(variable), site)
        };
        value.downcast_ref::<T>().expect("variables are typed").clone()
    }

    pub(crate) fn write<T: Message>(&self, variable: Shared<T>, value: T, site: &'static Location<'static>) {
        let engine = &mut *self.engine.borrow_mut();
        if !engine.current.is_muted() {
            engine.write_variable(engine.shared.number(variable), Rc::new(value), site);
        }
    }
}
