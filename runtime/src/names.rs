//! The names and numbers of objects.

use crate::current::{with_current, with_running};
use crate::execution::{Execution, NONE};
use crate::object::Object;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::ptr;
use whippet_model::{Name, Touch};

/// The objects that were named so far in an execution.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The number of objects of each kind.
    numbers: Vec<(&'static str, u32)>,
    /// The number of objects that were created before any task ran.
    set_up: u32,
    /// The number of objects without a creator that were named, by their origin.
    late: FxHashMap<Name, u32>,
}

impl Names {
    /// Forgets all objects.
    pub(crate) fn renew(&mut self) {
        self.numbers.iter_mut().for_each(|(_, number)| *number = 0);
        self.set_up = 0;
        self.late.clear();
    }

    /// Returns the number of the next object of this kind.
    #[inline]
    fn number(&mut self, kind: &'static str) -> u32 {
        // Equal kinds nearly always share one address.
        let same = self.numbers.iter().position(|(k, _)| ptr::eq(*k, kind));
        let at = same.unwrap_or_else(|| self.like(kind));
        self.numbers[at].1 += 1;
        self.numbers[at].1
    }

    /// Returns the index of the counter of this kind, which is added if it is missing.
    #[cold]
    fn like(&mut self, kind: &'static str) -> usize {
        self.numbers.iter().position(|(k, _)| *k == kind).unwrap_or_else(|| {
            self.numbers.push((kind, 0));
            self.numbers.len() - 1
        })
    }
}

impl Execution {
    fn new_object(&mut self, kind: &'static str) -> Object {
        let name = if self.running() != NONE {
            let task = self.task();
            task.children += 1;
            task.name.child(task.children)
        } else {
            // Created by the setup of an execution.
            self.names.set_up += 1;
            Name::ROOT.mixed(0x5E7).child(self.names.set_up)
        };
        Object { name, kind, number: self.names.number(kind) }
    }

    fn late_object(&mut self, kind: &'static str, origin: Name) -> Object {
        self.touch(Touch::write(origin));
        let known = self.names.late.entry(origin).or_default();
        *known += 1;
        let name = origin.child(*known);
        Object { name, kind, number: self.names.number(kind) }
    }
}

/// Creates an object of the running task.
pub(crate) fn new_object(kind: &'static str) -> Object {
    with_current(|x| x.new_object(kind)).unwrap_or_else(|| stray_object(kind))
}

/// Creates an object outside any execution, numbered in creation order on this thread.
fn stray_object(kind: &'static str) -> Object {
    thread_local! { static MADE: Cell<u32> = const { Cell::new(0) }; }
    let number = MADE.get() + 1;
    MADE.set(number);
    Object { name: Name::ROOT.mixed(0x0BCE).child(number), kind, number }
}

/// Implements [`Object::late`].
pub(crate) fn late_object(kind: &'static str, origin: Name) -> Object {
    with_running(|x| x.late_object(kind, origin)).unwrap_or_else(|| new_object(kind))
}
