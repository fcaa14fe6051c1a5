//! Shared objects of tasks, and descriptions of the operations on them.

use crate::points::Point;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::ptr;
use whippet_model::{EventKind, MessageText, Name};

/// A line of the user's program.
pub type Place = &'static Location<'static>;

/// Returns the file and line for display; registry and toolchain paths are shortened to the crate.
pub(crate) fn place_text(place: Place) -> String {
    format!("{}:{}", short_file(place.file()), place.line())
}

thread_local! {
    /// Cache of the names of places: hashing a path is slow, and a place never moves.
    static PLACES: RefCell<FxHashMap<usize, Name>> = RefCell::default();
}

pub(crate) fn place_name(place: Place) -> Name {
    let at = ptr::from_ref(place) as usize;
    PLACES.with_borrow_mut(|known| *known.entry(at).or_insert_with(|| long_place_name(place)))
}

fn long_place_name(place: Place) -> Name {
    let name = Name::ROOT.mixed(u64::from(place.line())).mixed(u64::from(place.column()));
    place.file().bytes().fold(name, |name, byte| name.mixed(u64::from(byte)))
}

/// Returns `true` if this is a line of the standard library, which runs when a value goes out of scope.
pub(crate) fn is_glue(place: Place) -> bool {
    place.file().starts_with("/rustc/") || place.file().contains("/library/core/")
}

/// Returns `true` if this is a line of a downloaded package, and not one of the user's own.
#[must_use]
pub fn is_foreign(place: Place) -> bool {
    short_file(place.file()).len() < place.file().len()
}

/// Returns the shortened path of a file: see [`place_text`].
pub(crate) fn short_file(file: &str) -> &str {
    ["/registry/src/", "/checkouts/"]
        .iter()
        .find_map(|mark| {
            let rest = &file[file.find(mark)? + mark.len()..];
            Some(&rest[rest.find('/')? + 1..])
        })
        .unwrap_or(file)
}

/// An object that tasks share: a channel, a lock, the end of a task. Its name derives from its creation, so that
/// equivalent executions give it the same name.
#[derive(Copy, Clone, Debug)]
pub struct Object {
    /// The stable name. The names of its parts (the tail of a queue, its closing) derive from it.
    pub name: Name,
    /// The kind, in one word.
    pub kind: &'static str,
    /// Its number among the objects of its kind in this execution, from 1. For display only.
    pub number: u32,
}

impl Part {
    /// Returns the word for it in the table of scheduling points.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Part::Tail => "tail",
            Part::Head => "head",
            Part::Drops => "senders",
            Part::Closed => "closing",
            Part::Line => "waiters",
            Part::Free => "free places or permits",
            Part::Members => "receivers",
            Part::Abort => "abort",
            Part::Item => "item",
        }
    }
}

impl Object {
    /// Creates an object of the running task.
    #[must_use]
    pub fn new(kind: &'static str) -> Object {
        crate::names::new_object(kind)
    }

    /// Creates an object without a creator: one in a static, or one that was constructed outside of instrumented
    /// code. It is named at its first use, by its place of construction and its number among the objects from there;
    /// so the order of first uses matters.
    #[must_use]
    pub fn late(kind: &'static str, made: Option<Place>) -> Object {
        let bytes = || kind.bytes().fold(Name::ROOT, |name, byte| name.mixed(u64::from(byte)));
        let origin = made.map_or_else(bytes, place_name);
        crate::names::late_object(kind, origin.mixed(0x4C41_5445))
    }

    /// Returns the name of a part of it.
    #[must_use]
    pub fn part(&self, part: Part) -> Name {
        self.name.mixed(part as u64)
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.number)
    }
}

/// The parts of objects that events touch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Part {
    /// The position for additions: sends, notifications, new values.
    Tail = 0x101,
    /// The position for removals.
    Head,
    /// The drops of senders, in any order.
    Drops,
    /// The closing by the receiver.
    Closed,
    /// The queue of waiters for permits or a lock.
    Line,
    /// The free permits, for reads without waiting.
    Free,
    /// The set of subscribers or counted handles.
    Members,
    /// A request to abort.
    Abort,
    /// One item of a queue; its number is mixed in.
    Item,
}

/// The description of an event: `sends u32 to channel 1`.
#[derive(Copy, Clone, Debug)]
pub struct Action {
    /// The operation.
    pub point: Point,
    /// The type name of the message, displayed without its path, or empty.
    pub what: &'static str,
    /// The object of the operation.
    pub object: Option<Object>,
    /// The position in the program.
    pub place: Place,
}

impl Action {
    /// Returns the kind of event that this action is in a trace.
    pub(crate) fn event_kind(&self) -> EventKind {
        self.point.row().kind
    }

    /// Returns the type of the message, if there is one. Its value is not known.
    pub(crate) fn message(&self) -> Option<MessageText> {
        let text = short_type(self.what);
        (!text.is_empty()).then_some(MessageText { kind: None, text })
    }

    /// Describes an operation on an object.
    #[must_use]
    pub fn new(point: Point, object: Object, place: Place) -> Action {
        Action { point, what: "", object: Some(object), place }
    }

    /// Describes an operation on an object with a message of type `T`.
    #[must_use]
    pub fn of<T: ?Sized>(point: Point, object: Object, place: Place) -> Action {
        Action { point, what: std::any::type_name::<T>(), object: Some(object), place }
    }

    /// Returns `true` if both are the same operation at the same place.
    pub(crate) fn is_like(&self, other: &Action) -> bool {
        self.point == other.point && (std::ptr::eq(self.place, other.place) || self.place == other.place)
    }

    /// Describes an operation without an object.
    #[must_use]
    pub fn plain(point: Point, place: Place) -> Action {
        Action { point, what: "", object: None, place }
    }
}

/// Returns the name of a type without paths, including those of its type arguments.
fn short_type(full: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    for part in full.split_inclusive(|c| !is_path(c)) {
        short += part.rfind("::").filter(|&at| at + 2 < part.len()).map_or(part, |at| &part[at + 2..]);
    }
    short
}

impl Action {
    /// Describes the wait of a task that is suspended before the operation: `sending u32 to channel 1`.
    pub(crate) fn while_waiting(&self) -> impl fmt::Display {
        let row = self.point.row();
        Phrase { verb: row.waits.as_ref().map_or(row.verb, |waits| waits.verb), action: *self }
    }
}

/// An action with a verb.
struct Phrase {
    verb: &'static str,
    action: Action,
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb)?;
        for word in [&*short_type(self.action.what), self.action.point.row().link] {
            if !word.is_empty() {
                write!(f, " {word}")?;
            }
        }
        match self.action.object {
            Some(object) => write!(f, " {object}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Phrase { verb: self.point.row().verb, action: *self }.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::short_type;

    #[test]
    fn types_are_told_without_their_paths() {
        for (full, short) in [
            ("i32", "i32"),
            ("my_crate::Request", "Request"),
            ("(usize, tokio::sync::oneshot::Sender<alloc::string::String>)", "(usize, Sender<String>)"),
            ("alloc::vec::Vec<core::option::Option<a::B>>", "Vec<Option<B>>"),
            ("&[u8]", "&[u8]"),
        ] {
            assert_eq!(short_type(full), short);
        }
    }
}
