//! Collective operations in progress.

use crate::communication::Communication;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use whippet_model::Name;

/// Computes the results of a collective call from the values of the members that it reads, in the order of members.
pub(super) type Finish<T> = Rc<dyn Fn(Vec<Vec<T>>) -> Vec<T>>;

/// A collective call that may not be complete yet.
#[derive(Clone)]
pub(super) struct Gathering<T> {
    of: Name,
    index: u32,
    finish: Finish<T>,
    results: Rc<RefCell<Option<Vec<T>>>>,
}

impl<T> Gathering<T> {
    /// Creates the handle of the call made by the `index`-th operation of process `of`.
    pub(super) fn new((of, index): (Name, u32), finish: Finish<T>) -> Gathering<T> {
        Gathering { of, index, finish, results: Rc::default() }
    }
}

impl<T: Clone> Gathering<T> {
    /// Returns the results, if a wait or test has reported that the call is complete.
    pub(super) fn results(&self) -> Option<Vec<T>> {
        self.results.borrow().clone()
    }
}

impl<T> fmt::Debug for Gathering<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gathering(operation {})", self.index)
    }
}

impl<T: Clone + 'static> Communication for Gathering<T> {
    fn id(&self) -> (Name, u32) {
        (self.of, self.index)
    }

    fn set_value(&self, _: Option<Rc<dyn Any>>) {
        unreachable!("internal error: a collective call brings a list of values");
    }

    fn set_values(&self, values: Vec<Option<Rc<dyn Any>>>) {
        let values = values.into_iter().map(|value| {
            let value = value.expect("internal error: members that are read bring values");
            value.downcast_ref::<Vec<T>>().expect("internal error: calls of other types do not match").clone()
        });
        let results = (self.finish)(values.collect());
        self.results.replace(Some(results));
    }
}
