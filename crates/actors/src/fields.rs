//! Which fields of its state a handler touches.
//!
//! An actor that keeps all of its state in [`Tracked`] fields and says so (`const FIELDS: bool = true`) lets
//! searches know what each handler read and wrote: two of its messages are then dependent only if one wrote what
//! the other touched. A field is known by its place in the actor's state, so nothing has to be declared.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// A field that notes who reads and who writes it.
///
/// It is used like the value inside: reading goes through `&`, writing through `&mut`.
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
///     const FIELDS: bool = true; // all of the state is in tracked fields
///     async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
///         match msg {
///             Msg::Register(name) => self.names.push(name), // commutes with a visit,
///             Msg::Visit => *self.visits += 1,              // not with another one
///         }
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct Tracked<T>(T);

impl<T> Tracked<T> {
    /// A field of this value.
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
        note(std::ptr::from_ref(self).addr(), false);
        &self.0
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        note(std::ptr::from_ref(self).addr(), true);
        &mut self.0
    }
}

// Stories, hashes and comparisons by searches are no reading by the actor, but an actor's own comparison is.
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

/// The place of a field that does not lie in the actor's state itself: all of those count as one.
const ELSEWHERE: usize = usize::MAX;

/// What a handler touched: places of fields, and whether they were written. Each field once.
pub(crate) type Touched = Vec<(usize, bool)>;

/// Where the state lies whose fields are noted.
struct Noting {
    base: usize,
    size: usize,
    touched: Touched,
}

thread_local! {
    static NOTING: RefCell<Option<Noting>> = const { RefCell::new(None) };
}

fn note(address: usize, write: bool) {
    NOTING.with_borrow_mut(|noting| {
        let Some(noting) = noting else { return };
        let place = address.wrapping_sub(noting.base);
        let place = if place < noting.size { place } else { ELSEWHERE };
        match noting.touched.iter_mut().find(|(known, _)| *known == place) {
            Some((_, written)) => *written |= write,
            None => noting.touched.push((place, write)),
        }
    });
}

/// From here on, what is touched of the state that lies there is noted.
pub(crate) fn start_noting<A>(state: &A) {
    let (base, size) = (std::ptr::from_ref(state).addr(), size_of::<A>());
    NOTING.set(Some(Noting { base, size, touched: Vec::new() }));
}

/// Whether something is being noted.
pub(crate) fn is_noting() -> bool {
    NOTING.with_borrow(Option::is_some)
}

/// What was touched since.
pub(crate) fn stop_noting() -> Touched {
    NOTING.take().map_or_else(Vec::new, |noting| noting.touched)
}
