//! Tracking of the fields that a handler reads and writes.
//!
//! An actor that stores its whole state in [`Tracked`] fields and declares so (`const FIELDS: bool = true`) lets
//! searches know what each handler read and wrote: two of its messages are then dependent only if one wrote a field
//! that the other touched. A field is identified by its offset in the actor's state, so fields need not be declared.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// A field that records reads and writes of its value.
///
/// It is used like the value inside: reads go through `&`, writes through `&mut`.
///
/// ```
/// use whippet_actors::{Actor, Cx, Tracked};
///
/// #[derive(Clone, Debug, Default)]
/// struct Desk { names: Tracked<Vec<String>>, visits: Tracked<u32> }
///
/// #[derive(Clone, Debug)]
/// enum Msg { Register(String), Visit }
///
/// impl Actor for Desk {
///     type Msg = Msg;
///     const FIELDS: bool = true; // the whole state is in tracked fields
///     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
///         match msg {
///             Msg::Register(name) => self.names.push(name), // commutes with `Visit`, not with `Register`
///             Msg::Visit => *self.visits += 1,              // commutes with `Register`, not with `Visit`
///         }
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct Tracked<T>(T);

impl<T> Tracked<T> {
    /// Creates a field with this value.
    ///
    /// ```
    /// use whippet::Tracked;
    /// let mut visits = Tracked::new(3);
    /// *visits += 1;
    /// assert_eq!(*visits, 4);
    /// ```
    pub const fn new(value: T) -> Tracked<T> {
        Tracked(value)
    }
}

impl<T> From<T> for Tracked<T> {
    fn from(value: T) -> Tracked<T> {
        Tracked(value)
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        record_access(std::ptr::from_ref(self).addr(), false);
        &self.0
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        record_access(std::ptr::from_ref(self).addr(), true);
        &mut self.0
    }
}

// These impls go through `deref`, so they count as reads when the actor itself uses them. Hashing, comparing and
// printing by the tool is not recorded, because it happens outside of handlers.
impl<T: fmt::Debug> fmt::Debug for Tracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Hash> Hash for Tracked<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

impl<T: PartialEq> PartialEq for Tracked<T> {
    fn eq(&self, other: &Tracked<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Tracked<T> {}

/// The offset recorded for fields outside the actor's own memory, such as fields in a `Vec`: they count as a single
/// field.
const ELSEWHERE: usize = usize::MAX;

/// The fields that a handler touched, without duplicates: the offset of each, and `true` if it was written.
pub(crate) type TouchedFields = Vec<(usize, bool)>;

/// The memory range of the state whose fields are being tracked, and the fields touched so far.
struct Tracking {
    base: usize,
    size: usize,
    touched: TouchedFields,
}

thread_local! {
    static TRACKING: RefCell<Option<Tracking>> = const { RefCell::new(None) };
}

fn record_access(address: usize, write: bool) {
    TRACKING.with_borrow_mut(|tracking| {
        let Some(tracking) = tracking else { return };
        let place = address.wrapping_sub(tracking.base);
        let place = if place < tracking.size { place } else { ELSEWHERE };
        match tracking.touched.iter_mut().find(|(known, _)| *known == place) {
            Some((_, written)) => *written |= write,
            None => tracking.touched.push((place, write)),
        }
    });
}

/// Starts recording accesses to the fields of this state.
pub(crate) fn start_tracking<A>(state: &A) {
    let (base, size) = (std::ptr::from_ref(state).addr(), size_of::<A>());
    TRACKING.set(Some(Tracking { base, size, touched: Vec::new() }));
}

/// Returns `true` if accesses are being recorded.
pub(crate) fn is_tracking() -> bool {
    TRACKING.with_borrow(Option::is_some)
}

/// Stops recording and returns the fields touched since [`start_tracking`].
pub(crate) fn stop_tracking() -> TouchedFields {
    TRACKING.take().map_or_else(Vec::new, |tracking| tracking.touched)
}
