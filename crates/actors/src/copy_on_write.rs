//! Large values that cost little to copy.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A large part of a state or of a message. Copies share it until one of them is changed.
///
/// Before each step of an actor its state is cloned, so that the step can be undone, and each delivery clones the message. With
/// this type around a large field, that costs the same whatever its size. Only a handler that changes the field copies it. A field
/// of many parts that change one at a time is best a collection of such values, so that the others stay shared.
///
/// ```
/// use whippet::{CopyOnWrite, prelude::*};
/// #[derive(Clone, Debug)]
/// struct Store { reads: u32, pages: Vec<CopyOnWrite<[u8; 4096]>> }
/// #[derive(Clone, Debug)]
/// enum Msg { Read(usize), Write(usize, u8) }
/// impl Actor for Store {
///     type Msg = Msg;
///     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
///         match msg {
///             Msg::Read(_page) => self.reads += 1,
///             Msg::Write(page, value) => self.pages[page][0] = value, // copies this page
///         }
///     }
/// }
/// whippet::check(|sys| {
///     let store = sys.spawn(Store { reads: 0, pages: vec![CopyOnWrite::new([0; 4096]); 16] });
///     sys.send(store, Msg::Read(3));
///     sys.send(store, Msg::Write(3, 1));
///     sys.at_end(store, |store| assert_eq!((store.pages[3][0], store.pages[4][0]), (1, 0)));
/// });
/// ```
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CopyOnWrite<T>(Arc<T>);

impl<T> CopyOnWrite<T> {
    /// Creates a value that is not shared yet.
    ///
    /// ```
    /// use whippet::CopyOnWrite;
    /// let (mut one, other) = { let one = CopyOnWrite::new(vec![1]); (one.clone(), one) };
    /// one.push(2);
    /// assert_eq!((one.len(), other.len()), (2, 1));
    /// ```
    pub fn new(value: T) -> CopyOnWrite<T> {
        CopyOnWrite(Arc::new(value))
    }
}

impl<T> Clone for CopyOnWrite<T> {
    fn clone(&self) -> CopyOnWrite<T> {
        CopyOnWrite(self.0.clone())
    }
}

impl<T> From<T> for CopyOnWrite<T> {
    fn from(value: T) -> CopyOnWrite<T> {
        CopyOnWrite::new(value)
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

/// Shows the value as if it were not shared.
impl<T: fmt::Debug> fmt::Debug for CopyOnWrite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
