//! The record of histories in the engine.

use super::search::{Explained, explain};
use super::{Consistency, History, Sequential, show};
use crate::current_step::SETUP;
use crate::describe::type_label;
use crate::engine::Engine;
use crate::panics::{CaughtPanic, catch};
use rustc_hash::{FxHashMap, FxHasher};
use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{Name, Touch};

/// Salt that distinguishes histories from other objects.
const HISTORY: u64 = 0x4157;
/// The number of operations that a history can have.
pub(super) const MOST_OPERATIONS: usize = 128;
/// The number of histories whose result is remembered.
const MOST_KNOWN: usize = 1 << 16;

/// The beginning or the end of an operation.
pub(crate) struct End {
    actor: u32,
    pub(crate) step: u32,
    /// The operation, or its answer.
    value: Rc<dyn Any>,
    hash: u64,
    pub(crate) returned: bool,
}

/// An operation with its interval, which is given by the positions of its ends in the history.
pub(super) struct Operation {
    pub(super) actor: u32,
    pub(super) op: Rc<dyn Any>,
    pub(super) ret: Option<Rc<dyn Any>>,
    pub(super) invoked: usize,
    pub(super) returned: Option<usize>,
}

/// A history that its specification does not allow, in words.
#[derive(Debug)]
pub(crate) enum Violation {
    /// No order of the operations gives these answers.
    Inconsistent(String),
    /// The specification panicked.
    Panicked(CaughtPanic),
}

/// A test of a history that knows the type of its specification.
type Judge = dyn Fn(&HistoryLog, &[String]) -> Option<String>;

/// One history.
pub(crate) struct HistoryLog {
    pub(super) consistency: Consistency,
    /// The kind of object, as shown in messages.
    pub(super) object: String,
    spec: TypeId,
    pub(crate) site: &'static Location<'static>,
    pub(crate) ends: Vec<End>,
    /// The first step at which the history was not allowed.
    pub(crate) violated: Option<u32>,
    judge: Rc<Judge>,
    /// The histories that are known to be allowed.
    known: RefCell<FxHashMap<[u64; 2], ()>>,
}

/// All histories of a system.
#[derive(Default)]
pub(crate) struct Histories {
    pub(crate) logs: Vec<HistoryLog>,
    /// The actors that crashed, each with the step. Their operations stay without an answer.
    crashes: Vec<(u32, u32)>,
}

impl Histories {
    /// Adds a history and returns its handle.
    pub(crate) fn add<S: Sequential>(
        &mut self,
        initial: S,
        consistency: Consistency,
        site: &'static Location<'static>,
    ) -> History<S> {
        let judge = move |log: &HistoryLog, labels: &[String]| {
            let operations = log.operations();
            match explain(&initial, &operations, consistency) {
                Explained::Fits => None,
                Explained::Best(order) => Some(show::violation::<S>(log, &operations, &order, &initial, labels)),
            }
        };
        self.logs.push(HistoryLog {
            consistency,
            object: type_label(type_name::<S>()),
            spec: TypeId::of::<S>(),
            site,
            ends: Vec::new(),
            violated: None,
            judge: Rc::new(judge),
            known: RefCell::default(),
        });
        History::new(self.logs.len() as u32 - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    /// Returns `true` if the order of ends counts, so that steps with ends depend on each other.
    pub(crate) fn need_footprints(&self) -> bool {
        self.logs.iter().any(HistoryLog::is_linearizable)
    }

    /// Records that an actor crashed.
    pub(crate) fn crashed(&mut self, actor: u32, step: u32) {
        if !self.logs.is_empty() {
            self.crashes.push((actor, step));
        }
    }

    /// Returns `true` if the actor crashed after the step that recorded this end.
    fn crashed_since(&self, end: &End) -> bool {
        let since = |step: u32| end.step == SETUP || step > end.step;
        self.crashes.iter().any(|&(actor, step)| actor == end.actor && since(step))
    }

    /// Removes the ends that steps from `depth` on have recorded.
    pub(crate) fn rewind(&mut self, depth: u32) {
        while self.crashes.pop_if(|(_, step)| *step >= depth).is_some() {}
        for log in &mut self.logs {
            log.violated = log.violated.filter(|&step| step < depth);
            while log.ends.pop_if(|end| end.step != SETUP && end.step >= depth).is_some() {}
        }
    }

    /// Makes all ends part of the setup.
    pub(crate) fn commit(&mut self) {
        self.logs.iter_mut().flat_map(|log| &mut log.ends).for_each(|end| end.step = SETUP);
    }

    /// Appends the footprint of what step `at` recorded.
    pub(crate) fn touch(&self, at: u32, touches: &mut Vec<Touch>) {
        for (k, log) in self.logs.iter().enumerate() {
            if log.is_linearizable() {
                let object = Name::ROOT.mixed(HISTORY).child(k as u32);
                let mut touch = |returned: bool, touch: Touch| {
                    if log.ends_of(at).any(|end| end.returned == returned) {
                        touches.push(touch);
                    }
                };
                touch(false, Touch::read(object));
                touch(true, Touch::add(object));
            }
        }
    }

    /// Returns two independent hashes of all histories, given the names of the actors.
    pub(crate) fn hash(&self, name: impl Fn(u32) -> Name + Copy) -> [u64; 2] {
        let mut sums = [0u64; 2];
        for (k, log) in self.logs.iter().enumerate() {
            let [one, other] = log.hash(name);
            sums[0] = sums[0].wrapping_add(Name(one).child(k as u32).0);
            sums[1] = sums[1].wrapping_add(Name(other).child(k as u32).0);
        }
        sums
    }
}

impl HistoryLog {
    pub(crate) fn is_linearizable(&self) -> bool {
        self.consistency == Consistency::Linearizable
    }

    /// Returns the ends that step `at` recorded. They are the newest ones.
    pub(crate) fn ends_of(&self, at: u32) -> impl Iterator<Item = &End> {
        self.ends.iter().rev().take_while(move |end| end.step == at)
    }

    /// Returns the operations in the order in which they were invoked.
    pub(super) fn operations(&self) -> Vec<Operation> {
        let mut operations: Vec<Operation> = Vec::new();
        for (position, end) in self.ends.iter().enumerate() {
            if end.returned {
                let open = operations.iter_mut().rev().find(|operation| operation.actor == end.actor);
                let open = open.expect("the end of an operation is recorded after its beginning");
                (open.ret, open.returned) = (Some(end.value.clone()), Some(position));
            } else {
                let (actor, op) = (end.actor, end.value.clone());
                operations.push(Operation { actor, op, ret: None, invoked: position, returned: None });
            }
        }
        operations
    }

    /// Returns two independent hashes of everything that decides if the history is allowed: the operations of each actor
    /// with their answers, and for each of them those that returned before it was invoked.
    fn hash(&self, name: impl Fn(u32) -> Name) -> [u64; 2] {
        let (mut sums, mut completed) = ([0u64; 2], 0u64);
        // For each actor, the number of its ends so far.
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        for end in &self.ends {
            let count = counts.entry(end.actor).or_default();
            *count += 1;
            let mut term = name(end.actor).mixed(*count).mixed(end.hash).mixed(u64::from(end.returned));
            if end.returned {
                completed = completed.wrapping_add(name(end.actor).mixed(*count).0);
            } else if self.is_linearizable() {
                term = term.mixed(completed);
            }
            sums[0] = sums[0].wrapping_add(term.0);
            sums[1] = sums[1].wrapping_add(term.mixed(13).0);
        }
        sums
    }

    /// Returns the reason why the history is not allowed, if so.
    pub(crate) fn judge(&self, name: impl Fn(u32) -> Name, labels: impl FnOnce() -> Vec<String>) -> Option<Violation> {
        let key = self.hash(name);
        if self.known.borrow().contains_key(&key) {
            return None;
        }
        let labels = labels();
        match catch(|| crate::address::with_labels(labels.clone(), || (self.judge)(self, &labels))) {
            Ok(None) => {
                let mut known = self.known.borrow_mut();
                if known.len() == MOST_KNOWN {
                    known.clear();
                }
                known.insert(key, ());
                None
            }
            Ok(Some(text)) => Some(Violation::Inconsistent(text)),
            Err(panic) => Some(Violation::Panicked(panic)),
        }
    }
}

impl Engine {
    /// Records the invocation of an operation, or its answer, by the current actor.
    pub(crate) fn record_end<S: Sequential, T: Any + Hash>(&mut self, history: History<S>, value: T, returned: bool) {
        let mut hasher = FxHasher::default();
        value.hash(&mut hasher);
        self.record_value(history.number, TypeId::of::<S>(), Rc::new(value), hasher.finish(), returned);
    }

    fn record_value(&mut self, history: u32, spec: TypeId, value: Rc<dyn Any>, hash: u64, returned: bool) {
        if self.current.is_muted() {
            return;
        }
        if let Some(record) = &mut self.current.record {
            let value = value.clone();
            record.push(Rc::new(move |engine| engine.record_value(history, spec, value.clone(), hash, returned)));
        }
        let (actor, step) = (self.current.actor, self.current.step);
        let Some(log) = self.histories.logs.get(history as usize).filter(|log| log.spec == spec) else {
            self.current.misuse(|| {
                "a history that does not exist here: it was kept from another test; create it in the body of the test"
                    .to_owned()
            });
            return;
        };
        let last = log.ends.iter().rfind(|end| end.actor == actor).filter(|end| !end.returned);
        let (open, crashed) = (last.is_some(), last.is_some_and(|end| self.histories.crashed_since(end)));
        let misuse = match returned {
            true if !open => Some("`returned` without an operation that was `invoked`".to_owned()),
            false if open && !crashed => Some(
                "`invoked` before the actor's last operation `returned`: an actor performs one operation at a time, so \
                 let another actor perform this one"
                    .to_owned(),
            ),
            false if log.ends.iter().filter(|end| !end.returned).count() == MOST_OPERATIONS => {
                Some(format!("a history has at most {MOST_OPERATIONS} operations"))
            }
            _ => None,
        };
        match misuse {
            Some(what) => self.current.misuse(|| what),
            None => {
                let ends = &mut self.histories.logs[history as usize].ends;
                ends.push(End { actor, step, value, hash, returned });
            }
        }
    }
}
