//! What tasks share, and the words for what they do with it.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::ptr;
use whippet_model::Name;

/// A line of the user's program.
pub type Place = &'static Location<'static>;

/// The file as the reader knows it: registry and toolchain paths are cut down to the crate.
pub(crate) fn place_text(place: Place) -> String {
    format!("{}:{}", short_file(place.file()), place.line())
}

thread_local! {
    /// Names of places that were asked for: texts are long, and a place never moves.
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

/// Whether this is a line of the language's own library: what runs when a value goes out of scope.
pub(crate) fn is_glue(place: Place) -> bool {
    place.file().starts_with("/rustc/") || place.file().contains("/library/core/")
}

/// Whether this is a line of a package that was fetched, and not one of the user's own.
#[must_use]
pub fn is_foreign(place: Place) -> bool {
    short_file(place.file()).len() < place.file().len()
}

/// See [`place_text`].
pub(crate) fn short_file(file: &str) -> &str {
    ["/registry/src/", "/checkouts/"]
        .iter()
        .find_map(|mark| {
            let rest = &file[file.find(mark)? + mark.len()..];
            Some(&rest[rest.find('/')? + 1..])
        })
        .unwrap_or(file)
}

/// A thing that tasks share: a channel, a lock, the end of a task. Named by its creation, so that equivalent
/// executions name it alike.
#[derive(Copy, Clone, Debug)]
pub struct Object {
    /// The stable name. Parts of an object (the end of a queue, its closing) have names made from it.
    pub name: Name,
    /// What it is, in a word.
    pub kind: &'static str,
    /// Its number among the objects of its kind in this execution, from 1: for the reader only.
    pub number: u32,
}

impl Object {
    /// A new object, created by the running task.
    #[must_use]
    pub fn new(kind: &'static str) -> Object {
        crate::execution::new_object(kind)
    }

    /// An object that has no creator: what a static holds, or what was made where no code of ours runs. Its first use
    /// names it by where it was made and its number among those made there; so the order of first uses matters.
    #[must_use]
    pub fn late(kind: &'static str, made: Option<Place>) -> Object {
        let bytes = || kind.bytes().fold(Name::ROOT, |name, byte| name.mixed(u64::from(byte)));
        let origin = made.map_or_else(bytes, place_name);
        crate::execution::late_object(kind, origin.mixed(0x4C41_5445))
    }

    /// The name of a part of it.
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
    /// Where things are added: sends, notifications, new values.
    Tail = 0x101,
    /// Where things are taken.
    Head,
    /// The drops of senders, in any order.
    Drops,
    /// That the receiver is gone.
    Closed,
    /// The line of those who want permits or a lock.
    Line,
    /// What is free, for those who look without waiting.
    Free,
    /// Who subscribes or is counted.
    Members,
    /// A request to stop.
    Abort,
    /// One item of a queue; its number is mixed in.
    Item,
}

/// What an event does, in words: `sends u32 to channel 1`.
#[derive(Copy, Clone, Debug)]
pub struct Action {
    /// "sends", "takes from", "locks".
    pub verb: &'static str,
    /// What is sent: the name of a type, whose path is not shown, or nothing.
    pub what: &'static str,
    /// "to", "from", or nothing.
    pub link: &'static str,
    /// What it is done to.
    pub object: Option<Object>,
    /// Where in the program.
    pub place: Place,
}

impl Action {
    /// `verb object`.
    #[must_use]
    pub fn new(verb: &'static str, object: Object, place: Place) -> Action {
        Action { verb, what: "", link: "", object: Some(object), place }
    }

    /// `verb T link object`, with the last part of the type's path.
    #[must_use]
    pub fn of<T: ?Sized>(verb: &'static str, link: &'static str, object: Object, place: Place) -> Action {
        Action { verb, what: std::any::type_name::<T>(), link, object: Some(object), place }
    }

    /// Whether it does the same at the same place.
    pub(crate) fn is_like(&self, other: &Action) -> bool {
        // Nearly always they are the very same texts.
        let same = |a: &'static str, b: &'static str| std::ptr::eq(a, b) || a == b;
        same(self.verb, other.verb) && (std::ptr::eq(self.place, other.place) || self.place == other.place)
    }

    /// `verb`, with no object.
    #[must_use]
    pub fn plain(verb: &'static str, place: Place) -> Action {
        Action { verb, what: "", link: "", object: None, place }
    }
}

/// The name of a type without the paths of it and its parts.
fn short_type(full: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    for part in full.split_inclusive(|c| !is_path(c)) {
        short += part.rfind("::").filter(|&at| at + 2 < part.len()).map_or(part, |at| &part[at + 2..]);
    }
    short
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb)?;
        for word in [&*short_type(self.what), self.link] {
            if !word.is_empty() {
                write!(f, " {word}")?;
            }
        }
        match self.object {
            Some(object) => write!(f, " {object}"),
            None => Ok(()),
        }
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
